package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/testdata/golden"
)

// classDir has a directory for each class of input.
const classDir = "../../testdata/port"

// layTree copies a small run to the given paths below a new directory.
func layTree(t *testing.T, runs ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, r := range runs {
		if err := os.CopyFS(filepath.Join(root, r), os.DirFS(classDir+"/15-tree/bm_a/c64")); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// portTree ports a tree and returns "run status" of each row.
func portTree(t *testing.T, root string, opt Options) string {
	t.Helper()
	var rows []string
	if err := Port(t.Context(), root, opt, func(r Row) error {
		rows = append(rows, r.Run+" "+r.Status)
		if (r.Error != "") != (r.Status == Failed) || r.Status != Failed &&
			(r.Fields[porter.Copied] < 10 || r.Todos[porter.MustFix] != 2) {
			t.Errorf("row %+v", r)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(rows, ", ")
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	root := layTree(t, "bm_a/c64", "bm_a/c128", "x/y/c8")
	opt := Options{OutDir: filepath.Join(t.TempDir(), "new", "out"), Program: "1"}
	step := func(what, want string) {
		t.Helper()
		if got := portTree(t, root, opt); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	step("first", "bm_a/c128 ported, bm_a/c64 ported, x/y/c8 ported")
	step("again", "bm_a/c128 skipped, bm_a/c64 skipped, x/y/c8 skipped")

	// The last line of the record is incomplete: its run is ported again.
	record := filepath.Join(opt.OutDir, recordName)
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	put(t, record, lines[0]+lines[1]+lines[2][:20])
	if got := portTree(t, root, opt); strings.Count(got, Skipped) != 2 || strings.Count(got, Unchanged) != 1 {
		t.Errorf("after an incomplete record: %s", got)
	}
	step("after that", "bm_a/c128 skipped, bm_a/c64 skipped, x/y/c8 skipped")

	put(t, filepath.Join(root, "x/y/c8", harness.CTXConfig), "tensor_parallel_size: 4\nmax_batch_size: 9\n")
	step("a run that changed", "bm_a/c128 skipped, bm_a/c64 skipped, x/y/c8 failed")
	opt.Force = true
	step("by force", "bm_a/c128 unchanged, bm_a/c64 unchanged, x/y/c8 ported")
	opt.Force = false
	if err := os.Remove(filepath.Join(opt.OutDir, "bm_a/c64/workload.yaml")); err != nil {
		t.Fatal(err)
	}
	step("a file that is gone", "bm_a/c128 skipped, bm_a/c64 ported, x/y/c8 skipped")
	opt.Program = "2"
	step("another program", "bm_a/c128 unchanged, bm_a/c64 unchanged, x/y/c8 unchanged")
	opt.Workers = 1
	opt.GPUType = "gb200"
	step("another option", "bm_a/c128 failed, bm_a/c64 failed, x/y/c8 failed")
}

// A file that a launch line names belongs to the inputs, wherever it is.
func TestTreeReadsOtherFiles(t *testing.T) {
	t.Parallel()
	root := layTree(t, "bm_a/c64")
	dir := filepath.Join(root, "bm_a/c64")
	text, err := os.ReadFile(filepath.Join(dir, harness.JobLog))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, harness.JobLog), strings.ReplaceAll(string(text), "/"+harness.CTXConfig, "/sub/ctx.yaml"))
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "sub/ctx.yaml"), "tensor_parallel_size: 4\nmax_batch_size: 8\n")
	opt := Options{OutDir: t.TempDir()}
	for _, want := range []string{"bm_a/c64 ported", "bm_a/c64 skipped"} {
		if got := portTree(t, root, opt); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	put(t, filepath.Join(dir, "sub/ctx.yaml"), "tensor_parallel_size: 4\nmax_batch_size: 16\n")
	opt.Force = true
	if got := portTree(t, root, opt); got != "bm_a/c64 ported" {
		t.Errorf("by force: %s", got)
	}
	recipe, err := os.ReadFile(filepath.Join(opt.OutDir, "bm_a/c64/recipe.yaml"))
	if err != nil || !strings.Contains(string(recipe), "max_batch_size: 16") {
		t.Errorf("recipe\n%s\n%v", recipe, err)
	}
	put(t, filepath.Join(dir, "sub/ctx.yaml"), "tensor_parallel_size: 4\nmax_batch_size: 1024\n")
	if opt.Force = false; !strings.Contains(portTree(t, root, opt), Failed) { // not skipped: the recipe would change
		t.Error("a changed file was not noticed")
	}
}

// What can't be used in the output directory is an error that names it.
func TestUnusableOutDir(t *testing.T) {
	t.Parallel()
	root := layTree(t, "bm_a/c64")
	for name, make := range map[string]func(out string) error{
		recordName: func(out string) error { return os.Mkdir(filepath.Join(out, recordName), 0o755) },
		lockName:   func(out string) error { return os.Mkdir(filepath.Join(out, lockName), 0o755) },
	} {
		out := t.TempDir()
		if err := make(out); err != nil {
			t.Fatal(err)
		}
		err := Port(t.Context(), root, Options{OutDir: out}, func(Row) error { return nil })
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is a directory: %v", name, err)
		}
	}
	out := t.TempDir()
	put(t, filepath.Join(out, "bm_a"), "a file in place of a directory")
	if got := portTree(t, root, Options{OutDir: out}); got != "bm_a/c64 failed" {
		t.Errorf("a file in place of the directory of a port: %s", got)
	}
	put(t, filepath.Join(out, recordName), strings.Repeat("x", maxRecordLine+10)+"\n{")
	if err := os.Remove(filepath.Join(out, "bm_a")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bm_a/c64 ported", "bm_a/c64 skipped"} {
		if got := portTree(t, root, Options{OutDir: out}); got != want {
			t.Errorf("after a long and an incomplete line of the record: %s, want %s", got, want)
		}
	}
}

// A run that disappears fails, and so does the tree if its record can't be written.
func TestRunDisappears(t *testing.T) {
	t.Parallel()
	root := layTree(t, "bm_a/c64", "bm_a/c8")
	opt := Options{OutDir: t.TempDir()}
	if got := portTree(t, root, opt); got != "bm_a/c64 ported, bm_a/c8 ported" {
		t.Fatal(got)
	}
	tr, err := newTree(t.Context(), root, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(root, "bm_a/c64")); err != nil {
		t.Fatal(err)
	}
	for _, force := range []bool{false, true} {
		tr.opt.Force = force
		if r := tr.portRun(t.Context(), "bm_a/c64"); r.Status != Failed || !strings.Contains(r.Error, "no such") {
			t.Errorf("force %v: %+v", force, r)
		}
	}
	tr.close()
	if r := tr.portRun(t.Context(), "bm_a/c8"); r.Status != Unchanged || tr.recordErr == nil {
		t.Errorf("without its record: %+v, %v", r, tr.recordErr)
	}
}

// A run directory need not be named c<N>. Its path below the root is that of its files.
func TestTreeLayouts(t *testing.T) {
	t.Parallel()
	root := layTree(t, "bm_agentperf_c64", "bm_a/c64", "deep/er/run-7", "shared/c8", "shared/c16")
	put(t, filepath.Join(root, "shared", harness.JobParams), "PORT=1\n")
	if err := os.MkdirAll(filepath.Join(root, "src", harness.Results), 0o755); err != nil {
		t.Fatal(err)
	}
	opt := Options{OutDir: t.TempDir()}
	want := "bm_a/c64 ported, bm_agentperf_c64 ported, deep/er/run-7 ported, shared/c16 ported, shared/c8 ported"
	if got := portTree(t, root, opt); got != want {
		t.Errorf("rows %s", got)
	}
	root = layTree(t, "bm_agentperf_c64")
	if got := portTree(t, filepath.Join(root, "bm_agentperf_c64"), Options{OutDir: t.TempDir()}); got != ". ported" {
		t.Errorf("the root itself: %s", got)
	}
	recipe := filepath.Join(opt.OutDir, "bm_agentperf_c64", "recipe.yaml")
	if text, err := os.ReadFile(recipe); err != nil || !strings.Contains(string(text), "name: bm-agentperf-c64\n") {
		t.Errorf("recipe\n%s\n%v", text, err)
	}
}

// A new dataset makes the run be ported again with its stored answers.
func TestTreeDatasets(t *testing.T) {
	t.Parallel()
	root, data := layTree(t, "bm_a/c64"), t.TempDir()
	opt := Options{
		OutDir: t.TempDir(),
		Options: porter.Options{
			DatasetRoots: []string{data},
			Answers:      []porter.Answer{{ID: "recipe:resources.gpu_type", Value: "gb200"}},
		},
	}
	if got := portTree(t, root, opt); got != "bm_a/c64 ported" {
		t.Errorf("first: %s", got)
	}
	put(t, filepath.Join(data, "traj.jsonl"), "x")
	opt.Answers, opt.Force = nil, true
	var seen int64
	opt.Progress = func(p porter.Progress) { seen = max(seen, p.Total) }
	if err := Port(t.Context(), root, opt, func(r Row) error {
		if r.Status != Ported || r.Todos[porter.MustFix] != 1 {
			t.Errorf("row %+v", r)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if seen != 1 {
		t.Errorf("progress reported %d runs, want 1", seen)
	}
	p, err := porter.LoadProvenance(filepath.Join(opt.OutDir, "bm_a/c64/recipe.provenance.json"))
	if err != nil || len(p.Answers) != 1 {
		t.Errorf("answers %+v, %v", p, err)
	}
}

func TestPortErrors(t *testing.T) {
	t.Parallel()
	root := layTree(t, "bm_a/c1", "bm_a/c2", "bm_a/c3")
	opt := Options{OutDir: t.TempDir()}
	stop := errors.New("no more")
	if err := Port(t.Context(), root, opt, func(Row) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("row's error: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := Port(ctx, root, Options{OutDir: t.TempDir(), Workers: 1}, func(Row) error { n++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "run it again to continue") || n != 1 {
		t.Errorf("cancelled after %d: %v", n, err)
	}
	if got := portTree(t, root, opt); strings.Count(got, Failed) > 0 {
		t.Errorf("after that: %s", got)
	}
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "")
	for root, opt := range map[string]Options{
		filepath.Join(root, "none"): {OutDir: t.TempDir()}, t.TempDir(): {OutDir: t.TempDir()},
		root:               {OutDir: filepath.Join(file, "below")},
		filepath.Dir(root): {OutDir: t.TempDir(), Options: porter.Options{DatasetRoots: []string{file}}},
	} {
		if err := Port(t.Context(), root, opt, func(Row) error { return nil }); err == nil {
			t.Errorf("%s to %s: no error", root, opt.OutDir)
		}
	}
}

// A second port to the same directory fails and names the process that holds the lock.
func TestConcurrentPortsToOneDirectory(t *testing.T) {
	t.Parallel()
	root := layTree(t, "bm_a/c64", "bm_a/c128")
	opt := Options{OutDir: t.TempDir()}
	rows := 0
	err := Port(t.Context(), root, opt, func(Row) error {
		rows++
		err := Port(t.Context(), root, opt, func(Row) error { t.Error("the second port was not refused"); return nil })
		if err == nil || !strings.Contains(err.Error(), " is in use by "+holder(t)+"; wait until it has ended") {
			t.Errorf("refused with %v", err)
		}
		return nil
	})
	if err != nil || rows != 2 {
		t.Errorf("the first one: %d rows, %v", rows, err)
	}
	if got := portTree(t, root, opt); got != "bm_a/c128 skipped, bm_a/c64 skipped" {
		t.Errorf("after its end: %s", got)
	}
}

func holder(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}

// The rows of a tree, and of the tree of all classes of input.
func TestClassTrees(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"15-tree", "."} {
		var rows strings.Builder
		opt := Options{
			OutDir:  t.TempDir(),
			Options: porter.Options{DatasetRoots: []string{filepath.Join(classDir, "10-datasets", "data")}},
		}
		if err := Port(t.Context(), filepath.Join(classDir, dir), opt, func(r Row) error {
			total := 0
			for _, n := range r.Fields {
				total += n
			}
			fmt.Fprintf(
				&rows, "%s: %s, %d fields, %d todo, %d must-fix, %d confirm, %d note%s\n", r.Run, r.Status, total,
				r.Fields[porter.Missing], r.Todos[porter.MustFix], r.Todos[porter.Confirm], r.Todos[porter.Note], r.Error,
			)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, "testdata/"+strings.ReplaceAll(dir, ".", "all")+".rows.txt", rows.String())
	}
}
