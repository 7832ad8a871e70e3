package check

import (
	"slices"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
)

func TestTheTableOfRulesIsWhole(t *testing.T) {
	t.Parallel()
	known, numbers := map[string]bool{}, map[int]bool{}
	for _, r := range Rules() {
		numbers[r.Number] = true
		if r.ID != "" && known[r.ID] {
			t.Errorf("%s twice", r.ID)
		}
		known[r.ID] = true
		if (r.ID == "") != (r.Unknown != "") || (r.ID == "") != (r.Fix == "") || r.Pitfall == "" || r.Area == "" {
			t.Errorf("rule %d %s: a row with a gap", r.Number, r.ID)
		}
		if ranks := []recipes.Severity{recipes.Error, recipes.Warning, recipes.Note}; r.ID != "" &&
			!slices.Contains(ranks, r.Severity) {
			t.Errorf("%s: severity %q", r.ID, r.Severity)
		}
	}
	for i := 1; i <= 35; i++ {
		if !numbers[i] {
			t.Errorf("gotcha %d has no row", i)
		}
	}
}

// Every rule that has a name is shown to be found, and every name that is
// reported is a rule.
func TestEveryRuleIsShown(t *testing.T) {
	t.Parallel()
	known, shown := map[string]bool{}, map[string]bool{}
	for _, r := range Rules() {
		known[r.ID] = true
	}
	for _, c := range ruleCases() {
		shown[c.rule] = true
		for _, d := range c.run(t, recipe) {
			if d.Rule != "" && !known[d.Rule] {
				t.Errorf("rule %q is reported and not in the table", d.Rule)
			}
		}
	}
	for _, r := range Rules() {
		if r.ID != "" && !shown[r.ID] {
			t.Errorf("no test shows %s", r.ID)
		}
	}
	if _, ds := recipes.ParseCluster("srtslurm.yaml", []byte("default_container: x\n")); len(ds) != 1 ||
		ds[0].Rule != "cluster-file" || ds[0].Severity != recipes.Error {
		t.Errorf("an unknown key of the cluster file: %v", ds)
	}
}

func TestTheTableOfRulesIsReadStrictly(t *testing.T) {
	t.Parallel()
	if _, err := parseRules([]byte("- {id: a, gotcha: b}")); err == nil {
		t.Error("an unknown key is taken")
	}
}
