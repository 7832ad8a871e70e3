package runs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

func TestFind(t *testing.T) {
	t.Parallel()
	b := runstest.New(t)
	a := b.AddRun(t, "L1-aaaa", "dsv4", runstest.Host)
	b.AddRun(t, "L2-bbbb", "dsv4-long", runstest.Host)
	for in, want := range map[string]string{
		"L1-aaaa": "L1-aaaa", "dsv4_": "L1-aaaa", "dsv4-l": "L2-bbbb", a.Dir: "L1-aaaa", a.Logs: "L1-aaaa",
	} {
		l, err := b.Find(t.Context(), in)
		if err != nil || l.Record.ID != want {
			t.Errorf("%s found %q, %v; want %s", in, l.Record.ID, err, want)
		}
	}
	for in, says := range map[string]string{
		"": "empty", "dsv4": "matches 2 runs: dsv4-long_L2-bbbb, dsv4_L1-aaaa",
		"nothing": "no match among 2 recorded runs", filepath.Join(a.Dir, rundir.RecordFile): "is not a directory",
	} {
		if _, err := b.Find(t.Context(), in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", in, err, says)
		}
	}
}

func TestRunsListsRunsWithErrors(t *testing.T) {
	t.Parallel()
	b := runstest.New(t)
	good := b.AddRun(t, "L1", "good", runstest.Host, runstest.StateEvent(event.Done))
	broken := b.AddRun(t, "L2", "broken", runstest.Host, runstest.StateEvent(event.Done))
	gone := b.AddRun(t, "L3", "gone", runstest.Host)
	if err := os.WriteFile(filepath.Join(broken.Dir, rundir.PhasesFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(gone.Dir); err != nil {
		t.Fatal(err)
	}
	runs, err := b.Runs(t.Context(), nil)
	got := map[string]event.State{}
	for _, r := range runs {
		got[r.ID] = r.State
	}
	if len(runs) != 3 || got["L1"] != event.Done || got["L2"] != event.Done || got["L3"] != event.Unknown {
		t.Errorf("runs %v", got)
	}
	if err == nil || !strings.Contains(err.Error(), "L2") {
		t.Errorf("want an error that names the broken run, got %v", err)
	}
	if err := b.Cancel(t.Context(), good); err != nil {
		t.Errorf("cancel a run that has ended: %v", err)
	}
	if runs, err := b.Runs(t.Context(), []string{"/no/such/root"}); !errors.Is(err, fs.ErrNotExist) || len(runs) != 3 {
		t.Errorf("a root that does not exist: %v, and %d runs", err, len(runs))
	}
}
