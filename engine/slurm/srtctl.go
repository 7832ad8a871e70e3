package slurm

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// srtctlLimit bounds srtctl's checks and its sbatch.
const srtctlLimit = 3 * time.Minute

// Handed is what srtctl says of a job that it has queued.
type Handed struct {
	ID  string
	Dir string // of the job; empty: it does not say
}

// Srtctl has srtctl submit a recipe file; cluster is its cluster file, empty for
// the one that it finds. An answer without a job id is an error: the job is to be
// looked up by the comment in the recipe.
func Srtctl(ctx context.Context, recipe, base, cluster string) (Handed, error) {
	if _, err := exec.LookPath("srtctl"); err != nil {
		return Handed{}, fmt.Errorf("srtctl: %w", ErrMissing)
	}
	args := []string{"srtctl", "apply", "-f", recipe, "-o", base, "-y", "--json"}
	if cluster != "" {
		args = append([]string{"SRTSLURM_CONFIG=" + cluster}, args...)
	}
	out, said, err := callBoth(ctx, srtctlLimit, "env", args...)
	h := parseSrtctl(out)
	if h.ID != "" {
		return h, nil // whatever it complains of afterwards, the job is there
	}
	switch {
	case err != nil:
		return h, fmt.Errorf("srtctl apply: %s", strings.TrimPrefix(err.Error(), "env: "))
	case said == "":
		said = out
	}
	return h, fmt.Errorf("srtctl apply told no job id but %.200q", said)
}

// submittedJob is how srtctl and sbatch tell a job in prose.
var submittedJob = regexp.MustCompile(`(?i)\bsubmitted\b[^\n]*\bjob\D{0,12}(\d+)`)

// parseSrtctl reads the last line of JSON that names a job, or else the prose.
func parseSrtctl(out string) Handed {
	var h Handed
	for line := range strings.Lines(out) {
		var doc struct {
			ID  json.RawMessage `json:"slurm_job_id"` // a number or a string
			Dir string          `json:"output_dir"`
		}
		if json.Unmarshal([]byte(line), &doc) != nil {
			continue
		}
		if id := firstID(strings.Trim(string(doc.ID), `"`)); id != "" {
			h = Handed{ID: id, Dir: doc.Dir}
		}
	}
	if m := submittedJob.FindStringSubmatch(out); h.ID == "" && m != nil {
		h.ID = m[1]
	}
	return h
}
