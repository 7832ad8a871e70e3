package recipes

import (
	"os"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// The expected values are from PyYAML 6.0.3.
func TestResolveYAML11(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, tag, value string }{
		{"yes", "!!bool", "true"},
		{"Yes", "!!bool", "true"},
		{"yEs", "!!str", "yEs"},
		{"no", "!!bool", "false"},
		{"on", "!!bool", "true"},
		{"On", "!!bool", "true"},
		{"off", "!!bool", "false"},
		{"y", "!!str", "y"},
		{"n", "!!str", "n"},
		{"true", "!!bool", "true"},
		{"tRue", "!!str", "tRue"},
		{"false", "!!bool", "false"},
		{"null", "!!null", "null"},
		{"~", "!!null", "null"},
		{"nul", "!!str", "nul"},
		{"12:00:00", "!!int", "43200"},
		{"04:00:00", "!!str", "04:00:00"},
		{"1:30", "!!int", "90"},
		{"-1:30", "!!int", "-90"},
		{"12:60", "!!str", "12:60"},
		{"12:5", "!!int", "725"},
		{"1:2:3", "!!int", "3723"},
		{"0:0", "!!str", "0:0"},
		{"190:20:30.15", "!!float", "685230.15"},
		{"+1:30.5", "!!float", "90.5"},
		{"0o14", "!!str", "0o14"},
		{"014", "!!int", "12"},
		{"09", "!!str", "09"},
		{"00", "!!int", "0"},
		{"0_7", "!!int", "7"},
		{"0x1F", "!!int", "31"},
		{"0b11", "!!int", "3"},
		{"0b2", "!!str", "0b2"},
		{"1_000", "!!int", "1000"},
		{"1__0", "!!int", "10"},
		{"_1", "!!str", "_1"},
		{"+1", "!!int", "1"},
		{"-0", "!!int", "0"},
		{"1e-5", "!!str", "1e-5"},
		{"1.0e-5", "!!float", "1e-05"},
		{"1.0e5", "!!str", "1.0e5"},
		{"1.5e+3", "!!float", "1500"},
		{"1e5", "!!str", "1e5"},
		{"2.4e3", "!!str", "2.4e3"},
		{".5", "!!float", "0.5"},
		{"5.", "!!float", "5"},
		{".e5", "!!str", ".e5"},
		{"-.inf", "!!float", "-.inf"},
		{".NaN", "!!float", ".NaN"},
		{"0.10", "!!float", "0.1"},
		{"3.14", "!!float", "3.14"},
		{"1_0.5", "!!float", "10.5"},
		{"2020-01-01", "!!timestamp", "2020-01-01"},
		{"2020-1-1", "!!str", "2020-1-1"},
		{"2020-01-01T10:00:00Z", "!!timestamp", "2020-01-01T10:00:00Z"},
		{"<<", "!!merge", "<<"},
		{"=", "!!value", "="},
		{"-", "!!str", "-"},
		{"+", "!!str", "+"},
		{".", "!!str", "."},
		{"4x", "!!str", "4x"},
		{"None", "!!str", "None"},
		{"1.2.3", "!!str", "1.2.3"},
	} {
		if got := ResolveYAML11(c.text); got.Tag != c.tag || got.Value != c.value {
			t.Errorf("%q: got %s %s, want %s %s", c.text, got.Tag, got.Value, c.tag, c.value)
		}
	}
}

func TestSplitPath(t *testing.T) {
	t.Parallel()
	key := func(k string) PathElement { return PathElement{Key: k, Index: -1} }
	for _, c := range []struct {
		path    string
		want    []PathElement
		message string
	}{
		{"a", []PathElement{key("a")}, ""},
		{"a.b-c.d_e", []PathElement{key("a"), key("b-c"), key("d_e")}, ""},
		{`a."b.c".d`, []PathElement{key("a"), key("b.c"), key("d")}, ""},
		{"a[0][12].b", []PathElement{key("a"), {Index: 0}, {Index: 12}, key("b")}, ""},
		{`"[x]"`, []PathElement{key("[x]")}, ""},
		{"", nil, "a key is missing"},
		{"a..b", nil, "a key is missing"},
		{"a.", nil, "a key is missing"},
		{"[0]", nil, "a key is missing"},
		{"a[x]", nil, "not a whole number"},
		{"a[-1]", nil, "not a whole number"},
		{"a[1", nil, "not a whole number"},
		{"a[1]b", nil, "a dot is missing"},
		{`"a"b`, nil, "a dot is missing"},
	} {
		got, err := SplitPath(c.path)
		if (err == nil) != (c.message == "") || err != nil && !strings.Contains(err.Error(), c.message) ||
			len(got) != len(c.want) {
			t.Errorf("%q: got %v, %v", c.path, got, err)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%q: element %d is %+v, want %+v", c.path, i, got[i], c.want[i])
			}
		}
	}
}

