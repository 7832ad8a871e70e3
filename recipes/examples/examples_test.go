package examples

import (
	"bytes"
	"slices"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
)

func TestExamplesHaveNoFindings(t *testing.T) {
	t.Parallel()
	if want := []string{"aggregated", "c1010", "levels", "local-mock"}; !slices.Equal(Names(), want) {
		t.Fatalf("examples %v, want %v", Names(), want)
	}
	nodes := map[string]int{"aggregated": 1, "c1010": 13, "levels": 4, "local-mock": 3}
	for _, name := range Names() {
		recipe, workload, err := Read(name)
		if err != nil {
			t.Fatal(err)
		}
		r, found := recipes.ParseRecipe(name+".yaml", recipe)
		w, more := recipes.ParseWorkload(name+workloadSuffix, workload)
		rep := check.Run(check.Files{Recipe: r, Workload: w}, check.Host{})
		for _, d := range slices.Concat(found, more, rep.Diagnostics) {
			if d.Severity != recipes.Note {
				t.Errorf("%s (fix %s)", d, d.Fix)
			}
		}
		if rep.Estimate == nil || rep.Estimate.Nodes != nodes[name] || r.Schema != 2 {
			t.Errorf("%s: layout %d, estimate %+v, want %d nodes", name, r.Schema, rep.Estimate, nodes[name])
		}
		if n := bytes.Count(recipe, []byte("#")); n < 5 || recipe[0] != '#' {
			t.Errorf("%s is not documented in its comments: %d of them", name, n)
		}
	}
	if _, _, err := Read("nope"); err == nil {
		t.Error("an unknown example must be an error")
	}
}
