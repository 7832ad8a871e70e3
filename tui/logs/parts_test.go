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

// newWindow returns a window of w × h cells with lines of the given lengths.
func newWindow(w, h int, lengths ...int) window {
	win := window{w: w, h: h, page: page{start: engine.LogPos{100}, number: 7}}
	at := int64(100)
	for i, n := range lengths {
		l := engine.LogLine{At: at, Next: at + int64(n) + 1, Text: strings.Repeat(fmt.Sprint(i%10), n)}
		at = l.Next
		win.lines = append(win.lines, l)
	}
	return win
}

// visibleRows returns the index of the line of each visible row.
func (w *window) visibleRows() []int {
	var rows []int
	for i := w.first; i < len(w.lines); i++ {
		for r := range w.height(i) {
			if (i > w.first || r >= w.firstRow) && len(rows) < w.h {
				rows = append(rows, i)
			}
		}
	}
	return rows
}

func TestWindowShowsAPage(t *testing.T) {
	t.Parallel()
	lengths := []int{5, 25, 5, 5, 12, 5, 5}
	for _, c := range []struct {
		name   string
		wrap   bool
		before int
		of     target
		want   []int
	}{
		{"at a position", false, 2, target{anchors: true}, []int{2, 3, 4}},
		{"rows above a position", false, 2, target{rowsAbove: 1, anchors: true}, []int{1, 2, 3}},
		{"more rows than there are", false, 2, target{rowsAbove: 9, anchors: true}, []int{0, 1, 2}},
		{"wrapped", true, 1, target{anchors: true}, []int{1, 1, 1}},
		{"inside a line", true, 1, target{firstRow: 2, anchors: true}, []int{1, 2, 3}},
		{"rows above, wrapped", true, 2, target{rowsAbove: 2, anchors: true}, []int{1, 1, 2}},
		{"rows above, inside a line", true, 1, target{firstRow: 1, rowsAbove: 1, anchors: true}, []int{1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWindow(10, 3, lengths...)
			w.wrap = c.wrap
			w.show(w.page, c.before, c.of)
			if got := w.visibleRows(); !slices.Equal(got, c.want) {
				t.Errorf("visible lines %v, want %v", got, c.want)
			}
			at, sub := w.first, w.firstRow
			w.h = 1
			w.restoreTop()
			w.h = 3
			if w.restoreTop(); w.first != at || w.firstRow != sub {
				t.Errorf("resizing moved the top to line %d, row %d", w.first, w.firstRow)
			}
		})
	}
	w := newWindow(10, 3, lengths...)
	w.follow, w.hasEnd = true, true
	w.show(w.page, len(lengths), w.endTarget())
	if got := w.visibleRows(); !slices.Equal(got, []int{4, 5, 6}) || !w.atEnd() || !w.isFull() {
		t.Errorf("following: visible lines %v", got)
	}
	w.h = 99
	if w.restoreTop(); w.first != 0 || w.isFull() {
		t.Errorf("a window larger than the page: line %d", w.first)
	}
}

func TestWindowScrolls(t *testing.T) {
	t.Parallel()
	w := newWindow(10, 2, 5, 25, 5, 5)
	w.wrap, w.first = true, 1
	for _, c := range []struct {
		by   int
		want target
	}{
		{1, target{pos: engine.LogPos{106}, firstRow: 1, anchors: true, scrollsDown: true}},
		{3, target{pos: engine.LogPos{132}, anchors: true, scrollsDown: true}},
		{9, target{pos: engine.LogPos{138}, anchors: true, scrollsDown: true}},
		{-2, target{pos: engine.LogPos{106}, linesAbove: 2, rowsAbove: 2, anchors: true}},
	} {
		got, ok := w.scrollTarget(c.by)
		if !ok || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("by %d: %+v, want %+v", c.by, got, c.want)
		}
	}
	w.first, w.hasEnd = 2, true
	if got, ok := w.scrollTarget(1); !ok || got.pos != nil || !w.follow {
		t.Errorf("past the end: %+v", got)
	}
	if _, ok := w.scrollTarget(1); ok {
		t.Error("scrolled down while following")
	}
	if w.scrollTarget(-1); w.follow {
		t.Error("scrolling up did not stop following")
	}
}

func TestWindowNumbersItsLines(t *testing.T) {
	t.Parallel()
	w := newWindow(10, 3, 5, 5, 5, 5)
	w.lines[1].Continued, w.lines[2].Continued = true, true
	for i, want := range []int64{7, 7, 7, 8, 8} {
		if got := w.lineNumber(i); got != want {
			t.Errorf("line %d has number %d, want %d", i, got, want)
		}
	}
	if w.number = 0; w.lineNumber(2) != 0 {
		t.Error("a line has a number although that of the first line is unknown")
	}
}

func TestWindowScrollsSideways(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("ä", 100)
	w := newWindow(40, 3, 5)
	for _, c := range []struct{ left, lo, hi, want int }{
		{0, 10, 20, 0}, {0, 35, 45, 25}, {30, 35, 45, 30}, {30, 10, 20, 0}, {30, 20, 50, 10}, {0, 90, 100, 80},
	} {
		w.column = c.left
		if w.revealBytes(text, 2*c.lo, 2*c.hi); w.column != c.want {
			t.Errorf("cells %d to %d from cell %d: %d, want %d", c.lo, c.hi, c.left, w.column, c.want)
		}
	}
	w.column = 0
	for range 9 {
		w.scrollSideways(16)
	}
	if w.column != 0 {
		t.Errorf("scrolled past a short line to cell %d", w.column)
	}
}

