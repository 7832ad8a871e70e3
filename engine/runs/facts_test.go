package runs_test

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// TestFactsOfHarnessRun checks that nodes, model and dataset of a harness run come from its artifacts.
func TestFactsOfHarnessRun(t *testing.T) {
	t.Parallel()
	f := runstest.New(t)
	ref, err := f.Find(t.Context(), "../../testdata/bm_agentperf_dsv4_5p1d/c1010")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := ref.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(facts.Nodes, "13: gb300-r07-n09, ") || facts.Recipe != "" || facts.Tools != "" ||
		!strings.HasSuffix(facts.Model, "hf-0c0ffee_orig") || !strings.HasSuffix(facts.Dataset, "_500traj.jsonl") {
		t.Errorf("%+v", facts)
	}
	// A directory without artifacts of the harness has none.
	ref.Dir = t.TempDir()
	if facts, err = ref.Facts(t.Context()); err != nil || facts.Nodes != "" || facts.Model != "" {
		t.Errorf("%+v, %v", facts, err)
	}
}
