package edit

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
)

const family = `# All recipes.
schema: 2
base:
  name: a1 # the base
  model: {path: /m, container: /c.sqsh, precision: fp4}
  resources: {gpu_type: gb300, gpus_per_node: 4}
  engine: trtllm
  roles:
    agg: {nodes: 1, workers: 1, args: {max_batch_size: 4, x: 1}}
  frontend: {enable_multiple_frontends: false}
  dynamo: {install: false}
  extra_mount: ["/a:/a"]
override_big:
  health_check: {max_attempts: 300} # longer
  extra_mount: ["/a:/a", "/b:/b"]
override_engine:
  engine: vllm
  frontend: null
zip_override_lv:
  roles: {agg: {args: {max_batch_size: [8, 16], x: 3}}}
  health_check: [{max_attempts: 1}, {max_attempts: 2}]
`

// An edit of a file with a base changes the field in each recipe of the file, and nothing else.
func TestApplyToAll(t *testing.T) {
	t.Parallel()
	set := func(path, value string) recipes.Edit {
		return recipes.Edit{Op: recipes.OpSet, Path: path, Value: value}
	}
	unset := func(path string) recipes.Edit { return recipes.Edit{Op: recipes.OpUnset, Path: path} }
	for _, c := range []struct {
		name string
		edit recipes.Edit
		// want is the text of the field in each recipe that has the base's frontend; empty: none
		want string
		// canonical is the path by which the field is compared
		canonical string
	}{
		{"new field", set("benchmark.concurrency", "5"), "5", "benchmark.concurrency"},
		{"field of the base", set("model.precision", "fp8"), "fp8", "model.precision"},
		{"field of an override", set("health_check.max_attempts", "7"), "7", "health_check.max_attempts"},
		{
			"field in a zip list", set("roles.agg.args.max_batch_size", "32"), "32",
			"backend.trtllm_config.aggregated.max_batch_size",
		},
		{
			"list in a zip list", set("roles.agg.args.max_batch_size", "[1, 2]"), "[1, 2]",
			"backend.trtllm_config.aggregated.max_batch_size",
		},
		{"list in a zip override", set("roles.agg.args.x", "[1, 2]"), "[1, 2]", "backend.trtllm_config.aggregated.x"},
		{"a list", set("extra_mount", `["/c:/c"]`), "[/c:/c]", "extra_mount"},
		{"remove a field of the base", unset("dynamo.install"), "", "dynamo.install"},
		{"remove a field of an override", unset("health_check.max_attempts"), "", "health_check.max_attempts"},
		{"remove a zip list", unset("roles.agg.args.max_batch_size"), "", "backend.trtllm_config.aggregated.max_batch_size"},
		{"remove a list", unset("extra_mount"), "", "extra_mount"},
		{"name", set("name", "same"), "same", "name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := ApplyToAll([]byte(family), []recipes.Edit{c.edit})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(out), "#") != 3 {
				t.Errorf("a comment is lost:\n%s", out)
			}
			before, after := loadAll(t, []byte(family)), loadAll(t, out)
			if len(before) != 5 || len(after) != 5 {
				t.Fatalf("%d recipes before and %d after:\n%s", len(before), len(after), out)
			}
			for i, b := range before {
				got := ""
				for _, l := range after[i].Leaves() {
					if l.Canonical == c.canonical {
						got = l.Value
					}
				}
				want := c.want
				if c.canonical == "name" { // recipes without a name of their own have a suffix
					want += strings.TrimPrefix(b.Name, "a1")
				}
				if got != want {
					t.Errorf("recipe %s has %q, want %q:\n%s", b.Name, got, want, out)
				}
				for _, d := range recipes.DiffRecipes(b, after[i]).Differences {
					if d.Path != c.canonical && d.Path != "name" {
						t.Errorf("recipe %s: %s changed", b.Name, d.Path)
					}
				}
			}
		})
	}
}

