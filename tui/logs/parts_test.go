package logs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// filled is a window of w × h cells on lines of some lengths, each with its end.
func filled(w, h int, lengths ...int) window {
	win := window{w: w, h: h, page: page{head: engine.LogPos{100}, number: 7}}
	at := int64(100)
	for i, n := range lengths {
		l := engine.LogLine{At: at, Next: at + int64(n) + 1, Text: strings.Repeat(fmt.Sprint(i%10), n)}
		at = l.Next
		win.lines = append(win.lines, l)
	}
	return win
}

// view is what is in view: the index of each row's line.
func (w *window) view() []int {
	var rows []int
	for i := w.first; i < len(w.lines); i++ {
		for r := range w.height(i) {
			if (i > w.first || r >= w.sub) && len(rows) < w.h {
				rows = append(rows, i)
			}
		}
	}
	return rows
}

func TestWindowTakesAPage(t *testing.T) {
	t.Parallel()
	lengths := []int{5, 25, 5, 5, 12, 5, 5}
	for _, c := range []struct {
		name   string
		wrap   bool
		before int
		of     wish
		want   []int
	}{
		{"at a place", false, 2, wish{keeps: true}, []int{2, 3, 4}},
		{"rows above a place", false, 2, wish{rows: 1, keeps: true}, []int{1, 2, 3}},
		{"more rows than there are", false, 2, wish{rows: 9, keeps: true}, []int{0, 1, 2}},
		{"wrapped", true, 1, wish{keeps: true}, []int{1, 1, 1}},
		{"inside of a line", true, 1, wish{sub: 2, keeps: true}, []int{1, 2, 3}},
		{"rows above, wrapped", true, 2, wish{rows: 2, keeps: true}, []int{1, 1, 2}},
		{"rows above, inside of a line", true, 1, wish{sub: 1, rows: 1, keeps: true}, []int{1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := filled(10, 3, lengths...)
			w.wrap = c.wrap
			w.take(w.page, c.before, c.of)
			if got := w.view(); !slices.Equal(got, c.want) {
				t.Errorf("in view %v, want %v", got, c.want)
			}
			at, sub := w.first, w.sub
			w.h = 1
			w.settle()
			w.h = 3
			if w.settle(); w.first != at || w.sub != sub {
				t.Errorf("a change of size moves it to line %d, row %d", w.first, w.sub)
			}
		})
	}
	w := filled(10, 3, lengths...)
	w.follow, w.bottom = true, true
	w.take(w.page, len(lengths), w.toEnd())
	if got := w.view(); !slices.Equal(got, []int{4, 5, 6}) || !w.atEnd() || !w.full() {
		t.Errorf("followed: %v", got)
	}
	w.h = 99
	if w.settle(); w.first != 0 || w.full() {
		t.Errorf("larger than what is held: line %d", w.first)
	}
}

func TestWindowScrolls(t *testing.T) {
	t.Parallel()
	w := filled(10, 2, 5, 25, 5, 5)
	w.wrap, w.first = true, 1
	for _, c := range []struct {
		by   int
		want wish
	}{
		{1, wish{at: engine.LogPos{106}, sub: 1, keeps: true, down: true}},
		{3, wish{at: engine.LogPos{132}, keeps: true, down: true}},
		{9, wish{at: engine.LogPos{138}, keeps: true, down: true}},
		{-2, wish{at: engine.LogPos{106}, above: 2, rows: 2, keeps: true}},
	} {
		got, ok := w.by(c.by)
		if !ok || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("by %d: %+v, want %+v", c.by, got, c.want)
		}
	}
	w.first, w.bottom = 2, true
	if got, ok := w.by(1); !ok || got.at != nil || !w.follow {
		t.Errorf("beyond the end: %+v", got)
	}
	if _, ok := w.by(1); ok {
		t.Error("what is followed is scrolled down")
	}
	if w.by(-1); w.follow {
		t.Error("up goes on to follow")
	}
}

func TestWindowNumbersItsLines(t *testing.T) {
	t.Parallel()
	w := filled(10, 3, 5, 5, 5, 5)
	w.lines[1].Continued, w.lines[2].Continued = true, true
	for i, want := range []int64{7, 7, 7, 8, 8} {
		if got := w.lineNumber(i); got != want {
			t.Errorf("line %d has number %d, want %d", i, got, want)
		}
	}
	if w.number = 0; w.lineNumber(2) != 0 {
		t.Error("a number that is not known is made up")
	}
}

func TestWindowAims(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("ä", 100)
	w := filled(40, 3, 5)
	for _, c := range []struct{ left, lo, hi, want int }{
		{0, 10, 20, 0}, {0, 35, 45, 25}, {30, 35, 45, 30}, {30, 10, 20, 0}, {30, 20, 50, 10}, {0, 90, 100, 80},
	} {
		w.left = c.left
		if w.aim(text, 2*c.lo, 2*c.hi); w.left != c.want {
			t.Errorf("cells %d to %d from cell %d: %d, want %d", c.lo, c.hi, c.left, w.left, c.want)
		}
	}
	w.left = 0
	for range 9 {
		w.shift(16)
	}
	if w.left != 0 {
		t.Errorf("a short line is scrolled to cell %d", w.left)
	}
}

