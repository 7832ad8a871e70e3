package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
)

func TestCancelKeepsMeasuredRequests(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	s := newShell(t)
	id, dir := s.start("2", "40")
	cmd, lines := s.watch(id)
	if last, ok := untilMeasured(t, lines); !ok {
		t.Fatalf("no request was measured: %+v", last.Status)
	}
	all := pids(t, dir)
	o := s.want(0, "cancel", id, "--yes")
	if !strings.Contains(o.stdout, "cancelled") {
		t.Errorf("cancel printed %s", o.stdout)
	}
	last := until(lines)
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 || last.Status.State != "cancelled" {
		t.Errorf("watch: %v, %+v", err, last.Status)
	}
	waitForExit(t, all)
	if o := s.want(0, "results", id); !strings.Contains(o.stdout, "measured") {
		t.Errorf("results of a cancelled run:\n%s", o.stdout)
	}
	var doc struct {
		Partial  bool
		Ours     struct{ Partial string } `json:"agentperf_tui"`
		Identity struct{ Client struct{ Commit string } }
	}
	data, err := os.ReadFile(filepath.Join(dir, "logs", "benchmark-rollup.json"))
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if err != nil || !doc.Partial || !strings.Contains(doc.Ours.Partial, "the run's state is cancelled") ||
		doc.Identity.Client.Commit != "built-in" {
		t.Errorf("roll-up of a cancelled run: %v, %+v", err, doc)
	}
	if o := s.want(0, "results", id); !strings.Contains(o.stdout, "PARTIAL: the run's state is cancelled") ||
		!strings.Contains(o.stdout, "recipe.sha256") {
		t.Errorf("results of a cancelled run:\n%s", o.stdout)
	}
	s.want(0, "cancel", id) // the run has ended: no confirmation is needed
}

// untilMeasured reads lines until a request is measured; false if the run ends before. It returns the
// last update.
func untilMeasured(t *testing.T, lines <-chan watchLine) (last watchLine, ok bool) {
	t.Helper()
	for u := range lines {
		if u.Type != "update" {
			continue
		}
		last = u
		var run results.Run
		if err := json.Unmarshal(u.Results, &run); err != nil {
			t.Fatalf("%v in %s", err, u.Results)
		}
		for _, p := range run.Phases {
			if p.Requests != nil && p.Requests.Successful > 0 {
				return last, true
			}
		}
	}
	return last, false
}
