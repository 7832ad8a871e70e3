package logs

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Widths in cells of the columns before the text: the mark and the line number.
const (
	markWidth   = 1
	numberWidth = 9
)

// View returns the window, exactly of the size set by SetSize.
func (p *Pane) View() string {
	if len(p.win.lines) == 0 {
		return ui.Box(" "+p.th.Paint(ui.Muted, p.emptyText()), p.w, p.win.h)
	}
	return ui.Box(strings.Join(p.rows, "\n"), p.w, p.win.h)
}

// textWidth returns the cells for the text of a row.
func (p *Pane) textWidth() int {
	lead := markWidth + p.src.nameWidth(p.w)
	if p.file {
		lead = markWidth + numberWidth
	}
	return max(p.w-lead, 1)
}

// draw draws the rows. It is called after each change, so that View is
// cheap.
func (p *Pane) draw() {
	p.rows = p.rows[:0]
	w := &p.win
	skip := w.firstRow
	for i := w.first; i < len(w.lines) && len(p.rows) < w.h; i++ {
		l := w.lines[i]
		text := lineText(l)
		marks := p.search.highlights(l, text)
		from := w.column
		if w.wrap {
			from = skip * w.w
		}
		for row := skip; row < w.height(i) && len(p.rows) < w.h; row++ {
			p.rows = append(p.rows, p.rowPrefix(i, row == 0)+p.rowText(l, text, marks, from))
			from += w.w
		}
		skip = 0
	}
}

// rowPrefix returns the mark and the line number or log name of a row.
func (p *Pane) rowPrefix(i int, first bool) string {
	l, mark := p.win.lines[i], " "
	if first && p.search.isCurrent(l) {
		mark = p.th.Paint(ui.Accent, "▸")
	}
	if p.file {
		text := ""
		if n := p.win.lineNumber(i); first && n > 0 && !l.Continued && p.filter.match == nil {
			text = fmt.Sprint(n)
		}
		return mark + p.th.Paint(ui.Muted, ui.Right(text, numberWidth-2)+"  ")
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

// rowText returns the part of a line that begins at cell from and fills a row.
func (p *Pane) rowText(l engine.LogLine, text string, marks [][]int, from int) string {
	w := p.win.w
	if p.colors && len(marks) == 0 {
		if colored := l.Coloured(); len(colored) != len(l.Text) {
			return ui.Fit(ansi.Cut(colored, from, from+w), w)
		}
	}
	lo, hi, more := bytesInCells(text, from), bytesInCells(text, from+w), ""
	if hi < len(text) && !p.win.wrap {
		more = "…"
		if l.Cut > 0 {
			more = "… " + ui.Bytes(l.Cut) + " more"
		}
		hi, more = bytesInCells(text, from+max(w-ui.Width(more), 0)), p.th.Paint(ui.Muted, more)
	}
	var b strings.Builder
	if p.file && from > 0 && !p.win.wrap && text != "" { // text is hidden on the left, too
		b.WriteString(p.th.Paint(ui.Muted, "…"))
		lo = bytesInCells(text, from+1)
	}
	style := p.th.Style(roles[l.Severity()])
	mark := p.th.Style(ui.Accent).Reverse(true)
	if p.search.isCurrent(l) {
		mark = p.th.Style(ui.Warn).Reverse(true)
	}
	drawn := lo
	for _, m := range marks {
		start, end := max(m[0], drawn), min(m[1], hi)
		if start >= end {
			continue
		}
		if start > drawn {
			b.WriteString(style.Render(text[drawn:start]))
		}
		b.WriteString(mark.Render(text[start:end]))
		drawn = end
	}
	if drawn < hi {
		b.WriteString(style.Render(text[drawn:hi]))
	}
	return ui.Fit(b.String()+more, w)
}

// lineText returns the text of a line, with a note if it is truncated.
func lineText(l engine.LogLine) string {
	if l.Cut == 0 {
		return l.Text
	}
	return l.Text + " … " + results.Count(l.Cut) + " more bytes in the file"
}

// bytesInCells returns the length in bytes of the first cells of a text without control characters.
func bytesInCells(text string, cells int) int {
	if cells >= len(text) || isASCII(text[:cells]) {
		return min(len(text), cells)
	}
	return len(ansi.Truncate(text, cells, ""))
}

// cellWidth returns the width in cells of a text without control characters.
func cellWidth(text string) int {
	if isASCII(text) {
		return len(text)
	}
	return ui.Width(text)
}

// isASCII reports whether a text is ASCII, so that each byte takes one cell. It saves time on
// long lines.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