func TestWindowEdges(t *testing.T) {
	t.Parallel()
	w := filled(10, 2, 5, 5, 5, 5)
	w.first = 1
	away := engine.LogLine{At: 9}
	for _, c := range []struct {
		from   *engine.LogLine
		back   bool
		follow bool
		want   int64
	}{
		{nil, false, false, 106},
		{nil, true, false, 118},
		{nil, false, true, 118},
		{&w.lines[1], false, false, 112},
		{&w.lines[1], true, false, 106},
		{&w.lines[3], true, true, 118},
		{&away, true, false, 106},
	} {
		w.follow = c.follow
		if got := w.edge(c.from, c.back); got[0] != c.want {
			t.Errorf("%+v: at byte %d", c, got[0])
		}
	}
}

func TestSearchTakesWhatIsFound(t *testing.T) {
	t.Parallel()
	var s search
	if s.set("err(or"); s.match != nil || s.said != "no regular expression yet" {
		t.Errorf("%+v", s)
	}
	s.set("err")
	line := engine.LogLine{At: 3, Next: 9, Text: "an error"}
	start := func(f find) *find {
		s.start(t.Context(), f)
		return s.now
	}
	f := start(find{at: engine.LogPos{0}})
	f.at = engine.LogPos{50}
	if s.take(foundMsg{find: f}) || s.reached[0] != 50 || s.now != f {
		t.Error("a search that is not over has ended")
	}
	if !s.take(foundMsg{find: f, line: &line}) || s.now != nil || f.ctx.Err() == nil || !s.points(line) ||
		!s.aim || s.said != "" {
		t.Errorf("found: %+v", s)
	}
	if got := s.marks(line, line.Text); len(got) != 1 || line.Text[got[0][0]:got[0][1]] != "err" {
		t.Errorf("lit: %v", got)
	}
	for said, f := range map[string]find{
		"round the end": {wrapped: true}, "round the beginning": {wrapped: true, back: true},
	} {
		if s.take(foundMsg{find: start(f), line: &line}); s.said != said {
			t.Errorf("%q, want %q", s.said, said)
		}
	}
	if s.take(foundMsg{find: start(find{}), over: true}); s.hit != nil || s.said != "nowhere" {
		t.Errorf("no match: %+v", s)
	}
}

func TestSearchIsStoppedAndCleared(t *testing.T) {
	t.Parallel()
	var s search
	s.set("err")
	line := engine.LogLine{At: 3, Next: 9, Text: "an error"}
	s.start(t.Context(), find{})
	f := s.now
	if !s.stop() || s.stop() || f.ctx.Err() == nil {
		t.Error("it is to be stopped once")
	}
	if !s.clear() || s.clear() || s.marks(line, line.Text) != nil {
		t.Errorf("cleared: %+v", s)
	}
}

// While nothing is found, the place that a file was opened at is pointed to.
func TestSearchPointsToAPlace(t *testing.T) {
	t.Parallel()
	var s search
	here, there := engine.LogLine{At: 100, Next: 200}, engine.LogLine{At: 200, Next: 300}
	if at := s.point(100, Place{Line: 2, Column: 11, Length: 5}); at != 110 || !s.points(here) ||
		s.points(there) || *s.spot != (spot{110, 115}) {
		t.Errorf("gone to %d, %+v", at, s.spot)
	}
	s.hit = &there
	if s.points(here) || !s.points(there) {
		t.Error("what was found is not pointed to")
	}
	if s.clear(); !s.points(here) {
		t.Error("the place is lost")
	}
	if at := s.point(100, Place{Line: 2, Column: 1 << 20}); at != 99+1<<20 {
		t.Errorf("deep in a line: gone to %d", at)
	}
	if s.leave(); s.points(here) {
		t.Error("a place in another file")
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	var p prompt
	press := func(name string) typing {
		k, ok := frametest.Keys(name)[0].(tea.KeyPressMsg)
		if !ok {
			t.Fatal(name)
		}
		return p.key(k)
	}
	p.open(askedFilter, "a")
	for _, c := range []struct {
		key  string
		want typing
		text string
	}{
		{"b", changed, "ab"}, {"f3", unchanged, "ab"}, {"backspace", changed, "a"}, {"enter", entered, "a"},
	} {
		if got := press(c.key); got != c.want || p.input.Value() != c.text {
			t.Errorf("%s: %v, %q", c.key, got, p.input.Value())
		}
	}
	if p.asked != askedNothing {
		t.Error("entered and still asked")
	}
	p.open(askedLine, "")
	if v := p.view(ui.NewTheme(true), 10); !strings.HasPrefix(v, "go to line: ") || press("esc") != cancelled ||
		p.asked != askedNothing {
		t.Errorf("drawn %q", v)
	}
}

func TestReadingIsOneAtATime(t *testing.T) {
	t.Parallel()
	var r reading
	r.start(t.Context(), fetch{})
	first := r.now
	r.again, r.scrolls = true, 4
	r.start(t.Context(), fetch{wish: wish{at: engine.LogPos{3}}})
	if first.ctx.Err() == nil || r.now == first || r.again || r.scrolls != 0 {
		t.Errorf("the one before goes on: %+v", r)
	}
	if r.now.upAt[0] = 9; r.now.at[0] != 3 {
		t.Error("reading moves the place")
	}
	if !r.stop() || r.stop() {
		t.Error("it is to be stopped once")
	}
}
