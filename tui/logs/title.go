package logs

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Title is what stands in the rule of w cells above the window: at the left what is
// shown, where, and how a search goes; at the right why the log can't be read now.
// Focused draws the name as that of the active part.
func (p *Pane) Title(focused bool, w int) (left, right string) {
	if p.Typing() {
		return p.prompt.view(p.th, min(max(w-46, 16), 40)), p.th.Paint(ui.Muted, p.state())
	}
	if left = p.src.name(p.file); focused {
		left = p.th.Title.Render(left)
	}
	if p.only.text != "" {
		left += p.th.Paint(ui.Accent, " only "+ui.Clean(p.only.text))
	}
	switch {
	case p.win.follow:
		left += p.th.Paint(ui.Muted, "  follows")
	case p.file:
		left += p.th.Paint(ui.Muted, "  "+p.where(w))
	default: // what comes is not shown
		left += p.th.Paint(ui.Warn, "  "+p.where(w))
	}
	if st := p.state(); st != "" {
		left += p.th.Paint(ui.Muted, " · ") + p.th.Paint(ui.Accent, st)
	}
	if p.src.err != nil && len(p.win.lines) > 0 {
		right = p.th.Paint(ui.Warn, ui.Clean(p.src.err.Error()))
	}
	return left, right
}

// where is how far down the window is.
func (r *reader) where(w int) string {
	text := ""
	if n := r.win.lineNumber(r.win.first); n > 0 && r.only.match == nil {
		text = "line " + results.Count(n) + " · "
	}
	size := r.src.end.Bytes()
	if size == 0 {
		return text + "held"
	}
	const roomy = 80
	if text += fmt.Sprintf("%d %%", percent(r.win.bottomEdge().Bytes(), size)); w >= roomy {
		text += " of " + bytesText(size)
	}
	return text
}

// state is how a search goes.
func (p *Pane) state() string {
	size := p.src.end.Bytes()
	said := p.find.said
	switch f := p.find.now; {
	case f != nil:
		return fmt.Sprintf("looking for %s at %d %%, esc stops", ui.Clean(f.what), percent(p.find.reached.Bytes(), size))
	case p.read.now != nil && p.only.match != nil && p.read.looked != nil:
		return fmt.Sprintf("filtering at %d %%, esc stops", percent(p.read.looked.Bytes(), size))
	case p.prompt.asked == askedSearch && p.find.query == "":
		return "a regular expression"
	case p.src.seeking > 0:
		said = "counting lines"
	}
	if p.find.query == "" {
		return said
	}
	return strings.TrimSuffix("/"+ui.Clean(p.find.query)+" · "+said, " · ")
}

// empty is what stands in a window without lines.
func (p *Pane) empty() string {
	switch {
	case p.src.err != nil:
		return ui.Clean(p.src.err.Error())
	case len(p.src.logs) == 0:
		return "no log yet"
	case p.src.view == nil:
		return "opening …"
	case p.read.now != nil && p.only.match != nil:
		return "looking for lines with " + ui.Clean(p.only.text) + " …"
	case p.only.match != nil:
		return "no line has " + ui.Clean(p.only.text)
	case p.read.now != nil || p.src.seeking > 0:
		return "reading …"
	}
	return "nothing in it yet"
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
