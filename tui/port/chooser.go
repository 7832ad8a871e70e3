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

// chooser lets a run directory be chosen: a path is typed, and what it can become
// is listed below it.
type chooser struct {
	eng    Engine
	ctx    context.Context
	wizard wizard
	w, h   int

	path   ui.Input
	folder *listing // that is being typed
	recent []string
	rows   []choice
	row    int
	err    error // of the last attempt to port
}

// listing is a folder as far as it is known.
type listing struct {
	of         string
	dirs, runs []string
	err        error
	pending    int // answers that are to come
	stop       context.CancelFunc
}

// Bounds of the look around: a search below a project's root ends in time.
const (
	lookDepth = 3
	lookFor   = 3 * time.Second
)

type (
	lookedMsg struct {
		in         *listing
		dirs, runs []string // one of them; nil: the other, or nothing
		err        error
	}
	recentMsg struct{ dirs []string }
)

// start looks around, before the first attempt to port or after one that has failed.
func (c *chooser) start(err error) tea.Cmd {
	c.err = err
	c.list()
	ctx, eng := c.ctx, c.eng
	return tea.Batch(c.look(), func() tea.Msg {
		dirs, err := eng.Recent(ctx)
		if err != nil {
			return nil // a convenience: without it the path is typed
		}
		return recentMsg{dirs}
	})
}

// look lists the folder that is being typed, and searches below it. A look at a
// folder typed before is given up: one that hangs must not hold up the next.
func (c *chooser) look() tea.Cmd {
	base, _ := split(c.path.Value())
	if c.folder != nil {
		if base == c.folder.of {
			return nil
		}
		c.folder.stop()
	}
	ctx, done := context.WithTimeout(c.ctx, lookFor)
	in := &listing{of: base, pending: 2, stop: done}
	c.folder = in
	eng, root := c.eng, cmp.Or(base, ".")
	list := func() tea.Msg {
		dirs, err := eng.List(ctx, root)
		return lookedMsg{in: in, dirs: dirs, err: err}
	}
	find := func() tea.Msg {
		runs, err := eng.FindRuns(ctx, root, lookDepth)
		if len(runs) > 0 && errors.Is(err, context.DeadlineExceeded) {
			err = nil // what was found in time is of use
		}
		return lookedMsg{in: in, runs: runs, err: err}
	}
	return tea.Batch(list, find)
}

func (m recentMsg) apply(s *Screen) tea.Cmd {
	s.chooser.recent = m.dirs
	s.chooser.list()
	return nil
}

func (m lookedMsg) apply(s *Screen) tea.Cmd {
	in := m.in // of a folder before it does not matter
	in.pending--
	in.runs, in.dirs, in.err = append(in.runs, m.runs...), append(in.dirs, m.dirs...), cmp.Or(m.err, in.err)
	s.chooser.list()
	return nil
}

// list rebuilds the list for what is typed.
func (c *chooser) list() {
	typed := c.path.Value()
	var dirs, runs []string
	if base, _ := split(typed); c.folder != nil && base == c.folder.of {
		dirs, runs = c.folder.dirs, c.folder.runs
	}
	c.rows = choices(typed, dirs, runs, c.recent)
	c.move(0)
}

func (c *chooser) move(by int) { c.row = max(min(c.row+by, len(c.rows)-1), 0) }

func (c *chooser) keys() []key.Binding {
	return []key.Binding{takeKey, completeKey, prevKey, followKey, escKey}
}

func (c *chooser) typing() bool { return true }

func (c *chooser) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, escKey):
		return ui.Send(ui.Back{})
	case key.Matches(msg, prevKey):
		c.move(-1)
	case key.Matches(msg, followKey):
		c.move(1)
	case key.Matches(msg, completeKey):
		if base, _ := split(c.path.Value()); base == c.folder.of {
			c.path.SetValue(completed(c.path.Value(), c.folder.dirs))
		}
		return c.typed()
	case key.Matches(msg, takeKey):
		return c.take()
	case c.path.Key(msg):
		return c.typed()
	}
	return nil
}

func (c *chooser) paste(text string) tea.Cmd {
	c.path.Insert(text)
	return c.typed()
}

func (c *chooser) typed() tea.Cmd {
	c.row, c.err = 0, nil
	c.list()
	return c.look()
}

// take opens the folder under the cursor, or ports the run.
func (c *chooser) take() tea.Cmd {
	if len(c.rows) == 0 {
		return nil
	}
	at := c.rows[c.row]
	if at.kind != "folder" {
		c.err = nil
		return c.wizard.begin(at.path)
	}
	c.path.SetValue(at.path + "/")
	return c.typed()
}

func (c *chooser) mouse(m ui.Mouse) tea.Cmd {
	if m.Wheel != 0 {
		c.move(m.Wheel)
	} else if i := c.top() + m.Y - c.head(); m.Y >= c.head() && i < len(c.rows) {
		c.row = i
	}
	return nil
}

// head is the height of what stands above the list.
func (c *chooser) head() int { return 2 + len(c.advice(ui.Theme{})) }

// top is the first row in view.
func (c *chooser) top() int {
	room := c.h - c.head()
	return max(min(c.row-room/2, len(c.rows)-room), 0)
}

func (c *chooser) view(th ui.Theme) string {
	lines := []string{" " + th.Paint(ui.Muted, "run directory  ") + c.path.Draw(th, max(c.w-17, 1), true)}
	lines = append(append(lines, c.advice(th)...), th.RuleLine(c.w))
	for i := c.top(); i < len(c.rows) && len(lines) < c.h; i++ {
		at := c.rows[i]
		role := ui.Muted
		if at.kind == "run" || at.kind == "recent" {
			role = ui.Accent
		}
		kind, path := ui.Fit(at.kind, 9), tail(ui.Clean(at.path), c.w-14)
		if i == c.row {
			lines = append(lines, th.Selected.Render(ui.Fit("▸ "+kind+"  "+path, c.w)))
		} else {
			lines = append(lines, "  "+th.Paint(role, kind)+"  "+path)
		}
	}
	return strings.Join(lines, "\n")
}

// advice is what stands under the typed path: what went wrong, or what was found.
func (c *chooser) advice(th ui.Theme) []string {
	n := 0
	for _, at := range c.rows {
		if at.kind == "run" {
			n++
		}
	}
	folder := cmp.Or(c.folder, &listing{})
	role, text := ui.Muted, fmt.Sprintf("a folder c<N> of the harness; looked for up to %d levels below", lookDepth)
	switch {
	case c.err != nil:
		role, text = ui.Bad, "✗ "+c.err.Error()
	case folder.err != nil && n == 0:
		role, text = ui.Warn, "⚠ "+folder.err.Error()
	case folder.pending > 0:
		text = "looking …"
	case n == 1:
		text = "1 run directory found"
	case n > 1:
		text = fmt.Sprintf("%d run directories found", n)
	}
	return wrapped(th, " ", role, text, c.w)
}

// tail is the end of a path, which tells paths apart, in w cells.
func tail(path string, w int) string {
	if n := ui.Width(path); n > w {
		return cutLeft(path, n-w+1)
	}
	return path
}
