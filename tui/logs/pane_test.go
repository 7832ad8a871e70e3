package logs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// logSource opens real files. The test sends their growth.
type logSource struct{ grown chan logview.Growth }

func (f logSource) LogView(_ context.Context, paths ...string) (*logview.View, <-chan logview.Growth, error) {
	return logview.NewView(time.UTC, paths...), f.grown, nil
}

// rig is a pane whose commands are run at once.
type rig struct {
	t     testing.TB
	p     *Pane
	dir   string
	grown chan logview.Growth
	sent  []tea.Msg
}

func newRig(t testing.TB, w, h int, texts ...string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), grown: make(chan logview.Growth, 9)}
	r.p = New(t.Context(), logSource{r.grown}, ui.NewTheme(true))
	r.p.SetSize(w, h)
	var all []Log
	for i, text := range texts {
		l := Log{Name: fmt.Sprint("log_", i), Path: filepath.Join(r.dir, fmt.Sprint(i))}
		r.write(i, text)
		all = append(all, l)
	}
	r.runCmd(r.p.Open(all...))
	return r
}

func (r *rig) write(i int, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, fmt.Sprint(i)), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// grow rewrites a log and sends its growth, as the engine does.
func (r *rig) grow(text string, restarted bool) {
	r.t.Helper()
	r.write(0, text)
	m := grownMsg{gen: r.p.src.gen}
	if restarted {
		r.p.src.view.Reopen(0)
		m.restarted = []int{0}
	}
	var err error
	if m.end, err = r.p.src.view.End(); err != nil {
		r.t.Fatal(err)
	}
	r.runCmd(r.p.Update(m))
}

// runCmd runs a command and the commands that result from it, but does not wait for growth.
func (r *rig) runCmd(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			r.runCmd(c)
		}
	case openedMsg:
		cmd := r.p.Update(msg)
		if cmd == nil {
			return
		}
		batch, ok := cmd().(tea.BatchMsg)
		if !ok {
			r.t.Fatalf("opened: %+v", msg)
		}
		r.runCmd(batch[0])
	case Msg:
		r.runCmd(r.p.Update(msg))
	default:
		r.sent = append(r.sent, msg)
	}
	r.runCmd(r.p.Fill())
}

func (r *rig) keys(names ...string) {
	r.t.Helper()
	for _, k := range frametest.Keys(names...) {
		key, ok := k.(tea.KeyPressMsg)
		if !ok {
			r.t.Fatal(k)
		}
		r.runCmd(r.p.Key(key))
	}
}

func (r *rig) typeText(text string) {
	r.t.Helper()
	for _, c := range text {
		r.keys(string(c))
	}
}

// rows returns the visible rows.
func (r *rig) rows() []string {
	lines := strings.Split(ansi.Strip(r.p.View()), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines
}

func (r *rig) wantRows(what string, want ...string) {
	r.t.Helper()
	for i := range want {
		if !strings.HasPrefix(want[i], "▸") && want[i] != "" {
			want[i] = " " + want[i]
		}
	}
	if got := r.rows(); !slices.Equal(got, want) {
		r.t.Fatalf("%s: %q, want %q", what, got, want)
	}
}

func (r *rig) title() string {
	left, right := r.p.Title(true, 100)
	return ansi.Strip(left + " │ " + right)
}

func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestScroll(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 3, numberedLines(1000))
	r.wantRows("at the end", "line 998", "line 999", "line 1000")
	for _, step := range []struct {
		keys string
		top  int
		end  bool
	}{
		{"up", 997, false},
		{"pgup", 994, false},
		{"down", 995, false},
		{"home", 1, false},
		{"up", 1, false},
		{"pgdown", 4, false},
		{"k", 3, false},
		{"end", 998, true},
		{"up", 997, false},
		{"down", 998, true},
		{"f", 998, false},
		{"f", 998, true},
	} {
		r.keys(step.keys)
		r.wantRows(step.keys, fmt.Sprint("line ", step.top), fmt.Sprint("line ", step.top+1), fmt.Sprint("line ", step.top+2))
		if r.p.Following() != step.end {
			t.Fatalf("%s: following is %v", step.keys, r.p.Following())
		}
	}
}

