// Package logs is the viewer of logs and of other large files: a part that a screen
// puts somewhere. It shows one file, or several logs merged by time, through a
// window, and holds what is in view and little else. All reading is done by
// commands, step by step, and a newer request ends the older one's work.
//
// The [Pane] draws and takes keys. Below it the reader knows what is shown and what is to be read.
// That one is made of parts that know nothing of each other: what is open (source), what is held
// and in view of it (window), what is being read (reading), a search and a filter.
package logs

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Msg is a message of the pane's own commands.
type Msg interface{ apply(r *reader) tea.Cmd }

// Pane is the viewer.
type Pane struct {
	reader
	th      ui.Theme
	w       int
	colours bool // those that the log has
	prompt  prompt
	rows    []string // drawn
}

// New makes a pane for logs, without one; base bounds all of its work.
func New(base context.Context, src Source, th ui.Theme) *Pane {
	p := &Pane{th: th}
	p.src = source{eng: src, base: base, cancel: func() {}}
	p.win.follow = true
	return p
}

// NewFile makes a pane for files of any kind. It numbers the lines and searches downwards.
func NewFile(base context.Context, src Source, th ui.Theme) *Pane {
	p := New(base, src, th)
	p.file = true
	return p
}

// Open leaves the logs that are open and opens others, at their end.
func (p *Pane) Open(logs ...Log) tea.Cmd {
	p.read = reading{}
	p.find.leave()
	p.win.forget()
	cmd := p.src.open(logs)
	p.win.w = p.room()
	p.draw()
	return cmd
}

// OpenAt leaves what is open and opens a file at a place, which is marked.
func (p *Pane) OpenAt(file Log, at Place) tea.Cmd {
	cmd := p.Open(file)
	p.find.clear()
	p.only, p.src.at, p.win.follow = filter{}, &at, false
	p.draw()
	return cmd
}

// SetTheme changes the colours.
func (p *Pane) SetTheme(th ui.Theme) {
	p.th = th
	p.draw()
}

// SetSize sets the size in cells; the line at the top stays where it is. Lines are
// held for a window somewhat larger; Settle reads what is missing beyond that.
func (p *Pane) SetSize(w, h int) {
	if w == p.w && h == p.win.h {
		return
	}
	p.find.aim = p.find.aim || w != p.w
	p.w = w
	p.win.w, p.win.h = p.room(), h
	p.win.settle()
	p.aim()
	p.draw()
}

// Update takes a message of the pane's commands.
func (p *Pane) Update(msg Msg) tea.Cmd {
	defer p.draw()
	return msg.apply(&p.reader)
}

// Follow turns following the end on or off.
func (p *Pane) Follow(on bool) tea.Cmd {
	defer p.draw()
	switch {
	case on && !p.win.follow:
		p.win.follow = true
		return p.fetch(p.win.toEnd())
	case !on:
		p.win.hold()
	}
	return nil
}

// Escape ends what is going on in the pane: a search under way, the way to the place
// that is opened, what was searched for, a filter. False: nothing is.
func (p *Pane) Escape() (tea.Cmd, bool) {
	defer p.draw()
	switch {
	case p.find.stop():
		p.find.said = "stopped"
	case p.src.at != nil && p.src.err == nil:
		p.src.close()
		p.src.at, p.src.seeking = nil, 0
		p.src.err = problem.New(problem.Interrupted, "open: stopped before the line was reached")
	case p.src.seeking > 0:
		p.src.seeking = 0
		p.find.clear()
	case p.find.clear():
	case p.only.text != "":
		return p.filter(""), true
	default:
		return nil, false
	}
	return nil, true
}

// Close leaves what is open.
func (p *Pane) Close() {
	p.src.close()
	p.read.stop()
	p.find.leave()
}
