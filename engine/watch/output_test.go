package watch

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// rows returns request rows of a client start that end in the seconds after at.
func rows(at time.Time, n, output int) string {
	var b strings.Builder
	for i := range n {
		begin := float64(at.Unix()) + float64(i)
		fmt.Fprintf(&b, `{"phase_idx":0,"concurrency":4,"conversation_idx":%d,"user_id":%d,"request_id":"r%d",`+
			`"start_time":%f,"end_time":%f,"success":true,"server_output_tokens":%d}`+"\n", i, i, i, begin, begin+1, output)
	}
	return b.String()
}

// add writes files below a directory, by path. A file appears at once with its content.
func add(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		hidden := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(hidden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(hidden, path); err != nil {
			t.Fatal(err)
		}
	}
}

// await returns the first update that has a number of requests.
func await(t *testing.T, updates <-chan Update, total int) Update {
	t.Helper()
	var last Update
	for u := range updates {
		if last = u; len(u.Run.Phases) == 1 && u.Run.Phases[0].Total == total {
			return u
		}
	}
	t.Fatalf("no update with %d requests; the last one is %+v, %v", total, last.Run.Phases, last.Err)
	return last
}

// figuresOf returns what a client start determines: its phases without their reasons, which depend on
// whether the run has ended, and the warnings.
func figuresOf(t *testing.T, r results.Run) (total int, output float64, warnings []string) {
	t.Helper()
	if len(r.Phases) != 1 {
		t.Fatalf("%d phases", len(r.Phases))
	}
	return r.Phases[0].Total, r.Phases[0].Figures.Get(results.AvgOutput).Value, r.Warnings
}

// The figures of a watch are those of the last client start, like those of the results, whatever
// directory appears when.
func TestWatchFollowsClientStarts(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) time.Time { return runstest.Noon.Add(-time.Hour + d) }
	window := func(d time.Duration) string {
		return fmt.Sprintf(`{"phase_idx":0,"settling_end":%d,"actual_phase_end":%d}`+"\n", at(d).Unix(), at(d).Unix()+100)
	}
	for _, tt := range []struct {
		name   string
		start  map[string]string // before the watch begins
		first  map[string]string // added after it began
		second map[string]string // added after the figures of first were seen
		total  [2]int
	}{
		{
			"no directory, then one, then a newer one", nil,
			map[string]string{"agentperf/a/requests.jsonl": rows(at(0), 20, 100), "agentperf/a/phase_manifest.jsonl": window(0)},
			map[string]string{
				"agentperf/b/phase_manifest.jsonl": window(1000 * time.Second),
				"agentperf/b/requests.jsonl":       rows(at(1000*time.Second), 12, 300),
			},
			[2]int{20, 12},
		},
		{
			"rows in the directory, then in a new one",
			map[string]string{"agentperf/requests.jsonl": rows(at(0), 20, 100), "agentperf/phase_manifest.jsonl": window(0)},
			nil,
			map[string]string{
				"agentperf/2/requests.jsonl":       rows(at(1000*time.Second), 12, 300),
				"agentperf/2/phase_manifest.jsonl": window(1000 * time.Second),
			},
			[2]int{20, 12},
		},
		{
			"logs in a directory of their own", nil,
			map[string]string{"logs/agentperf/requests.jsonl": rows(at(0), 7, 100)},
			map[string]string{
				"logs/agentperf/new/requests.jsonl":       rows(at(1000*time.Second), 9, 300),
				"logs/agentperf/new/phase_manifest.jsonl": window(1000 * time.Second),
			},
			[2]int{7, 9},
		},
		{
			"rows of the predecessor, then the client's", nil,
			map[string]string{"agentperf/" + results.PredecessorRequestsFile: rows(at(0), 7, 100)},
			map[string]string{"agentperf/requests.jsonl": rows(at(0), 9, 300), "agentperf/phase_manifest.jsonl": window(0)},
			[2]int{7, 9},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, w := bench(t)
			b.At = at(2 * time.Hour)
			dir := t.TempDir()
			add(t, dir, tt.start)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			updates, err := w.Watch(ctx, external(t, dir), Options{Interval: time.Millisecond, UntilDone: true})
			if err != nil {
				t.Fatal(err)
			}
			add(t, dir, tt.first)
			await(t, updates, tt.total[0])
			add(t, dir, tt.second)
			u := await(t, updates, tt.total[1])
			for math.IsNaN(u.Run.Phases[0].Figures.Get(results.AvgOutput).Value) { // the manifest was not read yet
				u = <-updates
			}
			want, err := results.Load(ctx, dir, results.RunContext{})
			if err != nil {
				t.Fatal(err)
			}
			total, output, warnings := figuresOf(t, u.Run)
			wantTotal, wantOutput, wantWarnings := figuresOf(t, want)
			if total != wantTotal || output != wantOutput || output != 300 {
				t.Errorf("%d requests, %g tokens each; results has %d, %g", total, output, wantTotal, wantOutput)
			}
			if !strings.Contains(tt.name, "predecessor") {
				if diff := cmp.Diff(wantWarnings, warnings); diff != "" || len(warnings) == 0 {
					t.Error(diff)
				}
			}
		})
	}
}

// A client start whose directory appears when the run has ended already is in the last update.
func TestWatchEndsWithLastClientStart(t *testing.T) {
	t.Parallel()
	b, w := bench(t)
	run := b.AddRun(t, "L1", "x", runstest.Host, runstest.StateEvent(event.Ready))
	start := runstest.Noon.Add(-time.Hour)
	add(t, run.Logs, map[string]string{"agentperf/a/requests.jsonl": rows(start, 20, 100)})
	updates, err := w.Watch(t.Context(), run, Options{Interval: time.Millisecond, UntilDone: true})
	if err != nil {
		t.Fatal(err)
	}
	// The supervisor of the run does not run, so the run has ended.
	later := start.Add(1000 * time.Second)
	add(t, run.Logs, map[string]string{
		"agentperf/b/requests.jsonl": rows(later, 12, 300),
		"agentperf/b/phase_manifest.jsonl": fmt.Sprintf(`{"phase_idx":0,"settling_end":%d,"actual_phase_end":%d}`+"\n",
			later.Unix(), later.Unix()+100),
	})
	var last Update
	for u := range updates {
		last = u
	}
	if total, output, _ := figuresOf(t, last.Run); !last.Done || total != 12 || output != 300 {
		t.Errorf("done %v, %d requests, %g tokens each", last.Done, total, output)
	}
}