// Scrolling while lines are being loaded is not lost.
func TestScrollWhileLoading(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 3, numberedLines(1000))
	first := r.p.Scroll(-1)
	if r.p.Scroll(-5) != nil || r.p.Scroll(-4) != nil {
		t.Fatal("two fetches run at the same time")
	}
	r.runCmd(first)
	r.wantRows("up by ten", "line 988", "line 989", "line 990")
}

func TestFollowAndGrowth(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 3, "one\nbeg")
	r.wantRows("incomplete line", "one", "beg", "")
	r.grow("one\nbegun\n", false)
	r.wantRows("complete line", "one", "begun", "")
	r.grow("one\nbegun\n"+numberedLines(9), false)
	r.wantRows("following", "line 7", "line 8", "line 9")
	r.keys("pgup")
	r.grow("one\nbegun\n"+numberedLines(99), false)
	r.wantRows("not following", "line 4", "line 5", "line 6")
	r.keys("f")
	r.wantRows("following again", "line 97", "line 98", "line 99")
	r.keys("home")
	r.grow("anew\n", true)
	r.wantRows("restarted", "anew", "", "")
	r.keys("end")
	r.grow("x\ny\nz\n", true)
	r.wantRows("restarted", "x", "y", "z")
}

// Without following, the visible lines stay while the terminal is resized.
func TestResizeKeepsTheTopLine(t *testing.T) {
	t.Parallel()
	for _, wrap := range []bool{false, true} {
		r := newRig(t, 20, 4, numberedLines(1000)+strings.Repeat("y", 70)+"\nlast\n")
		r.p.win.wrap = wrap
		r.keys("up", "up", "up")
		before := r.rows()
		for _, size := range [][2]int{{20, 9}, {20, 40}, {9, 300}, {60, 2}, {0, 0}, {20, 4}} {
			r.p.SetSize(size[0], size[1])
			r.runCmd(r.p.Fill())
			if size[1] >= 4 && size[0] == 20 && !slices.Contains(r.rows(), before[0]) {
				t.Errorf("wrap %v: %q is not visible at %v: %q", wrap, before[0], size, r.rows())
			}
		}
		if after := r.rows(); !slices.Equal(before, after) {
			t.Errorf("wrap %v: %q, want %q", wrap, after, before)
		}
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	r := newRig(t, 11, 3, "a\n0123456789ABCDEFGHIJabcd\nz\n")
	r.wantRows("cut", "a", "012345678…", "z")
	r.keys("right")
	r.wantRows("scrolled sideways", "", "GHIJabcd", "")
	r.keys("left", "w")
	r.wantRows("wrapped", "ABCDEFGHIJ", "abcd", "z")
	r.keys("up")
	r.wantRows("up a row", "0123456789", "ABCDEFGHIJ", "abcd")
	r.keys("up", "up", "down", "down")
	r.wantRows("down to the end", "ABCDEFGHIJ", "abcd", "z")
	r.keys("w")
	r.wantRows("unwrapped", "a", "012345678…", "z")

	big := newRig(t, 60, 2, "a\n"+strings.Repeat("x", 1_064_536)+"\nz\n")
	big.keys("home")
	big.wantRows("truncated", "a", strings.Repeat("x", 46)+"… 999 KB more")
	big.keys("w", "home", "pgdown")
	big.wantRows("inside", strings.Repeat("x", 59), strings.Repeat("x", 59))
	big.keys("end", "up")
	if got := big.rows(); !strings.HasSuffix(got[0]+got[1], " 999,000 mo re bytes in the file") {
		t.Errorf("no note on the truncated bytes: %q", got)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, 4, "Error one\n"+numberedLines(200)+"error two\n"+numberedLines(300)+"last\n")
	r.keys("/")
	r.typeText("error")
	if !r.p.Typing() || r.p.Following() {
		t.Fatal("not searching while typing")
	}
	r.keys("enter")
	r.wantRows("nearest match above", "line 199", "line 200", "▸error two", "line 1")
	if !strings.Contains(r.title(), "/error") || !strings.Contains(r.title(), "line 200") {
		t.Errorf("title %q", r.title())
	}
	if !strings.Contains(r.p.View(), "\x1b[7;38") {
		t.Error("the match is not highlighted")
	}
	r.keys("N")
	r.wantRows("previous match", "▸Error one", "line 1", "line 2", "line 3")
	r.keys("N")
	r.wantRows("continued from the end", "line 199", "line 200", "▸error two", "line 1")
	if !strings.Contains(r.title(), "continued from the end") {
		t.Errorf("title %q", r.title())
	}
	r.keys("n")
	r.wantRows("continued from the beginning", "▸Error one", "line 1", "line 2", "line 3")
	r.keys("y")
	sent := ui.Copy{Text: "Error one\n", Message: "sent 1 line to the terminal's clipboard"}
	if got := r.sent[len(r.sent)-1]; got != sent {
		t.Errorf("copied %v", got)
	}
	if _, ok := r.p.Escape(); !ok || r.p.search.query != "" {
		t.Error("Escape did not clear the search")
	}
	if _, ok := r.p.Escape(); ok {
		t.Error("Escape handled a second time")
	}
	r.wantRows("not moved", "Error one", "line 1", "line 2", "line 3")
	r.keys("/")
	r.typeText("line (")
	if !strings.Contains(r.title(), "not a valid regular expression") {
		t.Errorf("title %q", r.title())
	}
	r.keys("esc", "/")
	r.typeText("no such text")
	r.keys("enter")
	if !strings.Contains(r.title(), "no match") {
		t.Errorf("title %q", r.title())
	}
	r.keys("n", "N")
	r.runCmd(r.p.Paste("ignored"))
}

func TestNextError(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, 3, numberedLines(100)+"x ERROR a\n"+numberedLines(100)+"Traceback (most\n"+numberedLines(100))
	r.keys("e")
	r.wantRows("last error", "line 100", "▸Traceback (most", "line 1")
	r.p.Escape()
	r.keys("home", "e")
	r.wantRows("first error", "line 100", "▸x ERROR a", "line 1")
	r.keys("e")
	r.wantRows("second error", "line 100", "▸Traceback (most", "line 1")
	r.keys("E")
	r.wantRows("first error again", "line 100", "▸x ERROR a", "line 1")
}

