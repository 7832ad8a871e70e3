package port

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// sheet is a long text in place of the body, to be scrolled.
type sheet struct {
	inert
	title string
	// write gives the lines at a width, and which of them is to be seen first.
	write func(th ui.Theme, w int) (lines []string, first int)
	other func() // what d does; nil: nothing

	lines     []string
	top, w, h int
}

// sheetHead is the height of a sheet's title.
const sheetHead = 1

// open writes the text and shows what is to be seen first.
func (sh *sheet) open(th ui.Theme, w, h int) {
	sh.layout(th, w, h)
	_, sh.top = sh.write(th, w)
	sh.scroll(0)
}

func (sh *sheet) layout(th ui.Theme, w, h int) {
	sh.w, sh.h = w, h
	sh.lines, _ = sh.write(th, w)
	sh.scroll(0)
}

func (sh *sheet) page() int { return max(sh.h-sheetHead, 1) }

func (sh *sheet) scroll(by int) {
	sh.top = max(min(sh.top+by, len(sh.lines)-sh.page()), 0)
}

func (sh *sheet) keys() []key.Binding {
	if sh.other != nil {
		return append([]key.Binding{shutKey, otherKey}, moves...)
	}
	return append([]key.Binding{shutKey}, moves...)
}

func (sh *sheet) key(msg tea.KeyPressMsg) tea.Cmd {
	sh.scroll(motion(msg, sh.page()))
	if sh.other != nil && key.Matches(msg, otherKey) {
		sh.other()
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

// failed is an error that has no room in a line.
func failed(err error) *sheet {
	return &sheet{title: "it can't be done", write: func(th ui.Theme, w int) ([]string, int) {
		return append([]string{""}, wrapped(th, "  ", ui.Bad, err.Error(), w-2)...), 0
	}}
}

// wrapped are the lines of a text in a role, behind a margin.
func wrapped(th ui.Theme, margin string, role ui.Role, text string, w int) []string {
	lines := th.PaintWrapped(role, text, w-ui.Width(margin)-1)
	for i := range lines {
		lines[i] = margin + lines[i]
	}
	return lines
}

// unlimited is a height that no text reaches.
const unlimited = 1 << 20
