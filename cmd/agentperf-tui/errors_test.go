package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Production code must make errors with package problem, so that each has an id. It may
// wrap one with fmt.Errorf and %w, which keeps the id.
func TestProductionErrorsHaveID(t *testing.T) {
	t.Parallel()
	const root = "../.."
	sites := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == root:
			return nil
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "problem" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch called := functionName(call.Fun); {
			case called == "errors.New", called == "fmt.Errorf" && !wraps(call):
				t.Errorf("%s: %s makes an error without an id; use problem.New or problem.Errorf",
					fset.Position(call.Pos()), called)
			case strings.HasPrefix(called, "problem."):
				sites++
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if sites < 200 {
		t.Errorf("found only %d errors with an id", sites)
	}
}

// functionName returns a called function as package.Name, or "" for methods and local functions.
func functionName(fun ast.Expr) string {
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		if pkg, ok := sel.X.(*ast.Ident); ok {
			return pkg.Name + "." + sel.Sel.Name
		}
	}
	return ""
}

// wraps reports whether the format of a call of fmt.Errorf contains %w.
func wraps(call *ast.CallExpr) bool {
	found := false
	ast.Inspect(call.Args[0], func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && strings.Contains(lit.Value, "%w") {
			found = true
		}
		return true
	})
	return found
}