func TestFilter(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, 3, numberedLines(3000))
	r.keys("&")
	r.typeText("00$")
	r.keys("enter")
	r.wantRows("filtered", "line 2800", "line 2900", "line 3000")
	r.keys("pgup", "up")
	r.wantRows("up", "line 2400", "line 2500", "line 2600")
	r.keys("/")
	r.typeText("line 1")
	r.keys("enter")
	r.wantRows("search in the filtered lines", "line 1800", "▸line 1900", "line 2000")
	r.p.Escape()
	r.keys("&", "ctrl+u")
	r.typeText("no such")
	r.keys("enter")
	if got := r.rows()[0]; !strings.Contains(got, "no line matches no such") {
		t.Errorf("%q", got)
	}
	cmd, ok := r.p.Escape()
	r.runCmd(cmd)
	if !ok || r.p.filter.text != "" || !strings.HasPrefix(r.rows()[0], " line ") {
		t.Errorf("%q after the filter", r.rows())
	}
	r.keys("&", "(", "enter")
	if toast, ok := r.sent[len(r.sent)-1].(ui.Toast); !ok || toast.Role != ui.Bad {
		t.Errorf("an invalid expression: %v", r.sent)
	}
}

// While a filter is running, its matches so far and its progress are shown.
func TestFilterShowsPartialResults(t *testing.T) {
	t.Parallel()
	r := newRig(t, 60, 3, numberedLines(1000))
	cmd := r.p.setFilter("9$")
	f := r.p.loading.fetch
	r.p.Update(fetchedMsg{&fetch{}, false, nil}) // of another fetch
	line := logview.Line{At: 10, Next: 17, Text: "line 9"}
	f.before, f.start, f.end = []logview.Line{line}, logview.Pos{r.p.src.end[0] / 2}, r.p.src.end
	r.p.Update(fetchedMsg{f, false, nil})
	r.wantRows("matches so far", "line 9", "", "")
	if !strings.Contains(r.title(), "filtering: 49 %") {
		t.Errorf("title %q", r.title())
	}
	f.before, f.start = nil, r.p.src.end
	r.runCmd(cmd)
	r.wantRows("all", "line 979", "line 989", "line 999")
	if strings.Contains(r.title(), "filtering") {
		t.Errorf("title %q", r.title())
	}
}

