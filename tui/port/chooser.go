package port

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

// chooser is the input of a run directory, with a list of choices for the typed path.
type chooser struct {
	eng    Engine
	ctx    context.Context
	wizard wizard
	w, h   int

	path    ui.Input
	listing *directoryListing // of the typed path
	recent  []string
	rows    []choice
	cursor  int
	err     error // of the last port
	accept  bool  // enter was pressed while the listing was loading
}

// directoryListing is a directory with its subdirectories and the runs below it.
type directoryListing struct {
	path       string
	dirs, runs []string
	err        error
	pending    int // number of running commands
	cancel     context.CancelFunc
}

// Limits of the search for runs, which may start at the root of a large file system.
const (
	searchDepth   = 3
	searchTimeout = 3 * time.Second
)

type (
	listedMsg struct {
		listing    *directoryListing
		dirs, runs []string // one of them is set
		err        error
	}
	recentMsg struct{ dirs []string }
)

// start lists the choices, with the error of the last port if it failed.
func (c *chooser) start(err error) tea.Cmd {
	c.err = err
	c.updateRows()
	ctx, eng := c.ctx, c.eng
	return tea.Batch(c.loadListing(), func() tea.Msg {
		dirs, err := eng.Recent(ctx)
		if err != nil {
			return nil // optional: the path can be typed
		}
		return recentMsg{dirs}
	})
}

// loadListing lists the directory of the typed path, and searches for runs below it. The
// previous listing is cancelled, since a hanging file system must not block the next one.
func (c *chooser) loadListing() tea.Cmd {
	base, _ := splitPath(c.path.Value())
	if c.listing != nil {
		if base == c.listing.path {
			return nil
		}
		c.listing.cancel()
	}
	ctx, done := context.WithTimeout(c.ctx, searchTimeout)
	listing := &directoryListing{path: base, pending: 2, cancel: done}
	c.listing = listing
	eng, root := c.eng, cmp.Or(base, ".")
	list := func() tea.Msg {
		dirs, err := eng.List(ctx, root)
		return listedMsg{listing: listing, dirs: dirs, err: err}
	}
	find := func() tea.Msg {
		runs, err := eng.FindRuns(ctx, root, searchDepth)
		if len(runs) > 0 && errors.Is(err, context.DeadlineExceeded) {
			err = nil // show the runs that were found
		}
		return listedMsg{listing: listing, runs: runs, err: err}
	}
	return tea.Batch(list, find)
}

func (m recentMsg) apply(s *Screen) tea.Cmd {
	s.chooser.recent = m.dirs
	s.chooser.updateRows()
	return nil
}

func (m listedMsg) apply(s *Screen) tea.Cmd {
	l := m.listing // may be an older one, which is not shown
	l.pending--
	l.runs, l.dirs, l.err = append(l.runs, m.runs...), append(l.dirs, m.dirs...), cmp.Or(m.err, l.err)
	s.chooser.updateRows()
	if s.chooser.accept && l == s.chooser.listing && l.pending == 0 {
		return s.chooser.acceptRow()
	}
	return nil
}

// updateRows updates the list for the typed path.
func (c *chooser) updateRows() {
	typed := c.path.Value()
	var dirs, runs []string
	if base, _ := splitPath(typed); c.listing != nil && base == c.listing.path {
		dirs, runs = c.listing.dirs, c.listing.runs
	}
	c.rows = listChoices(typed, dirs, runs, c.recent)
	c.move(0)
}

func (c *chooser) move(by int) {
	c.cursor = max(min(c.cursor+by, len(c.rows)-1), 0)
	c.accept = c.accept && by == 0
}

func (c *chooser) keys() []key.Binding {
	return []key.Binding{selectKey, completeKey, chooserUpKey, chooserDownKey, escKey}
}

func (c *chooser) typing() bool { return true }

