package watch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// bench returns a test bench and a watcher of its runs.
func bench(t *testing.T) (*runstest.Fixture, *Watcher) {
	t.Helper()
	b := runstest.New(t)
	return b, New(b.Resolver, b.Now)
}

// external makes an external run in a directory.
func external(t *testing.T, dir string) runs.Ref {
	t.Helper()
	l, err := runstest.New(t).Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The time series of a completed run contain all requests of its figures.
func TestWatchSeries(t *testing.T) {
	t.Parallel()
	b, w := bench(t)
	b.At = time.Now()
	updates, err := w.Watch(t.Context(), external(t, harnessRun), Options{Interval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var last Update
	for u := range updates {
		last = u
	}
	n := 0
	for _, b := range last.Series[0].Buckets {
		n += b.N
	}
	if !last.Done || n != 240 || last.Recent == nil || last.Recent.N == 0 || last.Recent.Seconds != 60 || last.Err != nil {
		t.Errorf("done %v, %d requests over time, recent %+v, %v", last.Done, n, last.Recent, last.Err)
	}
}

// The recent figures of a completed run are those of its last minute, from the first update on.
func TestWatchCompletedRun(t *testing.T) {
	t.Parallel()
	_, w := bench(t)
	dir := filepath.Join(t.TempDir(), "c")
	if err := os.CopyFS(dir, os.DirFS(harnessRun)); err != nil {
		t.Fatal(err)
	}
	old := runstest.Noon.Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "agentperf", results.RequestsFile), old, old); err != nil {
		t.Fatal(err)
	}
	updates, err := w.Watch(t.Context(), external(t, dir), Options{Interval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for u := range updates {
		if r := u.Recent; r != nil && (r.N == 0 || r.Until.Equal(runstest.Noon)) {
			t.Errorf("recent: %d requests until %v", r.N, r.Until)
		}
	}
}

func TestWatchWithoutRunDirectory(t *testing.T) {
	t.Parallel()
	b, w := bench(t)
	l := b.AddRun(t, "7", "x", "elsewhere")
	if err := os.RemoveAll(l.Dir); err != nil {
		t.Fatal(err)
	}
	_, err := w.Watch(t.Context(), l, Options{})
	if err == nil || !strings.Contains(err.Error(), "run directory not found") {
		t.Errorf("watch: %v", err)
	}
}
