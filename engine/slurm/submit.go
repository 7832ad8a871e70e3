package slurm

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// ErrSubmitUnconfirmed means that a submit command did not answer and its job was not found.
// The job may still appear in the queue.
var ErrSubmitUnconfirmed = problem.New(problem.SubmitUnconfirmed, "not known whether the job was queued")

// Time limits of commands.
const (
	submitLimit = 60 * time.Second // sbatch may wait for a busy controller
	queryLimit  = 10 * time.Second
)

// SubmitHeld submits a batch script on hold and returns the job id. The job can't start before
// [Release], when the run directory has its final name and the run is recorded. If sbatch does
// not return a job id, SubmitHeld looks up the job by its comment, which must be unique. If ctx
// is cancelled, the job is cancelled too. after, if not empty, is a job that must end first,
// in whatever state.
func SubmitHeld(ctx context.Context, script, comment, after string) (id string, err error) {
	args := []string{"--parsable", "--hold", "--comment=" + comment}
	if after != "" {
		args = append(args, "--dependency=afterany:"+after)
	}
	out, err := call(ctx, submitLimit, "sbatch", append(args, script)...)
	if id := parseJobID(out); err == nil && id != "" {
		return id, nil
	}
	if errors.Is(err, ErrNotFound) {
		return "", fmt.Errorf("submit: %w", err)
	}
	if err == nil {
		err = problem.Errorf(problem.SlurmFailed, "sbatch: no job id in its output: %.80q", out)
	}
	uncancelled := context.WithoutCancel(ctx)
	j, lerr := Lookup(uncancelled, comment)
	id = j.ID
	switch {
	case lerr != nil:
		return "", problem.Errorf(problem.SubmitUnconfirmed,
			"submit: %w; %w: %w; submit again once Slurm answers; it looks up the job first", err, ErrSubmitUnconfirmed, lerr)
	case id == "" && ctx.Err() != nil:
		return "", fmt.Errorf("submit: %w; no job was queued", err)
	case id == "":
		return "", fmt.Errorf("submit: %w", err)
	case ctx.Err() != nil:
		if cerr := scancel(uncancelled, id); cerr != nil {
			return "", fmt.Errorf("submit: %w; job %s was queued on hold and could not be cancelled: %w; "+
				"cancel it with: scancel %s", err, id, cerr, id)
		}
		return "", fmt.Errorf("submit: %w; job %s was already queued and has been cancelled", err, id)
	}
	return id, nil
}

// Lookup finds a job by its comment in the queue and in the accounting database, if there is
// one. It returns the zero Job if neither has it.
func Lookup(ctx context.Context, comment string) (Job, error) {
	out, err := call(ctx, queryLimit, "squeue", "--me", "--noheader", "--states=all", "--format="+queueFormat)
	if err != nil {
		return Job{}, err
	}
	jobs := parseQueue(out)
	out, err = call(ctx, queryLimit, "sacct", "--allocations", "--noheader", "--parsable2",
		"--starttime="+time.Now().Add(-24*time.Hour).Format(timeLayout), "--format="+accountingFormat)
	if err == nil { // otherwise the site has no accounting
		jobs = append(jobs, parseAccounting(out)...)
	}
	for _, j := range jobs {
		if strings.Contains(j.Comment, comment) {
			return j, nil
		}
	}
	return Job{}, nil
}

// Release releases a job on hold.
func Release(ctx context.Context, id string) error {
	var err error
	for range 3 {
		if _, err = call(ctx, queryLimit, "scontrol", "release", id); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("release job %s: %w; the job is queued on hold and recorded; release it with: scontrol release %s",
			id, err, id)
	}
	return nil
}

// parseJobID returns the job id in the output of sbatch --parsable: ID or ID;CLUSTER. It is
// empty for any other text.
func parseJobID(out string) string {
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";")
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return ""
	}
	return id
}

// TestOnly checks a batch script with sbatch --test-only and returns the message of sbatch, which
// says when and where the job would start. It removes the job id from the message, since no job
// has it.
func TestOnly(ctx context.Context, script string) (string, error) {
	path, err := filepath.Abs(script)
	if err != nil {
		return "", err
	}
	// sbatch prints the message to standard error, with exit code 0.
	_, stderr, err := callWithStderr(ctx, queryLimit, "sbatch", "--test-only", path)
	return testedPattern.ReplaceAllString(stderr, "$1"), err
}

var testedPattern = regexp.MustCompile(`\bJob \d+ (to start )`)
