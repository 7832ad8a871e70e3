package logs

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Title returns the title line above the window, for a width of w cells. Left has the
// name, the position and the state of a search; right has the reason if the log
// can't be read. Focused draws the name as that of the focused pane.
func (p *Pane) Title(focused bool, w int) (left, right string) {
	if p.Typing() {
		return p.prompt.draw(p.th, min(max(w-46, 16), 40)), p.th.Paint(ui.Muted, p.searchState())
	}
	if left = p.src.name(p.file); focused {
		left = p.th.Title.Render(left)
	}
	if p.filter.text != "" {
		left += p.th.Paint(ui.Accent, " filter: "+ui.Clean(p.filter.text))
	}
	switch {
	case p.win.follow:
		left += p.th.Paint(ui.Muted, "  following")
	case p.file:
		left += p.th.Paint(ui.Muted, "  "+p.position(w))
	default: // new lines are not shown
		left += p.th.Paint(ui.Warn, "  "+p.position(w))
	}
	if st := p.searchState(); st != "" {
		left += p.th.Paint(ui.Muted, " · ") + p.th.Paint(ui.Accent, st)
	}
	if p.src.err != nil && len(p.win.lines) > 0 {
		right = p.th.Paint(ui.Warn, ui.Clean(p.src.err.Error()))
	}
	return left, right
}

// position returns the line number and percentage at the window.
func (r *reader) position(w int) string {
	text := ""
	if n := r.win.lineNumber(r.win.first); n > 0 && r.filter.match == nil {
		text = "line " + results.Count(n) + " · "
	}
	size := r.src.end.Bytes()
	if size == 0 {
		return text + "not following"
	}
	const wide = 80
	if text += fmt.Sprintf("%d %%", percent(r.win.visibleEnd().Bytes(), size)); w >= wide {
		text += " of " + ui.Bytes(size)
	}
	return text
}

// searchState returns the state of a search or filter.
func (p *Pane) searchState() string {
	size := p.src.end.Bytes()
	message := p.search.status
	switch f := p.search.job; {
	case f != nil:
		return fmt.Sprintf("searching for %s: %d %%, esc stops", ui.Clean(f.label), percent(p.search.reached.Bytes(), size))
	case p.loading.fetch != nil && p.filter.match != nil && p.loading.reached != nil:
		return fmt.Sprintf("filtering: %d %%, esc stops", percent(p.loading.reached.Bytes(), size))
	case p.prompt.kind == searchPrompt && p.search.query == "":
		return "regular expression"
	case p.src.wantedLine > 0:
		message = "counting lines"
	}
	if p.search.query == "" {
		return message
	}
	return strings.TrimSuffix("/"+ui.Clean(p.search.query)+" · "+message, " · ")
}

// emptyText returns the text for a window without lines.
func (p *Pane) emptyText() string {
	switch {
	case p.src.err != nil:
		return ui.Clean(p.src.err.Error())
	case len(p.src.logs) == 0:
		return "no log yet"
	case p.src.view == nil:
		return "opening …"
	case p.loading.fetch != nil && p.filter.match != nil:
		return "filtering: " + ui.Clean(p.filter.text) + " …"
	case p.filter.match != nil:
		return "no line matches " + ui.Clean(p.filter.text)
	case p.loading.fetch != nil || p.src.wantedLine > 0:
		return "loading …"
	}
	return "no lines yet"
}

func percent(part, whole int64) int64 {
	if whole <= 0 {
		return 0
	}
	return min(100*part/whole, 100)
}
