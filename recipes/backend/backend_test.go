package backend

import (
	"slices"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func recipe(t *testing.T, engine, frontend string) *recipes.Recipe {
	t.Helper()
	r, _ := recipes.ParseRecipe("r.yaml", []byte("name: x\nbackend: {type: "+engine+"}\nfrontend: {type: "+frontend+"}\n"))
	if r == nil {
		t.Fatal("no recipe")
	}
	return r
}

// A backend checks recipes of its engine for any frontend, but runs the engine behind its own only.
func TestFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine, frontend string
		found, supported bool
	}{
		{"trtllm", "dynamo", true, true},
		{"trtllm", "trtllm_serve", true, false},
		{"sglang", "dynamo", false, false},
	} {
		b, supported := List(nil).For(recipe(t, c.engine, c.frontend))
		if (b != nil) != c.found || supported != c.supported {
			t.Errorf("%s behind %s: %v, supported %v", c.engine, c.frontend, b, supported)
		}
	}
	if got := All().String(); got != "trtllm behind dynamo" {
		t.Errorf("%q", got)
	}
}

func TestEnvNamesAreUnique(t *testing.T) {
	t.Parallel()
	var e Env
	e.Set("A", "1", BuiltIn)
	e.Set("B", "2", BuiltIn)
	e.Add(recipes.Env{{Name: "A", Value: "3"}}, "environment")
	want := Env{
		{Name: "B", Value: "2", Origin: BuiltIn},
		{Name: "A", Value: "3", Origin: "environment.A", Overrides: BuiltIn},
	}
	if !slices.Equal(e, want) {
		t.Errorf("got %+v, want %+v", e, want)
	}
}

// Each component name of a worker maps to its role.
func TestComponents(t *testing.T) {
	t.Parallel()
	got := All().Components()
	for name, want := range map[string]schema.Role{
		"prefill": schema.Prefill, "decode": schema.Decode, "backend": schema.Decode, "tensorrt_llm": schema.Decode,
		"frontend": "",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// The rules of all backends are complete.
func TestRulesAreComplete(t *testing.T) {
	t.Parallel()
	for _, r := range All().Rules() {
		if r.ID == "" || r.Severity == "" || r.Pitfall == "" || r.Fix == "" {
			t.Errorf("incomplete rule: %+v", r)
		}
	}
}
