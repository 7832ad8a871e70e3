package plan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Every recipe of the corpus of check that this program can run has a plan for the cluster, on the number of
// nodes that its recipe needs.
func TestCorpusHasPlans(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../recipes/check/testdata/corpus/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	planned := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		variants, _ := recipes.Variants(name, data, "")
		for _, v := range variants {
			r, _, _ := v.Load(data)
			_, runs := backend.All().For(r)
			runs = runs && r.Benchmark.Type == schema.AgentPerf
			p, err := Build(Request{Recipe: r, Target: Slurm, OutputDir: "/out"})
			if runs != (err == nil) {
				t.Errorf("%s %s: runs here: %v, plan: %v", name, v.Selector, runs, err)
			}
			if err == nil {
				planned++
				if len(p.Nodes) != r.Nodes() || p.Script == "" {
					t.Errorf("%s: %d nodes, want %d", name, len(p.Nodes), r.Nodes())
				}
			}
		}
	}
	if planned < 15 {
		t.Errorf("only %d plans", planned)
	}
}
