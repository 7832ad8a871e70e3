package logs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// anyFile opens real files as they are.
type anyFile struct{}

func (anyFile) LogView(_ context.Context, paths ...string) (*engine.LogView, <-chan engine.LogGrowth, error) {
	return logview.NewFileView(paths[0]), nil, nil
}

// fileRig is a pane that has opened a file at a place.
func fileRig(t testing.TB, w, h int, text string, at Place) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	r.p = NewFile(t.Context(), anyFile{}, ui.NewTheme(true))
	r.p.SetSize(w, h)
	r.write(0, text)
	r.run(r.p.OpenAt(r.log(), at))
	return r
}

func (r *rig) log() Log { return Log{Name: "job.log", Path: filepath.Join(r.dir, "0")} }

// numbered checks that each line in view has its number, and says which they are.
func (r *rig) numbered() (first, last int) {
	r.t.Helper()
	for _, row := range r.shows() {
		var num, said int
		if _, err := fmt.Sscanf(strings.TrimPrefix(row, "▸"), "%d line %d", &num, &said); err != nil || num != said {
			r.t.Fatalf("drawn %q", row)
		}
		if first == 0 {
			first = num
		}
		last = num
	}
	return first, last
}

// However one gets to a line it has its number, and little of the file is held.
func TestFileIsOpenedAtALine(t *testing.T) {
	t.Parallel()
	r := fileRig(t, 60, 12, numbered(100_000), Place{Line: 50_000, Column: 6, Length: 5})
	if first, last := r.numbered(); first != 49_996 || last != 50_007 || r.p.Following() {
		t.Fatalf("lines %d to %d", first, last)
	}
	if row := r.shows()[4]; row != "▸  50000  line 50000" ||
		!strings.Contains(r.p.View(), "\x1b[7;38;2;212;167;44m50000") {
		t.Errorf("not marked: %q\n%q", row, r.p.View())
	}
	for _, step := range []struct {
		key         string
		times       int
		first, last int
	}{
		{"pgdown", 30, 50_356, 50_367},
		{"pgup", 90, 49_276, 49_287},
		{"g", 1, 1, 12},
		{"G", 1, 99_989, 100_000},
		{"up", 1, 99_988, 99_999},
	} {
		for range step.times {
			r.keys(step.key)
		}
		if first, last := r.numbered(); first != step.first || last != step.last || len(r.p.win.lines) > 200 {
			t.Errorf("%s: lines %d to %d, want %d to %d; %d are held",
				step.key, first, last, step.first, step.last, len(r.p.win.lines))
		}
	}
	r.run(r.p.OpenAt(r.log(), Place{Line: 7}))
	if first, _ := r.numbered(); first != 3 || r.shows()[4] != "▸      7  line 7" {
		t.Errorf("opened again at %q", r.shows())
	}
	r.run(r.p.OpenAt(r.log(), Place{Line: 1}))
	if row := r.shows()[0]; row != "▸      1  line 1" || strings.Contains(r.title(), "no line") {
		t.Errorf("at the first line: %q, title %q", row, r.title())
	}
	r.run(r.p.OpenAt(r.log(), Place{}))
	if first, _ := r.numbered(); first != 1 || strings.Contains(r.p.View(), "▸") {
		t.Errorf("opened without a place: %q", r.shows())
	}
	if got := r.title(); !strings.HasPrefix(got, "job.log  line 1 · 0 % of 1.1 MB") {
		t.Errorf("title %q", got)
	}
}

func TestFileHasChangedSince(t *testing.T) {
	t.Parallel()
	r := fileRig(t, 60, 3, numbered(60), Place{Line: 70, Column: 3, Length: 2})
	if got := r.title(); !strings.Contains(got, "it has no line 70: it ends on line 60") ||
		r.shows()[2] != "      60  line 60" {
		t.Errorf("title %q, drawn %q", got, r.shows())
	}
	empty := fileRig(t, 60, 3, "", Place{Line: 3})
	if got := empty.title(); !strings.Contains(got, "it ends on line 0") {
		t.Errorf("title %q, drawn %q", got, empty.shows())
	}
}

// What is marked is brought into view sideways, also after a change of size, deep
// inside of a long line too.
func TestMarkIsInView(t *testing.T) {
	t.Parallel()
	const deep = 500_000
	text := "first\n" + strings.Repeat("x", 60) + "here" + strings.Repeat("y", 99) + "\n" +
		strings.Repeat("x", deep) + "there" + strings.Repeat("y", deep) + "\nlast\n"
	r := fileRig(t, 120, 6, text, Place{Line: 2, Column: 61, Length: 4})
	lit := func(word string) bool { return strings.Contains(r.p.View(), "44m"+word+"\x1b[m") }
	if !lit("here") || r.p.win.left != 0 {
		t.Errorf("drawn from cell %d:\n%s", r.p.win.left, r.p.View())
	}
	r.p.SetSize(40, 6)
	if !lit("here") || r.p.win.left == 0 {
		t.Errorf("drawn from cell %d:\n%s", r.p.win.left, r.p.View())
	}
	r.run(r.p.OpenAt(r.log(), Place{Line: 3, Column: deep + 1, Length: 5}))
	if !lit("there") || !strings.Contains(ansi.Strip(r.p.View()), "▸") {
		t.Errorf("drawn from cell %d:\n%s", r.p.win.left, r.p.View())
	}
	r.keys("G")
	if got := r.shows(); got[5] != "       4  …" || strings.Trim(got[3], " y…") != "" { // a part has no number
		t.Errorf("the end: %q", got)
	}
}

