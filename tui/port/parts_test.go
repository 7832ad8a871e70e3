package port

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/recipes"
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

// Each word of a question, and of what was found, is shown at any size: a question is wrapped, and one
// that is higher than the list scrolls.
func TestQuestionsAreNotCut(t *testing.T) {
	t.Parallel()
	v := testResult()
	long := porter.Todo{
		ID: "n", Kind: porter.MustFix, File: porter.Recipe, Path: "resources.a_field_with_a_name_that_is_long",
		Message: strings.Repeat("compare the nodes of the old run with those of this recipe ", 6) + "END",
		Details: []string{"old run:"},
	}
	for i := range 12 {
		long.Details = append(long.Details, fmt.Sprintf("  gb300-r07-n%02d: CTX %d (GPU 0-3)", i, i))
	}
	v.res.Todos = append(v.res.Todos, long)
	for _, size := range [][2]int{{60, 3}, {60, 8}, {80, 8}, {120, 16}, {200, 26}} {
		q := questions{w: size[0], h: size[1], focused: true}
		q.setResult(v)
		shown := make(map[string]string, len(q.todos))
		steps := 0
		for last := false; !last && steps < 200; steps++ {
			here, _ := q.current()
			lines, of := q.visible(ui.Theme{})
			for i, l := range lines {
				if ui.Width(l) > q.w {
					t.Errorf("%v: the line is %d wide: %s", size, ui.Width(l), l)
				}
				if of[i] == q.cursor && !strings.HasSuffix(shown[here.ID], strings.TrimSpace(l)) {
					shown[here.ID] += " " + strings.TrimSpace(l)
				}
			}
			if !slices.Contains(of, q.cursor) {
				t.Fatalf("%v: question %s is not visible", size, here.ID)
			}
			after := len(q.block(ui.Theme{}, q.cursor)) - q.skip - q.h
			if note := q.hidden(nil); strings.HasSuffix(note, "line") != (after == 1) ||
				after > 1 && note != fmt.Sprintf("↓ %d more lines", after) {
				t.Errorf("%v: %q with %d lines below", size, note, after)
			}
			checkWhole(t, &q, of)
			before, skip := q.cursor, q.skip
			q.move(1)
			last = q.cursor == before && q.skip == skip
		}
		for _, todo := range q.todos {
			for word := range strings.FieldsSeq(todo.Message + " " + strings.Join(todo.Details, " ")) {
				if !strings.Contains(shown[todo.ID], word) {
					t.Errorf("%v: %q of question %s is not shown in %q", size, word, todo.ID, shown[todo.ID])
				}
			}
		}
		for range steps {
			q.move(-1)
		}
		if q.cursor != 0 || q.skip != 0 {
			t.Errorf("%v: not back at the first question: %d, line %d", size, q.cursor, q.skip)
		}
	}
}

// A question being answered that is higher than its space says how many lines are not shown, and the
// questions below it are whole or not shown at all.
func TestAnsweredQuestionIsHigherThanItsSpace(t *testing.T) {
	t.Parallel()
	v := testResult()
	long := porter.Todo{
		ID: "n", Kind: porter.MustFix, File: porter.Recipe, Path: "gpu", Message: "choose",
		Details: []string{"one", "two", "three", "four"},
	}
	q := questions{w: 80}
	q.setResult(v)
	a := &answer{question: long, preview: "3"}
	for h, want := range map[int]string{4: "3 more lines", 6: "1 more line", 7: "", 8: ""} {
		q.h = h
		if got := q.hidden(a); got != want {
			t.Errorf("height %d: %q, want %q", h, got, want)
		}
		shown := q.view(ui.NewTheme(true), a)
		if strings.Contains(shown, "four") != (want == "") || strings.Contains(shown, "which?") != (h == 8) {
			t.Errorf("height %d:\n%s", h, shown)
		}
	}
}

func TestFactsCountNodes(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[int]string{1: "1 node", 2: "2 nodes"} {
		r := &recipes.Recipe{}
		r.Agg.Nodes = nodes
		if got := recipeFacts(r)[0]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// checkWhole checks that the other questions in the list are whole and that the note counts those below.
func checkWhole(t *testing.T, q *questions, of []int) {
	t.Helper()
	for i := of[0]; i <= of[len(of)-1]; i++ {
		n := len(slices.DeleteFunc(slices.Clone(of), func(at int) bool { return at != i }))
		if want := min(len(q.block(ui.Theme{}, i)), q.h); n != want {
			t.Errorf("%dx%d: %d of %d lines of question %d are shown", q.w, q.h, n, want, i)
		}
	}
	below := len(q.todos) - 1 - of[len(of)-1]
	if note := q.hidden(nil); !strings.Contains(note, "line") && (note != "") != (below > 0) ||
		note != "" && !strings.Contains(note, "line") && note != fmt.Sprintf("↓ %d more", below) {
		t.Errorf("%dx%d: %q with %d questions below", q.w, q.h, note, below)
	}
}

// What is unaccounted for comes first: in the comparison, in the counts, and among the questions.
func TestUnaccountedFirst(t *testing.T) {
	t.Parallel()
	v := testResult()
	v.res.Proof = porter.Proof{
		Seen: 3, Read: 2, Tokens: 9, Same: 6, Asked: 1, Unaccounted: 2,
		Lines: []porter.ProofLine{
			{
				Launches: []string{"CTX 0", "CTX 1"}, Lines: []int{4, 5}, Step: "prefill_0", Unchanged: 6,
				Same: []string{"a", "b", "c", "d", "e", "f"},
				Differences: []porter.ProofRow{
					{Kind: "dropped", What: "env", Name: "HOME", Rule: "set by the image"},
					{Kind: "dropped", What: "argument", Name: "3", Old: "ctx_only"},
					{Kind: "dropped", What: "flag", Name: "--gres", Rule: "question recipe:srun_options#--gres", Asked: true},
				},
			},
			{Launches: []string{"line 9"}, Lines: []int{9}, Problem: "a quote is not closed"},
		},
	}
	v.res.Todos = append(v.res.Todos, porter.Todo{ID: "run#proof CTX 0: dropped argument 3", Kind: porter.MustFix})
	f := files{resultView: v}
	lines, _ := f.launchDiff(ui.NewTheme(true), 100)
	text := ansi.Strip(strings.Join(lines, "\n"))
	want := ` ✗ 2 launch lines read of 3 seen, no client's command; 9 tokens read, 2 unaccounted: 6 same, 0
 changed or dropped by a known rule, 1 asked; 1 UNEXPLAINED: a bug in the porter

 unaccounted
   CTX 0 and 1 more (job.log:4): argument 3 = ctx_only
   line 9 (job.log:9): not read: a quote is not closed

 asked
   CTX 0 and 1 more (job.log:4): flag --gres · question recipe:srun_options#--gres

 CTX 0 and 1 more  new step prefill_0 · 6 unchanged, 3 changed
`
	if !strings.HasPrefix(text, want) {
		t.Errorf("comparison\n%s\nwant\n%s", text, want)
	}
	if got := ansi.Strip(strings.Join(v.openCounts(ui.NewTheme(true)), ", ")); got != "1 line not read, "+
		"2 tokens unaccounted, 2 must fix, 1 to confirm" {
		t.Errorf("counts %q", got)
	}
	if first := sortedQuestions(v.res)[0]; !first.IsUnaccounted() || sortedQuestions(v.res)[1].ID != "g" {
		t.Errorf("first question %+v", first)
	}
	if _, role := proofVerdict(&porter.Proof{Seen: 2, Read: 1}); role != ui.Warn {
		t.Error("a line that was not read gives no warning")
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
