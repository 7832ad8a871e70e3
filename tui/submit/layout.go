package submit

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/viewport"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// headerRows is the height of the header: what will run, the status, the target, and a
// rule.
const headerRows = 4

// listFrom is the minimum width for the list of sections. In a narrower terminal the title
// of the current section shows its number instead.
const listFrom = 90

// planPane shows the sections of a plan: their names, if there is room, and their lines,
// from the current section on.
type planPane struct {
	th       ui.Theme
	sections []section
	cursor   int // index of the current section
	w, h     int
	view     viewport.Model // of the lines
}

// set replaces the sections and keeps the current one.
func (p *planPane) set(sections []section) {
	at := ""
	if p.cursor < len(p.sections) {
		at = p.sections[p.cursor].name()
	}
	p.sections = sections
	if i := slices.IndexFunc(sections, func(s section) bool { return s.name() == at }); i >= 0 {
		p.cursor = i
	}
	p.cursor = max(min(p.cursor, len(sections)-1), 0)
	p.render()
}

func (p *planPane) setSize(w, h int) {
	p.w, p.h = w, h
	p.render()
}

func (p *planPane) move(by int) {
	p.cursor = max(min(p.cursor+by, len(p.sections)-1), 0)
	p.render()
	p.view.GotoTop()
}

// listWidth returns the width of the list of sections; 0 if there is no room for it.
func (p *planPane) listWidth() int {
	if p.w < listFrom {
		return 0
	}
	w := 0
	for _, s := range p.sections {
		w = max(w, ui.Width(s.name())+2)
	}
	return min(w, p.w/3)
}

// render updates the lines of the view.
func (p *planPane) render() {
	w := p.w
	if list := p.listWidth(); list > 0 {
		w -= list + 3
	}
	var lines []string
	for i := p.cursor; i < len(p.sections); i++ {
		role, title := ui.Muted, ui.Clean(p.sections[i].title)
		if i == p.cursor {
			role = ui.Accent
		} else {
			lines = append(lines, "")
		}
		title = p.th.Paint(role, title)
		if i == p.cursor && w == p.w {
			title = ui.LeftRight(title, p.th.Paint(ui.Muted, fmt.Sprintf("%d of %d", i+1, len(p.sections))), w)
		}
		lines = append(lines, title)
		for _, l := range p.sections[i].lines {
			lines = append(lines, l.wrap(p.th, w)...)
		}
	}
	p.view.SetWidth(w)
	p.view.SetHeight(p.h)
	p.view.SetContentLines(lines)
}

// View draws the pane.
func (p *planPane) View() string {
	view := ui.Box(p.view.View(), p.view.Width(), p.h)
	list := p.listWidth()
	if list == 0 {
		return view
	}
	var names []string
	from := max(min(p.cursor-p.h/2, len(p.sections)-p.h), 0)
	for i := from; i < len(p.sections) && len(names) < p.h; i++ {
		text := ui.Fit(" "+p.sections[i].name(), list)
		if i == p.cursor {
			text = p.th.Selected.Render(ui.Fit("▸"+p.sections[i].name(), list))
		}
		names = append(names, text)
	}
	return p.th.Beside(ui.Box(strings.Join(names, "\n"), list, p.h), view)
}
