package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/testdata/golden"
)

func TestRulesAreComplete(t *testing.T) {
	t.Parallel()
	known, numbers := map[string]bool{}, map[int]bool{}
	for _, r := range Rules() {
		numbers[r.Number] = true
		if r.ID != "" && known[r.ID] {
			t.Errorf("duplicate rule %s", r.ID)
		}
		known[r.ID] = true
		if (r.ID == "") != (r.Unknown != "") || (r.ID == "") != (r.Fix == "") || r.Pitfall == "" || r.Area == "" {
			t.Errorf("rule %d %s: a field is missing, or only one of id, fix and unknown is set", r.Number, r.ID)
		}
		if ranks := []recipes.Severity{recipes.Error, recipes.Warning, recipes.Note}; r.ID != "" &&
			!slices.Contains(ranks, r.Severity) {
			t.Errorf("%s: severity %q", r.ID, r.Severity)
		}
	}
	for i := 1; i <= 35; i++ {
		if !numbers[i] {
			t.Errorf("pitfall %d has no row", i)
		}
	}
}

// TestEveryRuleHasCase checks that each rule with an ID has a case in ruleCases, and that
// each ID that is reported there has a rule.
func TestEveryRuleHasCase(t *testing.T) {
	t.Parallel()
	known, tested := map[string]bool{}, map[string]bool{}
	for _, r := range Rules() {
		known[r.ID] = true
	}
	for _, c := range ruleCases() {
		tested[c.rule] = true
		for _, d := range c.run(t, c.base()) {
			if d.Rule != "" && !known[d.Rule] {
				t.Errorf("rule %q is reported but not in the table", d.Rule)
			}
		}
	}
	for _, c := range structureCases() {
		tested[c.rule] = true // see TestFindingsHaveRules
	}
	for _, r := range Rules() {
		if r.ID != "" && !tested[r.ID] && r.ID != ruleQuestion { // TestQuestions tests the latter
			t.Errorf("no test case for %s", r.ID)
		}
	}
	if _, ds := recipes.ParseCluster("srtslurm.yaml", []byte("default_container: x\n")); len(ds) != 1 ||
		ds[0].Rule != "cluster-file" || ds[0].Severity != recipes.Error {
		t.Errorf("unknown key of the cluster file: %v", ds)
	}
}

// TestReportedRulesExist checks each rule ID in the source: an ID without a rule would be
// reported without a severity.
func TestReportedRulesExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, r := range Rules() {
		known[r.ID] = true
	}
	call := regexp.MustCompile(`\breport(?:Workload)?\("([^"]*)"|\b(?:Rule\s*(?:=|:)\s*|withRule\()"([^"]*)"`)
	calls := 0
	for _, dir := range []string{".", "..", "../backend"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, m := range call.FindAllStringSubmatch(string(text), -1) {
				calls++
				if id := m[1] + m[2]; !known[id] {
					t.Errorf("%s: rule %q is not in rules.yaml", name, id)
				}
			}
		}
	}
	if calls < 60 {
		t.Errorf("found only %d uses of rules", calls)
	}
}

// TestRulesAreUpToDate compares rules.json with rules.yaml. `make golden` writes it.
func TestRulesAreUpToDate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parseRules(text)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "rules.json", append(out, '\n'))
	var back []recipes.Rule
	if err := json.Unmarshal(out, &back); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rows, back) {
		t.Error("JSON does not preserve the rules")
	}
}

func parseRules(text []byte) (all []recipes.Rule, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	err = dec.Decode(&all)
	return all, err
}

func TestParseRulesRefusesUnknownKeys(t *testing.T) {
	t.Parallel()
	if _, err := parseRules([]byte("- {id: a, bites: b}")); err == nil {
		t.Error("an unknown key is accepted")
	}
}

// structureCase is the structure of a file that a rule reports.
type structureCase struct{ text, selector, rule string }

func structureCases() []structureCase {
	const base = "base: {schema: 2, name: x}\n"
	return []structureCase{
		{"a: [", "", "yaml"},
		{"a: b: c", "", "yaml"},
		{"", "", "yaml"},
		{"- a", "", "yaml"},
		{"name: \"a\\0\"", "", "yaml"},
		{strings.Repeat("[", 1000), "", "yaml"},
		{strings.Repeat("- a\n", 500_000), "", "yaml"},
		{"a: &a [x, x]\nb: &b [*a, *a]\n" + aliases(20), "", "yaml"},
		{"name: x\n---\nname: y\n", "", "yaml"},
		{"name: x\nname: y\n", "", "duplicate-key"},
		{"schema: 3", "", "type"},
		{"trajectory_path: x\nuser_spawn_rate: 1\nphase_timeout_seconds: 1\n", "", "unknown-field"},
		{"name: x", "override_y", "several"},
		{base + "override_a: {name: a}\noverride_b: {name: b}", "", "several"},
		{base + "override_a: {name: a}", "override_z", "several"},
		{base + "override_a: 3", "", "several"},
		{base + "other: 3", "", "unknown-field"},
		{base + "zip_override_a: {name: [a, b], model: {path: [a, b, c]}}", "", "several"},
		{"sweep: 3", "", "several"},
		{"sweep: {a: 3}", "", "several"},
	}
}

// Every finding names its rule, also those about the structure of a file.
func TestFindingsHaveRules(t *testing.T) {
	t.Parallel()
	for _, c := range structureCases() {
		_, _, found := recipes.Select("r.yaml", []byte(c.text), c.selector)
		if !slices.ContainsFunc(found, func(d recipes.Diagnostic) bool { return d.Rule == c.rule }) {
			t.Errorf("%.60q: want a finding of %s, got %v", c.text, c.rule, found)
		}
		for _, d := range found {
			if d.Rule == "" {
				t.Errorf("%.60q: no rule: %v", c.text, d)
			}
		}
	}
}

// aliases returns lists of aliases, each of two of the one before.
func aliases(n int) string {
	var b strings.Builder
	for i := range n {
		last := "b"
		if i > 0 {
			last = fmt.Sprint("c", i-1)
		}
		fmt.Fprintf(&b, "c%d: &c%d [*%s, *%s]\n", i, i, last, last)
	}
	return b.String()
}
