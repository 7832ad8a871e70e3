package session

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "job.log")
	long := strings.Repeat("x", 1000)
	text := "first\n" + long + "NAME=value" + long + "\nlast"
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(text))
	if err := errors.Join(err, w.Close(), os.WriteFile(path, []byte(text), 0o644),
		os.WriteFile(path+".gz", packed.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name                 string
		line, column, length int
		match, before, after string
		fails                bool
	}{
		{
			"in a long line", 2, 1001, 10, "NAME=value",
			"…" + strings.Repeat("x", excerptMargin), strings.Repeat("x", excerptMargin) + "…",
			false,
		},
		{"first line", 1, 1, 5, "first", "", "", false},
		{"last line, no line end", 3, 2, 3, "ast", "l", "", false},
		{"no column", 1, 0, 0, "", "", "first", false},
		{"longer than the line", 3, 1, 100, "last", "", "", false},
		{"past the end of the file", 9, 1, 1, "", "", "", true},
		{"past the end of the line", 3, 50000, 1, "", "", "", true},
	} {
		for _, path := range []string{path, path + ".gz"} {
			got, err := Session{}.Excerpt(t.Context(), path, c.line, c.column, c.length)
			if (err != nil) != c.fails || got != (Excerpt{c.before, c.match, c.after}) && !c.fails {
				t.Errorf("%s of %s: %q, %v", c.name, filepath.Ext(path), got, err)
			}
		}
	}
}

// The error says whether the file has become shorter or the position is beyond the limit.
func TestExcerptWithoutText(t *testing.T) {
	t.Parallel()
	short, long := filepath.Join(t.TempDir(), "short"), filepath.Join(t.TempDir(), "long")
	for path, size := range map[string]int64{short: 0, long: maxOffset + 1} {
		if err := errors.Join(os.WriteFile(path, []byte("one\ntwo\n"), 0o644), os.Truncate(path, max(size, 8))); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path         string
		line, column int
		want         string
	}{
		{short, 4, 1, short + ":4: beyond the end of the file"},
		{short, 2, 5000, short + ":2: beyond the end of the file"},
		{long, 4, 1, long + ":4: beyond the first 64 MiB"},
		{long, 3, maxOffset + 1000, long + ":3: beyond the first 64 MiB"},
	} {
		_, err := Session{}.Excerpt(t.Context(), c.path, c.line, c.column, 1)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || problem.Of(err) != problem.ArtifactInvalid {
			t.Errorf("line %d, column %d: %v (%s), want %q", c.line, c.column, err, problem.Of(err), c.want)
		}
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	s := Session{StateDir: filepath.Join(t.TempDir(), "state")}
	if got, err := s.Recent(t.Context()); err != nil || got != nil {
		t.Errorf("at first: %v %v", got, err)
	}
	a, b, gone := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "gone")
	for _, dir := range []string{a, b, gone, a} {
		s.record(t.Context(), dir)
	}
	if got, err := s.Recent(t.Context()); err != nil || !slices.Equal(got, []string{a, b}) {
		t.Errorf("got %v %v, want %v", got, err, []string{a, b})
	}
}

// TestRecentHere checks that directories below the current one are relative.
func TestRecentHere(t *testing.T) {
	here, other := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(here, "bm"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	s := Session{StateDir: t.TempDir()}
	for _, dir := range []string{other, "bm", "."} {
		s.record(t.Context(), dir)
	}
	if got, err := s.Recent(t.Context()); err != nil || !slices.Equal(got, []string{".", "bm", other}) {
		t.Errorf("got %v, %v", got, err)
	}
	s.record(t.Context(), other) // paths are recorded as absolute ones
	t.Chdir(other)
	want := []string{".", here, filepath.Join(here, "bm")}
	if got, err := s.Recent(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("from another directory: %v, %v", got, err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "b"), 0o755), os.Mkdir(filepath.Join(dir, "a"), 0o755),
		os.WriteFile(filepath.Join(dir, "file"), nil, 0o644),
		os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "link")), os.Symlink("nowhere", filepath.Join(dir, "dead")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := (Session{}).List(t.Context(), dir); err != nil || !slices.Equal(got, []string{"a", "b", "link"}) {
		t.Errorf("%v %v", got, err)
	}
}

// A directory that does not respond is given up when the context ends.
func TestHangingDirectory(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	hangs := make(chan struct{})
	defer close(hangs)
	cancel()
	_, err := runUntilDone(ctx, "/lustre/dead", func() (int, error) { <-hangs; return 1, nil })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "/lustre/dead does not respond") {
		t.Errorf("got %v", err)
	}
	if n, err := runUntilDone(ctx, "/here", func() (int, error) { return 1, nil }); n != 1 || err != nil {
		t.Errorf("one that responds: %d %v", n, err)
	}
}
