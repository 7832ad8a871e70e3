package edit

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

func TestSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, path, value, want string }{
		{"scalar, comment kept", "a: 1 # one\nb: 2\n", "a", "3", "a: 3 # one\nb: 2\n"},
		{"quotes kept", `a: "x" # c`, "a", "y", `a: "y" # c`},
		{"single quotes kept", "a: 'x'\n", "a", "it's", "a: 'it''s'\n"},
		{"same meaning, other quotes", "a: 'x'\n", "a", "x", "a: 'x'\n"},
		{"quotes asked for", "a: on\n", "a", `"on"`, "a: \"on\"\n"},
		{"number for text", "a: \"1\"\n", "a", "1", "a: 1\n"},
		{"empty value", "a:\nb: 1\n", "a", "x", "a: x\nb: 1\n"},
		{"empty value with comment", "a: # c\nb: 1\n", "a", "x", "a: x # c\nb: 1\n"},
		{"empty value and block", "a: # c\nb: 1\n", "a", "x: 1\ny: 2", "a: # c\n  x: 1\n  y: 2\nb: 1\n"},
		{"block to scalar", "a: # c\n  # d\n  x: 1\n  y: 2 # e\nb: 1\n", "a", "{}", "a: {} # c\n  # d\nb: 1\n"},
		{"scalar to list", "a: 5 # c\nb: 1\n", "a", "- x\n- y", "a: # c\n  - x\n  - y\nb: 1\n"},
		{"list without indentation", "a:\n- x\nb: 1\n", "a", "- y\n- z", "a:\n- y\n- z\nb: 1\n"},
		{"block of literal text", "a: 5 # c\nb: 1\n", "a", "|\n  one\n    two", "a: | # c\n  one\n    two\nb: 1\n"},
		{"literal to string", "a: |\n  x\n\n  y\nb: 1\n", "a", "z", "a: z\nb: 1\n"},
		{"anchor kept", "a: &x 1\nb: *x\n", "a", "2", "a: &x 2\nb: *x\n"},
		{"anchored block", "a: &x\n  k: 1\nb: *x\n", "a", "{k: 2}", "a: &x {k: 2}\nb: *x\n"},
		{"replace alias", "a: &x 1\nb: *x\n", "b", "2", "a: &x 1\nb: 2\n"},
		{"override merged key", "a: &x {k: 1}\nb:\n  <<: *x\n", "b.k", "2", "a: &x {k: 1}\nb:\n  <<: *x\n  k: 2\n"},
		{"in flow", "a: {b: 1, c: [x, y]} # c\n", "a.c[1]", "z, w", "a: {b: 1, c: [x, \"z, w\"]} # c\n"},
		{"flow key without value", "a: {b, c: 1}\n", "a.b", "2", "a: {b: 2, c: 1}\n"},
		{"block value in flow", "a: {b: 1}\n", "a.b", "x: 1\ny: [2]", "a: {b: {x: 1, y: [2]}}\n"},
		{"new key", "a:\n  b: 1 # c\n\nd: 2\n", "a.e", "3", "a:\n  b: 1 # c\n  e: 3\n\nd: 2\n"},
		{"new key, four spaces", "a:\n    b: 1\n", "c.d", "3", "a:\n    b: 1\nc:\n    d: 3\n"},
		{"new parents", "a: 1\n", "b.c.d", "[1]", "a: 1\nb:\n  c:\n    d: [1]\n"},
		{"new list", "a: 1\n", "b[0].c", "x", "a: 1\nb:\n  - c: x\n"},
		{"append", "a:\n- x # c\nb: 1\n", "a[1]", "y", "a:\n- x # c\n- y\nb: 1\n"},
		{"append block", "a:\n  - x: 1\n", "a[1]", "y: 1\nz: 2", "a:\n  - x: 1\n  - y: 1\n    z: 2\n"},
		{"append in flow", "a: [x]\n", "a[1]", "y", "a: [x, y]\n"},
		{"new key in flow", "a: { b: 1 }\n", "a.c", "2", "a: { b: 1, c: 2 }\n"},
		{"new key in empty flow", "a: {}\n", "a.c.d", "2", "a: {c: {d: 2}}\n"},
		{
			"flow over lines", "a: {\n  b: 1, # one\n  c: 2 # two\n}\n", "a.d", "3",
			"a: {\n  b: 1, # one\n  c: 2, # two\n  d: 3\n}\n",
		},
		{"flow over lines, comma", "a: {\n  b: 1,\n}\n", "a.d", "3", "a: {\n  b: 1,\n  d: 3,\n}\n"},
		{"child of null", "a:\nb: 1\n", "a.c", "2", "a:\n  c: 2\nb: 1\n"},
		{"child of explicit null", "a: ~ # c\nb: 1\n", "a.c", "2", "a: # c\n  c: 2\nb: 1\n"},
		{"no final newline", "a: 1", "b", "2", "a: 1\nb: 2"},
		{"CRLF", "a:\r\n  b: 1\r\nc: 2\r\n", "a.d", "x: 1\ny: 2", "a:\r\n  b: 1\r\n  d:\r\n    x: 1\r\n    y: 2\r\nc: 2\r\n"},
		{"quoted path", "a:\n  \"b.c\": 1\n", `a."b.c"`, "2", "a:\n  \"b.c\": 2\n"},
		{"key that needs quotes", "a: 1\n", `"b: c"`, "2", "a: 1\n\"b: c\": 2\n"},
		{"short engine", "schema: 2\nengine: trtllm # c\n", "engine.type", "vllm", "schema: 2\nengine: vllm # c\n"},
		{
			"expand short engine", "engine: trtllm\n", "engine.numa_memory_bind", "true",
			"engine: {type: trtllm, numa_memory_bind: true}\n",
		},
		{"byte order mark", "\ufeffa: 1\n", "a", "2", "\ufeffa: 2\n"},
		{"multi-byte characters before", "{é: \"ü\", b: 1}\n", "b", "2", "{é: \"ü\", b: 2}\n"},
		{"list entry to block", "a:\n- x\n- y\n", "a[0]", "k: 1\nl: 2", "a:\n- k: 1\n  l: 2\n- y\n"},
		{"empty value is null", "a: 1\n", "a", "", "a: null\n"},
		{"second document untouched", "a: 1\n---\na: 2\n", "a", "3", "a: 3\n---\na: 2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Set([]byte(c.in), c.path, c.value)
			if err != nil || string(got) != c.want {
				t.Errorf("got %v\n%q\nwant\n%q", err, got, c.want)
			}
		})
	}
}

