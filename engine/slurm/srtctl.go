package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Time limits of srtctl.
const (
	srtctlLimit = 3 * time.Minute
	// SrtctlLimit is the time after which an srtctl whose caller was killed is assumed to
	// have ended.
	SrtctlLimit = srtctlLimit + submitLimit
)

// ErrNoSrtctl means that srtctl is not on the PATH.
var ErrNoSrtctl = problem.New(problem.CommandNotFound,
	"no srtctl on the PATH; install it, or use the launcher slurm")

// schemaLimit is the time limit for srtctl schema, which reads no files but imports much.
const schemaLimit = 30 * time.Second

// SrtctlSchema returns the JSON schema of recipes, or of the cluster file, that an installed srtctl prints.
func SrtctlSchema(ctx context.Context, cluster bool) ([]byte, error) {
	return srtctlSchema(ctx, schemaLimit, cluster)
}

func srtctlSchema(ctx context.Context, limit time.Duration, cluster bool) ([]byte, error) {
	args := []string{"schema"}
	if cluster {
		args = append(args, "--cluster")
	}
	if _, err := exec.LookPath("srtctl"); err != nil {
		return nil, problem.New(problem.CommandNotFound, "ask srtctl for its schema: no srtctl on the PATH; install it")
	}
	out, _, err := callWithStderr(ctx, limit, "srtctl", args...)
	if err != nil {
		return nil, problem.Errorf(problem.SrtctlFailed, "ask srtctl for its schema: %w", err)
	}
	return []byte(out), nil
}

// SrtctlJob is a job that srtctl has submitted.
type SrtctlJob struct {
	ID  string
	Dir string // its output directory; empty: unknown
}

// Srtctl submits a recipe file with srtctl. cluster is the cluster file; if it is empty, srtctl
// searches for one. Without a job id in srtctl's output it returns an error, and the caller
// has to look up the job by the comment in the recipe. The error is [ErrSubmitUnconfirmed] if
// srtctl was interrupted: its job may still appear in the queue.
func Srtctl(ctx context.Context, recipe, base, cluster string) (SrtctlJob, error) {
	if _, err := exec.LookPath("srtctl"); err != nil {
		return SrtctlJob{}, ErrNoSrtctl
	}
	args := []string{"srtctl", "apply", "-f", recipe, "-o", base, "-y", "--json"}
	if cluster != "" {
		args = append([]string{"SRTSLURM_CONFIG=" + cluster}, args...)
	}
	out, stderr, err := callWithStderr(ctx, srtctlLimit, "env", args...)
	job := parseSrtctl(out, err == nil)
	if job.ID != "" {
		return job, nil // an error after the submission does not matter: the job exists
	}
	why := ""
	if err != nil {
		why = strings.TrimPrefix(err.Error(), "env: ")
	}
	switch {
	case ctx.Err() != nil || errors.Is(err, errNoAnswer): // its child processes may still be running
		return job, problem.Errorf(problem.SubmitUnconfirmed, "srtctl apply: %s; %w", why, ErrSubmitUnconfirmed)
	case err != nil:
		return job, problem.Errorf(problem.SrtctlFailed, "srtctl apply: %s", why)
	case stderr == "":
		stderr = out
	}
	return job, problem.Errorf(problem.SrtctlFailed, "srtctl apply: no job id in its output: %.200q", stderr)
}

// submittedPattern matches the message of sbatch without --parsable.
var submittedPattern = regexp.MustCompile(`(?m)^Submitted batch job (\d+)$`)

// parseSrtctl returns the job in the last JSON line that has a job id or, if srtctl succeeded,
// in the message of sbatch. Other numbers are ignored: an error may name another job.
func parseSrtctl(out string, succeeded bool) SrtctlJob {
	var job SrtctlJob
	for line := range strings.Lines(out) {
		var doc struct {
			ID  json.RawMessage `json:"slurm_job_id"` // a number or a string
			Dir string          `json:"output_dir"`
		}
		if json.Unmarshal([]byte(line), &doc) != nil {
			continue
		}
		if id := parseJobID(strings.Trim(string(doc.ID), `"`)); id != "" {
			job = SrtctlJob{ID: id, Dir: doc.Dir}
		}
	}
	if m := submittedPattern.FindStringSubmatch(out); succeeded && job.ID == "" && m != nil {
		job.ID = m[1]
	}
	return job
}
