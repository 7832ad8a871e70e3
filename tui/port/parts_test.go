package port

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

func TestListChoices(t *testing.T) {
	t.Parallel()
	dirs, runs := []string{".git", "bm_a", "bm_b", "other"}, []string{"/r/bm_a/c64", "/r/bm_b/c64"}
	for _, c := range []struct {
		typed, want string
		recent      []string
	}{
		{
			"/r/", "run /r/bm_a/c64, run /r/bm_b/c64, directory /r/bm_a, directory /r/bm_b, directory /r/other, " +
				"as typed /r/", nil,
		},
		{"/r/bm_a", "run /r/bm_a/c64, directory /r/bm_a", []string{"/x"}},
		{"/r/.", "directory /r/.git, as typed /r/.", nil},
		{"/r/zzz", "as typed /r/zzz", nil},
	} {
		var got []string
		for _, row := range listChoices(c.typed, dirs, runs, c.recent) {
			got = append(got, row.kind+" "+row.path)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%q: %s\nwant %s", c.typed, strings.Join(got, ", "), c.want)
		}
	}
	var got []string
	recent := []string{"/x/c8", "bm_b/c64", "/y/c8"}
	for _, row := range listChoices("", []string{"bm_a", "bm_b"}, []string{"bm_a/c64", "bm_b/c64"}, recent) {
		got = append(got, row.kind+" "+row.path)
	}
	want := "recent bm_b/c64, run bm_a/c64, recent /x/c8, recent /y/c8, directory bm_a, directory bm_b"
	if strings.Join(got, ", ") != want {
		t.Errorf("empty path: %s\nwant %s", strings.Join(got, ", "), want)
	}
}

func TestCompletePath(t *testing.T) {
	t.Parallel()
	dirs := []string{".hidden", "bm_alpha", "bm_beta", "größe", "größer"}
	for typed, want := range map[string]string{
		"/r/b": "/r/bm_", "/r/bm_a": "/r/bm_alpha/", "/r/x": "/r/x", "bm_b": "bm_beta/",
		"/r/.h": "/r/.hidden/", "/r/g": "/r/größe", "/r/": "/r/",
	} {
		if got := completePath(typed, dirs); got != want {
			t.Errorf("%q completes to %q, want %q", typed, got, want)
		}
	}
}

func TestSummaryFits(t *testing.T) {
	t.Parallel()
	res := &porter.Result{
		Fields: []porter.Field{{Class: porter.Copied}, {Class: porter.Missing}},
		Todos:  []porter.Todo{{Kind: porter.Confirm}},
	}
	if got, role := summary(res, 120); got != "2 fields: 1 copied 1 TODO" || role != ui.Warn {
		t.Errorf("wide: %q %v", got, role)
	}
	if got, _ := summary(res, 40); got != "2 fields, 1 open question" {
		t.Errorf("narrow: %q", got)
	}
}

// All parts are within the body, at any size.
func TestReviewLayout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ w, h, file, origin, todos int }{
		{60, 12, 3, 2, 3}, {80, 20, 6, 5, 5}, {120, 36, 23, 23, 9}, {200, 56, 40, 40, 12},
	} {
		b := arrangeReview(c.w, c.h, 0)
		if b.file.h != c.file || b.origin.h != c.origin || b.questions.h != c.todos || b.wide != (b.artifacts.w > 0) {
			t.Errorf("%dx%d: %+v", c.w, c.h, b)
		}
	}
	for w := 0; w < 220; w += 7 {
		for h := 10; h < 60; h++ {
			b := arrangeReview(w, h, w%30)
			for _, r := range []rect{b.artifacts, b.file, b.origin, b.questions} {
				if r.w < 0 || r.h < 0 || r.x+r.w > w || r.y+r.h > h {
					t.Fatalf("%dx%d: %+v is outside of the body in %+v", w, h, r, b)
				}
			}
		}
	}
}
