package ui

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// maxLogLine is how much of a line is kept, in bytes.
const maxLogLine = 4096

// LogLine is one line of a log, safe to draw.
type LogLine struct {
	Text string
	Role Role
}

// LogLines makes lines of what a file holds: cut, cleaned, with a role where they
// name their level. It is meant for commands, not for Update.
func LogLines(raw [][]byte) []LogLine {
	out := make([]LogLine, 0, len(raw))
	for _, l := range raw {
		l = bytes.TrimRight(l, "\r")
		if i := bytes.LastIndexByte(l, '\r'); i >= 0 {
			l = l[i+1:] // a progress bar: what it says last is what counts
		}
		text := Clean(string(l[:min(len(l), maxLogLine)]))
		out = append(out, LogLine{Text: text, Role: levelOf(text)})
	}
	return out
}

// levelOf looks for the words that loggers use, in the case that they use.
func levelOf(s string) Role {
	for _, w := range []string{"ERROR", "CRITICAL", "FATAL", "Traceback", "Error:", "✗"} {
		if strings.Contains(s, w) {
			return Bad
		}
	}
	if strings.Contains(s, "WARN") {
		return Warn
	}
	return Plain
}

// LogList is the newest lines of a log in a window. It keeps a bounded number of
// lines, counts those that it had to let go, and draws only what is in view.
type LogList struct {
	ring  []LogLine
	first int // where in ring the oldest line is, once it is full
	limit int
	lost  int

	// Lines are numbered from the log's beginning, lost ones included.
	top    int
	left   int // cells that are scrolled out at the left
	follow bool
	query  string
	fold   bool // the search is without regard to case
	hit    int  // number of the line that was found last, -1 for none
	hits   int  // lines held that have the searched text
	w, h   int
}

// NewLogList makes a list of at most limit lines that follows its end.
func NewLogList(limit int) *LogList {
	return &LogList{limit: max(limit, 1), follow: true, hit: -1}
}

// SetSize sets the size in cells.
func (l *LogList) SetSize(w, h int) {
	l.w, l.h = w, h
	l.Scroll(0)
}

// Add appends lines; the oldest make room.
func (l *LogList) Add(lines ...LogLine) {
	for _, line := range lines {
		if l.has(line) {
			l.hits++
		}
		if len(l.ring) < l.limit {
			l.ring = append(l.ring, line)
			continue
		}
		if l.has(l.ring[l.first]) {
			l.hits--
		}
		l.ring[l.first] = line
		l.first = (l.first + 1) % l.limit
		l.lost++
	}
	l.Scroll(0)
}

// Clear forgets all lines; a search and whether the end is followed stay.
func (l *LogList) Clear() {
	l.ring, l.first, l.lost, l.top, l.left, l.hit, l.hits = nil, 0, 0, 0, 0, -1, 0
}

// Len is how many lines are held, Lost how many were let go before them.
func (l *LogList) Len() int { return len(l.ring) }

// Lost is how many lines were let go.
func (l *LogList) Lost() int { return l.lost }

func (l *LogList) at(n int) LogLine { return l.ring[(l.first+n-l.lost)%len(l.ring)] }

func (l *LogList) end() int { return l.lost + len(l.ring) }

// Following says that new lines scroll into view.
func (l *LogList) Following() bool { return l.follow }

// Follow turns following the end on or off.
func (l *LogList) Follow(on bool) {
	l.follow = on
	l.Scroll(0)
}

// Scroll moves the window by so many lines; up stops following, and reaching the
// end resumes it.
func (l *LogList) Scroll(by int) {
	bottom := max(l.end()-l.h, l.lost)
	switch {
	case by < 0:
		l.follow = false
	case by > 0 && l.top+by >= bottom:
		l.follow = true
	}
	if l.follow {
		l.top = bottom
		return
	}
	l.top = min(max(l.top+by, l.lost), bottom)
}

// Page is how many lines are in view.
func (l *LogList) Page() int { return max(l.h, 1) }

// Shift moves the window sideways.
func (l *LogList) Shift(cells int) { l.left = max(l.left+cells, 0) }

// Search marks a text and goes to its newest line that is in view or above. Case
// counts only where the text has a capital. It returns how many lines have it; an
// empty text ends the search.
func (l *LogList) Search(text string) int {
	l.query, l.fold, l.hit, l.hits = text, strings.ToLower(text) == text, -1, 0
	for i := l.lost; i < l.end(); i++ {
		if l.matches(i) {
			l.hits++
			if l.hit < 0 || i < l.top+l.h {
				l.hit = i
			}
		}
	}
	l.show()
	return l.hits
}

// Hits is how many of the lines held have the searched text.
func (l *LogList) Hits() int { return l.hits }

// Next goes to the next line with the searched text, or with -1 to the one
// before; around at the ends.
func (l *LogList) Next(dir int) bool {
	n := len(l.ring)
	from := l.hit
	if from < l.lost {
		from = l.top
	}
	for i := 1; i <= n; i++ {
		at := l.lost + ((from-l.lost+dir*i)%n+n)%n
		if l.matches(at) {
			l.hit = at
			l.show()
			return true
		}
	}
	return false
}

func (l *LogList) matches(n int) bool { return l.has(l.at(n)) }

func (l *LogList) has(line LogLine) bool {
	return l.query != "" && strings.Contains(l.folded(line.Text), l.query)
}

// folded is a line as it is compared with the searched text.
func (l *LogList) folded(text string) string {
	if l.fold {
		return strings.ToLower(text)
	}
	return text
}

func (l *LogList) show() {
	if l.hit < l.lost || l.hit >= l.top && l.hit < l.top+l.h {
		return
	}
	l.follow = false
	l.top = l.hit - l.h/2
	l.Scroll(0)
}

// Range is the numbers of the first and the last line in view, from 1.
func (l *LogList) Range() (first, last int) {
	return min(l.top+1, l.end()), min(l.top+l.h, l.end())
}

// Draw draws the window.
func (l *LogList) Draw(th Theme) string {
	var b strings.Builder
	for y := range max(l.h, 0) {
		if y > 0 {
			b.WriteByte('\n')
		}
		n := l.top + y
		if n < l.lost || n >= l.end() {
			b.WriteString(strings.Repeat(" ", max(l.w, 0)))
			continue
		}
		b.WriteString(Fit(l.draw(th, n), l.w))
	}
	return b.String()
}

func (l *LogList) draw(th Theme, n int) string {
	line := l.at(n)
	style := th.Style(line.Role)
	text := line.Text
	lower := l.folded(text)
	if l.query == "" || len(lower) != len(text) {
		if l.left > 0 {
			text = ansi.Cut(text, l.left, l.left+l.w)
		}
		return th.Paint(line.Role, Fit(text, min(l.w, Width(text))))
	}
	mark := th.Style(Accent).Reverse(true)
	if n == l.hit {
		mark = th.Style(Warn).Reverse(true)
	}
	var b strings.Builder
	for {
		i := strings.Index(lower, l.query)
		if i < 0 {
			break
		}
		if i > 0 {
			b.WriteString(style.Render(text[:i]))
		}
		b.WriteString(mark.Render(text[i : i+len(l.query)]))
		text, lower = text[i+len(l.query):], lower[i+len(l.query):]
	}
	if text != "" {
		b.WriteString(style.Render(text))
	}
	return ansi.Cut(b.String(), l.left, l.left+l.w)
}
