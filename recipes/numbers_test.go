package recipes

import (
	"slices"
	"strings"
	"testing"
)

const plainRecipe = `name: x
model: {path: /m, container: /c.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4, agg_nodes: 1, agg_workers: 1}
backend:
  type: trtllm
  trtllm_config: {aggregated: {max_num_tokens: 1}}
environment: {A: b}
benchmark: {type: manual}
frontend: {args: {a: b}}
`

// Whole numbers of any size are the same in all versions of YAML. A field takes those of 64 bits.
func TestLargeNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, want string }{
		{"max_num_tokens: 1", "max_num_tokens: 18446744073709551616", ""},
		{"max_num_tokens: 1", "max_num_tokens: -99999999999999999999999", ""},
		{"max_num_tokens: 1", "max_num_tokens: 9223372036854775808", ""},
		{"gpus_per_node: 4", "gpus_per_node: 18446744073709551616", " is out of range; expected int ≥ 1 of at most 9"},
		{"gpus_per_node: 4", "gpus_per_node: 9223372036854775808", "9223372036854775808 is out of range"},
		{"gpus_per_node: 4", "gpus_per_node: 0x8000000000000000", "0x8000000000000000 is out of range"},
		{"gpus_per_node: 4", "gpus_per_node: 0x4", ""},
		{"gpus_per_node: 4", "gpus_per_node: 1_0", ""},
	} {
		r, ds := ParseRecipe("r.yaml", []byte(strings.Replace(plainRecipe, c.old, c.new, 1)))
		if c.want == "" && len(ds) > 0 || c.want != "" && (len(ds) != 1 || !strings.Contains(ds[0].Message, c.want)) {
			t.Errorf("%s: got %v, want %q", c.new, ds, c.want)
		}
		if c.old == "max_num_tokens: 1" {
			if text, err := r.Agg.Text(); err != nil || text != c.new+"\n" {
				t.Errorf("%s: the engine gets %s, %v", c.new, text, err)
			}
		}
	}
}

// A whole number of any size is an int where a string is expected.
func TestLargeNumberInStringMap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, want string }{
		{"1", `int "1"`},
		{"18446744073709551616", `int "18446744073709551616"`},
		{"-18446744073709551616", `int "-18446744073709551616"`},
		{"1.5", `float "1.5"`},
		{"1.0e+30", `float "1.0e+30"`},
	} {
		for _, place := range []struct{ old, new, path string }{
			{"{A: b}", "{A: " + c.value + "}", "environment.A"},
			{"name: x", "name: " + c.value, "name"},
		} {
			_, ds := ParseRecipe("r.yaml", []byte(strings.Replace(plainRecipe, place.old, place.new, 1)))
			if len(ds) != 1 || ds[0].Path != place.path || !strings.Contains(ds[0].Message, "got "+c.want) {
				t.Errorf("%s: got %v, want %s", place.new, ds, c.want)
			}
		}
	}
}

// Null is not the text ~: it has no replacement with the same meaning.
func TestNullInStringMap(t *testing.T) {
	t.Parallel()
	for _, null := range []string{"~", "null", ""} {
		_, ds := ParseRecipe("r.yaml", []byte(strings.Replace(plainRecipe, "{A: b}", "\n  A: "+null, 1)))
		if len(ds) != 1 || ds[0].Path != "environment.A" || ds[0].Message != "must be a string, got null" ||
			ds[0].Edit != nil {
			t.Errorf("%q: got %+v", null, ds)
		}
	}
}

// The frontend gets the values that PyYAML reads.
func TestFrontendArgs(t *testing.T) {
	t.Parallel()
	args := `{a: 010, b: 0x10, c: 1_000, d: 12:30:00, e: yes, f: off, g: null, h: ~, i: [1, two], j: {x: 1}, k: "010", ` +
		`l: "yes", m: 0b11, n: 1.0, o: "", p: true, q: False}`
	r, _ := ParseRecipe("r.yaml", []byte(strings.Replace(plainRecipe, "{a: b}", args, 1)))
	want := []Flag{
		{Name: "a", Value: "8"},
		{Name: "b", Value: "16"},
		{Name: "c", Value: "1000"},
		{Name: "d", Value: "45000"},
		{Name: "e", NoValue: true},
		{Name: "i", Value: "[1, 'two']"},
		{Name: "j", Value: "{'x': 1}"},
		{Name: "k", Value: "010"},
		{Name: "l", Value: "yes"},
		{Name: "m", Value: "3"},
		{Name: "n", Value: "1.0"},
		{Name: "o"},
		{Name: "p", NoValue: true},
	}
	if !slices.Equal(r.Frontend.Args, want) {
		t.Errorf("got  %+v\nwant %+v", r.Frontend.Args, want)
	}
}

// A sweep inserts the text that Python prints for the value. An engine gets text.
func TestSweptValues(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("max_num_tokens: 1", `max_num_tokens: "{n}", list: "{l}", both: "{l}/{n}", word: "{w}"`,
		"{A: b}", `{A: "{n}", B: "{b}"}`).Replace(plainRecipe) + "sweep: {n: [010, 1.0], b: [on], l: [[1, 2]], w: [\"8\"]}\n"
	r, _, ds := Select("r.yaml", []byte(text), "sweep[0]")
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	config, err := r.Agg.Text()
	const want = "both: \"[1, 2]/8\"\nlist:\n  - 1\n  - 2\nmax_num_tokens: \"8\"\nword: \"8\"\n"
	if err != nil || config != want {
		t.Errorf("got %s, %v, want %s", config, err, want)
	}
	if a, _ := r.Environment.Get("A"); a != "8" || r.Name != "x_n8_bTrue_l1x2_w8" {
		t.Errorf("environment %v, name %s", r.Environment, r.Name)
	}
	var swept []string
	for _, l := range r.SweptText() {
		swept = append(swept, l.Position.Path+" "+l.Value)
	}
	if want := []string{`backend.trtllm_config.aggregated.max_num_tokens "8"`}; !slices.Equal(swept, want) {
		t.Errorf("swept text %q, want %q", swept, want)
	}
}