func (c *chooser) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, escKey):
		return ui.Send(ui.Back{})
	case key.Matches(msg, chooserUpKey):
		c.move(-1)
	case key.Matches(msg, chooserDownKey):
		c.move(1)
	case key.Matches(msg, completeKey):
		if base, _ := splitPath(c.path.Value()); base == c.listing.path {
			c.path.SetValue(completePath(c.path.Value(), c.listing.dirs))
		}
		return c.handleInput()
	case key.Matches(msg, selectKey):
		return c.acceptRow()
	case c.path.Key(msg):
		return c.handleInput()
	}
	return nil
}

func (c *chooser) paste(text string) tea.Cmd {
	c.path.Insert(text)
	return c.handleInput()
}

func (c *chooser) handleInput() tea.Cmd {
	c.cursor, c.err, c.accept = 0, nil, false
	c.updateRows()
	return c.loadListing()
}

// acceptRow opens the selected directory, or ports the selected run. Before the current directory is
// listed, it waits for that, so that the first row is the same however fast the keys are pressed.
func (c *chooser) acceptRow() tea.Cmd {
	c.accept = c.path.Value() == "" && c.cursor == 0 && c.listing.pending > 0
	if len(c.rows) == 0 || c.accept {
		return nil
	}
	row := c.rows[c.cursor]
	if row.kind != "directory" {
		c.err = nil
		return c.wizard.startPort(row.path)
	}
	c.path.SetValue(row.path + "/")
	return c.handleInput()
}

func (c *chooser) mouse(m ui.Mouse) tea.Cmd {
	if m.Wheel != 0 {
		c.move(m.Wheel)
	} else if i := c.firstVisible() + m.Y - c.headerHeight(); m.Y >= c.headerHeight() && i < len(c.rows) {
		c.cursor = i
	}
	return nil
}

// headerHeight returns the number of lines above the list.
func (c *chooser) headerHeight() int { return 2 + len(c.statusLines(ui.Theme{})) }

// firstVisible returns the first visible row.
func (c *chooser) firstVisible() int {
	room := c.h - c.headerHeight()
	return max(min(c.cursor-room/2, len(c.rows)-room), 0)
}

func (c *chooser) view(th ui.Theme) string {
	lines := []string{" " + th.Paint(ui.Muted, "run directory  ") + c.path.Draw(th, max(c.w-17, 1), true)}
	lines = append(append(lines, c.statusLines(th)...), th.RuleLine(c.w))
	for i := c.firstVisible(); i < len(c.rows) && len(lines) < c.h; i++ {
		row := c.rows[i]
		role := ui.Muted
		if row.kind == "run" || row.kind == "recent" {
			role = ui.Accent
		}
		kind, path := ui.Fit(row.kind, 9), pathTail(ui.Clean(row.path), c.w-14)
		if i == c.cursor {
			lines = append(lines, th.Selected.Render(ui.Fit("▸ "+kind+"  "+path, c.w)))
		} else {
			lines = append(lines, "  "+th.Paint(role, kind)+"  "+path)
		}
	}
	return strings.Join(lines, "\n")
}

// statusLines returns the lines below the typed path: an error, or the number of runs.
func (c *chooser) statusLines(th ui.Theme) []string {
	n := 0
	for _, row := range c.rows {
		if row.kind == "run" {
			n++
		}
	}
	listing := cmp.Or(c.listing, &directoryListing{})
	role, text := ui.Muted, fmt.Sprintf("path of a harness run directory; searched up to %d levels deep", searchDepth)
	switch {
	case c.err != nil:
		role, text = ui.Bad, "✗ "+c.err.Error()
	case listing.err != nil && n == 0:
		role, text = ui.Warn, "⚠ "+listing.err.Error()
	case listing.pending > 0:
		text = "searching …"
	case n == 1:
		text = "1 run directory found"
	case n > 1:
		text = fmt.Sprintf("%d run directories found", n)
	}
	return wrapIndented(th, " ", role, text, c.w)
}

// pathTail returns the end of a path, which distinguishes paths, in w cells.
func pathTail(path string, w int) string {
	if n := ui.Width(path); n > w {
		return cutLeft(path, n-w+1)
	}
	return path
}
