package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/porter"
)

const sample = "../../testdata/bm_agentperf_dsv4_5p1d/c1010"

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// targetStates returns the states of the files that a port would write to a directory.
func targetStates(t *testing.T, s Session, r *porter.Result, dir string) string {
	t.Helper()
	targets, err := s.Targets(t.Context(), r, "~/r.yaml", "~/w.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, target := range targets {
		switch {
		case target.Problem != "":
			out = append(out, target.Problem)
		case target.Same:
			out = append(out, "same")
		case target.Exists:
			out = append(out, "differs")
		default:
			out = append(out, "new")
		}
		if filepath.Dir(target.Path) != dir {
			t.Errorf("target %s", target.Path)
		}
	}
	return strings.Join(out, ", ")
}

// Paths that begin with ~ are expanded in all calls. The written files are then the same as those that
// would be written.
func TestSessionInHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	run := filepath.Join(home, "bm", "c1010")
	if err := os.CopyFS(run, os.DirFS(sample)); err != nil {
		t.Fatal(err)
	}
	s := Session{StateDir: filepath.Join(home, "state"), DatasetRoots: []string{"~/bm/c1010/datasets"}}
	runs, err := s.FindRuns(t.Context(), "~", 3)
	if err != nil || !slices.Equal(runs, []string{run}) {
		t.Errorf("runs %v, %v", runs, err)
	}
	if names, err := s.List(t.Context(), "~/bm"); err != nil || !slices.Equal(names, []string{"c1010"}) {
		t.Errorf("directories %v, %v", names, err)
	}
	r, err := s.Port(t.Context(), "~/bm/c1010", porter.Options{
		RecipeOut: "~/r.yaml", WorkloadOut: "~/w.yaml", DatasetRoots: []string{"~/bm"},
	})
	if err != nil || r.CountOpen(porter.MustFix) > 0 {
		t.Fatalf("%d must-fix questions, %v", r.CountOpen(porter.MustFix), err)
	}
	if recent, err := s.Recent(t.Context()); err != nil || !slices.Equal(recent, []string{run}) {
		t.Errorf("recent %v, %v", recent, err)
	}
	if got := targetStates(t, s, r, home); got != "new, new, new" {
		t.Errorf("before: %s", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Write(ctx, r, "~/r.yaml", "~/w.yaml", false); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled write: %v", err)
	}
	if err := s.Write(t.Context(), r, "~/r.yaml", "~/w.yaml", false); err != nil {
		t.Fatal(err)
	}
	if got := targetStates(t, s, r, home); got != "same, same, same" {
		t.Errorf("after: %s", got)
	}
	put(t, filepath.Join(home, "w.yaml"), "seed: 1\n")
	if got := targetStates(t, s, r, home); got != "same, differs, same" {
		t.Errorf("after an edit: %s", got)
	}
}

func TestExpandHome(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for path, want := range map[string]string{"~": "/home/me", "~/x": "/home/me/x", "~other/x": "~other/x", "x~": "x~"} {
		if got := ExpandHome(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	t.Setenv("HOME", "")
	if got := ExpandHome("~/x"); got != "~/x" {
		t.Errorf("without a home: %s", got)
	}
}

// A target that can't be replaced has a problem.
func TestTargetProblems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := porter.Port(t.Context(), sample, porter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	put(t, large, "")
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "sub"), 0o755), os.Symlink("nowhere", filepath.Join(dir, "dead")),
		os.Truncate(large, maxCompared+1), os.Symlink("sub", filepath.Join(dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"sub": "is not a regular file", "link": "is not a regular file", "dead": "is a broken symbolic link",
		"large": "is too large to compare", "none/r.yaml": "no such directory: " + filepath.Join(dir, "none"), "new": "",
	} {
		targets, err := Session{}.Targets(t.Context(), r, filepath.Join(dir, name), filepath.Join(dir, "w.yaml"))
		if err != nil || targets[0].Problem != want {
			t.Errorf("%s: %q, %v; want %q", name, targets[0].Problem, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Session{}).Excerpt(ctx, filepath.Join(sample, "job.log"), 3, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled excerpt: %v", err)
	}
	if _, err := (Session{}).Excerpt(t.Context(), filepath.Join(dir, "sub"), 1, 1, 1); err == nil {
		t.Error("no error for a directory")
	}
	if _, err := (Session{}).List(t.Context(), large); err == nil {
		t.Error("a file was listed")
	}
	if _, err := (Session{}).List(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled list: %v", err)
	}
	if dirs, err := (Session{}).Recent(t.Context()); err != nil || dirs != nil {
		t.Errorf("without a state directory: %v, %v", dirs, err)
	}
	if _, err := (Session{StateDir: large}).Recent(t.Context()); err == nil {
		t.Error("the state directory is a file, but there is no error")
	}
}
