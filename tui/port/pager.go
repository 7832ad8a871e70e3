package port

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Pages are windows on files of any size.
type Pages interface {
	PageAt(ctx context.Context, path string, line, before int) (session.Page, error)
	PageFrom(ctx context.Context, path string, at int64) (session.Page, error)
	PageBefore(ctx context.Context, path string, at int64) (session.Page, error)
	Find(ctx context.Context, path, text string, from int64, back bool) (session.Found, error)
}

// pager shows an artifact around a place that evidence points to. Of the file it
// holds what is around the rows in view.
type pager struct {
	eng    Pages
	ctx    context.Context
	cancel context.CancelFunc // ends what is being read or looked for
	path   string
	places []porter.Evidence // of the field; the shown one is at
	at     int
	w, h   int

	rows           []session.Row
	first          int // number of the first row's line; 0: not known
	from, to, size int64
	top, left      int
	mark           int64 // offset of the row that is pointed to; -1: none
	column, length int   // of what is pointed to in it; from 1; 0: nothing

	gen    int // of what is asked for
	busy   bool
	typed  *ui.Input // being typed to be looked for; nil: nothing
	sought string
	err    error
	said   string
}

// Bounds of what a pager holds: rows before the one it opens at, and in all.
const (
	rowsBefore = 300
	maxRows    = 8000
)

// how a page joins the rows that are there.
type how int

const (
	instead how = iota
	after
	before
)

type pageMsg struct {
	gen  int
	how  how
	page session.Page
	// mark is the row to be pointed to, line its number where it is known.
	mark int64
	line int
	past int  // bytes of the line before that row
	last bool // its end is to be seen
	err  error
}

type nowhereMsg struct {
	gen  int
	text string
}

// openPager opens the artifacts that a field rests on, or one artifact.
func (s *Screen) openPager() tea.Cmd {
	var places []porter.Evidence
	if s.pane == onArtifacts {
		if a, ok := s.chosenArtifact(); ok && a.Present && a.Problem != "a directory" {
			places = []porter.Evidence{{Artifact: a.Name}}
		}
	} else {
		for _, e := range s.shownField().Evidence {
			if e.Artifact != "answer" {
				places = append(places, e)
			}
		}
	}
	if len(places) == 0 {
		return ui.Do(ui.Toast{Text: "no artifact shows it", Role: ui.Warn})
	}
	p := &pager{eng: s.eng, w: s.w, h: s.h, places: places, path: s.dir, mark: -1}
	s.pager = p
	return p.open(s.ctx)
}

// open reads around the shown place.
func (p *pager) open(ctx context.Context) tea.Cmd {
	p.ctx = ctx
	e := p.places[p.at]
	line := max(e.Line, 1)
	p.column, p.length = e.Column, len(e.Raw)
	if e.Column == 0 {
		p.length = 0
	}
	eng, path := p.eng, p.file()
	return p.ask(func(ctx context.Context, m *pageMsg) (err error) {
		if m.page, err = eng.PageAt(ctx, path, line, rowsBefore); err != nil {
			return err
		}
		m.mark, m.line = -1, line
		n := m.page.Line
		for i, r := range m.page.Rows {
			if i > 0 && !r.Part {
				n++
			}
			if n == line && e.Line > 0 {
				if m.mark = r.At; e.Column-1-m.past < len(r.Text) || len(r.Text) == 0 {
					break
				}
				m.past += len(r.Text) // a very long line: what is pointed to is in a later part
			}
		}
		return nil
	})
}

func (p *pager) file() string { return filepath.Join(p.path, p.places[p.at].Artifact) }

// ask runs a read in place of the one that runs.
func (p *pager) ask(read func(context.Context, *pageMsg) error) tea.Cmd {
	p.stop()
	p.gen++
	p.busy, p.said = true, ""
	ctx, cancel := context.WithCancel(p.ctx)
	p.cancel = cancel
	m := pageMsg{gen: p.gen, mark: -1}
	return func() tea.Msg {
		m.err = read(ctx, &m)
		return m
	}
}

// stop ends the read that runs, if one does.
func (p *pager) stop() bool {
	was := p.busy
	if p.cancel != nil {
		p.cancel()
	}
	p.busy = false
	p.gen++
	return was
}

