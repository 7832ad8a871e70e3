package reference

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/testdata/golden"
)

// markdown is recipes/REFERENCE.md.
func markdown() string {
	var b strings.Builder
	b.WriteString("# Reference of recipe, workload and cluster file\n\n")
	b.WriteString("Written from the tables in `recipes/schema` and `recipes/check` by `make golden`.\n")
	b.WriteString("`agentperf-tui explain NAME` shows one field, one rule of `check` or one error.\n\n")
	titles := map[string]string{
		"recipe": "Recipe", "workload": "Workload file (`benchmark.agentperf_config`)",
		"cluster": "Cluster file (`srtslurm.yaml`)",
	}
	section := ""
	for _, e := range all() {
		if e.File != section {
			section = e.File
			b.WriteString("## " + titles[section] + "\n\n")
			if section == "recipe" {
				b.WriteString("Layout 1 has another path where one is given in brackets; a path that only one layout has says " +
					"so.\n\n")
			}
			b.WriteString("| field | type | default | allowed | meaning | careful |\n| --- | --- | --- | --- | --- | --- |\n")
		}
		b.WriteString(row(e))
		if e.File == "recipe" && e.Path == "lock" || e.Path == "results_dir" || e.Path == "docker_args" {
			b.WriteString("\n")
		}
	}
	b.WriteString("## What bites\n\nThe rule is the name that `check` reports; without one it can't be known before " +
		"submit. `TestEachRule` in\n`recipes/check` shows each of them, under its name.\n\n")
	b.WriteString("| # | area | what bites | rule | severity | what is right, or why it can't be known |\n" +
		"| --- | --- | --- | --- | --- | --- |\n")
	for _, others := range []bool{false, true} {
		if others {
			b.WriteString("\nOther rules:\n\n| area | what bites | rule | severity | what is right |\n" +
				"| --- | --- | --- | --- | --- |\n")
		}
		for _, r := range check.Rules() {
			rule, last := "`"+r.ID+"`", r.Fix
			if r.ID == "" {
				rule, last = "-", r.Unknown
			}
			if row := fmt.Sprintf("| %s | %s | %s | %s | %s |\n", r.Area, r.Pitfall, rule, r.Severity,
				last); r.Number == 0 == others {
				if !others {
					row = fmt.Sprintf("| %d ", r.Number) + row
				}
				b.WriteString(row)
			}
		}
	}
	fmt.Fprintf(&b, "\n## Errors\n\nThe id stands in brackets at the end of an error message, and in the `id` of its JSON "+
		"form. %d ids:\n\n| id | error | cause | remedy |\n| --- | --- | --- | --- |\n", len(problem.All()))
	for _, e := range problem.All() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.ID, e.Title, e.Cause, e.Remedy)
	}
	return b.String()
}

// row is a field in the table.
func row(e Entry) string {
	path := "`" + e.Path + "`"
	switch {
	case e.Layout1 == "":
		path += " (layout 2 only)"
	case e.Layout2 == "":
		path += " (layout 1 only)"
	case e.Layout1 != e.Layout2:
		path += " (`" + e.Layout1 + "`)"
	}
	kind, def := e.Type, e.Default
	if e.Unit != "" {
		kind += ", " + e.Unit
	}
	switch {
	case e.Required:
		def = "**required**"
	case def != "":
		def = "`" + def + "`"
	case e.Nullable:
		def = "null"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", path, kind, def, e.Allowed,
		strings.ReplaceAll(e.Doc, "<", "&lt;"), strings.ReplaceAll(e.Pitfall, "<", "&lt;"))
}

func TestReferenceIsFresh(t *testing.T) {
	t.Parallel()
	golden.Equal(t, "../REFERENCE.md", markdown())
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		word, first string
		n           int
		nearest     string
	}{
		{"benchmark.agentperf_config", "benchmark.agentperf_config", 1, ""},
		{"resources.prefill_workers", "roles.prefill.workers", 1, ""},
		{"roles.prefill.workers", "roles.prefill.workers", 1, ""},
		{"environment.UCX_TLS", "environment", 1, ""},
		{"health_check", "health_check.max_attempts", 4, ""},
		{"user_spawn_rate", "user_spawn_rate", 1, ""},
		{"prefill_workers", "roles.prefill.workers", 1, ""},
		{"default_mounts", "default_mounts", 1, ""},
		{"prefil_workers", "", 0, "prefill_workers"},
		{"benchmark.agentperf_confg", "", 0, "benchmark.agentperf_config"},
		{"zzzzzzzzzzzz", "", 0, ""},
	} {
		a := Explain(c.word)
		if len(a.Entries) != c.n || c.n > 0 && a.Entries[0].Path != c.first || a.Nearest != c.nearest || a.Rule != nil {
			t.Errorf("%s: %+v", c.word, a)
		}
	}
	if a := Explain("parser-flag"); a.Rule == nil || a.Rule.Number != 28 {
		t.Errorf("a rule: %+v", a)
	}
	if a := Explain(""); len(a.Entries) < 200 {
		t.Errorf("everything: %d fields", len(a.Entries))
	}
}

func TestIDsAreUnique(t *testing.T) {
	t.Parallel()
	rules := map[string]bool{}
	for _, r := range check.Rules() {
		rules[r.ID] = true
	}
	for _, e := range problem.All() {
		a := Explain(string(e.ID))
		if a.Error == nil || a.Error.ID != e.ID {
			t.Errorf("%s: explained as %+v", e.ID, a)
		}
		if rules[string(e.ID)] {
			t.Errorf("%s is the id of a rule and of an error", e.ID)
		}
		for _, f := range all() {
			if f.Layout1 == string(e.ID) || f.Layout2 == string(e.ID) {
				t.Errorf("%s is the id of an error and a field", e.ID)
			}
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	got := Explain("resources.decode_nodes").Entries[0].Text()
	want := `roles.decode.nodes  (recipe)
           nodes over all decode workers
  type     int or colocate, or null
  allowed  ≥ 0
  layout 1 resources.decode_nodes
  layout 2 roles.decode.nodes
  careful  0 (layout 1) or colocate (layout 2) shares the prefill nodes: ` +
		"give the GPUs of both roles, and see that they fit\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
