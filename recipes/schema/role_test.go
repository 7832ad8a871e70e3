package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestNamesAreDefinedOnce checks that production code uses the constants for worker roles
// and for TensorRT-LLM instead of string literals.
func TestNamesAreDefinedOnce(t *testing.T) {
	t.Parallel()
	names := []string{string(Prefill), string(Decode), string(Agg), TRTLLM}
	root, found, files := "../..", map[string]int{}, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		skip := name == "testdata" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "test")
		if d.IsDir() && path != root && skip {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files++
		for _, text := range literals(t, path) {
			if slices.Contains(names, text) {
				found[filepath.ToSlash(path)+" "+text]++
			}
		}
		return nil
	})
	if err != nil || files < 200 {
		t.Fatalf("%d files, %v", files, err)
	}
	for _, n := range names {
		file := "role.go"
		if n == TRTLLM {
			file = "engine.go"
		}
		definition := root + "/recipes/schema/" + file + " " + n
		if found[definition] != 1 {
			t.Errorf("%q is %d times in %s, want once", n, found[definition], file)
		}
		delete(found, definition)
	}
	for literal := range found {
		t.Errorf("%s: use the constant of recipes/schema", literal)
	}
}

// literals returns the string literals in a Go file.
func literals(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

func TestRolePaths(t *testing.T) {
	t.Parallel()
	for _, r := range WorkerRoles() {
		for _, path := range []string{r.NodesPath(), r.WorkersPath(), r.GPUsPath(), r.EnvPath(), r.ConfigPath(TRTLLM)} {
			if _, ok := Recipe(1).Field(path); !ok {
				t.Errorf("%s of %s is not a field", path, r)
			}
		}
	}
}

func TestEngines(t *testing.T) {
	t.Parallel()
	if f, _ := Recipe(1).Field("backend.type"); !slices.Equal(f.Enum, strings.Split(
		"trtllm sglang vllm mocker atom tilert tokenspeed", " ")) ||
		f.Default != "sglang" {
		t.Errorf("backend.type %+v", f)
	}
	if e := EngineOfFrontend("trtllm_serve"); e.Name != TRTLLM {
		t.Errorf("trtllm_serve belongs to %q", e.Name)
	}
	for _, frontend := range []string{"", Dynamo} {
		if e := EngineOfFrontend(frontend); e.Name != "" {
			t.Errorf("%q belongs to %q", frontend, e.Name)
		}
	}
}