// take takes a page.
func (p *pager) take(m pageMsg) tea.Cmd {
	if m.gen != p.gen {
		return nil
	}
	p.busy = false
	if p.err = m.err; m.err != nil {
		return nil
	}
	p.size = m.page.Size
	switch m.how {
	case after:
		p.rows, p.to = append(p.rows, m.page.Rows...), m.page.To
		p.trimFront()
	case before:
		p.prepend(m.page)
	default:
		p.rows, p.first, p.from, p.to = m.page.Rows, m.page.Line, m.page.From, m.page.To
		p.top, p.mark = 0, m.mark
		p.column = max(p.column-m.past, 0)
		if m.mark >= 0 {
			p.reveal(m.line)
		}
		if m.last {
			p.top = len(p.rows)
		}
	}
	p.scroll(0)
	return p.more()
}

// reveal scrolls to the row that is pointed to; line is its number, or 0.
func (p *pager) reveal(line int) {
	for i, r := range p.rows {
		if r.At != p.mark {
			continue
		}
		p.top = max(i-p.page()/3, 0)
		if p.first == 0 && line > 0 {
			p.first = line - lineEnds(p.rows[:i+1])
		}
		p.aim(r)
	}
}

// aim shifts the text so that what is pointed to is in view.
func (p *pager) aim(r session.Row) {
	p.left = 0
	at := min(max(p.column-1, 0), len(r.Text))
	if p.sought != "" {
		at = max(strings.Index(strings.ToLower(r.Text), strings.ToLower(p.sought)), 0)
	}
	if cells := ui.Width(ui.Clean(r.Text[:min(at, len(r.Text))])); cells > p.room()*2/3 {
		p.left = cells - p.room()/4
	}
}

// lineEnds counts the lines that begin after the first row of some.
func lineEnds(rows []session.Row) int {
	n := 0
	for i, r := range rows {
		if i > 0 && !r.Part {
			n++
		}
	}
	return n
}

func (p *pager) prepend(page session.Page) {
	n := len(page.Rows)
	all := append(page.Rows[:n:n], p.rows...)
	if p.first > 0 {
		p.first -= lineEnds(all[:min(n+1, len(all))])
	} else {
		p.first = page.Line
	}
	p.rows, p.from, p.top = all, page.From, p.top+n
	if over := len(p.rows) - maxRows; over > 0 && len(p.rows)-over > p.top+2*p.page() {
		p.rows = p.rows[:len(p.rows)-over]
		p.to = all[len(p.rows)].At
	}
}

func (p *pager) trimFront() {
	over := min(len(p.rows)-maxRows, p.top-2*p.page())
	if over <= 0 {
		return
	}
	if p.first > 0 {
		p.first += lineEnds(p.rows[:over+1])
	}
	p.rows, p.from, p.top = p.rows[over:], p.rows[over].At, p.top-over
}

// more reads on where the rows in view come near an end of those that are there.
func (p *pager) more() tea.Cmd {
	eng, path, from, to := p.eng, p.file(), p.from, p.to
	switch margin := 2 * p.page(); {
	case p.busy || p.err != nil || len(p.rows) == 0:
		return nil
	case p.top+p.page()+margin > len(p.rows) && to < p.size:
		return p.ask(func(ctx context.Context, m *pageMsg) (err error) {
			m.how = after
			m.page, err = eng.PageFrom(ctx, path, to)
			return err
		})
	case p.top < margin && from > 0:
		return p.ask(func(ctx context.Context, m *pageMsg) (err error) {
			m.how = before
			m.page, err = eng.PageBefore(ctx, path, from)
			return err
		})
	}
	return nil
}

func (p *pager) page() int { return max(p.h-1, 1) }

func (p *pager) scroll(by int) {
	p.top = max(min(p.top+by, len(p.rows)-p.page()), 0)
}

// seek looks for the text, from the row that is pointed to or the first in view.
func (p *pager) seek(back bool) tea.Cmd {
	if p.sought == "" || len(p.rows) == 0 {
		return nil
	}
	i := min(p.top, len(p.rows)-1)
	for k, r := range p.rows {
		if r.At == p.mark && k >= p.top && k < p.top+p.page() {
			if i = k; !back {
				i = k + 1
			}
		}
	}
	from, line := p.to, 0
	if i < len(p.rows) {
		from = p.rows[i].At
	}
	if p.first > 0 {
		line = p.first + lineEnds(p.rows[:min(i+1, len(p.rows))])
		if i == len(p.rows) {
			line++
		}
	}
	eng, path, text := p.eng, p.file(), p.sought
	cmd := p.ask(func(ctx context.Context, m *pageMsg) error {
		found, err := eng.Find(ctx, path, text, from, back)
		if err != nil || found.At < 0 {
			return err
		}
		m.mark = found.At
		switch {
		case line > 0 && back:
			m.line = line - found.Lines
		case line > 0:
			m.line = line + found.Lines
		}
		m.page, err = around(ctx, eng, path, found.At)
		return err
	})
	return func() tea.Msg {
		m := cmd().(pageMsg)
		if m.err == nil && m.mark < 0 {
			return nowhereMsg{m.gen, text}
		}
		return m
	}
}

