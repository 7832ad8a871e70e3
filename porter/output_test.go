package porter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// datasetTree creates files and links in a directory. All files have the same time.
func datasetTree(t *testing.T, files []string, links map[string]string) string {
	t.Helper()
	root := t.TempDir()
	when := time.Unix(1_700_000_000, 0)
	for _, p := range files {
		path := filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(p), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range links {
		if err := os.Symlink(strings.ReplaceAll(to, "ROOT", root), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestDatasetSearch(t *testing.T) {
	t.Parallel()
	root := datasetTree(t, []string{"a/traj.jsonl", "b/deep/traj.jsonl", "b/users.json", "b/other.txt"},
		map[string]string{"b/loop": "..", "a/again": "ROOT/b", "a/users.json": "ROOT/b/users.json", "a/gone": "nowhere"})
	var seen int64
	r := port(t, lay(t, smallRun()), Options{DatasetRoots: []string{root}, Progress: func(p Progress) {
		if p.Stage == "search" {
			seen = p.Done
		}
	}})
	if seen == 0 {
		t.Error("no progress was reported")
	}
	got := map[string]string{}
	for _, f := range r.Fields {
		got[f.Path] = f.Value
	}
	if want := filepath.Join(root, "b", "users.json"); got["user_assignments_path"] != want {
		t.Errorf("users: %s, want %s: the links lead to the same file", got["user_assignments_path"], want)
	}
	if got["trajectory_path"] != "/TODO/traj.jsonl" {
		t.Errorf("trajectories: %s, want a placeholder", got["trajectory_path"])
	}
	i := slices.IndexFunc(r.Todos, func(td Todo) bool { return td.Path == "trajectory_path" })
	if i < 0 || len(r.Todos[i].Candidates) != 2 {
		t.Fatalf("candidates: %+v", r.Todos)
	}
	for _, c := range r.Todos[i].Candidates {
		if c.Size == 0 || c.Modified.Unix() != 1_700_000_000 {
			t.Errorf("candidate without size or time: %+v", c)
		}
	}
	want := "candidate " + filepath.Join(root, "a", "traj.jsonl") + " (12 bytes, 2023-11-14 22:13 UTC"
	if text := r.ProvenanceText(); !strings.Contains(text, want) {
		t.Errorf("report without %q:\n%s", want, text)
	}
	stored, err := r.ProvenanceJSON()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(stored), "2023-11") {
		t.Error("a file time is stored")
	}
}

func TestDatasetIndex(t *testing.T) {
	t.Parallel()
	root := datasetTree(
		t,
		[]string{"a/traj.jsonl", "b/users.json", "b/x", "b/y"},
		map[string]string{"a/loop": "..", "a/self": "self", "c": "a"},
	)
	if err := os.Mkdir(filepath.Join(root, "b", "traj.jsonl"), 0o755); err != nil {
		t.Fatal(err)
	}
	ds, err := IndexDatasets(t.Context(), []string{root, filepath.Join(root, "a")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"traj.jsonl": "a/traj.jsonl", "users.json": "b/users.json", "z": "", "loop": "",
	} {
		var got []string
		for _, c := range ds.Find(name) {
			rel, err := filepath.Rel(root, c.Value)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %q", name, got, want)
		}
	}
	if ds.partial != "" {
		t.Errorf("partial: %s", ds.partial)
	}
	s := search{ctx: t.Context(), report: func(Progress) {}, seen: map[string]bool{}, limit: 3}
	if ds, err = s.index([]string{root}); err != nil || !strings.HasPrefix(ds.partial, "the search stopped after ") {
		t.Errorf("bounded: %v %v", ds, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := IndexDatasets(ctx, []string{root}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// A removed file, and one with the same hash only, is not found.
	if err := os.Remove(filepath.Join(root, "b", "users.json")); err != nil {
		t.Fatal(err)
	}
	if got := s.found.Find("users.json"); got != nil {
		t.Errorf("a file that is gone: %v", got)
	}
}

func TestDatasetSearchFindsNothing(t *testing.T) {
	t.Parallel()
	r := port(t, lay(t, smallRun()), Options{DatasetRoots: []string{t.TempDir()}})
	if all := todoLines(r); !slices.ContainsFunc(
		all,
		func(s string) bool { return matches(s, "must-fix trajectory_path: no file named traj.jsonl") },
	) {
		t.Errorf("open questions:\n%s", strings.Join(all, "\n"))
	}
}

// TestWrittenRecipesLoad loads the written recipes of both layouts.
func TestWrittenRecipesLoad(t *testing.T) {
	t.Parallel()
	full := smallRun()
	full[harness.ClientConfig] = "user_spawn_rate: 2.5\nphase_timeout_seconds: 700\n"
	for _, dir := range []string{sampleDir, lay(t, full)} {
		var both []*recipes.Recipe
		for _, schema := range []int{1, 2} {
			out := t.TempDir()
			r := port(t, dir, Options{Schema: schema, WorkloadOut: "/scratch/w.yaml"})
			recipe, workload := filepath.Join(out, "r.yaml"), filepath.Join(out, "w.yaml")
			if _, err := r.Write(recipe, workload, false); err != nil {
				t.Fatal(err)
			}
			loaded, diags, err := recipes.Load(recipe)
			if err != nil || diags.Errors() > 0 {
				t.Errorf("schema %d recipe: %v %v", schema, err, diags)
			}
			both = append(both, loaded)
			if _, diags, err := recipes.LoadWorkload(workload); err != nil || diags.Errors() > 0 {
				t.Errorf("workload: %v %v", err, diags)
			}
		}
		if c := recipes.DiffRecipes(both[0], both[1]); len(c.Differences) > 0 || c.Identical < 40 {
			t.Errorf("layouts differ in meaning: %+v", c)
		}
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := port(t, lay(t, smallRun()), Options{})
	recipe, workload := filepath.Join(dir, "r.yml"), filepath.Join(dir, "w.yaml")
	if err := os.WriteFile(workload, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	var exists *ExistsError
	if _, err := r.Write(recipe, workload, false); !errors.As(err, &exists) || len(exists.Paths) != 1 ||
		!strings.Contains(err.Error(), workload+" already exists") || problem.Of(err) != problem.FileExists {
		t.Errorf("existing file: %v", err)
	}
	if names, err := harness.ListDir(dir, 10); err != nil || len(names) != 1 {
		t.Errorf("a refused write left %v (%v)", names, err)
	}
	if _, err := r.Write(recipe, workload, true); err != nil {
		t.Fatal(err)
	}
	if names, err := harness.ListDir(dir, 10); err != nil || strings.Join(names, " ") != "r.provenance.json r.yml w.yaml" {
		t.Errorf("written: %v (%v)", names, err)
	}
	for _, c := range []struct{ recipe, workload, want string }{
		{recipe, recipe, "written twice"}, {dir, workload, "is a directory"}, {
			filepath.Join(dir, "no", "r.yaml"), workload, "directory not found",
		},
	} {
		if _, err := r.Write(c.recipe, c.workload, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if got := ProvenancePath("a/recipe"); got != "a/recipe.provenance.json" {
		t.Errorf("provenance path %s", got)
	}
}

func TestJobName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"bm_agentperf_x": "bm-agentperf-x", "_a..b_": "a-b", "é": "", strings.Repeat("ab", 40): strings.Repeat("ab", 32),
		"A-b_-c": "A-b--c",
	} {
		if got := jobName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
