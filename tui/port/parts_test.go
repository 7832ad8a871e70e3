package port

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

func TestChoices(t *testing.T) {
	t.Parallel()
	dirs, runs := []string{".git", "bm_a", "bm_b", "other"}, []string{"/r/bm_a/c64", "/r/bm_b/c64"}
	for _, c := range []struct {
		typed, want string
		recent      []string
	}{
		{"/r/", "run /r/bm_a/c64, run /r/bm_b/c64, folder /r/bm_a, folder /r/bm_b, folder /r/other, as typed /r/", nil},
		{"/r/bm_a", "run /r/bm_a/c64, folder /r/bm_a", []string{"/x"}},
		{"/r/.", "folder /r/.git, as typed /r/.", nil},
		{"/r/zzz", "as typed /r/zzz", nil},
	} {
		var got []string
		for _, row := range choices(c.typed, dirs, runs, c.recent) {
			got = append(got, row.kind+" "+row.path)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%q: %s\nwant %s", c.typed, strings.Join(got, ", "), c.want)
		}
	}
	if got := choices("", nil, nil, []string{"/x"}); len(got) != 1 || got[0] != (choice{"recent", "/x"}) {
		t.Errorf("nothing typed: %v", got)
	}
}

func TestCompleted(t *testing.T) {
	t.Parallel()
	dirs := []string{".hidden", "bm_alpha", "bm_beta", "größe", "größer"}
	for typed, want := range map[string]string{
		"/r/b": "/r/bm_", "/r/bm_a": "/r/bm_alpha/", "/r/x": "/r/x", "bm_b": "bm_beta/", "/r/.h": "/r/.hidden/", "/r/g": "/r/größe", "/r/": "/r/",
	} {
		if got := completed(typed, dirs); got != want {
			t.Errorf("%q completes to %q, want %q", typed, got, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "job.log")
	long := strings.Repeat("x", 1000)
	if err := os.WriteFile(path, []byte("first\n"+long+"NAME=value"+long+"\nlast"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name                 string
		line, column, length int
		match, before, after string
		fails                bool
	}{
		{"in a long line", 2, 1001, 10, "NAME=value", "…" + strings.Repeat("x", around), strings.Repeat("x", around) + "…", false},
		{"first line", 1, 1, 5, "first", "", "", false},
		{"last line, no line end", 3, 2, 3, "ast", "l", "", false},
		{"no column", 1, 0, 0, "", "", "first", false},
		{"longer than the line", 3, 1, 100, "last", "", "", false},
		{"past the end of the file", 9, 1, 1, "", "", "", true},
		{"past the end of the line", 3, 50000, 1, "", "", "", true},
	} {
		got, err := Disk{}.Excerpt(t.Context(), path, c.line, c.column, c.length)
		if (err != nil) != c.fails || got != (Excerpt{c.before, c.match, c.after}) && !c.fails {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	d := Disk{State: filepath.Join(t.TempDir(), "state")}
	if got, err := d.Recent(t.Context()); err != nil || got != nil {
		t.Errorf("at first: %v %v", got, err)
	}
	a, b, gone := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "gone")
	for _, dir := range []string{a, b, gone, a} {
		d.remember(t.Context(), dir)
	}
	if got, err := d.Recent(t.Context()); err != nil || !slices.Equal(got, []string{a, b}) {
		t.Errorf("got %v %v, want %v", got, err, []string{a, b})
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "b"), 0o755), os.Mkdir(filepath.Join(dir, "a"), 0o755), os.WriteFile(filepath.Join(dir, "file"), nil, 0o644),
		os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "link")), os.Symlink("nowhere", filepath.Join(dir, "dead")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := (Disk{}).List(t.Context(), dir); err != nil || !slices.Equal(got, []string{"a", "b", "link"}) {
		t.Errorf("%v %v", got, err)
	}
}

func TestSummaryFits(t *testing.T) {
	t.Parallel()
	res := &porter.Result{Fields: []porter.Field{{Class: porter.Copied}, {Class: porter.Missing}}, Todos: []porter.Todo{{Kind: porter.Confirm}}}
	if got, role := summary(res, 120); got != "2 fields: 1 copied 1 TODO" || role != ui.Warn {
		t.Errorf("wide: %q %v", got, role)
	}
	if got, _ := summary(res, 40); got != "2 fields, 1 question open" {
		t.Errorf("narrow: %q", got)
	}
}

// Nothing sticks out, at any size.
func TestLayout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ w, h, file, origin, todos int }{
		{60, 12, 2, 3, 3}, {80, 20, 6, 5, 5}, {120, 36, 23, 23, 9}, {200, 56, 40, 40, 12},
	} {
		b := layout(c.w, c.h)
		if b.file.h != c.file || b.origin.h != c.origin || b.todos.h != c.todos || b.wide != (b.artifacts.w > 0) {
			t.Errorf("%dx%d: %+v", c.w, c.h, b)
		}
	}
	for w := 0; w < 220; w += 7 {
		for h := 10; h < 60; h++ {
			b := layout(w, h)
			for _, r := range []rect{b.artifacts, b.file, b.origin, b.todos} {
				if r.w < 0 || r.h < 0 || r.x+r.w > w || r.y+r.h > h {
					t.Fatalf("%dx%d: %+v sticks out of %+v", w, h, r, b)
				}
			}
		}
	}
}
