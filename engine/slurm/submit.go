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

// ErrSubmitUnconfirmed is the error of a submit whose command did not answer and whose job
// was not found. The job may still appear in the queue.
var ErrSubmitUnconfirmed = problem.New(problem.SubmitUnconfirmed, "not known whether the job was queued")

// Limits of the commands at submit. sbatch may wait for a busy controller.
const (
	submitLimit = 60 * time.Second
	queryLimit  = 10 * time.Second
)

// SubmitHeld queues a batch script in the held state, so that nothing can start before
// the run's folder has its name and the run is recorded; [Release] lets it go.
// Whatever happens to sbatch's answer, the job is looked up by its comment, which
// must be unique, and never queued twice. With a cancelled ctx the job is taken
// back. Until, if not empty, is a job for whose end, however it ends, this one waits.
func SubmitHeld(ctx context.Context, script, comment, until string) (id string, err error) {
	args := []string{"--parsable", "--hold", "--comment=" + comment}
	if until != "" {
		args = append(args, "--dependency=afterany:"+until)
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
	after := context.WithoutCancel(ctx)
	j, lerr := Lookup(after, comment)
	id = j.ID
	switch {
	case lerr != nil:
		return "", problem.Errorf(problem.SubmitUnconfirmed,
			"submit: %w; %w: %w; submit again once Slurm answers: the job is looked up first", err, ErrSubmitUnconfirmed, lerr)
	case id == "" && ctx.Err() != nil:
		return "", fmt.Errorf("submit: %w; no job was queued", err)
	case id == "":
		return "", fmt.Errorf("submit: %w", err)
	case ctx.Err() != nil:
		if cerr := scancel(after, id); cerr != nil {
			return "", fmt.Errorf("submit: %w; job %s was queued on hold and could not be cancelled: %w; "+
				"cancel it with: scancel %s", err, id, cerr, id)
		}
		return "", fmt.Errorf("submit: %w; job %s was already queued and has been cancelled", err, id)
	}
	return id, nil
}

// Lookup finds a job by its comment: in the queue, and then in the accounting
// where there is one. A job without an id is a no of everyone that was asked.
func Lookup(ctx context.Context, comment string) (Job, error) {
	out, err := call(ctx, queryLimit, "squeue", "--me", "--noheader", "--states=all", "--format="+queueFormat)
	if err != nil {
		return Job{}, err
	}
	jobs := parseQueue(out)
	out, err = call(ctx, queryLimit, "sacct", "--allocations", "--noheader", "--parsable2",
		"--starttime="+time.Now().Add(-24*time.Hour).Format(timeLayout), "--format="+accountingFormat)
	if err == nil { // else there is no accounting here: the queue's word stands
		jobs = append(jobs, parseAccounting(out)...)
	}
	for _, j := range jobs {
		if strings.Contains(j.Comment, comment) {
			return j, nil
		}
	}
	return Job{}, nil
}

// Release lets a held job go.
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

// parseJobID is the id in sbatch's parsable answer, ID or ID;CLUSTER.
func parseJobID(out string) string {
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";")
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return ""
	}
	return id
}

// TestOnly asks the scheduler whether it would take a script, and when and where it would start;
// the answer is a sentence of sbatch's, without the id in it, which is that of no job.
func TestOnly(ctx context.Context, script string) (string, error) {
	path, err := filepath.Abs(script)
	if err != nil {
		return "", err
	}
	// The answer is on the error stream, and the exit code 0.
	_, said, err := callWithStderr(ctx, queryLimit, "sbatch", "--test-only", path)
	return testedPattern.ReplaceAllString(said, "$1"), err
}

var testedPattern = regexp.MustCompile(`\bJob \d+ (to start )`)
