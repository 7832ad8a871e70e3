package dashboard

import (
	"context"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// playback is the playback of a run that has ended, shown instead of its end.
type playback struct {
	ctx     context.Context // ends with the screen
	on      bool
	opening bool
	play    *engine.Playback // nil until it is asked for
	at      time.Time        // of what is shown
	speed   int              // index of speeds
	running bool
	frame   time.Duration // between two moments that are shown
	gen     int           // of the last step that was asked for; answers of an older one are dropped
}

// speeds are how many times as fast as it was a run can be played back.
var speeds = []int{1, 2, 5, 10, 20, 50, 100}

const (
	firstSpeed = 3 // index of speeds
	frame      = 250 * time.Millisecond
	seeks      = 20 // seeks from one end to the other
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

func (t *playback) open(eng Engine, run engine.RunRef) tea.Cmd {
	ctx := t.ctx
	t.opening = true
	return func() tea.Msg {
		p, err := eng.Playback(ctx, run)
		if err == nil {
			context.AfterFunc(ctx, p.Close)
		}
		return playbackOpenedMsg{p, err}
	}
}

func (t *playback) onOpened(m playbackOpenedMsg) tea.Cmd {
	t.opening = false
	if m.err != nil {
		return ui.ShowError(m.err)
	}
	t.play = m.play
	return t.start()
}

func (t *playback) start() tea.Cmd {
	t.on, t.running = true, true
	return t.step(t.play.From, 0)
}

// unavailable is why a run can't be played back now; empty when it can.
func (t *playback) unavailable(live *engine.Update) string {
	switch {
	case t.on:
		return ""
	case live == nil || !live.Done:
		return "not ended"
	case t.opening:
		return "opening"
	}
	return ""
}

// step asks for a moment, after a wait; what was asked for before is given up.
func (t *playback) step(to time.Time, wait time.Duration) tea.Cmd {
	t.gen++
	ctx, play, gen := t.ctx, t.play, t.gen
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

// goOn asks for the next moment, if the playback runs.
func (t *playback) goOn() tea.Cmd {
	if !t.on || !t.running {
		return nil
	}
	return t.step(t.at.Add(frame*time.Duration(speeds[t.speed])), t.frame)
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

// commands are the keys of a playback that is shown.
func (t *playback) commands() []ui.Command {
	by := t.play.To.Sub(t.play.From) / seeks
	return []ui.Command{
		{Key: ui.Bind("-", "slower", "-"), Do: ui.NoCmd(func() { t.speed = max(t.speed-1, 0) })},
		{Key: ui.Bind("+", "faster", "+", "="), Do: ui.NoCmd(func() { t.speed = min(t.speed+1, len(speeds)-1) })},
		{Key: ui.Bind("<", "back", "<", ","), Do: func() tea.Cmd { return t.seek(-by) }},
		{Key: ui.Bind(">", "forward", ">", "."), Do: func() tea.Cmd { return t.seek(by) }},
	}
}

// pause stops the playback or goes on, from the beginning if it is at the end.
func (t *playback) pause() tea.Cmd {
	t.running = !t.running
	switch {
	case !t.running:
		t.gen++ // the step under way is not to be shown any more
	case !t.at.Before(t.play.To):
		return t.step(t.play.From, 0)
	}
	return t.goOn()
}

// seek moves from where the screen is, or will be by seeks that are under way.
func (t *playback) seek(by time.Duration) tea.Cmd {
	t.at = clampTime(t.at.Add(by), t.play.From, t.play.To)
	return t.step(t.at, 0)
}

// place is how far the playback is, and how long, as clocks with a word between.
func (t *playback) place(of string) string {
	return ui.Clock(t.at.Sub(t.play.From).Seconds()) + of + ui.Clock(t.play.To.Sub(t.play.From).Seconds())
}

// State is the state of the screen while a playback is shown.
func (t *playback) State() ui.State {
	mark := "▶"
	if !t.running {
		mark = "‖"
	}
	return ui.State{Text: mark + " playback " + strconv.Itoa(speeds[t.speed]) + "×  " + t.place(" of "), Role: ui.Accent}
}

// View shows where the playback is, in a line of w cells; its keys are in the footer.
func (t *playback) View(th ui.Theme, w int) string {
	const lead = " playback  "
	tail := "  " + t.place(" / ")
	done := t.at.Sub(t.play.From).Seconds() / max(t.play.To.Sub(t.play.From).Seconds(), 1e-9)
	return lead + th.Bar(max(w-ui.Width(lead+tail)-1, 4), done, ui.Accent) + tail
}
