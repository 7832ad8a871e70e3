package check

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
)

// rulesJSON has the rows of rules.yaml. A test writes it from rules.yaml, since reading YAML takes
// longer.
//
//go:embed rules.json
var rulesJSON []byte

// rules returns the rules that apply to every backend. rules.json is embedded, so an error in it is
// a bug.
var rules = sync.OnceValue(func() []recipes.Rule {
	var all []recipes.Rule
	if err := json.Unmarshal(rulesJSON, &all); err != nil {
		panic("recipes/check/rules.json: " + err.Error())
	}
	for i := range all {
		all[i].Fix = strings.ReplaceAll(all[i].Fix, "{backends}", backend.All().String())
	}
	return all
})

// Rules returns all rules, including those of the backends, sorted by number.
func Rules() []recipes.Rule {
	number := func(r recipes.Rule) int { return cmp.Or(r.Number, math.MaxInt) }
	all := slices.Concat(rules(), backend.All().Rules())
	slices.SortStableFunc(all, func(a, b recipes.Rule) int { return cmp.Compare(number(a), number(b)) })
	return all
}

// severities returns the severity of each rule by its ID.
func severities(backends backend.List) map[string]recipes.Severity {
	m := map[string]recipes.Severity{}
	for _, r := range slices.Concat(rules(), backends.Rules()) {
		m[r.ID] = r.Severity
	}
	return m
}