func TestUnset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, path, want string }{
		{"line", "a: 1\nb: 2 # c\nd: 3\n", "b", "a: 1\nd: 3\n"},
		{"comment above stays", "a: 1\n# b\nb:\n  x: 1\n\nd: 3\n", "b", "a: 1\n# b\n\nd: 3\n"},
		{"last of a block", "a: # c\n  b: 1\nd: 2\n", "a.b", "a: {} # c\nd: 2\n"},
		{"last of the file", "a: 1 # c\n", "a", "{} # c\n"},
		{"no final newline", "a: 1\nb: 2", "b", "a: 1"},
		{"list entry", "a:\n- x\n- y # c\n- z\n", "a[1]", "a:\n- x\n- z\n"},
		{"list of blocks", "a:\n  - x: 1\n    y: 2\n  - z: 3\n", "a[0]", "a:\n  - z: 3\n"},
		{"first key of a list entry", "a:\n  - x: 1\n    y: 2\n", "a[0].x", "a:\n  - y: 2\n"},
		{"last list entry", "a:\n- x\nb: 1\n", "a[0]", "a: []\nb: 1\n"},
		{"flow first", "a: {b: 1, c: 2, d: 3}\n", "a.b", "a: {c: 2, d: 3}\n"},
		{"flow last", "a: { b: 1, c: 2 }\n", "a.c", "a: { b: 1 }\n"},
		{"flow only", "a: {b: 1}\n", "a.b", "a: {}\n"},
		{"literal", "a: |+\n  x\n\nb: 1\n", "a", "b: 1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Unset([]byte(c.in), c.path)
			if err != nil || string(got) != c.want {
				t.Errorf("got %v\n%q\nwant\n%q", err, got, c.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	unset := func(data []byte, path, _ string) ([]byte, error) { return Unset(data, path) }
	for _, c := range []struct {
		name, in, path, value string
		edit                  func([]byte, string, string) ([]byte, error)
		want                  string
	}{
		{"through an alias", "a: &x {k: 1}\nb: *x\n", "b.k", "2", Set, "alias"},
		{"duplicate key", "a: 1\na: 2\n", "a", "3", Set, "given twice"},
		{"key of a number", "a: 1\n", "a.b", "3", Set, "not a mapping"},
		{"key of a string", "a: x\n", "a.b", "3", Set, "not a mapping"},
		{"index of a mapping", "a: {b: 1}\n", "a[0]", "3", Set, "not a list"},
		{"index out of range", "a: [1]\n", "a[5]", "3", Set, "[5] is out of range"},
		{"index 1 of a new list", "a: 1\n", "b[1]", "3", Set, "start with [0]"},
		{"invalid value", "a: 1\n", "a", "{", Set, "not valid YAML"},
		{"invalid file", "a: {\n", "a", "1", Set, "not valid YAML"},
		{"invalid path", "a: 1\n", "a..b", "1", Set, "a key is missing"},
		{"UTF-16", "\xff\xfea\x00:\x00 \x001\x00", "a", "1", Set, "UTF-8"},
		{"anchor in use", "a: &x 1\nb: *x\n", "a", "", unset, "would be invalid"},
		{"no such entry", "a: 1\n", "b", "", unset, "no such entry"},
		{"no such key", "a: 1\n", "b", "c", rename, "no such key"},
		{"explicit key", "? a\n: 1\n? b\n: 2\n", "b", "", unset, "by hand"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.edit([]byte(c.in), c.path, c.value)
			if err == nil || !strings.Contains(err.Error(), c.want) || got != nil {
				t.Errorf("got %q, %v; want an error with %q", got, err, c.want)
			}
			if problem.Of(err) == problem.Internal {
				t.Errorf("%v has no id", err)
			}
		})
	}
}

// A finding about the whole file has no line.
func TestErrorsWithoutLine(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]string{
		"file too large: the limit is ": "a: " + strings.Repeat("x", 4<<20) + "\n",
		"nested deeper than ":           "a: " + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "\n",
		"more than ":                    "a: [" + strings.Repeat("1,", 1<<20) + "1]\n",
		"line 1: not valid YAML: ":      "a: {\n",
	} {
		if _, err := Set([]byte(in), "a", "1"); err == nil || !strings.HasPrefix(err.Error(), "set a: "+want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func rename(data []byte, path, key string) ([]byte, error) {
	return Apply(data, []recipes.Edit{{Op: recipes.OpRename, Path: path, Value: key}})
}

func TestApply(t *testing.T) {
	t.Parallel()
	got, err := Apply([]byte("resources: # r\n  prefil_nodes: 1\n  gpu_type: GB300\nname: x\n"), []recipes.Edit{
		{Op: recipes.OpRename, Path: "resources.prefil_nodes", Value: "prefill_nodes"},
		{Op: recipes.OpSet, Path: "resources.gpu_type", Value: "gb300"},
		{Op: recipes.OpUnset, Path: "name"},
	})
	if want := "resources: # r\n  prefill_nodes: 1\n  gpu_type: gb300\n"; err != nil || string(got) != want {
		t.Errorf("got %v\n%s", err, got)
	}
	if _, err := Apply([]byte("a: 1\n"), []recipes.Edit{{Op: "paint", Path: "a"}}); err == nil {
		t.Error("an unknown operation is accepted")
	}
}

// FuzzEdit checks that an edit of any file either succeeds or fails, without a panic.
func FuzzEdit(f *testing.F) {
	for _, name := range []string{"anchors2", "scalars2", "crlf1", "flow1"} {
		data, err := os.ReadFile("testdata/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "roles.agg.args.b[0]", "x: 1")
		f.Add(data, "engine.type", "|\n  a")
	}
	f.Add([]byte("a: {b, c: }"), "a.b", "*x")
	f.Add([]byte("a: \"\\"), `"`, "'")
	f.Add([]byte("? &a !b\n: |9+"), "a[1][0]", "- - a\n  - b")
	f.Fuzz(func(t *testing.T, data []byte, path, value string) {
		before := bytes.Clone(data)
		if out, err := Set(data, path, value); err == nil {
			if back, err := Set(out, path, value); err != nil || !bytes.Equal(back, out) {
				t.Errorf("set twice: %v\n%q\n%q", err, out, back)
			}
		}
		for _, do := range []func() ([]byte, error){
			func() ([]byte, error) { return Unset(data, path) },
			func() ([]byte, error) { return rename(data, path, value) },
		} {
			if out, err := do(); (err == nil) == (out == nil) {
				t.Errorf("%v and %q", err, out)
			}
		}
		if !bytes.Equal(before, data) {
			t.Error("the input was changed")
		}
	})
}
