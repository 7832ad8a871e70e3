package migrate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
)

// recipesPerPair is the number of generated recipes for each pair of an engine and a benchmark.
const recipesPerPair = 2

// Recipes of all engines and benchmarks have the same meaning after the migration, field by field, and
// all their comments; they load without errors. The expected fields are those of the generator, not of
// the table of fields.
func TestGeneratedRecipes(t *testing.T) {
	t.Parallel()
	n, fields, kept := 0, 0, 0
	for e, engine := range engines {
		for b, bench := range benchmarks {
			for i := range recipesPerPair {
				seed := uint64(1000*e + 10*b + i)
				g := newRecipe(seed, engine, bench)
				text, comments := g.layout1()
				n, fields, kept = n+1, fields+len(g.fields), kept+len(comments)
				checkMigration(t, fmt.Sprintf("%s %s %d", engine, bench, i), text, comments, braces(g.layout2()))
			}
		}
	}
	t.Logf("%d recipes with %d fields and %d comments", n, fields, kept)
	if n < 150 {
		t.Errorf("only %d recipes", n)
	}
}

// checkMigration migrates a file and compares it with the expected content, given as a mapping in
// braces without the schema line.
func checkMigration(t *testing.T, name, text string, comments []string, want string) {
	t.Helper()
	if !strings.Contains(want, "base:") {
		want = "{schema: 2, " + want[1:]
	}
	got, err := Recipe("r.yaml", []byte(text))
	if err != nil {
		t.Errorf("%s: %v in\n%s", name, err, text)
		return
	}
	if diff := cmp.Diff(decode(t, want), decode(t, string(got.Data))); diff != "" {
		t.Errorf("%s: (-want +got):\n%s\n%s\n%s", name, diff, text, got.Data)
	}
	for _, c := range comments {
		if strings.Count(string(got.Data), c+"\n")+strings.Count(string(got.Data), c+"\r\n") != 1 {
			t.Errorf("%s: the comment %q is lost or repeated in\n%s", name, c, got.Data)
		}
	}
	if strings.Contains(text, "\r\n") != strings.Contains(string(got.Data), "\r\n") ||
		strings.Count(string(got.Data), "\n") != strings.Count(string(got.Data), "\r\n") && strings.Contains(text, "\r\n") {
		t.Errorf("%s: the line endings differ", name)
	}
	all, found := recipes.Variants("r.yaml", got.Data, "")
	for _, v := range all {
		r, _, more := v.Load(got.Data)
		if found = append(found, more...); r == nil || r.Schema != 2 || found.Errors() > 0 {
			t.Errorf("%s: %s loads with %v", name, v.Selector, found)
		}
	}
	if len(all) == 0 {
		t.Errorf("%s: %v", name, found)
	}
}

// decode returns the value of a YAML file.
func decode(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// The plans of a recipe and of its migration are the same.
func TestPlansOfMigratedRecipes(t *testing.T) {
	t.Parallel()
	planned := 0
	for seed := range uint64(80) {
		g := newRecipe(20_000+seed, "trtllm", "agentperf")
		text, _ := g.layout1()
		got, err := Recipe("r.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		old, ds := recipes.ParseRecipe("r.yaml", []byte(text))
		migrated, more := recipes.ParseRecipe("r.yaml", got.Data)
		if ds.Errors()+more.Errors() > 0 {
			t.Fatal(ds, more)
		}
		a, err := plan.Build(plan.Request{Recipe: old, Target: plan.Slurm, OutputDir: "/out"})
		if err != nil {
			continue // such as a frontend that is not run here
		}
		b, err := plan.Build(plan.Request{Recipe: migrated, Target: plan.Slurm, OutputDir: "/out"})
		if err != nil {
			t.Errorf("%d: %v", seed, err)
			continue
		}
		planned++
		for _, p := range []*plan.Plan{a, b} { // the paths in the recipe differ
			for i := range p.Files {
				p.Files[i].Source = ""
			}
			for i := range p.Mounts {
				p.Mounts[i].Source = ""
			}
			for _, s := range p.Steps {
				for i := range s.Env {
					s.Env[i].Origin, s.Env[i].Overrides = "", ""
				}
			}
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%d: %s\n%s", seed, diff, text)
		}
	}
	if planned < 20 {
		t.Errorf("only %d recipes have a plan", planned)
	}
}
