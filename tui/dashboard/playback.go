package dashboard

import (
	"context"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// playback plays back a run that has ended.
type playback struct {
	ctx      context.Context // ends when the screen closes
	active   bool
	opening  bool
	source   *engine.Playback // nil: not opened
	at       time.Time        // time that is shown
	speed    int              // index in speeds
	running  bool
	interval time.Duration // between two updates
	gen      int           // of the last request; results of older ones are dropped
}

// speeds are the playback speeds, as multiples of real time.
var speeds = []int{1, 2, 5, 10, 20, 50, 100}

const (
	defaultSpeed  = 3 // index in speeds
	frameInterval = 250 * time.Millisecond
	seekSteps     = 20 // number of seeks from start to end
)

type (
	playbackOpenedMsg struct {
		play *engine.Playback
		err  error
	}
	playedMsg struct {
		gen    int
		update engine.Update
		err    error
	}
)

func (p *playback) open(eng Engine, run engine.RunRef) tea.Cmd {
	ctx := p.ctx
	p.opening = true
	return func() tea.Msg {
		p, err := eng.Playback(ctx, run)
		if err == nil {
			context.AfterFunc(ctx, p.Close)
		}
		return playbackOpenedMsg{p, err}
	}
}

func (p *playback) handleOpened(m playbackOpenedMsg) tea.Cmd {
	p.opening = false
	if m.err != nil {
		return ui.ShowError(m.err)
	}
	p.source = m.play
	return p.start()
}

func (p *playback) start() tea.Cmd {
	p.active, p.running = true, true
	return p.showAt(p.source.From, 0)
}

// unavailable returns why a run can't be played back; empty if it can.
func (p *playback) unavailable(live *engine.Update) string {
	switch {
	case p.active:
		return ""
	case live == nil || !live.Done:
		return "not ended"
	case p.opening:
		return "loading"
	}
	return ""
}

// showAt requests the update at a time, after a wait. It replaces a pending request.
func (p *playback) showAt(to time.Time, wait time.Duration) tea.Cmd {
	p.gen++
	ctx, play, gen := p.ctx, p.source, p.gen
	to = clampTime(to, play.From, play.To)
	return func() tea.Msg {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		u, err := play.At(ctx, to)
		return playedMsg{gen, u, err}
	}
}

// scheduleNext requests the next update while the playback is running.
func (p *playback) scheduleNext() tea.Cmd {
	if !p.active || !p.running {
		return nil
	}
	return p.showAt(p.at.Add(frameInterval*time.Duration(speeds[p.speed])), p.interval)
}

func clampTime(t, from, to time.Time) time.Time {
	switch {
	case t.Before(from):
		return from
	case t.After(to):
		return to
	}
	return t
}

// commands returns the key bindings of an active playback.
func (p *playback) commands() []ui.Command {
	by := p.source.To.Sub(p.source.From) / seekSteps
	return []ui.Command{
		{Key: ui.Bind("-", "slower", "-"), Do: ui.NoCmd(func() { p.speed = max(p.speed-1, 0) })},
		{Key: ui.Bind("+", "faster", "+", "="), Do: ui.NoCmd(func() { p.speed = min(p.speed+1, len(speeds)-1) })},
		{Key: ui.Bind("<", "back", "<", ","), Do: func() tea.Cmd { return p.seek(-by) }},
		{Key: ui.Bind(">", "forward", ">", "."), Do: func() tea.Cmd { return p.seek(by) }},
	}
}

// pause pauses or resumes the playback. At the end it restarts from the beginning.
func (p *playback) pause() tea.Cmd {
	p.running = !p.running
	switch {
	case !p.running:
		p.gen++ // drop the pending update
	case !p.at.Before(p.source.To):
		return p.showAt(p.source.From, 0)
	}
	return p.scheduleNext()
}

// seek moves the playback, relative to the target of pending seeks.
func (p *playback) seek(by time.Duration) tea.Cmd {
	p.at = clampTime(p.at.Add(by), p.source.From, p.source.To)
	return p.showAt(p.at, 0)
}

// positionText returns the elapsed and the total time with a separator between them.
func (p *playback) positionText(separator string) string {
	return ui.Clock(p.at.Sub(p.source.From).Seconds()) + separator + ui.Clock(p.source.To.Sub(p.source.From).Seconds())
}

// State returns the state of the screen during a playback.
func (p *playback) State() ui.State {
	mark := "▶"
	if !p.running {
		mark = "‖"
	}
	text := mark + " playback " + strconv.Itoa(speeds[p.speed]) + "×  " + p.positionText(" of ")
	return ui.State{Text: text, Role: ui.Accent}
}

// View draws the progress of the playback as a line of w cells.
func (p *playback) View(th ui.Theme, w int) string {
	const lead = " playback  "
	tail := "  " + p.positionText(" / ")
	done := p.at.Sub(p.source.From).Seconds() / max(p.source.To.Sub(p.source.From).Seconds(), 1e-9)
	return lead + th.Bar(max(w-ui.Width(lead+tail)-1, 4), done, ui.Accent) + tail
}
