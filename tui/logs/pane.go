// Package logs is a viewer of logs and other large files, for use as a part of a
// screen. It shows one file, or several logs merged by time, and keeps little more
// than the visible lines in memory. Commands read the files in steps, and a new
// request stops the previous one.
//
// The [Pane] draws and handles keys. It embeds a reader, which decides what to read. The
// reader consists of independent parts: the open logs (source), the lines in memory and the
// visible ones (window), the current fetch (loading), a search and a filter.
package logs

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Msg is a message from a command of the pane.
type Msg interface{ apply(r *reader) tea.Cmd }

// Pane is a viewer of logs.
type Pane struct {
	reader
	th     ui.Theme
	w      int
	colors bool // show the colors of the log
	prompt prompt
	rows   []string // drawn
}

// New returns a pane for logs, without an open log. Its commands end when base ends.
func New(base context.Context, src Source, th ui.Theme) *Pane {
	p := &Pane{th: th}
	p.src = source{eng: src, parent: base, cancel: func() {}}
	p.win.follow = true
	return p
}

// NewFile returns a pane for files of any kind. It shows line numbers and searches downwards.
func NewFile(base context.Context, src Source, th ui.Theme) *Pane {
	p := New(base, src, th)
	p.file = true
	return p
}

// Open closes the open logs and opens others, at their end.
func (p *Pane) Open(logs ...Log) tea.Cmd {
	p.loading = loading{}
	p.search.resetForOpen()
	p.win.reset()
	cmd := p.src.open(logs)
	p.win.w = p.textWidth()
	p.draw()
	return cmd
}

// OpenAt closes the open file and opens another at a location, which is marked.
func (p *Pane) OpenAt(file Log, at Location) tea.Cmd {
	cmd := p.Open(file)
	p.search.clear()
	p.filter, p.src.location, p.win.follow = lineFilter{}, &at, false
	p.draw()
	return cmd
}

// SetTheme sets the theme.
func (p *Pane) SetTheme(th ui.Theme) {
	p.th = th
	p.draw()
}

// SetSize sets the size in cells. The line at the top stays. The lines in memory
// suffice for a slightly larger window; Fill reads more if they don't.
func (p *Pane) SetSize(w, h int) {
	if w == p.w && h == p.win.h {
		return
	}
	p.search.reveal = p.search.reveal || w != p.w
	p.w = w
	p.win.w, p.win.h = p.textWidth(), h
	p.win.restoreTop()
	p.revealFound()
	p.draw()
}

// Update handles a message from a command of the pane.
func (p *Pane) Update(msg Msg) tea.Cmd {
	defer p.draw()
	return msg.apply(&p.reader)
}

// Follow turns following the end of the log on or off.
func (p *Pane) Follow(on bool) tea.Cmd {
	defer p.draw()
	switch {
	case on && !p.win.follow:
		p.win.follow = true
		return p.load(p.win.endTarget())
	case !on:
		p.win.unfollow()
	}
	return nil
}

// Escape stops or removes one thing: a running search, opening at a location, the
// counting of lines, the search pattern, or the filter. It returns false if there is none.
func (p *Pane) Escape() (tea.Cmd, bool) {
	defer p.draw()
	switch {
	case p.search.stop():
		p.search.status = "stopped"
	case p.src.location != nil && p.src.err == nil:
		p.src.close()
		p.src.location, p.src.wantedLine = nil, 0
		p.src.err = problem.New(problem.Interrupted, "open: stopped before the line was reached")
	case p.src.wantedLine > 0:
		p.src.wantedLine = 0
		p.search.clear()
	case p.search.clear():
	case p.filter.text != "":
		return p.setFilter(""), true
	default:
		return nil, false
	}
	return nil, true
}

// Close closes the open logs.
func (p *Pane) Close() {
	p.src.close()
	p.loading.stop()
	p.search.resetForOpen()
}
