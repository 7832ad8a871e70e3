package check

import (
	"bytes"
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
)

//go:embed rules.yaml
var rulesYAML []byte

// rules returns the rows of rules.yaml: the rules that apply to every backend. The file
// is embedded, so an error in it is a bug.
var rules = sync.OnceValue(func() []recipes.Rule {
	all, err := parseRules(rulesYAML)
	if err != nil {
		panic("recipes/check/rules.yaml: " + err.Error())
	}
	return all
})

func parseRules(data []byte) ([]recipes.Rule, error) {
	var all []recipes.Rule
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	err := dec.Decode(&all)
	for i := range all {
		all[i].Fix = strings.ReplaceAll(all[i].Fix, "{backends}", backend.All().String())
	}
	return all, err
}

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
