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

// Limits of srtctl's checks and its sbatch.
const (
	srtctlLimit = 3 * time.Minute
	// SrtctlLimit is the time after which an srtctl whose caller was killed is taken
	// to have ended as well.
	SrtctlLimit = srtctlLimit + submitLimit
)

// ErrNoSrtctl is the error of a machine without srtctl.
var ErrNoSrtctl = problem.New(problem.CommandNotFound,
	"no srtctl on the PATH; install it, or use the launcher slurm")

// SrtctlJob is what srtctl says of a job that it has queued.
type SrtctlJob struct {
	ID  string
	Dir string // of the job; empty: it does not say
}

// Srtctl has srtctl submit a recipe file; cluster is its cluster file, empty for the one that it
// finds. An answer without a job id is an error: the job is to be looked up by the comment in the
// recipe. [ErrSubmitUnconfirmed] is one that was cut off, whose job may turn up yet.
func Srtctl(ctx context.Context, recipe, base, cluster string) (SrtctlJob, error) {
	if _, err := exec.LookPath("srtctl"); err != nil {
		return SrtctlJob{}, ErrNoSrtctl
	}
	args := []string{"srtctl", "apply", "-f", recipe, "-o", base, "-y", "--json"}
	if cluster != "" {
		args = append([]string{"SRTSLURM_CONFIG=" + cluster}, args...)
	}
	out, said, err := callWithStderr(ctx, srtctlLimit, "env", args...)
	h := parseSrtctl(out, err == nil)
	if h.ID != "" {
		return h, nil // whatever it complains of afterwards, the job is there
	}
	why := ""
	if err != nil {
		why = strings.TrimPrefix(err.Error(), "env: ")
	}
	switch {
	case ctx.Err() != nil || errors.Is(err, errNoAnswer): // what it had started may go on
		return h, problem.Errorf(problem.SubmitUnconfirmed, "srtctl apply: %s; %w", why, ErrSubmitUnconfirmed)
	case err != nil:
		return h, problem.Errorf(problem.SrtctlFailed, "srtctl apply: %s", why)
	case said == "":
		said = out
	}
	return h, problem.Errorf(problem.SrtctlFailed, "srtctl apply: no job id in its output: %.200q", said)
}

// submittedPattern is how sbatch tells a job in prose.
var submittedPattern = regexp.MustCompile(`(?m)^Submitted batch job (\d+)$`)

// parseSrtctl reads the last line of JSON that names a job, or else, of an srtctl
// that ended well, sbatch's sentence. Other prose with numbers in it says nothing:
// an error may speak of another job.
func parseSrtctl(out string, well bool) SrtctlJob {
	var h SrtctlJob
	for line := range strings.Lines(out) {
		var doc struct {
			ID  json.RawMessage `json:"slurm_job_id"` // a number or a string
			Dir string          `json:"output_dir"`
		}
		if json.Unmarshal([]byte(line), &doc) != nil {
			continue
		}
		if id := parseJobID(strings.Trim(string(doc.ID), `"`)); id != "" {
			h = SrtctlJob{ID: id, Dir: doc.Dir}
		}
	}
	if m := submittedPattern.FindStringSubmatch(out); well && h.ID == "" && m != nil {
		h.ID = m[1]
	}
	return h
}
