package edit

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes/merge"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// against is what the text is compared with.
type against int

const (
	onDisk against = iota
	asPorted
)

// diff is a comparison of the text; all keys go to it.
type diff struct {
	which          int
	with           against
	rows           []diffRow // nil: not there yet
	added, removed int
	err            error
	top            int
}

// diffRow is a line of the comparison, or how many lines are left out.
type diffRow struct {
	merge.Line
	hidden int
}

type diffMsg struct {
	which int
	with  against
	rows  []diffRow
	lines [2]int // added, removed
	err   error
}

// compareWith compares the text in view with its file, or with what a port wrote.
func (s *Screen) compareWith(which int, with against) tea.Cmd {
	f := &s.sides[which]
	if !f.loaded {
		return nil
	}
	s.diff = &diff{which: which, with: with}
	ctx, eng, of, disk, text := s.ctx, s.eng, s.sides[recipe].file, f.disk, f.text.Text()
	return func() tea.Msg {
		m := diffMsg{which: which, with: with}
		old := disk
		if with == asPorted {
			var texts [2]string
			if texts[recipe], texts[workload], m.err = eng.Ported(ctx, of); m.err != nil {
				return m
			}
			if old = texts[which]; old == "" {
				m.err = errors.New("the report of the port does not have the text that was written: port again to compare with it")
				return m
			}
		}
		lines := merge.Compare(old, text)
		for _, l := range lines {
			switch l.Op {
			case merge.Added:
				m.lines[0]++
			case merge.Removed:
				m.lines[1]++
			}
		}
		m.rows = folded(lines)
		return m
	}
}

// around is how many equal lines are shown beside a change.
const around = 3

// folded leaves long equal parts out.
func folded(lines []merge.Line) []diffRow {
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l.Op != merge.Same {
			for j := max(i-around, 0); j < min(i+around+1, len(lines)); j++ {
				near[j] = true
			}
		}
	}
	rows := []diffRow{}
	for i, l := range lines {
		switch n := len(rows); {
		case near[i]:
			rows = append(rows, diffRow{Line: l})
		case n > 0 && rows[n-1].hidden > 0:
			rows[n-1].hidden++
		default:
			rows = append(rows, diffRow{hidden: 1})
		}
	}
	return rows
}

func (s *Screen) takeDiff(m diffMsg) tea.Cmd {
	if d := s.diff; d != nil && d.which == m.which && d.with == m.with {
		d.rows, d.added, d.removed, d.err = m.rows, m.lines[0], m.lines[1], m.err
		d.top = 0
		for i, r := range d.rows {
			if r.hidden == 0 && r.Op != merge.Same {
				d.top = max(i-around-1, 0)
				break
			}
		}
	}
	return nil
}

func (s *Screen) diffKey(msg tea.KeyPressMsg) tea.Cmd {
	d, page := s.diff, max(s.boxes.text[recipe].h-1, 1)
	switch msg.String() {
	case "up", "k":
		d.top--
	case "down", "j":
		d.top++
	case "pgup", "b":
		d.top -= page
	case "pgdown", "space":
		d.top += page
	case "home", "g":
		d.top = 0
	case "end", "G":
		d.top = len(d.rows)
	case "tab", "left", "right", "ctrl+g":
		return s.compareWith(d.which, 1-d.with)
	case "ctrl+t":
		if s.sides[1-d.which].loaded {
			return s.compareWith(1-d.which, d.with)
		}
	case "esc", "q":
		s.diff = nil
		return nil
	}
	d.top = max(min(d.top, len(d.rows)-page), 0)
	return nil
}

// diffText draws the comparison where the texts are.
func (s *Screen) diffText(w, h int) string {
	d := s.diff
	name := ui.Clean(s.sides[d.which].name())
	tab := func(with against, text string) string {
		if with == d.with {
			return s.th.Selected.Render(" " + text + " ")
		}
		return s.th.Paint(ui.Muted, " "+text+" ")
	}
	head := " " + s.th.Title.Render(name) + "  " + tab(onDisk, "against the file on disk") + tab(asPorted, "against the port")
	said := fmt.Sprintf("+%d −%d lines ", d.added, d.removed)
	lines := []string{ui.Ends(head, s.th.Paint(ui.Muted, said), w), ""}
	switch {
	case d.err != nil:
		for _, l := range ui.Wrap(d.err.Error(), w-4) {
			lines = append(lines, "  "+s.th.Paint(ui.Warn, l))
		}
	case d.rows == nil:
		lines = append(lines, "  "+s.th.Paint(ui.Muted, "comparing …"))
	case d.added+d.removed == 0:
		lines = append(lines, "  "+s.th.Paint(ui.OK, "✓ no difference"))
	default:
		for i := d.top; i < len(d.rows) && len(lines) < h; i++ {
			lines = append(lines, s.diffRow(d.rows[i]))
		}
	}
	return ui.Box(strings.Join(lines, "\n"), w, h)
}

func (s *Screen) diffRow(r diffRow) string {
	if r.hidden > 0 {
		return s.th.Paint(ui.Muted, fmt.Sprintf("          ⋯ %s", ui.Plural(r.hidden, "equal line")))
	}
	number := func(n int) string {
		if n == 0 {
			return "    "
		}
		return fmt.Sprintf("%4d", n)
	}
	role := map[merge.Op]ui.Role{merge.Added: ui.OK, merge.Removed: ui.Bad}[r.Op]
	return s.th.Paint(ui.Muted, number(r.Old)+" "+number(r.New)) + " " + s.th.Paint(role, string(r.Op)+" "+ui.Clean(r.Text))
}
