package edit

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// corpus returns the recipes and workloads that these tests edit, by path.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, pattern := range []string{"testdata/*.yaml", "../examples/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			if files[n], err = os.ReadFile(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(files) < 18 {
		t.Fatalf("the corpus has only %d files", len(files))
	}
	return files
}

// entry is one value of a file with its path and text.
type entry struct {
	path   string
	node   *yaml.Node
	source string
}

func entries(t testing.TB, data []byte) []entry {
	t.Helper()
	p, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	var out []entry
	var visit func(n *yaml.Node, path string, indent int)
	visit = func(n *yaml.Node, path string, indent int) {
		if path != "" {
			out = append(out, entry{path, n, string(data[p.valueStart(n):p.nodeEnd(n, indent)])})
		}
		indent = p.column(p.valueStart(n))
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Tag != "!!merge" {
					visit(n.Content[i+1], recipes.Join(path, n.Content[i].Value), indent)
				}
			}
		case yaml.SequenceNode:
			for i, c := range n.Content {
				visit(c, path+"["+string(rune('0'+i))+"]", indent)
			}
		}
	}
	visit(p.root, "", 0)
	return out
}

// sample returns about limit entries, evenly distributed over the file.
func sample(all []entry, limit int) []entry {
	var out []entry
	for i := 0; i < len(all); i += 1 + len(all)/limit {
		out = append(out, all[i])
	}
	return out
}

func TestSetCurrentValueKeepsFile(t *testing.T) {
	t.Parallel()
	for name, data := range corpus(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			n := 0
			for _, e := range sample(entries(t, data), 50) {
				got, err := Set(data, e.path, e.source)
				if err != nil {
					t.Fatalf("%s = %q: %v", e.path, e.source, err)
				}
				if !bytes.Equal(got, data) {
					t.Fatalf("%s = %q changed the file:\n%s", e.path, e.source, got)
				}
				n++
			}
			if n < 7 {
				t.Errorf("only %d values", n)
			}
		})
	}
}

func TestSetChangesOnlyOneValue(t *testing.T) {
	t.Parallel()
	for name, data := range corpus(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			for _, e := range sample(entries(t, data), 8) {
				if e.node.Kind != yaml.ScalarNode || e.node.Value == "" || e.node.Style&yaml.TaggedStyle != 0 {
					continue
				}
				for _, text := range []string{"4711", `"a: \"quoted\" #text"`, "[1, {a: b}]", "word"} {
					got, err := Set(data, e.path, text)
					if err != nil {
						t.Fatalf("%s = %s: %v", e.path, text, err)
					}
					prefix, suffix := commonEnds(data, got)
					if replaced := string(data[prefix : len(data)-suffix]); len(replaced) > len(e.source) {
						t.Fatalf("%s = %s: more than the value was replaced: %q, want only %q", e.path, text, replaced, e.source)
					}
					back, err := Set(got, e.path, e.source)
					if err != nil {
						t.Fatalf("%s back to %q: %v", e.path, e.source, err)
					}
					quotesStay := isString(e.node) && isPlain(e.node) && text[0] == '"' || text == "word"
					if oneLine := !bytes.Contains([]byte(e.source), []byte("\n")); oneLine && !quotesStay && !bytes.Equal(back, data) {
						t.Fatalf("%s = %s and back to %q:\n%s", e.path, text, e.source, back)
					}
				}
			}
		})
	}
}

// commonEnds returns how many bytes two texts have in common at the start and at the end.
func commonEnds(a, b []byte) (prefix, suffix int) {
	n := min(len(a), len(b))
	for prefix < n && a[prefix] == b[prefix] {
		prefix++
	}
	for suffix < n-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return prefix, suffix
}

func TestUnsetUndoesSetOfNewKey(t *testing.T) {
	t.Parallel()
	for name, data := range corpus(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			for _, e := range sample(entries(t, data), 16) {
				if e.node.Kind != yaml.MappingNode || len(e.node.Content) == 0 {
					continue
				}
				path := recipes.Join(e.path, "added")
				for _, text := range []string{"1", "x: 1\ny:\n  - a\n  - b"} {
					got, err := Set(data, path, text)
					if err != nil {
						t.Fatalf("%s: %v", path, err)
					}
					back, err := Unset(got, path)
					if err != nil {
						t.Fatalf("unset %s: %v in\n%s", path, err, got)
					}
					if !bytes.Equal(back, data) {
						t.Fatalf("%s: the file differs after the key was added and removed:\n%s", path, back)
					}
				}
			}
		})
	}
}

func TestUnsetRemovesAnyEntry(t *testing.T) {
	t.Parallel()
	for name, data := range corpus(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			for _, e := range sample(entries(t, data), 8) {
				anchored := bytes.Contains([]byte(e.source), []byte("&")) || e.node.Anchor != ""
				got, err := Unset(data, e.path)
				if err != nil {
					if anchored {
						continue // an alias may refer to it
					}
					t.Fatalf("unset %s: %v", e.path, err)
				}
				if len(got) >= len(data) {
					t.Fatalf("unset %s removed nothing", e.path)
				}
			}
		})
	}
}
