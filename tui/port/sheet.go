package port

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// sheet is a long text that fills the body and scrolls.
type sheet struct {
	inert
	title string
	// render returns the lines for a width, and the line to show first.
	render func(th ui.Theme, w int) (lines []string, first int)
	toggle func() // action of d; nil: none

	lines     []string
	top, w, h int
}

// sheetTitleHeight is the height of a sheet's title.
const sheetTitleHeight = 1

// open renders the text and scrolls to the line to show first.
func (sh *sheet) open(th ui.Theme, w, h int) {
	sh.layout(th, w, h)
	_, sh.top = sh.render(th, w)
	sh.scroll(0)
}

func (sh *sheet) layout(th ui.Theme, w, h int) {
	sh.w, sh.h = w, h
	sh.lines, _ = sh.render(th, w)
	sh.scroll(0)
}

func (sh *sheet) page() int { return max(sh.h-sheetTitleHeight, 1) }

func (sh *sheet) scroll(by int) {
	sh.top = max(min(sh.top+by, len(sh.lines)-sh.page()), 0)
}

func (sh *sheet) keys() []key.Binding {
	if sh.toggle != nil {
		return append([]key.Binding{closeSheetKey, toggleDiffKey}, moveKeys...)
	}
	return append([]key.Binding{closeSheetKey}, moveKeys...)
}

func (sh *sheet) key(msg tea.KeyPressMsg) tea.Cmd {
	sh.scroll(moveDistance(msg, sh.page()))
	if sh.toggle != nil && key.Matches(msg, toggleDiffKey) {
		sh.toggle()
	}
	return nil
}

func (sh *sheet) mouse(m ui.Mouse) tea.Cmd {
	sh.scroll(m.Wheel)
	return nil
}

func (sh *sheet) view(th ui.Theme) string {
	end := min(sh.top+sh.page(), len(sh.lines))
	right := ""
	if len(sh.lines) > sh.page() {
		right = th.Paint(ui.Muted, fmt.Sprintf("%d–%d of %d", sh.top+1, end, len(sh.lines)))
	}
	return th.TitledRule(th.Title.Render(sh.title), right, sh.w) + "\n" +
		strings.Join(sh.lines[min(sh.top, end):end], "\n")
}

// errorSheet returns a sheet with a long error.
func errorSheet(err error) *sheet {
	return &sheet{title: "error", render: func(th ui.Theme, w int) ([]string, int) {
		return append([]string{""}, wrapIndented(th, "  ", ui.Bad, err.Error(), w-2)...), 0
	}}
}

// wrapIndented wraps a text in the style of a role, with a margin before each line.
func wrapIndented(th ui.Theme, margin string, role ui.Role, text string, w int) []string {
	lines := th.PaintWrapped(role, text, w-ui.Width(margin)-1)
	for i := range lines {
		lines[i] = margin + lines[i]
	}
	return lines
}

// unlimited is larger than the number of lines of any text.
const unlimited = 1 << 20
