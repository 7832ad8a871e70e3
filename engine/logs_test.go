package engine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
)

// A followed log outlasts a state that is not known, and in another tool's folder
// a client that has not begun.
func TestLogEnded(t *testing.T) {
	t.Parallel()
	e := bench(t)
	ours := Located{Record: rundir.Record{ID: "1"}}
	for state, want := range map[event.State]bool{
		event.Measuring: false, event.Unknown: false, event.Pending: false, "": false,
		event.Done: true, event.Failed: true, event.Cancelled: true, event.Timeout: true,
	} {
		if got := e.logEnded(ours, event.Status{State: state}, "x"); got != want {
			t.Errorf("%q: ended %v, want %v", state, got, want)
		}
	}
	const none = -time.Second
	for name, c := range map[string]struct {
		log, requests time.Duration // how long each has been still
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
			for path, still := range map[string]time.Duration{log: c.log, filepath.Join(logs, "agentperf", results.RequestsFile): c.requests} {
				if still == none {
					continue
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, time.Time{}, noon.Add(-still)); err != nil {
					t.Fatal(err)
				}
			}
			if got := e.logEnded(Located{Logs: logs}, event.Status{}, log); got != c.want {
				t.Errorf("ended %v, want %v", got, c.want)
			}
		})
	}
}

// A log is listed once by all its names, and logs of the same step of two nodes both.
func TestLogFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"benchmark.out", "client.log", "node1_decode_w0.out", "node2_decode_w0.out"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := bench(t).LogFiles(Located{Logs: dir})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Step+" "+filepath.Base(f.Path))
	}
	if want := []string{"client benchmark.out", "decode_0 node1_decode_w0.out", "node2_decode_w0.out node2_decode_w0.out"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
