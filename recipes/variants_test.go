package recipes

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func corpusFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("edit/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func selectors(vs []Variant) []string {
	var out []string
	for _, v := range vs {
		out = append(out, v.Selector)
	}
	return out
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	data := corpusFile(t, "overrides.yaml")
	all, ds := Variants("o.yaml", data, "")
	if want := []string{
		"override_big", "override_named", "zip_override_batch[0]", "zip_override_batch[1]",
	}; len(ds) > 0 || !slices.Equal(selectors(all), want) {
		t.Fatalf("got %v %v, want %v", selectors(all), ds, want)
	}
	if some, _ := Variants("o.yaml", data, "zip_*"); len(some) != 2 {
		t.Errorf("zip_*: %v", selectors(some))
	}
	for _, c := range []struct {
		selector, name string
		levels         []int
		prefill, batch int
	}{
		{"base", "family", []int{64}, 1, 16},
		{"override_big", "family_big", []int{64, 128}, 2, 16},
		{"override_named", "own-name", []int{64}, 1, 0},
		{"zip_override_batch[0]", "family_batch_0", []int{16}, 1, 8},
		{"zip_override_batch[1]", "family_batch_1", []int{32}, 1, 32},
	} {
		r, text, ds := Select("o.yaml", data, c.selector)
		if r == nil || ds.Errors() > 0 {
			t.Fatalf("%s: %v", c.selector, ds)
		}
		batch, _ := r.Prefill.ArgInt("max_batch_size")
		if r.Name != c.name || !slices.Equal(r.Benchmark.Levels, c.levels) || r.Prefill.Workers != c.prefill ||
			batch != c.batch {
			t.Errorf("%s: name %s levels %v workers %d batch %d", c.selector, r.Name, r.Benchmark.Levels, r.Prefill.Workers,
				batch)
		}
		again, ds := ParseRecipe("resolved.yaml", text)
		if len(ds) > 0 {
			t.Fatalf("%s resolved: %v\n%s", c.selector, ds, text)
		}
		if d := DiffRecipes(r, again); d.Identical != d.Total {
			t.Errorf("%s and its text differ: %+v", c.selector, d.Differences)
		}
	}
	if r, ds := ParseRecipe("o.yaml", data); r != nil || ds.Errors() != 1 ||
		!strings.Contains(ds[0].Message, "4 recipes: override_big") {
		t.Errorf("a file with several recipes, without a selector: %v", ds)
	}
	if _, ds := Variants("o.yaml", data, "nope"); ds.Errors() != 1 || !strings.Contains(ds[0].Message, "override_named") {
		t.Errorf("an unknown selector: %v", ds)
	}
}

// Findings about a variant have the line and the path in the file.
func TestVariantFindingsHavePositionsInTheFile(t *testing.T) {
	t.Parallel()
	data := []byte(strings.NewReplacer("      nodes: 2\n", "      nodez: 2\n", "frontend: {",
		"frontend: {x: 1, ").Replace(string(corpusFile(t, "overrides.yaml"))))
	_, _, ds := Select("o.yaml", data, "override_big")
	var got []string
	for _, d := range ds {
		got = append(got, d.String())
	}
	want := []string{
		"o.yaml:12:14: error: base.frontend.x: unknown to this version",
		`o.yaml:22:7: error: override_big.roles.prefill.nodez: unknown to this version; did you mean "nodes"?`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	data := corpusFile(t, "sweep1.yaml")
	all, ds := Variants("s.yaml", data, "")
	if len(ds) > 0 || len(all) != 4 {
		t.Fatalf("got %v %v", selectors(all), ds)
	}
	r, text, ds := Select("s.yaml", data, "sweep[2]")
	if r == nil || len(ds) > 0 {
		t.Fatal(ds)
	}
	env, _ := r.Agg.Env.Get("BATCH")
	if r.Name != "swept_batch16_levels1x2" || env != "16" || !slices.Equal(r.Benchmark.Levels, []int{1, 2}) ||
		r.Benchmark.ConfigPath != "/ap/w-16.yaml" {
		t.Errorf("got %s, BATCH %s, levels %v, config %s", r.Name, env, r.Benchmark.Levels, r.Benchmark.ConfigPath)
	}
	if strings.Contains(string(text), "sweep:") || strings.Contains(string(text), "{batch}") {
		t.Errorf("the text still has a sweep or placeholders:\n%s", text)
	}
}

func TestVariantsRejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 1000), ",") + "]"
	for _, c := range []struct{ name, text, message string }{
		{"huge sweep", "name: x\nsweep: {a: " + list + ", b: " + list + ", c: " + list + "}\n", "more than 512"},
		{"sweep without values", "name: x\nsweep: {a: []}\n", "list of values"},
		{"sweep is not a mapping", "name: x\nsweep: 5\n", "expected a mapping"},
		{"zip lengths", "base: {name: x}\nzip_override_a: {b: [1, 2], c: [1, 2, 3]}\n", "another list has 2"},
		{"override is not a mapping", "base: {name: x}\noverride_a: 5\n", "expected a mapping"},
		{"zip without a list", "base: {name: x}\nzip_override_a: {b: 1, c: {d: 2}}\n", "no list"},
		{"zip with an empty list", "base: {name: x}\nzip_override_a: {b: [], c: [1]}\n", "list of 0 entries"},
	} {
		if _, ds := Variants("f.yaml", []byte(c.text), ""); ds.Errors() == 0 || !strings.Contains(ds[0].Message, c.message) {
			t.Errorf("%s: got %v, want %q", c.name, ds, c.message)
		}
	}
}

// Recipes for engines and benchmarks that this program does not run load without errors.
func TestRecipesOfOtherEnginesLoad(t *testing.T) {
	t.Parallel()
	text := func(engine, bench, more string) string {
		return "name: x\nmodel: {path: /m, container: c, precision: fp8}\n" +
			"resources: {gpu_type: h100, gpus_per_node: 8, agg_nodes: 1, agg_workers: 1}\n" +
			"backend: {type: " + engine + ", own_key: 1}\nbenchmark: {type: " + bench + more + "}\n"
	}
	for _, engine := range []string{"sglang", "vllm", "mocker"} {
		for _, bench := range []string{
			"manual", "custom", "gpqa", "gsm8k", "lm-eval", "longbenchv2", "mmlu", "mooncake-router", "router", "sa-bench",
			"sglang-bench", "trace-replay",
		} {
			r, ds := ParseRecipe("r.yaml", []byte(text(engine, bench, ", own: [1]")))
			if r == nil || len(ds) != 1 || ds[0].Severity != Note || ds[0].Rule != "foreign" ||
				!strings.Contains(ds[0].Message, "backend.own_key, benchmark.own") {
				t.Errorf("%s with %s: %v", engine, bench, ds)
			}
		}
	}
	if _, ds := ParseRecipe("r.yaml", []byte(text("trtllm", "agentperf", ", own: 1"))); ds.Errors() != 2 {
		t.Errorf("unknown keys of a supported engine and benchmark: %v, want 2 errors", ds)
	}
	if _, ds := ParseRecipe("l.yaml", corpusFile(t, "lock2.yaml")); len(ds) > 0 {
		t.Errorf("a lockfile: %v", ds)
	}
	if r, ds := ParseRecipe("s.yaml", corpusFile(t, "sglang1.yaml")); ds.Errors() > 0 || r.Agg.Args == nil {
		t.Errorf("sglang: %v", ds)
	}
}
