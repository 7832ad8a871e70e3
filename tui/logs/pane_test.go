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

// files opens real files; their growth is told by hand.
type files struct{ grown chan logview.Growth }

func (f files) LogView(_ context.Context, paths ...string) (*logview.View, <-chan logview.Growth, error) {
	return logview.NewView(time.UTC, paths...), f.grown, nil
}

// rig is a pane with its commands run as they come.
type rig struct {
	t     testing.TB
	p     *Pane
	dir   string
	grown chan logview.Growth
	said  []tea.Msg
}

func newRig(t testing.TB, w, h int, texts ...string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), grown: make(chan logview.Growth, 9)}
	r.p = New(t.Context(), files{r.grown}, ui.NewTheme(true))
	r.p.SetSize(w, h)
	var all []Log
	for i, text := range texts {
		l := Log{Name: fmt.Sprint("log_", i), Path: filepath.Join(r.dir, fmt.Sprint(i))}
		r.write(i, text)
		all = append(all, l)
	}
	r.run(r.p.Open(all...))
	return r
}

func (r *rig) write(i int, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, fmt.Sprint(i)), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// grow writes a log anew and tells so, as the watch would.
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
	r.run(r.p.Update(m))
}

// run runs a command and what follows from it. Waiting for growth is left out.
func (r *rig) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			r.run(c)
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
		r.run(batch[0])
	case Msg:
		r.run(r.p.Update(msg))
	default:
		r.said = append(r.said, msg)
	}
	r.run(r.p.Settle())
}

func (r *rig) keys(names ...string) {
	r.t.Helper()
	for _, k := range frametest.Keys(names...) {
		key, ok := k.(tea.KeyPressMsg)
		if !ok {
			r.t.Fatal(k)
		}
		r.run(r.p.Key(key))
	}
}

func (r *rig) typed(text string) {
	r.t.Helper()
	for _, c := range text {
		r.keys(string(c))
	}
}

// shows is what is in the window.
func (r *rig) shows() []string {
	lines := strings.Split(ansi.Strip(r.p.View()), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines
}

func (r *rig) want(what string, want ...string) {
	r.t.Helper()
	for i := range want {
		if !strings.HasPrefix(want[i], "▸") && want[i] != "" {
			want[i] = " " + want[i]
		}
	}
	if got := r.shows(); !slices.Equal(got, want) {
		r.t.Fatalf("%s: %q, want %q", what, got, want)
	}
}

func (r *rig) title() string {
	left, right := r.p.Title(true, 100)
	return ansi.Strip(left + " │ " + right)
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestScroll(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 3, numbered(1000))
	r.want("at the end", "line 998", "line 999", "line 1000")
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
		r.want(step.keys, fmt.Sprint("line ", step.top), fmt.Sprint("line ", step.top+1), fmt.Sprint("line ", step.top+2))
		if r.p.Following() != step.end {
			t.Fatalf("%s: follows %v", step.keys, r.p.Following())
		}
	}
}

// Rows that are scrolled while others are on their way are not lost.
func TestScrollInAHurry(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 3, numbered(1000))
	first := r.p.Scroll(-1)
	if r.p.Scroll(-5) != nil || r.p.Scroll(-4) != nil {
		t.Fatal("two pages are read at a time")
	}
	r.run(first)
	r.want("up by ten", "line 988", "line 989", "line 990")
}

func TestFollowAndGrowth(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 3, "one\nbeg")
	r.want("begun", "one", "beg", "")
	r.grow("one\nbegun\n", false)
	r.want("ended", "one", "begun", "")
	r.grow("one\nbegun\n"+numbered(9), false)
	r.want("follows", "line 7", "line 8", "line 9")
	r.keys("pgup")
	r.grow("one\nbegun\n"+numbered(99), false)
	r.want("held", "line 4", "line 5", "line 6")
	r.keys("f")
	r.want("follows again", "line 97", "line 98", "line 99")
	r.keys("home")
	r.grow("anew\n", true)
	r.want("restarted", "anew", "", "")
	r.keys("end")
	r.grow("x\ny\nz\n", true)
	r.want("restarted", "x", "y", "z")
}

