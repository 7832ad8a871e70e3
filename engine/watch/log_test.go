package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// A followed log does not end while the state is unknown or, for an external run, before the
// client has started.
func TestLogEnded(t *testing.T) {
	t.Parallel()
	_, w := bench(t)
	ours := runs.Ref{Record: rundir.Record{ID: "1"}}
	for state, want := range map[event.State]bool{
		event.Measuring: false, event.Unknown: false, event.Pending: false, "": false,
		event.Done: true, event.Failed: true, event.Cancelled: true, event.Timeout: true,
	} {
		if got := w.logEnded(ours, event.Status{State: state}, "x"); got != want {
			t.Errorf("%q: ended %v, want %v", state, got, want)
		}
	}
	const none = -time.Second
	for name, c := range map[string]struct {
		log, requests time.Duration // time since each was last written
		want          bool
	}{
		"both grow":              {0, 0, false},
		"no client yet":          {0, none, false},
		"a quiet log":            {time.Hour, time.Second, false},
		"a log after the client": {time.Second, time.Hour, false},
		"still":                  {time.Hour, time.Hour, true},
		"still, without client":  {time.Hour, none, true},
		"nothing at all":         {none, none, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			logs := t.TempDir()
			log := filepath.Join(logs, "1_output_server.log")
			for path, still := range map[string]time.Duration{
				log: c.log,
				filepath.Join(logs, "agentperf", results.RequestsFile): c.requests,
			} {
				if still == none {
					continue
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, time.Time{}, runstest.Noon.Add(-still)); err != nil {
					t.Fatal(err)
				}
			}
			if got := w.logEnded(runs.Ref{Logs: logs}, event.Status{}, log); got != c.want {
				t.Errorf("ended %v, want %v", got, c.want)
			}
		})
	}
}