// around reads a page with some rows before an offset.
func around(ctx context.Context, eng Pages, path string, at int64) (session.Page, error) {
	page, err := eng.PageFrom(ctx, path, at)
	if err != nil || at == 0 {
		return page, err
	}
	head, err := eng.PageBefore(ctx, path, at)
	if err != nil {
		return page, err
	}
	rows := head.Rows[max(len(head.Rows)-rowsBefore, 0):]
	if len(rows) > 0 {
		page.From = rows[0].At
	}
	page.Rows, page.Line = append(rows, page.Rows...), 0
	return page, nil
}

func (p *pager) nowhere(m nowhereMsg) {
	if m.gen == p.gen {
		p.busy = false
		p.said = fmt.Sprintf("%q is not found from here", ui.Clean(m.text))
	}
}

var (
	seekTextKey = key.NewBinding(key.WithKeys("/"), key.WithHelp("/", "search"))
	hitKey      = key.NewBinding(key.WithKeys("n"), key.WithHelp("n", "next"))
	hitBackKey  = key.NewBinding(key.WithKeys("N"), key.WithHelp("N", "previous"))
	leftKey     = key.NewBinding(key.WithKeys("left", "h"), key.WithHelp("←", "left"))
	rightKey    = key.NewBinding(key.WithKeys("right", "l"), key.WithHelp("→", "right"))
	placeKey    = key.NewBinding(key.WithKeys("tab"), key.WithHelp("tab", "next place"))
	closeKey    = key.NewBinding(key.WithKeys("esc", "q", "o"), key.WithHelp("esc", "close"))
	searchKey   = key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "search"))
)

func (p *pager) keys() []key.Binding {
	if p.typed != nil {
		return []key.Binding{searchKey, escKey}
	}
	keys := []key.Binding{closeKey, seekTextKey}
	if p.sought != "" {
		keys = append(keys, hitKey, hitBackKey)
	}
	if len(p.places) > 1 {
		keys = append(keys, placeKey)
	}
	return append(keys, upKey, downKey, pageUp, pageDown, homeKey, endKey, leftKey, rightKey)
}

func (p *pager) key(msg tea.KeyPressMsg) tea.Cmd {
	if p.typed != nil {
		return p.typedKey(msg)
	}
	eng, path := p.eng, p.file()
	switch {
	case key.Matches(msg, seekTextKey):
		p.typed = &ui.Input{}
		return nil
	case key.Matches(msg, hitKey):
		return p.seek(false)
	case key.Matches(msg, hitBackKey):
		return p.seek(true)
	case key.Matches(msg, placeKey) && len(p.places) > 1:
		p.at = (p.at + 1) % len(p.places)
		p.sought = ""
		return p.open(p.ctx)
	case key.Matches(msg, leftKey):
		p.left = max(p.left-p.room()/2, 0)
	case key.Matches(msg, rightKey):
		p.left = min(p.left+p.room()/2, 1<<20)
	case key.Matches(msg, homeKey):
		return p.ask(func(ctx context.Context, m *pageMsg) (err error) {
			m.page, err = eng.PageFrom(ctx, path, 0)
			return err
		})
	case key.Matches(msg, endKey):
		return p.ask(func(ctx context.Context, m *pageMsg) (err error) {
			m.last = true
			m.page, err = eng.PageBefore(ctx, path, 1<<62)
			return err
		})
	default:
		p.scroll(motion(msg, p.page()))
	}
	return p.more()
}

func (p *pager) typedKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, escKey):
		p.typed = nil
	case key.Matches(msg, searchKey):
		p.sought, p.typed = p.typed.Value(), nil
		return p.seek(false)
	default:
		p.typed.Key(msg)
	}
	return nil
}
