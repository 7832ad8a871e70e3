package runs_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// A log with two names is listed once; logs of a step on two nodes are both listed.
func TestLogFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{
		"benchmark.out", "client.log", "node1_agg_w0.out", "node1_decode_w0.out", "node2_decode_w0.out",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := runstest.New(t).LogFiles(runs.Ref{Logs: dir})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Step+" "+filepath.Base(f.Path))
	}
	if want := []string{
		"client benchmark.out", "agg_0 node1_agg_w0.out", "decode_0 node1_decode_w0.out",
		"node2_decode_w0.out node2_decode_w0.out",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Logs in the directories of newer versions of srtctl are found, and those of earlier lives of a worker
// and of its engines are not taken for its own.
func TestLogFilesInDirectories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{
		"benchmark.out", "workers/n1_decode_w0.out", "workers/n1_decode_w0.out.1", "workers/n1_decode_w0_e1.out",
		"workers/n1_frontend_0.out", "services/logs/nats.out", "telemetry/clock_sync_n1.out", "n2_decode_w1.out",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	store := runstest.New(t)
	files, err := store.LogFiles(runs.Ref{Logs: dir})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		rel, err := filepath.Rel(dir, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.Step+" "+filepath.ToSlash(rel))
	}
	if want := []string{
		"client benchmark.out", "decode_0 workers/n1_decode_w0.out", "decode_0.1 workers/n1_decode_w0.out.1",
		"decode_0_e1 workers/n1_decode_w0_e1.out", "decode_1 n2_decode_w1.out", "frontend_0 workers/n1_frontend_0.out",
		"nats services/logs/nats.out",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if f, err := store.FindLog(runs.Ref{Logs: dir}, "decode_0.1", false); err != nil || f.Step != "decode_0.1" {
		t.Errorf("got %v, %v", f, err)
	}
}
