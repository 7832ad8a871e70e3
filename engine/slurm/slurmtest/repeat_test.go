package slurmtest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// A smoke run has 4 users, whatever the concurrency level. apply --again submits another run.
func TestSmokeAndAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, "a smoke run")
	rec := s.apply(twoNodes("--smoke", "--set", "benchmark.concurrency=8")...)
	last, code := s.watch(rec.ID, nil)
	if code != 0 || last.State != "done" {
		t.Fatalf("watch: exit %d, %+v", code, last)
	}
	if text, err := os.ReadFile(rec.Dir + "/logs/benchmark_config.smoke.yaml"); err != nil ||
		!strings.Contains(string(text), "phase_timeout_seconds: 6.0") {
		t.Errorf("%v: %s", err, text)
	}
	doc := read[rollup](t, rec.Dir+"/logs/benchmark-rollup.json")
	if doc.Partial || len(doc.Ours.Phases) != 1 || doc.Ours.Phases[0].Concurrency != 4 {
		t.Errorf("roll-up: %+v", doc)
	}
	out := s.want(0, "apply", "--again", rec.ID, "--yes", "--json", "--output-dir", "out",
		"--set", "sbatch_directives.begin=now+1hour")
	var again submitted
	if err := json.Unmarshal([]byte(out), &again); err != nil || again.ID == rec.ID {
		t.Fatalf("%v in %s", err, out)
	}
	s.slurm("scancel", again.ID)
}

// Each repeated run waits for the end of the previous one.
func TestRepeat(t *testing.T) {
	t.Parallel()
	s := newSite(t, "repeated runs")
	out := s.want(0, append(s.applyArgs("repeated"), "--repeat", "3")...)
	ids := []string{}
	for line := range strings.Lines(out) {
		var rec submitted
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		ids = append(ids, rec.ID)
	}
	if len(ids) != 3 {
		t.Fatalf("%s", out)
	}
	for i, id := range ids[1:] {
		if d := s.slurm("squeue", "-h", "-j", id, "-o", "%E"); !strings.Contains(d, "afterany:"+ids[i]) {
			t.Errorf("job %s waits for %s, want %s", id, d, ids[i])
		}
	}
	s.slurm("scancel", ids...)
}
