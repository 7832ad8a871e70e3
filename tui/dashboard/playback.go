package dashboard

import (
	"context"
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// tape is the playback of a run that has ended, shown instead of its end.
type tape struct {
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
	tapeOpenedMsg struct {
		play *engine.Playback
		err  error
	}
	playedMsg struct {
		gen    int
		update engine.Update
		err    error
	}
)

func (s *Screen) openTape() tea.Cmd {
	ctx, eng, l := s.ctx, s.eng, s.located
	s.tape.opening = true
	return func() tea.Msg {
		p, err := eng.Playback(ctx, l)
		if err == nil {
			context.AfterFunc(ctx, p.Close)
		}
		return tapeOpenedMsg{p, err}
	}
}

// step asks for a moment, after a wait; what was asked for before is given up.
func (s *Screen) step(to time.Time, wait time.Duration) tea.Cmd {
	s.tape.gen++
	ctx, play, gen := s.ctx, s.tape.play, s.tape.gen
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

// goOn asks for the next moment, if the tape runs.
func (s *Screen) goOn() tea.Cmd {
	if !s.tape.on || !s.tape.running {
		return nil
	}
	return s.step(s.tape.at.Add(frame*time.Duration(speeds[s.tape.speed])), s.tape.frame)
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

func (s *Screen) onTapeOpened(m tapeOpenedMsg) tea.Cmd {
	s.tape.opening = false
	if m.err != nil {
		return ui.Fail(m.err)
	}
	s.tape.play = m.play
	return s.startTape()
}

func (s *Screen) startTape() tea.Cmd {
	s.tape.on, s.tape.running, s.paused = true, true, false
	return s.step(s.tape.play.From, 0)
}

func (s *Screen) onPlayed(m playedMsg) tea.Cmd {
	switch {
	case m.gen != s.tape.gen || !s.tape.on:
		return nil
	case m.err != nil:
		s.tape.running = false
		return ui.Fail(m.err)
	}
	s.tape.at = m.update.At
	s.shown = &m.update
	s.refresh()
	if m.update.Done {
		s.tape.running = false
	}
	return s.goOn()
}

// noPlayback is why the run can't be played back now; empty when it can.
func (s *Screen) noPlayback() string {
	switch {
	case s.tape.on:
		return ""
	case s.live == nil || !s.live.Done:
		return "not ended"
	case s.tape.opening:
		return "opening"
	}
	return ""
}

// tapeKey handles the keys of a playback; false leaves a key to others.
func (s *Screen) tapeKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	k := s.keys
	if key.Matches(msg, k.play) {
		return s.togglePlayback(), true
	}
	if !s.tape.on {
		return nil, false
	}
	by := s.tape.play.To.Sub(s.tape.play.From) / seeks
	switch {
	case key.Matches(msg, k.pause):
		if s.tape.running = !s.tape.running; s.tape.running && !s.tape.at.Before(s.tape.play.To) {
			return s.step(s.tape.play.From, 0), true
		}
		if !s.tape.running {
			s.tape.gen++ // the step under way is not to be shown any more
		}
		return s.goOn(), true
	case key.Matches(msg, k.faster):
		s.tape.speed = min(s.tape.speed+1, len(speeds)-1)
	case key.Matches(msg, k.slower):
		s.tape.speed = max(s.tape.speed-1, 0)
	case key.Matches(msg, k.seekBack):
		return s.seek(-by), true
	case key.Matches(msg, k.seekOn):
		return s.seek(by), true
	default:
		return nil, false
	}
	return nil, true
}

// seek moves from where the screen is, or will be by seeks that are under way.
func (s *Screen) seek(by time.Duration) tea.Cmd {
	s.tape.at = clampTime(s.tape.at.Add(by), s.tape.play.From, s.tape.play.To)
	return s.step(s.tape.at, 0)
}

func (s *Screen) togglePlayback() tea.Cmd {
	if why := s.noPlayback(); why != "" {
		return ui.Do(ui.Toast{Text: "play back: " + why, Role: ui.Warn})
	}
	switch {
	case s.tape.on:
		s.tape.on, s.tape.running = false, false
		s.show()
		return nil
	case s.tape.play == nil:
		return s.openTape()
	}
	return s.startTape()
}

// tapeState is the state of the screen while a tape is shown.
func (s *Screen) tapeState() ui.State {
	t := s.tape
	mark := "▶"
	if !t.running {
		mark = "‖"
	}
	st := ui.State{Text: mark + " playback " + strconv.Itoa(speeds[t.speed]) + "×", Role: ui.Accent}
	st.Text += "  " + ui.Clock(t.at.Sub(t.play.From).Seconds()) + " of " + ui.Clock(t.play.To.Sub(t.play.From).Seconds())
	st.Age = s.clock(t.at)
	return st
}

// tapeLine shows where the tape is; its keys are in the footer.
func (s *Screen) tapeLine(w int) string {
	t := s.tape
	const lead = " playback  "
	tail := "  " + ui.Clock(t.at.Sub(t.play.From).Seconds()) + " / " + ui.Clock(t.play.To.Sub(t.play.From).Seconds())
	done := t.at.Sub(t.play.From).Seconds() / max(t.play.To.Sub(t.play.From).Seconds(), 1e-9)
	return lead + s.th.Bar(max(w-ui.Width(lead+tail)-1, 4), done, ui.Accent) + tail
}