func TestGoToLine(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, 2, numberedLines(5000))
	for _, c := range []struct{ typed, want string }{
		{"1,234", "line 1234"}, {"1", "line 1"}, {"4999", "line 4999"}, {"99999", "line 4999"},
	} {
		r.keys(":")
		r.typeText(c.typed)
		r.keys("enter")
		if got := r.rows()[0]; got != " "+c.want {
			t.Errorf("go to %s: %q", c.typed, got)
		}
	}
	r.keys(":", "x", "enter")
	if toast, ok := r.sent[len(r.sent)-1].(ui.Toast); !ok || !strings.Contains(toast.Text, "not a line number") {
		t.Errorf("sent %v", r.sent)
	}
}

func TestMergedLogs(t *testing.T) {
	t.Parallel()
	r := newRig(t, 40, 4, "10:00:01 a\n  more\n10:00:03 b\n", "10:00:02 c\n")
	r.wantRows("by time", "log_0│ 10:00:01 a", "log_0│   more", "log_1│ 10:00:02 c", "log_0│ 10:00:03 b")
	if !strings.Contains(r.title(), "2 logs merged") {
		t.Errorf("title %q", r.title())
	}
	r.keys(":", "1", "enter")
	if toast, ok := r.sent[len(r.sent)-1].(ui.Toast); !ok || !strings.Contains(toast.Text, "no line numbers") {
		t.Errorf("sent %v", r.sent)
	}
}

// Control sequences in a log are removed. Its colours are shown on request.
func TestControlCharactersAreRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t, 60, 4, "\x1b[31mred\x1b[0m \x1b[2Jx\x1b]0;t\x07\u202eb\x00\xff\tc\n1%\r2%\r3%\nDEBUG d\nWARN e\n")
	if v := r.p.View(); strings.Contains(v, "\x1b[31m") || strings.Contains(v, "\x1b[2J") ||
		strings.ContainsAny(v, "\x00\x07\u202e") {
		t.Errorf("%q", v)
	}
	r.wantRows("cleaned", "red xb? c", "3%", "DEBUG d", "WARN e")
	r.keys("a")
	if v := r.p.View(); !strings.Contains(v, "\x1b[31m") || strings.Contains(v, "\x1b[2J") ||
		strings.ContainsAny(v, "\x00\x07\u202e") {
		t.Errorf("%q", v)
	}
}

func TestCopyVisibleLines(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, 2, numberedLines(9))
	r.keys("y")
	if got := r.sent[0]; got != (ui.Copy{Text: "line 8\nline 9\n", Message: "sent 2 lines to the terminal's clipboard"}) {
		t.Errorf("copied %v", got)
	}
	empty := newRig(t, 30, 2, "")
	empty.keys("y", "up", "down", "n", "e", "home", "right", "w")
	if _, ok := empty.sent[0].(ui.Toast); !ok {
		t.Errorf("sent %v", empty.sent)
	}
	empty.wantRows("empty", "no lines yet", "")
}

type failingSource struct{}

func (failingSource) LogView(context.Context, ...string) (*logview.View, <-chan logview.Growth, error) {
	return nil, nil, errors.New("open log: permission denied")
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	p := New(t.Context(), failingSource{}, ui.NewTheme(true))
	p.SetSize(40, 2)
	m, ok := p.Open(Log{Name: "job", Path: "x"})().(Msg)
	if !ok {
		t.Fatal("not a message of the pane")
	}
	p.Update(m)
	if !strings.Contains(p.View(), "permission denied") || p.Fill() != nil {
		t.Errorf("%q", p.View())
	}
}
