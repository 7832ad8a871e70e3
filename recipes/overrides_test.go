package recipes

import (
	"slices"
	"strings"
	"testing"
)

// family is a file with a base of layout 2, whose layout is given next to base.
const family = `schema: 2
base:
  name: a1
  model: {path: /m, container: /c.sqsh, precision: fp4}
  resources: {gpu_type: gb300, gpus_per_node: 4}
  engine: trtllm
  roles: {agg: {nodes: 1, workers: 1}}
  frontend: {enable_multiple_frontends: false}
  dynamo: {install: false}
override_big: {health_check: {max_attempts: 300}}
override_bug: {health_check: {max_attempts: 400}}
zip_override_lv: {roles: {agg: {args: {max_batch_size: [8, 16]}}}}
`

func TestSelectors(t *testing.T) {
	t.Parallel()
	all := []string{"override_big", "override_bug", "zip_override_lv[0]", "zip_override_lv[1]"}
	for selector, want := range map[string][]string{
		"":                   all,
		"base":               {"base"},
		"override_big":       {"override_big"},
		"zip_override_lv":    {"zip_override_lv[0]", "zip_override_lv[1]"},
		"zip_override_lv[1]": {"zip_override_lv[1]"},
		"override_bi?":       {"override_big"},
		"override_*":         {"override_big", "override_bug"},
		"zip_override_l?":    {"zip_override_lv[0]", "zip_override_lv[1]"},
		"*":                  all,
		"b*":                 nil, // patterns never match the base
		"bas?":               nil,
		"*[1]":               nil, // they are compared with keys, not with entries
		"zip_override_lv[2]": nil,
		"override_b":         nil,
	} {
		got, ds := Variants("a1.yaml", []byte(family), selector)
		if !slices.Equal(selectors(got), want) {
			t.Errorf("%q selects %v, want %v", selector, selectors(got), want)
		}
		if (ds.Errors() > 0) != (want == nil) {
			t.Errorf("%q: %v", selector, ds)
		}
	}
	_, ds := Variants("a1.yaml", []byte(family), "nope")
	want := `no such recipe in the file: "nope" (available: override_big, override_bug, ` +
		`zip_override_lv (zip_override_lv[0] to zip_override_lv[1]), base)`
	if len(ds) != 1 || ds[0].Message != want {
		t.Errorf("got %v, want %s", ds, want)
	}
}

func TestSelectorsOfSweeps(t *testing.T) {
	t.Parallel()
	swept := strings.Replace(family, "override_bug: {", "override_bug: {sweep: {x: [1, 2]}, ", 1)
	for selector, want := range map[string][]string{
		"override_bug":          {"override_bug/sweep[0]", "override_bug/sweep[1]"},
		"override_bu*":          {"override_bug/sweep[0]", "override_bug/sweep[1]"},
		"override_bug/sweep[1]": {"override_bug/sweep[1]"},
	} {
		if got, ds := Variants("f.yaml", []byte(swept), selector); len(ds) > 0 || !slices.Equal(selectors(got), want) {
			t.Errorf("%s selects %v %v, want %v", selector, selectors(got), ds, want)
		}
	}
	inBase := strings.Replace(family, "  name: a1\n", "  name: a1\n  sweep: {x: [1, 2]}\n", 1)
	got, _ := Variants("f.yaml", []byte(inBase), "")
	if len(got) != 8 || slices.Contains(selectors(got), "base/sweep[0]") {
		t.Errorf("a sweep in the base: %v", selectors(got))
	}
	plain := "name: x\nsweep: {x: [1, 2, 3]}\n"
	for selector, n := range map[string]int{"": 3, "sweep": 3, "sweep[2]": 1, "swee?": 3} {
		if got, _ := Variants("f.yaml", []byte(plain), selector); len(got) != n {
			t.Errorf("%q of a plain sweep selects %v", selector, selectors(got))
		}
	}
}

func TestLayoutNextToBase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, selector, message string }{
		{"A1", family, "override_big", ""},
		{"A1", family, "zip_override_lv[1]", ""},
		{"A1", family, "base", ""},
		{
			"a recipe with a layout keeps it", strings.Replace(family, "override_big: {", "override_big: {schema: 1, ", 1),
			"override_big", "a field of layout 2",
		},
		{"an unknown layout", strings.Replace(family, "schema: 2", "schema: 3", 1), "base", "unknown layout"},
		{"other keys", "name: x\n" + family, "base", "has no effect next to base"},
		{"lock data", "lock: {x: 1}\n" + family, "base", ""},
	} {
		r, _, ds := Select("f.yaml", []byte(c.text), c.selector)
		if c.message == "" && (r == nil || r.Schema != 2 || len(ds) > 0) ||
			c.message != "" && (len(ds) == 0 || !strings.Contains(ds[0].Message, c.message)) {
			t.Errorf("%s, %s: got %v, want %q", c.name, c.selector, ds, c.message)
		}
	}
	if _, _, ds := Select("f.yaml", []byte("x: 1\n"+family), "base"); ds.Errors() > 0 || ds.Warnings() != 1 {
		t.Errorf("an unknown key next to base: %v, want a warning", ds)
	}
	if got := LayoutOf([]byte(family)); got != 2 {
		t.Errorf("layout %d", got)
	}
}

func TestZipNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, group string
		want        []string
	}{
		{"none", "{health_check: {max_attempts: [1, 2]}}", []string{"a1_lv_0", "a1_lv_1"}},
		{"a scalar is replaced", "{name: x, health_check: {max_attempts: [1, 2]}}", []string{"a1_lv_0", "a1_lv_1"}},
		{"a list", "{name: [x, y], health_check: {max_attempts: [1, 2]}}", []string{"x", "y"}},
		{"a list of one", "{name: [x], health_check: {max_attempts: [1, 2]}}", []string{"x", "x"}},
		{"the list of names alone", "{name: [x, y, z]}", []string{"x", "y", "z"}},
	} {
		text := family[:strings.Index(family, "zip_")] + "zip_override_lv: " + c.group + "\n"
		all, ds := Variants("f.yaml", []byte(text), "zip_override_lv")
		var names []string
		for _, v := range all {
			r, _, more := v.Load(nil)
			ds, names = append(ds, more...), append(names, r.Name)
		}
		if len(ds) > 0 || !slices.Equal(names, c.want) {
			t.Errorf("%s: %v %v, want %v", c.name, names, ds, c.want)
		}
	}
}

// A list in a list is the value of one recipe.
func TestListsInZipLists(t *testing.T) {
	t.Parallel()
	text := strings.Replace(family, "max_batch_size: [8, 16]", "cuda_graph_sizes: [[1, 2]], x: [[3], [4, 5]]", 1)
	all, _ := Variants("f.yaml", []byte(text), "zip_override_lv")
	var got []string
	for _, v := range all {
		r, _, ds := v.Load(nil)
		config, err := r.Agg.Text()
		if err != nil || len(ds) > 0 {
			t.Fatal(err, ds)
		}
		got = append(got, config)
	}
	want := []string{
		"cuda_graph_sizes:\n  - 1\n  - 2\nx:\n  - 3\n", "cuda_graph_sizes:\n  - 1\n  - 2\nx:\n  - 4\n  - 5\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A finding about an entry of a zip list names the entry, so that a fix does not replace the list.
func TestFindingsInZipListsNameTheEntry(t *testing.T) {
	t.Parallel()
	text := strings.Replace(family, "{roles: {agg: {args: {max_batch_size: [8, 16]}}}}",
		"{environment: {A: [\"1\", 2]}, resources: {gpu_type: [gb200]}, extra_mount: [[a, 1], [b, c]]}", 1)
	_, _, ds := Select("f.yaml", []byte(text), "zip_override_lv[1]")
	if len(ds) != 1 || ds[0].Path != "zip_override_lv.environment.A[1]" || ds[0].Edit.Path != ds[0].Path {
		t.Errorf("got %v", ds)
	}
	_, _, ds = Select("f.yaml", []byte(text), "zip_override_lv[0]")
	if len(ds) != 1 || ds[0].Path != "zip_override_lv.extra_mount[0]" {
		t.Errorf("got %v", ds)
	}
}

// The path of a finding about a merged key or an alias is the one at which it is written.
func TestFindingsBehindAliasesHaveThePathInTheFile(t *testing.T) {
	t.Parallel()
	text := `name: a
model: {path: /m, container: /c.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4, prefill_nodes: 1, prefill_workers: 1, decode_nodes: 1, decode_workers: 1}
environment: &e
  A: 1
backend:
  type: trtllm
  prefill_environment: *e
  decode_environment:
    <<: *e
    B: 2
`
	_, ds := ParseRecipe("f.yaml", []byte(text))
	var paths []string
	for _, d := range ds {
		paths = append(paths, d.Path)
		if d.Edit == nil || d.Edit.Path != d.Path {
			t.Errorf("%s: the suggested change is %+v", d.Path, d.Edit)
		}
	}
	if want := []string{"environment.A", "backend.decode_environment.B"}; !slices.Equal(paths, want) {
		t.Errorf("got %v %v, want %v", paths, ds, want)
	}
}