// loadAll returns the recipes of a file, the base last.
func loadAll(t *testing.T, data []byte) []*recipes.Recipe {
	t.Helper()
	var out []*recipes.Recipe
	for _, selector := range []string{"override_*", "zip_override_*", "base"} {
		all, ds := recipes.Variants("f.yaml", data, selector)
		if len(ds) > 0 {
			t.Fatalf("%v:\n%s", ds, data)
		}
		for _, v := range all {
			r, _, _ := v.Load(data)
			out = append(out, r)
		}
	}
	return out
}

func TestApplyToAllInPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in, want string
		edit           recipes.Edit
	}{
		{
			"short engine", family, strings.NewReplacer("engine: trtllm", "engine: {type: trtllm, numa_cpu_bind: true}",
				"engine: vllm", "engine: {type: vllm, numa_cpu_bind: true}").Replace(family),
			recipes.Edit{Op: recipes.OpSet, Path: "engine.numa_cpu_bind", Value: "true"},
		},
		{
			"one override", family, strings.Replace(family, "max_attempts: 300", "max_attempts: 9", 1),
			recipes.Edit{Op: recipes.OpSet, Path: "override_big.health_check.max_attempts", Value: "9"},
		},
		{
			"base only", family, strings.Replace(family, "x: 1", "x: 9", 1),
			recipes.Edit{Op: recipes.OpSet, Path: "base.roles.agg.args.x", Value: "9"},
		},
		{
			"a mapping in a zip list", family,
			strings.NewReplacer("[\"/a:/a\"]\n", "[\"/a:/a\"]\n  health_check:\n    max_attempts: 9\n",
				"attempts: 300", "attempts: 9", "attempts: 1", "attempts: 9", "attempts: 2", "attempts: 9").Replace(family),
			recipes.Edit{Op: recipes.OpSet, Path: "health_check.max_attempts", Value: "9"},
		},
		{
			"entry of a list", family, strings.ReplaceAll(family, "[\"/a:/a\"", "[/z:/z"),
			recipes.Edit{Op: recipes.OpSet, Path: "extra_mount[0]", Value: "/z:/z"},
		},
		{
			"remove an entry of a list", family, strings.NewReplacer("[\"/a:/a\"]", "[]", "\"/a:/a\", ", "").Replace(family),
			recipes.Edit{Op: recipes.OpUnset, Path: "extra_mount[0]"},
		},
		{
			"one recipe", "name: x\n", "name: y\n", recipes.Edit{Op: recipes.OpSet, Path: "name", Value: "y"},
		},
		{
			"merged field", "base: {name: x}\noverride_a: &a {y: 1}\noverride_b: {<<: *a, z: 1}\n",
			"base: {name: x, y: 2}\noverride_a: &a {y: 2}\noverride_b: {<<: *a, z: 1, y: 2}\n",
			recipes.Edit{Op: recipes.OpSet, Path: "y", Value: "2"},
		},
	} {
		got, err := ApplyToAll([]byte(c.in), []recipes.Edit{c.edit})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
}

func TestApplyToAllRefuses(t *testing.T) {
	t.Parallel()
	merged := "base: {name: x}\noverride_a: &a {y: {z: 1}}\noverride_b: {<<: *a}\n"
	for _, c := range []struct{ name, in, op, path, want string }{
		{"no such entry", family, "unset", "nope", "no recipe of the file has such an entry"},
		{"below a removed field", family, "set", "frontend.type", "line 18: override_engine.frontend is removed here"},
		{"field below a merged one", merged, "set", "y.z", "override_b.y comes from a merge key"},
		{"removal of a merged field", merged, "unset", "y", "override_b.y comes from a merge key"},
		{"below a scalar", family, "set", "name.x", "not a mapping"},
		{"invalid path", family, "set", "a..b", "a key is missing"},
		{"invalid value", family, "set", "name", "not valid YAML"},
	} {
		value := "dynamo"
		if c.name == "invalid value" {
			value = "{"
		}
		out, err := ApplyToAll([]byte(c.in), []recipes.Edit{{Op: recipes.Op(c.op), Path: c.path, Value: value}})
		if err == nil || !strings.Contains(err.Error(), c.want) || out != nil {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
