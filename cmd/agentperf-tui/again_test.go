package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/porter"
)

// Submits two short runs in sequence, then the first one again. --again must use the inputs
// in the run directory: the recipe has been deleted by then.
func TestApplyRepeatAndAgain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	s := newShell(t)
	s.port("--gpu-type", "gb300")
	records := func(o outcome) (out []rundir.Record) {
		t.Helper()
		for line := range strings.Lines(o.stdout) {
			var r rundir.Record
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			out = append(out, r)
		}
		return out
	}
	two := records(s.want(0, "apply", "r.yaml", "--launcher", "local", "--yes", "--smoke", "--seconds", "4",
		"--repeat", "2", "--output-dir", "out", "--json"))
	if len(two) != 2 || two[1].After != two[0].ID || !two[0].Smoke || len(two[0].Levels) != 1 || two[0].Levels[0] != 4 {
		t.Fatalf("%+v", two)
	}
	if o := s.want(0, "watch", two[0].ID); !strings.Contains(o.stdout, "state done") {
		t.Errorf("the first run is not done:\n%s", o.stdout)
	}
	s.want(0, "watch", two[1].ID)
	recipe, err := filepath.Abs(filepath.Join(s.dir, "r.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(recipe); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "srtslurm.yaml"), []byte("cluster: added-later\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	again := records(s.want(0, "apply", "--again", two[0].ID, "--yes", "--output-dir", "out", "--json"))
	if r := again[0]; r.Again != two[0].ID || r.Launcher != "local" || !r.Smoke || r.Seconds != 4 || r.Recipe != recipe ||
		r.ID == two[0].ID {
		t.Errorf("again: %+v", r)
	}
	s.want(0, "watch", again[0].ID)
	requireSameFiles(t, two[0].Dir, again[0].Dir, rundir.RecipeFile, rundir.WorkloadFile,
		porter.ProvenancePath(rundir.RecipeFile))
	if _, err := os.Stat(filepath.Join(again[0].Dir, rundir.ClusterFile)); !os.IsNotExist(err) {
		t.Errorf("the repeated run uses a cluster file that the first run did not have: %v", err)
	}
	s.want(2, "apply", "r.yaml", "--again", two[0].ID, "--yes")
	s.want(2, "apply", "r.yaml", "--repeat", "0", "--yes")
}

func requireSameFiles(t *testing.T, a, b string, names ...string) {
	t.Helper()
	for _, name := range names {
		one, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		if two, err := os.ReadFile(filepath.Join(b, name)); err != nil || string(one) != string(two) {
			t.Errorf("%s differs: %v", name, err)
		}
	}
}

func TestErrorCountsSubmittedRepeats(t *testing.T) {
	t.Parallel()
	first := rundir.Record{Name: "x", ID: "L1"}
	if err := withSubmittedCount([]rundir.Record{first}, 3, context.Canceled); !errors.Is(err, context.Canceled) ||
		!strings.HasPrefix(err.Error(), "1 of 3 runs were submitted (the last one, x_L1, continues): ") {
		t.Error(err)
	}
	if err := withSubmittedCount(nil, 3, context.Canceled); err.Error() != context.Canceled.Error() {
		t.Error(err)
	}
}
