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

// The checks of an engine hold behind any frontend, runs behind its own alone.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine, frontend string
		known, runs      bool
	}{
		{"trtllm", "dynamo", true, true},
		{"trtllm", "trtllm_serve", true, false},
		{"sglang", "dynamo", false, false},
	} {
		b, runs := List(nil).For(recipe(t, c.engine, c.frontend))
		if (b != nil) != c.known || runs != c.runs {
			t.Errorf("%s behind %s: %v, runs %v", c.engine, c.frontend, b, runs)
		}
	}
	if got := All().String(); got != "trtllm behind dynamo" {
		t.Errorf("%q", got)
	}
}

func TestEnvKeepsOneOfEachName(t *testing.T) {
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

// Whatever a worker calls itself, it is counted for its role.
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

// What a backend adds to the table of rules is found by its ID.
func TestRulesHaveIDs(t *testing.T) {
	t.Parallel()
	for _, r := range All().Rules() {
		if r.ID == "" || r.Severity == "" || r.Pitfall == "" || r.Fix == "" {
			t.Errorf("%+v is not whole", r)
		}
	}
}
