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