// A log that is held does not move while the terminal changes its size.
func TestResizeKeepsThePlace(t *testing.T) {
	t.Parallel()
	for _, wrap := range []bool{false, true} {
		r := newRig(t, 20, 4, numbered(1000)+strings.Repeat("y", 70)+"\nlast\n")
		r.p.win.wrap = wrap
		r.keys("up", "up", "up")
		before := r.shows()
		for _, size := range [][2]int{{20, 9}, {20, 40}, {9, 300}, {60, 2}, {0, 0}, {20, 4}} {
			r.p.SetSize(size[0], size[1])
			r.run(r.p.Settle())
			if size[1] >= 4 && size[0] == 20 && !slices.Contains(r.shows(), before[0]) {
				t.Errorf("wrap %v: %q has gone at %v: %q", wrap, before[0], size, r.shows())
			}
		}
		if after := r.shows(); !slices.Equal(before, after) {
			t.Errorf("wrap %v: %q, want %q", wrap, after, before)
		}
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	r := newRig(t, 11, 3, "a\n0123456789ABCDEFGHIJabcd\nz\n")
	r.want("cut", "a", "012345678…", "z")
	r.keys("right")
	r.want("aside", "", "GHIJabcd", "")
	r.keys("left", "w")
	r.want("wrapped", "ABCDEFGHIJ", "abcd", "z")
	r.keys("up")
	r.want("up a row", "0123456789", "ABCDEFGHIJ", "abcd")
	r.keys("up", "up", "down", "down")
	r.want("down to the end", "ABCDEFGHIJ", "abcd", "z")
	r.keys("w")
	r.want("unwrapped", "a", "012345678…", "z")

	big := newRig(t, 60, 2, "a\n"+strings.Repeat("x", 1_064_536)+"\nz\n")
	big.keys("home")
	big.want("said at once", "a", strings.Repeat("x", 46)+"… 999 KB more")
	big.keys("w", "home", "pgdown")
	big.want("inside", strings.Repeat("x", 59), strings.Repeat("x", 59))
	big.keys("end", "up")
	if got := big.shows(); !strings.HasSuffix(got[0]+got[1], " 999,000 by tes more in the file") {
		t.Errorf("what was cut is not said: %q", got)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, 4, "Error one\n"+numbered(200)+"error two\n"+numbered(300)+"last\n")
	r.keys("/")
	r.typed("error")
	if !r.p.Typing() || r.p.Following() {
		t.Fatal("not searched while it is typed")
	}
	r.keys("enter")
	r.want("the nearest above", "line 199", "line 200", "▸error two", "line 1")
	if !strings.Contains(r.title(), "/error") || !strings.Contains(r.title(), "line 200") {
		t.Errorf("title %q", r.title())
	}
	if !strings.Contains(r.p.View(), "\x1b[7;38") {
		t.Error("the hit is not marked")
	}
	r.keys("N")
	r.want("before", "▸Error one", "line 1", "line 2", "line 3")
	r.keys("N")
	r.want("round the beginning", "line 199", "line 200", "▸error two", "line 1")
	if !strings.Contains(r.title(), "round the beginning") {
		t.Errorf("title %q", r.title())
	}
	r.keys("n")
	r.want("round the end", "▸Error one", "line 1", "line 2", "line 3")
	r.keys("y")
	sent := ui.Copy{Text: "Error one\n", Message: "the line was sent to the terminal's clipboard"}
	if got := r.said[len(r.said)-1]; got != sent {
		t.Errorf("copied %v", got)
	}
	if _, ok := r.p.Escape(); !ok || r.p.find.query != "" {
		t.Error("esc does not end the search")
	}
	if _, ok := r.p.Escape(); ok {
		t.Error("esc ends something more")
	}
	r.want("the place stays", "Error one", "line 1", "line 2", "line 3")
	r.keys("/")
	r.typed("line (")
	if !strings.Contains(r.title(), "no regular expression yet") {
		t.Errorf("title %q", r.title())
	}
	r.keys("esc", "/")
	r.typed("nowhere at all")
	r.keys("enter")
	if !strings.Contains(r.title(), "nowhere") {
		t.Errorf("title %q", r.title())
	}
	r.keys("n", "N")
	r.run(r.p.Paste("ignored"))
}

func TestNextError(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, 3, numbered(100)+"x ERROR a\n"+numbered(100)+"Traceback (most\n"+numbered(100))
	r.keys("e")
	r.want("the last, from the end", "line 100", "▸Traceback (most", "line 1")
	r.p.Escape()
	r.keys("home", "e")
	r.want("the first", "line 100", "▸x ERROR a", "line 1")
	r.keys("e")
	r.want("the second", "line 100", "▸Traceback (most", "line 1")
	r.keys("E")
	r.want("the first again", "line 100", "▸x ERROR a", "line 1")
}

func TestFilter(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, 3, numbered(3000))
	r.keys("&")
	r.typed("00$")
	r.keys("enter")
	r.want("only those", "line 2800", "line 2900", "line 3000")
	r.keys("pgup", "up")
	r.want("up", "line 2400", "line 2500", "line 2600")
	r.keys("/")
	r.typed("line 1")
	r.keys("enter")
	r.want("the hit is one of them", "line 1800", "▸line 1900", "line 2000")
	r.p.Escape()
	r.keys("&", "ctrl+u")
	r.typed("no such")
	r.keys("enter")
	if got := r.shows()[0]; !strings.Contains(got, "no line has no such") {
		t.Errorf("%q", got)
	}
	cmd, ok := r.p.Escape()
	r.run(cmd)
	if !ok || r.p.only.text != "" || !strings.HasPrefix(r.shows()[0], " line ") {
		t.Errorf("%q after the filter", r.shows())
	}
	r.keys("&", "(", "enter")
	if toast, ok := r.said[len(r.said)-1].(ui.Toast); !ok || toast.Role != ui.Bad {
		t.Errorf("a bad expression says %v", r.said)
	}
}

