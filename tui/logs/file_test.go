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

// fileSource opens real files.
type fileSource struct{}

func (fileSource) LogView(_ context.Context, paths ...string) (*engine.LogView, <-chan engine.LogGrowth, error) {
	return logview.NewFileView(paths[0]), nil, nil
}

// fileRig returns a rig whose pane has opened a file at a location.
func fileRig(t testing.TB, w, h int, text string, at Location) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	r.p = NewFile(t.Context(), fileSource{}, ui.NewTheme(true))
	r.p.SetSize(w, h)
	r.write(0, text)
	r.runCmd(r.p.OpenAt(r.log(), at))
	return r
}

func (r *rig) log() Log { return Log{Name: "job.log", Path: filepath.Join(r.dir, "0")} }

// numberedRows checks the number of each visible line and returns the first and the last one.
func (r *rig) numberedRows() (first, last int) {
	r.t.Helper()
	for _, row := range r.rows() {
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

// All ways to a line show its number, and few lines are kept in memory.
func TestFileIsOpenedAtALine(t *testing.T) {
	t.Parallel()
	r := fileRig(t, 60, 12, numberedLines(100_000), Location{Line: 50_000, Column: 6, Length: 5})
	if first, last := r.numberedRows(); first != 49_996 || last != 50_007 || r.p.Following() {
		t.Fatalf("visible: lines %d to %d", first, last)
	}
	if row := r.rows()[4]; row != "▸  50000  line 50000" ||
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
		if first, last := r.numberedRows(); first != step.first || last != step.last || len(r.p.win.lines) > 200 {
			t.Errorf("%s: visible lines %d to %d, want %d to %d; %d in memory",
				step.key, first, last, step.first, step.last, len(r.p.win.lines))
		}
	}
	r.runCmd(r.p.OpenAt(r.log(), Location{Line: 7}))
	if first, _ := r.numberedRows(); first != 3 || r.rows()[4] != "▸      7  line 7" {
		t.Errorf("opened again: %q", r.rows())
	}
	r.runCmd(r.p.OpenAt(r.log(), Location{Line: 1}))
	if row := r.rows()[0]; row != "▸      1  line 1" || strings.Contains(r.title(), "no line") {
		t.Errorf("at the first line: %q, title %q", row, r.title())
	}
	r.runCmd(r.p.OpenAt(r.log(), Location{}))
	if first, _ := r.numberedRows(); first != 1 || strings.Contains(r.p.View(), "▸") {
		t.Errorf("opened without a location: %q", r.rows())
	}
	if got := r.title(); !strings.HasPrefix(got, "job.log  line 1 · 0 % of 1.1 MB") {
		t.Errorf("title %q", got)
	}
}

func TestOpenAtAMissingLine(t *testing.T) {
	t.Parallel()
	r := fileRig(t, 60, 3, numberedLines(60), Location{Line: 70, Column: 3, Length: 2})
	if got := r.title(); !strings.Contains(got, "no line 70: the last line is 60") ||
		r.rows()[2] != "      60  line 60" {
		t.Errorf("title %q, drawn %q", got, r.rows())
	}
	empty := fileRig(t, 60, 3, "", Location{Line: 3})
	if got := empty.title(); !strings.Contains(got, "the last line is 0") {
		t.Errorf("title %q, drawn %q", got, empty.rows())
	}
}

// A location is scrolled into view sideways, after a change of size and far inside a
// long line, too.
func TestOpenScrollsSidewaysToTheLocation(t *testing.T) {
	t.Parallel()
	const deep = 500_000
	text := "first\n" + strings.Repeat("x", 60) + "here" + strings.Repeat("y", 99) + "\n" +
		strings.Repeat("x", deep) + "there" + strings.Repeat("y", deep) + "\nlast\n"
	r := fileRig(t, 120, 6, text, Location{Line: 2, Column: 61, Length: 4})
	lit := func(word string) bool { return strings.Contains(r.p.View(), "44m"+word+"\x1b[m") }
	if !lit("here") || r.p.win.column != 0 {
		t.Errorf("drawn from cell %d:\n%s", r.p.win.column, r.p.View())
	}
	r.p.SetSize(40, 6)
	if !lit("here") || r.p.win.column == 0 {
		t.Errorf("drawn from cell %d:\n%s", r.p.win.column, r.p.View())
	}
	r.runCmd(r.p.OpenAt(r.log(), Location{Line: 3, Column: deep + 1, Length: 5}))
	if !lit("there") || !strings.Contains(ansi.Strip(r.p.View()), "▸") {
		t.Errorf("drawn from cell %d:\n%s", r.p.win.column, r.p.View())
	}
	r.keys("G")
	// The number is only on the first part of a long line.
	if got := r.rows(); got[5] != "       4  …" || strings.Trim(got[3], " y…") != "" {
		t.Errorf("the end: %q", got)
	}
}

func TestFileSearchesDownwards(t *testing.T) {
	t.Parallel()
	r := fileRig(t, 60, 12, numberedLines(50_000)+"an f(x) and [\n"+numberedLines(50), Location{Line: 20_000})
	find := func(text string) string {
		r.keys("/", "ctrl+u")
		r.typeText(text)
		r.keys("enter")
		for _, row := range r.rows() {
			if strings.HasPrefix(row, "▸") {
				return row
			}
		}
		return ""
	}
	for _, c := range []struct{ text, want string }{
		{"line", "▸  20001  line 20001"}, // below the mark
		{"LINE 2", "▸  20000  line 20000"},
		{"line 3141", "▸  31410  line 31410"},
		{"f(x", "▸  50001  an f(x) and ["}, // not a regular expression
		{"and [", "▸  50001  an f(x) and ["},
	} {
		if got := find(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
		if said := strings.Contains(r.title(), "· no match"); said != (c.text == "LINE 2") {
			t.Errorf("%s: title %q", c.text, r.title())
		}
	}
}

// Binary files are shown completely, without control characters.
func TestBinaryFileIsShownSafely(t *testing.T) {
	t.Parallel()
	text := "ELF\x00\x01\x02\x1b[2J\x1b]0;t\x07\xff\u202e\r1%\r" + strings.Repeat("\x00z", 200_000) + "\nend"
	r := fileRig(t, 60, 9, text, Location{})
	if v := r.p.View(); strings.ContainsAny(v, "\x00\x07\u202e\r") || strings.Contains(v, "\x1b[2J") {
		t.Errorf("%q", v)
	}
	if got := r.rows(); !strings.HasPrefix(got[0], "       1  ELF?1%zz") || got[1][:10] != strings.Repeat(" ", 10) {
		t.Errorf("%q", got)
	}
	r.keys("/")
	r.typeText("end")
	if got := r.rows(); got[7] != "▸      2  end" {
		t.Errorf("%q", got)
	}
}

// Lines are not numbered where counting would take long.
func TestLargeFileHasNoLineNumbers(t *testing.T) {
	t.Parallel()
	r := fileRig(t, 60, 3, "first\n", Location{})
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
	r.runCmd(r.p.OpenAt(r.log(), Location{}))
	r.keys("G")
	r.wantRows("the end", "         a", "         b", "         c")
	if strings.Contains(r.title(), "line") {
		t.Errorf("title %q", r.title())
	}
}

// blockingSource blocks until the context ends.
type blockingSource struct{}

func (blockingSource) LogView(ctx context.Context, _ ...string) (*engine.LogView, <-chan engine.LogGrowth, error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

func TestEscapeStopsLongOperations(t *testing.T) {
	t.Parallel()
	p := NewFile(t.Context(), blockingSource{}, ui.NewTheme(true))
	p.SetSize(60, 3)
	cmd := p.OpenAt(Log{Name: "a", Path: "a"}, Location{Line: 3})
	escape := func(p *Pane) bool {
		_, did := p.Escape()
		return did
	}
	if !escape(p) || escape(p) {
		t.Fatal("want Escape to stop opening, once")
	}
	late, ok := cmd().(Msg)
	if !ok || p.Update(late) != nil || !strings.Contains(p.View(), "stopped before") || p.Fill() != nil {
		t.Errorf("%v, drawn %q", late, p.View())
	}

	r := fileRig(t, 60, 3, numberedLines(1000), Location{})
	r.keys("down")
	if escape(r.p) {
		t.Error("Escape handled without anything to stop")
	}
	count := r.p.goTo("500")
	if !strings.Contains(r.title(), "counting lines") || !escape(r.p) {
		t.Error("Escape did not stop counting lines")
	}
	r.runCmd(count)
	r.wantRows("not moved", "      2  line 2", "      3  line 3", "      4  line 4")
	search := r.p.searchFor("line 900")
	if !escape(r.p) || !strings.Contains(r.title(), "stopped") {
		t.Errorf("search not stopped: title %q", r.title())
	}
	r.runCmd(search)
	r.wantRows("not moved", "      2  line 2", "      3  line 3", "      4  line 4")
	r.p.Close()
	if r.p.src.ctx.Err() == nil {
		t.Error("commands still run after Close")
	}
}
