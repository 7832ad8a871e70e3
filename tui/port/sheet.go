package port

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// sheet is a long text in place of the body, to be scrolled.
type sheet struct {
	title string
	// write gives the lines at a width, and which of them is to be seen first.
	write      func(w int) (lines []string, first int)
	lines      []string
	top, w, h  int
	differing  bool // it is one of the two that d leads to
	launchings bool // of these the one about launch lines
}

// sheetHead is the height of a sheet's title.
const sheetHead = 1

// open puts a sheet over the body.
func (s *Screen) open(sh *sheet) {
	s.sheet = sh
	sh.layout(s.w, s.h)
	_, first := sh.write(s.w)
	sh.top = first
	sh.scroll(0)
}

func (sh *sheet) layout(w, h int) {
	sh.w, sh.h = w, h
	sh.lines, _ = sh.write(w)
	sh.scroll(0)
}

func (sh *sheet) page() int { return max(sh.h-sheetHead, 1) }

func (sh *sheet) scroll(by int) {
	sh.top = max(min(sh.top+by, len(sh.lines)-sh.page()), 0)
}

// key scrolls; false if the key means nothing to a text.
func (sh *sheet) key(msg tea.KeyPressMsg) bool {
	by := motion(msg, sh.page())
	sh.scroll(by)
	return by != 0
}

func (sh *sheet) draw(th ui.Theme) string {
	right := ""
	if len(sh.lines) > sh.page() {
		right = th.Paint(ui.Muted, ranged(sh.top+1, min(sh.top+sh.page(), len(sh.lines)), len(sh.lines)))
	}
	end := min(sh.top+sh.page(), len(sh.lines))
	return th.Titled(th.Title.Render(sh.title), right, sh.w) + "\n" + strings.Join(sh.lines[min(sh.top, end):end], "\n")
}

// wrapped are the lines of a text in a role, behind a margin.
func (s *Screen) wrapped(margin string, role ui.Role, text string, w int) []string {
	var out []string
	for _, l := range ui.Wrap(text, w-ui.Width(margin)-1) {
		out = append(out, margin+s.th.Paint(role, l))
	}
	return out
}

// whole opens all that is known of the line, the question or the artifact under
// the cursor.
func (s *Screen) whole() {
	s.open(&sheet{title: "where it comes from", write: func(w int) ([]string, int) {
		lines := s.origin(max(w-2, 1), unlimited)
		for i := range lines {
			lines[i] = " " + lines[i]
		}
		return lines, 0
	}})
}

// unlimited is a height that no text reaches.
const unlimited = 1 << 20

// fail says what went wrong: in a remark where it fits into one line, else whole.
func (s *Screen) fail(err error) tea.Cmd {
	if ui.Width(ui.Clean(err.Error()))+4 <= s.w {
		return ui.Fail(err)
	}
	s.open(&sheet{title: "it can't be done", write: func(w int) ([]string, int) {
		return append([]string{""}, s.wrapped("  ", ui.Bad, err.Error(), w-2)...), 0
	}})
	return nil
}

// ranged says which lines of how many are in view.
func ranged(first, last, n int) string { return fmt.Sprintf("%d–%d of %d", first, last, n) }