// A filter that takes long shows what it has so far, and how far it is.
func TestFilterShowsWhatThereIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, 60, 3, numbered(1000))
	cmd := r.p.filter("9$")
	f := r.p.read.now
	r.p.Update(fetchedMsg{&fetch{}, false, nil}) // of another wish
	line := logview.Line{At: 10, Next: 17, Text: "line 9"}
	f.before, f.upAt, f.downAt = []logview.Line{line}, logview.Pos{r.p.src.end[0] / 2}, r.p.src.end
	r.p.Update(fetchedMsg{f, false, nil})
	r.want("so far", "line 9", "", "")
	if !strings.Contains(r.title(), "filtering at 49 %") {
		t.Errorf("title %q", r.title())
	}
	f.before, f.upAt = nil, r.p.src.end
	r.run(cmd)
	r.want("all", "line 979", "line 989", "line 999")
	if strings.Contains(r.title(), "filtering") {
		t.Errorf("title %q", r.title())
	}
}

func TestGoToLine(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, 2, numbered(5000))
	for _, c := range []struct{ typed, want string }{
		{"1,234", "line 1234"}, {"1", "line 1"}, {"4999", "line 4999"}, {"99999", "line 4999"},
	} {
		r.keys(":")
		r.typed(c.typed)
		r.keys("enter")
		if got := r.shows()[0]; got != " "+c.want {
			t.Errorf("%s leads to %q", c.typed, got)
		}
	}
	r.keys(":", "x", "enter")
	if toast, ok := r.said[len(r.said)-1].(ui.Toast); !ok || !strings.Contains(toast.Text, "want a number") {
		t.Errorf("said %v", r.said)
	}
}

func TestMerged(t *testing.T) {
	t.Parallel()
	r := newRig(t, 40, 4, "10:00:01 a\n  more\n10:00:03 b\n", "10:00:02 c\n")
	r.want("by time", "log_0│ 10:00:01 a", "log_0│   more", "log_1│ 10:00:02 c", "log_0│ 10:00:03 b")
	if !strings.Contains(r.title(), "2 logs by time") {
		t.Errorf("title %q", r.title())
	}
	r.keys(":", "1", "enter")
	if toast, ok := r.said[len(r.said)-1].(ui.Toast); !ok || !strings.Contains(toast.Text, "in one log") {
		t.Errorf("said %v", r.said)
	}
}

// What the log holds cannot do anything to the terminal; its colours only on request.
func TestHostileText(t *testing.T) {
	t.Parallel()
	r := newRig(t, 60, 4, "\x1b[31mred\x1b[0m \x1b[2Jx\x1b]0;t\x07\u202eb\x00\xff\tc\n1%\r2%\r3%\nDEBUG d\nWARN e\n")
	if v := r.p.View(); strings.Contains(v, "\x1b[31m") || strings.Contains(v, "\x1b[2J") ||
		strings.ContainsAny(v, "\x00\x07\u202e") {
		t.Errorf("%q", v)
	}
	r.want("cleaned", "red xb? c", "3%", "DEBUG d", "WARN e")
	r.keys("a")
	if v := r.p.View(); !strings.Contains(v, "\x1b[31m") || strings.Contains(v, "\x1b[2J") ||
		strings.ContainsAny(v, "\x00\x07\u202e") {
		t.Errorf("%q", v)
	}
}

func TestCopyInView(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, 2, numbered(9))
	r.keys("y")
	if got := r.said[0]; got != (ui.Copy{Text: "line 8\nline 9\n", Message: "2 lines sent to the terminal's clipboard"}) {
		t.Errorf("copied %v", got)
	}
	empty := newRig(t, 30, 2, "")
	empty.keys("y", "up", "down", "n", "e", "home", "right", "w")
	if _, ok := empty.said[0].(ui.Toast); !ok {
		t.Errorf("said %v", empty.said)
	}
	empty.want("empty", "nothing in it yet", "")
}

type broken struct{}

func (broken) LogView(context.Context, ...string) (*logview.View, <-chan logview.Growth, error) {
	return nil, nil, errors.New("open log: permission denied")
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	p := New(t.Context(), broken{}, ui.NewTheme(true))
	p.SetSize(40, 2)
	m, ok := p.Open(Log{Name: "job", Path: "x"})().(Msg)
	if !ok {
		t.Fatal("no message of the pane")
	}
	p.Update(m)
	if !strings.Contains(p.View(), "permission denied") || p.Settle() != nil {
		t.Errorf("%q", p.View())
	}
}
