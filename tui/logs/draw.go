package logs

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Cells before a row of text: the mark of what is pointed to, and a line's number.
const (
	gutter  = 1
	numbers = 9
)

// View is the window, exactly as large as was said.
func (p *Pane) View() string {
	if len(p.win.lines) == 0 {
		return ui.Box(" "+p.th.Paint(ui.Muted, p.empty()), p.w, p.win.h)
	}
	return ui.Box(strings.Join(p.rows, "\n"), p.w, p.win.h)
}

// room is the cells that a row of text has.
func (p *Pane) room() int {
	lead := gutter + p.src.nameWidth(p.w)
	if p.file {
		lead = gutter + numbers
	}
	return max(p.w-lead, 1)
}

// draw draws the rows; it is called whenever something has changed, so that a
// frame costs nothing else.
func (p *Pane) draw() {
	p.rows = p.rows[:0]
	w := &p.win
	sub := w.sub
	for i := w.first; i < len(w.lines) && len(p.rows) < w.h; i++ {
		l := w.lines[i]
		text := textOf(l)
		marks := p.find.marks(l, text)
		from := w.left
		if w.wrap {
			from = sub * w.w
		}
		for row := sub; row < w.height(i) && len(p.rows) < w.h; row++ {
			p.rows = append(p.rows, p.lead(i, row == 0)+p.part(l, text, marks, from))
			from += w.w
		}
		sub = 0
	}
}

// lead is what stands before a row.
func (p *Pane) lead(i int, first bool) string {
	l, mark := p.win.lines[i], " "
	if first && p.find.points(l) {
		mark = p.th.Paint(ui.Accent, "▸")
	}
	if p.file {
		text := ""
		if n := p.win.lineNumber(i); first && n > 0 && !l.Continued && p.only.match == nil {
			text = fmt.Sprint(n)
		}
		return mark + p.th.Paint(ui.Muted, ui.Right(text, numbers-2)+"  ")
	}
	w := p.src.nameWidth(p.w)
	switch {
	case w == 0:
		return mark
	case !first:
		return mark + strings.Repeat(" ", w)
	}
	return mark + p.th.Paint(ui.Muted, ui.Fit(ui.Clean(p.src.logs[l.File].Name), w-2)) + p.th.Rule.Render("│ ")
}

var roles = map[engine.Severity]ui.Role{
	engine.ErrorLine: ui.Bad, engine.WarningLine: ui.Warn, engine.DebugLine: ui.Muted,
}

// part is the cells of a line from one on, as many as a row has.
func (p *Pane) part(l engine.LogLine, text string, marks [][]int, from int) string {
	w := p.win.w
	if p.colours && len(marks) == 0 {
		if own := l.Coloured(); len(own) != len(l.Text) {
			return ui.Fit(ansi.Cut(own, from, from+w), w)
		}
	}
	lo, hi, more := bytesOf(text, from), bytesOf(text, from+w), ""
	if hi < len(text) && !p.win.wrap {
		more = "…"
		if l.Cut > 0 {
			more = "… " + bytesText(l.Cut) + " more"
		}
		hi, more = bytesOf(text, from+max(w-ui.Width(more), 0)), p.th.Paint(ui.Muted, more)
	}
	var b strings.Builder
	if p.file && from > 0 && !p.win.wrap && text != "" { // there is more on this side too
		b.WriteString(p.th.Paint(ui.Muted, "…"))
		lo = bytesOf(text, from+1)
	}
	style := p.th.Style(roles[l.Severity()])
	mark := p.th.Style(ui.Accent).Reverse(true)
	if p.find.points(l) {
		mark = p.th.Style(ui.Warn).Reverse(true)
	}
	at := lo
	for _, m := range marks {
		a, z := max(m[0], at), min(m[1], hi)
		if a >= z {
			continue
		}
		if a > at {
			b.WriteString(style.Render(text[at:a]))
		}
		b.WriteString(mark.Render(text[a:z]))
		at = z
	}
	if at < hi {
		b.WriteString(style.Render(text[at:hi]))
	}
	return ui.Fit(b.String()+more, w)
}

// textOf is a line as it is drawn, what was cut off said behind it.
func textOf(l engine.LogLine) string {
	if l.Cut == 0 {
		return l.Text
	}
	return l.Text + " … " + results.Count(l.Cut) + " bytes more in the file"
}

// bytesOf is how many bytes of a safe text its first cells take.
func bytesOf(text string, cells int) int {
	if cells >= len(text) || ascii(text[:cells]) {
		return min(len(text), cells)
	}
	return len(ansi.Truncate(text, cells, ""))
}

// cellsOf is how many cells a safe text takes.
func cellsOf(text string) int {
	if ascii(text) {
		return len(text)
	}
	return ui.Width(text)
}

// ascii says that each byte of a safe text takes a cell; long lines are looked at often.
func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
