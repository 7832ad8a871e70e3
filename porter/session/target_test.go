package session

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/porter"
)

func TestTargets(t *testing.T) {
	t.Parallel()
	r, err := Session{}.Port(
		t.Context(),
		"../../testdata/bm_agentperf_dsv4_5p1d/c1010",
		porter.Options{WorkloadOut: "/data/w.yaml"},
	)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	recipe, workload := filepath.Join(dir, "r.yaml"), filepath.Join(dir, "w.yaml")
	got, err := Session{}.Targets(t.Context(), r, recipe, workload)
	if err != nil || len(got) != 3 ||
		slices.ContainsFunc(got, func(t Target) bool { return t.Exists || t.Problem != "" }) {
		t.Fatalf("an empty directory: %+v %v", got, err)
	}
	if _, err := r.Write(recipe, workload, false); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(workload)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(workload, append([]byte("mine: 1\n"), data...), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err = Session{}.Targets(t.Context(), r, recipe, workload)
	if err != nil || !got[0].Same || !got[2].Same || got[1].Same || got[1].Removed != 1 || got[1].Added != 0 ||
		got[1].Diff[1] != "-mine: 1" {
		t.Errorf("one was changed: %+v %v", got[1], err)
	}
	got, err = Session{}.Targets(t.Context(), r, filepath.Join(dir, "none", "r.yaml"), dir)
	if err != nil || got[0].Problem == "" || got[1].Problem != "is not a regular file" {
		t.Errorf("no such directory, and a directory: %+v %v", got, err)
	}
}

func TestSetDiff(t *testing.T) {
	t.Parallel()
	var target Target
	if err := target.setDiff("a\nb\n", "a\nc\nd"); err != nil {
		t.Fatal(err)
	}
	want := []string{"@@ -1,2 +1,3 @@", " a", "-b", "+c", "+d", "\\ No newline at end of file"}
	if diff := cmp.Diff(want, target.Diff); diff != "" || target.Added != 2 || target.Removed != 1 {
		t.Errorf("+%d −%d\n%s", target.Added, target.Removed, diff)
	}
}