func TestWindowSearchStart(t *testing.T) {
	t.Parallel()
	w := newWindow(10, 2, 5, 5, 5, 5)
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
		if got := w.searchStart(c.from, c.back); got[0] != c.want {
			t.Errorf("%+v: at byte %d", c, got[0])
		}
	}
}

func TestSearchHandlesSteps(t *testing.T) {
	t.Parallel()
	var s search
	if s.setQuery("err(or"); s.match != nil || s.status != "not a valid regular expression" {
		t.Errorf("%+v", s)
	}
	s.setQuery("err")
	line := engine.LogLine{At: 3, Next: 9, Text: "an error"}
	start := func(f searchJob) *searchJob {
		s.startJob(t.Context(), f)
		return s.job
	}
	f := start(searchJob{pos: engine.LogPos{0}})
	f.pos = engine.LogPos{50}
	if s.handleStep(foundMsg{job: f}) || s.reached[0] != 50 || s.job != f {
		t.Error("the search ended before a match or the end")
	}
	if !s.handleStep(foundMsg{job: f, line: &line}) || s.job != nil || f.ctx.Err() == nil || !s.isCurrent(line) ||
		!s.reveal || s.status != "" {
		t.Errorf("found: %+v", s)
	}
	if got := s.highlights(line, line.Text); len(got) != 1 || line.Text[got[0][0]:got[0][1]] != "err" {
		t.Errorf("highlights: %v", got)
	}
	for said, f := range map[string]searchJob{
		"continued from the beginning": {wrapped: true}, "continued from the end": {wrapped: true, back: true},
	} {
		if s.handleStep(foundMsg{job: start(f), line: &line}); s.status != said {
			t.Errorf("%q, want %q", s.status, said)
		}
	}
	if s.handleStep(foundMsg{job: start(searchJob{}), noMatch: true}); s.found != nil || s.status != "no match" {
		t.Errorf("no match: %+v", s)
	}
}

func TestSearchIsStoppedAndCleared(t *testing.T) {
	t.Parallel()
	var s search
	s.setQuery("err")
	line := engine.LogLine{At: 3, Next: 9, Text: "an error"}
	s.startJob(t.Context(), searchJob{})
	f := s.job
	if !s.stop() || s.stop() || f.ctx.Err() == nil {
		t.Error("want stop to report true once")
	}
	if !s.clear() || s.clear() || s.highlights(line, line.Text) != nil {
		t.Errorf("cleared: %+v", s)
	}
}

// Without a match, the opened location is marked.
func TestSearchMarksTheOpenedLocation(t *testing.T) {
	t.Parallel()
	var s search
	here, there := engine.LogLine{At: 100, Next: 200}, engine.LogLine{At: 200, Next: 300}
	if at := s.setOpened(100, Location{Line: 2, Column: 11, Length: 5}); at != 110 || !s.isCurrent(here) ||
		s.isCurrent(there) || *s.opened != (byteRange{110, 115}) {
		t.Errorf("moved to byte %d, %+v", at, s.opened)
	}
	s.found = &there
	if s.isCurrent(here) || !s.isCurrent(there) {
		t.Error("the match is not the current line")
	}
	if s.clear(); !s.isCurrent(here) {
		t.Error("the opened location is not marked after clear")
	}
	if at := s.setOpened(100, Location{Line: 2, Column: 1 << 20}); at != 99+1<<20 {
		t.Errorf("far inside a line: moved to byte %d", at)
	}
	if s.resetForOpen(); s.isCurrent(here) {
		t.Error("a location is marked in another file")
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	var p prompt
	press := func(name string) promptEvent {
		k, ok := frametest.Keys(name)[0].(tea.KeyPressMsg)
		if !ok {
			t.Fatal(name)
		}
		return p.key(k)
	}
	p.open(filterPrompt, "a")
	for _, c := range []struct {
		key  string
		want promptEvent
		text string
	}{
		{"b", promptChanged, "ab"},
		{"f3", promptIdle, "ab"},
		{"backspace", promptChanged, "a"},
		{"enter", promptEntered, "a"},
	} {
		if got := press(c.key); got != c.want || p.input.Value() != c.text {
			t.Errorf("%s: %v, %q", c.key, got, p.input.Value())
		}
	}
	if p.kind != noPrompt {
		t.Error("the prompt is open after enter")
	}
	p.open(linePrompt, "")
	if v := p.draw(ui.NewTheme(true), 10); !strings.HasPrefix(v, "go to line: ") || press("esc") != promptCancelled ||
		p.kind != noPrompt {
		t.Errorf("drawn %q", v)
	}
}

func TestOneFetchAtATime(t *testing.T) {
	t.Parallel()
	var r loading
	r.start(t.Context(), fetch{})
	first := r.fetch
	r.grown, r.pendingRows = true, 4
	r.start(t.Context(), fetch{target: target{pos: engine.LogPos{3}}})
	if first.ctx.Err() == nil || r.fetch == first || r.grown || r.pendingRows != 0 {
		t.Errorf("the previous fetch was not stopped: %+v", r)
	}
	if r.fetch.start[0] = 9; r.fetch.pos[0] != 3 {
		t.Error("reading changed the target")
	}
	if !r.stop() || r.stop() {
		t.Error("want stop to report true once")
	}
}