// SplitPath returns the keys that Join has joined.
func FuzzJoinSplit(f *testing.F) {
	for _, k := range []string{"a", "a.b", "", "x[0]", `q"`, "é ", "\x00\xff"} {
		f.Add(k, "z")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		steps, err := SplitPath(Join(Join("", a), b))
		if strings.ToValidUTF8(a+b, "") != a+b {
			return // not possible in a YAML key
		}
		if err != nil || len(steps) != 2 || steps[0].Key != a || steps[1].Key != b {
			t.Errorf("%q and %q: %+v, %v", a, b, steps, err)
		}
	})
}

func TestYAMLValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, typed, want string }{
		{"name", "x", "x"},
		{"name", "1", `"1"`},
		{"name", `"1"`, `"1"`},
		{"name", "on", `"on"`},
		{"name", "a: b", `"a: b"`},
		{"name", "[x", `"[x"`},
		{"name", "", `""`},
		{"slurm.time_limit", "12:00:00", `"12:00:00"`},
		{"slurm.time_limit", "null", "null"},
		{"environment.A", "1", `"1"`},
		{"environment.A", "null", `"null"`},
		{"environment", "{A: x}", "{A: x}"},
		{"engine", "{type: trtllm}", "{type: trtllm}"},
		{"roles.prefill", "{nodes: 1}", "{nodes: 1}"},
		{"roles.prefill.env.A", "1", `"1"`},
		{"roles.prefill.env.A", "a\nb", `"a\nb"`},
		{"roles.prefill.env.A", "|\n  a\n  b", "|\n  a\n  b"},
		{"roles.prefill.args.x", "a\nb", `"a\nb"`},
		{"roles.prefill.args.x", "[1,\n 2]", "[1,\n 2]"},
		{"roles.prefill.args.x", "- 1\n- 2", "- 1\n- 2"},
		{"roles.prefill.args.x", "{y: 1}", `"{y: 1}"`},
		{"roles.prefill.args.x", "y: 1\nz: 2", `"y: 1\nz: 2"`},
		{"frontend.args.x", `{"y": 1}`, `"{\"y\": 1}"`},
		{"frontend.args", "{x: 1}", "{x: 1}"},
		{"zip_override_x.name", "1", `"1"`},
		{"base.environment.A", "1", `"1"`},
		{"override_x.name", "1", `"1"`},
		{"benchmark.concurrency", "64", "64"},
		{"benchmark.concurrencies", "[1, 2]", "[1, 2]"},
		{"roles.prefill.args.x", "1", "1"},
		{"unknown.path", "1", "1"},
	} {
		if got := YAMLValue(schema.Recipe(2), c.path, c.typed); got != c.want {
			t.Errorf("%s=%s: got %s, want %s", c.path, c.typed, got, c.want)
		}
	}
}

func TestLayoutOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"schema: 2": 2, "name: x": 1, "base: {schema: 2}": 2,
		"schema: 2\nbase: {name: x}": 2, "schema: 2\nbase: {schema: 1}": 1, "{": 1, "": 1,
	} {
		if got := LayoutOf([]byte(text)); got != want {
			t.Errorf("%q: layout %d, want %d", text, got, want)
		}
	}
}

// The line of a syntax error is that of the error, not of the enclosing mapping.
func TestSyntaxErrorLine(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("examples/c1010.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	for _, c := range []struct {
		line int
		text string
	}{
		{40, "  badly: indented\n"},
		{60, "      \tx: 1\n"},
		{100, "no colon at all\n"},
		{120, "      a: b: c\n"},
		{30, "      x: [1, 2\n"},
		{150, "   x: 1\n"},
	} {
		broken := strings.Join(lines[:c.line-1], "") + c.text + strings.Join(lines[c.line-1:], "")
		_, ds := Parse("r.yaml", []byte(broken))
		if ds.Errors() == 0 || ds[0].Line < c.line-1 || ds[0].Line > c.line+1 {
			t.Errorf("%q on line %d: %v", c.text, c.line, ds)
		}
	}
}