func TestFileSearchGoesDown(t *testing.T) {
	t.Parallel()
	r := fileRig(t, 60, 12, numbered(50_000)+"an f(x) and [\n"+numbered(50), Place{Line: 20_000})
	find := func(text string) string {
		r.keys("/", "ctrl+u")
		r.typed(text)
		r.keys("enter")
		for _, row := range r.shows() {
			if strings.HasPrefix(row, "▸") {
				return row
			}
		}
		return ""
	}
	for _, c := range []struct{ text, want string }{
		{"line", "▸  20001  line 20001"}, // below what is marked
		{"LINE 2", "▸  20000  line 20000"},
		{"line 3141", "▸  31410  line 31410"},
		{"f(x", "▸  50001  an f(x) and ["}, // no expression
		{"and [", "▸  50001  an f(x) and ["},
	} {
		if got := find(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
		if said := strings.Contains(r.title(), "· nowhere"); said != (c.text == "LINE 2") {
			t.Errorf("%s: title %q", c.text, r.title())
		}
	}
}

// A file of any kind can be looked at: all of it, and none of it acts on the terminal.
func TestBinaryFile(t *testing.T) {
	t.Parallel()
	text := "ELF\x00\x01\x02\x1b[2J\x1b]0;t\x07\xff\u202e\r1%\r" + strings.Repeat("\x00z", 200_000) + "\nend"
	r := fileRig(t, 60, 9, text, Place{})
	if v := r.p.View(); strings.ContainsAny(v, "\x00\x07\u202e\r") || strings.Contains(v, "\x1b[2J") {
		t.Errorf("%q", v)
	}
	if got := r.shows(); !strings.HasPrefix(got[0], "       1  ELF?1%zz") || got[1][:10] != strings.Repeat(" ", 10) {
		t.Errorf("%q", got)
	}
	r.keys("/")
	r.typed("end")
	if got := r.shows(); got[7] != "▸      2  end" {
		t.Errorf("%q", got)
	}
}

// What would take long to count has no numbers.
func TestUncountedLines(t *testing.T) {
	t.Parallel()
	r := fileRig(t, 60, 3, "first\n", Place{})
	path := r.log().Path
	if err := os.Truncate(path, 1<<30); err != nil {
		t.Skip(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("\na\nb\nc\n"); err != nil {
		t.Fatal(err)
	}
	r.run(r.p.OpenAt(r.log(), Place{}))
	r.keys("G")
	r.want("the end", "         a", "         b", "         c")
	if strings.Contains(r.title(), "line") {
		t.Errorf("title %q", r.title())
	}
}

// hangs opens nothing until it is left.
type hangs struct{}

func (hangs) LogView(ctx context.Context, _ ...string) (*engine.LogView, <-chan engine.LogGrowth, error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

func TestEscapeEndsWhatTakesLong(t *testing.T) {
	t.Parallel()
	p := NewFile(t.Context(), hangs{}, ui.NewTheme(true))
	p.SetSize(60, 3)
	cmd := p.OpenAt(Log{Name: "a", Path: "a"}, Place{Line: 3})
	escape := func(p *Pane) bool {
		_, did := p.Escape()
		return did
	}
	if !escape(p) || escape(p) {
		t.Fatal("opening is to be stopped once")
	}
	late, ok := cmd().(Msg)
	if !ok || p.Update(late) != nil || !strings.Contains(p.View(), "stopped before") || p.Settle() != nil {
		t.Errorf("%v, drawn %q", late, p.View())
	}

	r := fileRig(t, 60, 3, numbered(1000), Place{})
	r.keys("down")
	if escape(r.p) {
		t.Error("nothing is under way")
	}
	count := r.p.goTo("500")
	if !strings.Contains(r.title(), "counting lines") || !escape(r.p) {
		t.Error("what is being counted")
	}
	r.run(count)
	r.want("where it was", "      2  line 2", "      3  line 3", "      4  line 4")
	search := r.p.searchFor("line 900")
	if !escape(r.p) || !strings.Contains(r.title(), "stopped") {
		t.Errorf("a search: %q", r.title())
	}
	r.run(search)
	r.want("where it was", "      2  line 2", "      3  line 3", "      4  line 4")
	r.p.Close()
	if r.p.src.ctx.Err() == nil {
		t.Error("closed and at work")
	}
}