// badFiles writes one file of each kind that commands can't read, and returns their names.
func badFiles(t *testing.T, dir string) []string {
	t.Helper()
	contents := map[string]string{
		"empty": "", "binary": "\x7fELF\x00\x01\x02\xff\xfe", "broken.yaml": "a: [1,\nb: {", "broken.json": `{"a": [1, }`,
		"list.yaml": "- 1\n- 2\n", "text": "hello\n", "alias.yaml": "a: &a [*a]\n", "number.json": "17",
		"broken.provenance.json": "{",
	}
	names := []string{"missing", "dir", "fifo", "huge", "text/below", "broken.yaml:override_x"}
	for name, content := range contents {
		names = append(names, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, make := range map[string]func(string) error{
		"dir":  func(path string) error { return os.Mkdir(path, 0o755) },
		"fifo": func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"huge": func(path string) error {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			defer f.Close()
			return f.Truncate(1 << 30)
		},
	} {
		if err := make(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// commandLines lists command lines that fail when {} is replaced by a bad file.
var commandLines = []string{
	"check {}", "check {recipe} --workload {}", "check {recipe} --cluster {}", "check {recipe} --fix --workload {}",
	"dry-run {}", "dry-run {recipe} --workload {}", "apply {} --yes", "apply --again {} --yes", "migrate {}",
	"diff {} {recipe}", "diff {recipe} {}", "port {} --out {new}/r.yaml --workload-out {new}/w.yaml",
	"port --tree {} --out-dir {new}/out", "port {run} --out {new}/r.yaml --workload-out {new}/w.yaml --answers {}",
	"port {run} --out {new}/r.yaml --workload-out {}/w.yaml",
	"port {run} --out {new}/r.yaml --workload-out {new}/w.yaml --dataset-root {}", "runs {}", "runs show {}",
	"watch {}", "watch {} --playback 2", "logs {}", "logs {} client", "cancel {} --yes", "results {}", "rollup {}",
	"parity {} {run}", "parity {run} {}", "parity {run} {run} --ref {}", "export {}", "export {} --format html",
	"export {} --table curve", "export {run} -o {}/x",
	"replay --config {} --base-url http://127.0.0.1:9/v1 --model m --results-dir {new}/out", "job run --run-dir {}",
	"job bench --endpoint http://127.0.0.1:9 --model m --client-dir {} --config {recipe} --concurrencies 1 " +
		"--results-dir {new}/out",
}

// badFlags lists command lines that always fail.
var badFlags = []string{
	"nosuch", "--nosuch", "version x", "explain nosuch", "check", "check a b", "check a -f b",
	"check {recipe} --set x", "check {recipe} --set resources.gpus_per_node=many",
	"check {recipe} --unset nosuch.field", "apply {recipe}", "apply {recipe} --repeat 0",
	"apply {recipe} --launcher pbs", "apply {recipe} --users 3", "apply --again x -f y",
	"dry-run {recipe} --launcher local --users 0", "dry-run {recipe} --seconds -1", "watch",
	"watch {run} --playback 1000", "watch {run} --interval -1s", "watch {run} --interval soon", "logs {run} nosuch",
	"logs {run} a b", "logs {run} --lines -1", "logs {run} --merge -f", "logs {run} --grep (", "parity {run}",
	"parity {run} {run} --band 0", "parity {run} {run} --band x", "parity {run} {run} --phase 9",
	"parity {run} {run} --format x", "export {run} --format x", "export {run} --table x", "export {run} --gpus -1",
	"export {run} --bucket -1", "export {run} --bucket 1e-9 --table series", "export {run} {run}",
	"export {run} --parity", "port", "port {run}", "port {run} --out x", "port --tree {run}",
	"port {run} --schema 3 --out a --workload-out b", "port {run} --path-rewrite x --out a --workload-out b",
	"replay", "replay --config x",
	"replay --config {recipe} --base-url nonsense --model m --results-dir {new}/o --concurrencies 0",
	"mock-server --listen x", "mock-server --listen 127.0.0.1:99999", "mock-server --role x",
	"mock-server --fault-http 2", "mock-server --ttft -1s", "mock-server --role frontend", "demo --json", "demo",
	"demo --headless --keep {run}", "demo --users 0", "job x", "job run", "job bench", "edit", "edit {recipe}",
	"completion nosuch --x", "migrate {recipe} --out {recipe}", "runs show nosuch",
}

func TestEveryErrorHasAnID(t *testing.T) {
	dir := t.TempDir()
	recipe := filepath.Join(dir, "recipe.yaml")
	mustRun(t, 0, "port", sampleRun, "--out", recipe, "--workload-out", filepath.Join(dir, "w.yaml"))
	run, err := filepath.Abs(sampleRun)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, file := range badFiles(t, dir) {
		for _, line := range commandLines {
			lines = append(lines, strings.ReplaceAll(line, "{}", filepath.Join(dir, file)))
		}
	}
	lines = append(lines, badFlags...)
	ids, failed := map[problem.ID]int{}, 0
	for i, line := range lines {
		expand := strings.NewReplacer("{recipe}", recipe, "{run}", run, "{new}", filepath.Join(dir, fmt.Sprint("new", i)))
		args := strings.Fields(expand.Replace(line))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		var out, errs bytes.Buffer
		a := newApp(&out, &errs)
		a.stateDir = filepath.Join(dir, "state")
		code := a.execute(ctx, append(args, "--json"))
		cancel()
		if code == 0 {
			continue // some commands accept some of the files
		}
		last := strings.TrimSpace(errs.String())
		last = last[strings.LastIndexByte(last, '\n')+1:]
		if last == "" && out.Len() > 0 {
			continue // findings or a verdict: not an error
		}
		failed++
		var doc struct{ Error errorJSON }
		if err := json.Unmarshal([]byte(last), &doc); err != nil {
			t.Errorf("%v: exit code %d: %v\n%s%s", args, code, err, out.String(), errs.String())
			continue
		}
		ids[doc.Error.ID]++
		switch _, ok := problem.Find(doc.Error.ID); {
		case !ok, doc.Error.ID == problem.Internal, doc.Error.Message == "":
			t.Errorf("%v: id %q: %s", args, doc.Error.ID, doc.Error.Message)
		case doc.Error.ExitCode != code || code == 0:
			t.Errorf("%v: exit code %d, in JSON %d", args, code, doc.Error.ExitCode)
		}
	}
	t.Logf("%d command lines, %d errors with %d ids: %v", len(lines), failed, len(ids), ids)
	if failed < 300 || len(ids) < 25 {
		t.Errorf("only %d errors with %d ids", failed, len(ids))
	}
}
