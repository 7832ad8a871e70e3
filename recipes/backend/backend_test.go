package backend

import (
	"slices"
	"strings"
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

// Engine configs get srtctl's defaults for keys that they do not set.
func TestEngineConfigDefaults(t *testing.T) {
	t.Parallel()
	const (
		frontends = "dynamo, enable_multiple_frontends: false"
		direct    = "trtllm_serve, enable_multiple_frontends: false"
	)
	for _, c := range []struct{ frontend, args, want string }{
		{frontends, "", "enable_iter_perf_stats: false\n"},
		{frontends, ", args: {}", "enable_iter_perf_stats: false\n"},
		{frontends, ", args: {z: 1, b: 2}", "b: 2\nenable_iter_perf_stats: false\nz: 1\n"},
		{frontends, ", args: {backend: pytorch}", "backend: pytorch\nenable_iter_perf_stats: false\n"},
		{frontends, ", args: {backend: tensorrt}", "backend: tensorrt\n"},
		{frontends, ", args: {backend: trt}", "backend: trt\n"},
		{frontends, ", args: {enable_iter_perf_stats: yes}", "enable_iter_perf_stats: true\n"},
		{frontends, ", args: {enable_iter_perf_stats: null}", "enable_iter_perf_stats: null\n"},
		{direct, "", "enable_iter_perf_stats: false\nreturn_perf_metrics: true\n"},
		{direct, ", args: {backend: trt}", "backend: trt\nreturn_perf_metrics: true\n"},
		{direct, ", args: {return_perf_metrics: false}", "enable_iter_perf_stats: false\nreturn_perf_metrics: false\n"},
	} {
		text := `schema: 2
name: x
model: {path: /m, container: /c.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4}
engine: trtllm
roles: {agg: {nodes: 1, workers: 1` + c.args + `}}
frontend: {type: ` + c.frontend + `}
benchmark: {type: manual}
`
		r, found := recipes.ParseRecipe("r.yaml", []byte(text))
		if found.Errors() > 0 {
			t.Fatal(found)
		}
		b, _ := All().For(r)
		f, err := b.Config(r, r.Agg)
		if err != nil || f.Name != "trtllm_config_agg.yaml" || f.Text != c.want {
			t.Errorf("%s%s: got %+v, %v, want %s", c.frontend, c.args, f, err, c.want)
		}
		for _, d := range f.Defaults {
			if !strings.Contains(f.Text, d.Name+": "+d.Value+"\n") || strings.Contains(c.args, d.Name) {
				t.Errorf("%s%s: default %+v in %s", c.frontend, c.args, d, f.Text)
			}
		}
	}
}
