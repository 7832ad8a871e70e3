package logs

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// gutter is a cell for the mark of what was found.
const gutter = 1

// room is the cells that a row of text has.
func (p *Pane) room() int { return max(p.w-gutter-p.nameWidth(), 1) }

// nameWidth is the column of logs' names in a merged view.
func (p *Pane) nameWidth() int {
	if len(p.logs) < 2 {
		return 0
	}
	n := 0
	for _, l := range p.logs {
		n = max(n, ui.Width(l.Name))
	}
	return min(n, 12, p.w/4) + 2
}

// text is a line as it is drawn, what was cut off said behind it.
func (p *Pane) text(l engine.LogLine) string {
	if l.Cut > 0 {
		return l.Text + cutText(l)
	}
	return l.Text
}

func cutText(l engine.LogLine) string {
	return " … " + results.Decimal(float64(l.Cut), 0) + " bytes more in the file"
}

// draw draws the rows; it is called whenever something has changed, so that a
// frame costs nothing else.
func (p *Pane) draw() {
	p.rows = p.rows[:0]
	sub := p.sub
	for i := p.first; i < len(p.lines) && len(p.rows) < p.h; i++ {
		l := p.lines[i]
		text := p.text(l)
		marks := p.search.Marks(text)
		from := p.left
		if p.wrap {
			from = sub * p.room()
		}
		for row := sub; row < p.height(i) && len(p.rows) < p.h; row++ {
			p.rows = append(p.rows, p.lead(l, row == 0)+p.part(l, text, marks, from))
			from += p.room()
		}
		sub = 0
	}
}

// lead is what stands before a row.
func (p *Pane) lead(l engine.LogLine, first bool) string {
	mark := " "
	if p.hit != nil && same(l, *p.hit) && first {
		mark = p.th.Paint(ui.Accent, "▸")
	}
	w := p.nameWidth()
	switch {
	case w == 0:
		return mark
	case !first:
		return mark + strings.Repeat(" ", w)
	}
	return mark + p.th.Paint(ui.Muted, ui.Fit(ui.Clean(p.logs[l.File].Name), w-2)) + p.th.Rule.Render("│ ")
}

var roles = map[engine.Severity]ui.Role{engine.ErrorLine: ui.Bad, engine.WarningLine: ui.Warn, engine.DebugLine: ui.Muted}

// part is the cells of a line from one on, as many as a row has.
func (p *Pane) part(l engine.LogLine, text string, marks [][]int, from int) string {
	w := p.room()
	if p.colours && len(marks) == 0 {
		if own := l.Coloured(); len(own) != len(l.Text) {
			return ui.Fit(ansi.Cut(own, from, from+w), w)
		}
	}
	lo, hi, more := bytesOf(text, from), bytesOf(text, from+w), ""
	if hi < len(text) && !p.wrap {
		more = "…"
		if l.Cut > 0 {
			more = "… " + bytesText(l.Cut) + " more"
		}
		hi, more = bytesOf(text, from+max(w-ui.Width(more), 0)), p.th.Paint(ui.Muted, more)
	}
	style := p.th.Style(roles[l.Severity()])
	mark := p.th.Style(ui.Accent).Reverse(true)
	if p.hit != nil && same(l, *p.hit) {
		mark = p.th.Style(ui.Warn).Reverse(true)
	}
	var b strings.Builder
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

// ascii says that each byte of a safe text takes a cell; long lines are looked at
// often.
func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// View is the window, exactly as large as was said.
func (p *Pane) View() string {
	if len(p.lines) == 0 {
		return ui.Box(" "+p.th.Paint(ui.Muted, p.empty()), p.w, p.h)
	}
	return ui.Box(strings.Join(p.rows, "\n"), p.w, p.h)
}

func (p *Pane) empty() string {
	switch {
	case p.err != nil:
		return ui.Clean(p.err.Error())
	case len(p.logs) == 0:
		return "no log yet"
	case p.view == nil:
		return "opening …"
	case p.fetched != nil && p.filter != nil:
		return "looking for lines with " + ui.Clean(p.only) + " …"
	case p.filter != nil:
		return "no line has " + ui.Clean(p.only)
	case p.fetched != nil:
		return "reading …"
	}
	return "nothing in it yet"
}

// Title is what stands in the rule of w cells above the window: at the left what is
// shown, where, and how a search goes; at the right why the log can't be read now.
// Focused draws the name as that of the active part.
func (p *Pane) Title(focused bool, w int) (left, right string) {
	if p.Typing() {
		names := map[prompt]string{searching: "search: ", filtering: "only lines with: ", goingTo: "go to line: "}
		field := min(max(w-46, 16), 40)
		return names[p.prompt] + p.input.Draw(p.th, field, true), p.th.Paint(ui.Muted, p.state())
	}
	name := "log"
	if len(p.logs) == 1 {
		name = ui.Clean(p.logs[0].Name) + " log"
	} else if len(p.logs) > 1 {
		name = fmt.Sprintf("%d logs by time", len(p.logs))
	}
	if left = name; focused {
		left = p.th.Title.Render(name)
	}
	if p.only != "" {
		left += p.th.Paint(ui.Accent, " only "+ui.Clean(p.only))
	}
	if p.follow {
		left += p.th.Paint(ui.Muted, "  follows")
	} else {
		left += p.th.Paint(ui.Warn, "  "+p.where(w))
	}
	if st := p.state(); st != "" {
		left += p.th.Paint(ui.Muted, " · ") + p.th.Paint(ui.Accent, st)
	}
	if p.err != nil && len(p.lines) > 0 {
		right = p.th.Paint(ui.Warn, ui.Clean(p.err.Error()))
	}
	return left, right
}

// where is how far down the window is.
func (p *Pane) where(w int) string {
	text := ""
	if p.number > 0 && p.filter == nil {
		text = "line " + results.Decimal(float64(p.number)+float64(p.first), 0) + " · "
	}
	size := p.end.Bytes()
	if size == 0 {
		return text + "held"
	}
	const roomy = 80
	if text += fmt.Sprintf("%d %%", percent(p.place(p.first+len(p.shown())).Bytes(), size)); w >= roomy {
		text += " of " + bytesText(size)
	}
	return text
}

func percent(part, whole int64) int64 {
	if whole <= 0 {
		return 0
	}
	return min(100*part/whole, 100)
}

func bytesText(n int64) string {
	x, unit := float64(n), "B"
	for _, u := range []string{"KB", "MB", "GB", "TB"} {
		if x < 1000 {
			break
		}
		x, unit = x/1000, u
	}
	if unit == "B" || x >= 100 {
		return fmt.Sprintf("%.0f %s", x, unit)
	}
	return fmt.Sprintf("%.1f %s", x, unit)
}

// state is how a search goes.
func (p *Pane) state() string {
	switch f := p.finding; {
	case f != nil:
		way := percent(p.reached.Bytes(), p.end.Bytes())
		return fmt.Sprintf("looking for %s at %d %%, esc stops", ui.Clean(f.what), way)
	case p.fetched != nil && p.filter != nil && p.looked != nil:
		return fmt.Sprintf("filtering at %d %%, esc stops", percent(p.looked.Bytes(), p.end.Bytes()))
	case p.prompt == searching && p.query == "":
		return "a regular expression"
	case p.said == "" && p.query == "":
		return ""
	case p.query == "":
		return p.said
	}
	return strings.TrimSuffix("/"+ui.Clean(p.query)+" · "+p.said, " · ")
}
