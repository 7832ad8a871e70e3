package dashboard

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

func (s *Screen) mouse(m ui.Mouse) tea.Cmd {
	onSteps := s.stepsShown() && m.In(s.lay.stepsX, s.lay.stepsY, s.lay.stepsW, s.lay.stepsH)
	switch {
	case m.Wheel != 0 && onSteps:
		s.steps.table.Move(m.Wheel)
	case m.Wheel != 0:
		return s.log.pane.Scroll(m.Wheel)
	case onSteps:
		if i, ok := s.steps.table.At(m.Y - s.lay.stepsY); ok {
			s.steps.table.Cursor, s.steps.focused = i, true
		}
	default:
		s.steps.focused = false
	}
	return nil
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	k := s.keys
	if cmd, taken := s.playback.Key(msg, k); taken {
		return cmd
	}
	if cmd, taken := s.log.Key(msg, k); taken {
		return cmd
	}
	switch {
	case key.Matches(msg, k.play):
		return s.togglePlayback()
	case key.Matches(msg, k.pause):
		s.run.paused, s.run.still = !s.run.paused, s.run.now
		if !s.run.paused && s.run.live != nil {
			s.show(s.run.live)
		}
		return s.log.pane.Follow(!s.run.paused)
	case key.Matches(msg, k.steps):
		s.toggleSteps()
	case key.Matches(msg, k.focus) && s.stepsShown():
		s.steps.focused = !s.steps.focused
	case key.Matches(msg, k.open) && s.steps.focused:
		return s.openStep()
	case key.Matches(msg, k.trend):
		s.trend = (s.trend + 1) % len(trends)
	case key.Matches(msg, k.phase):
		s.run.turn(map[string]int{"[": -1, "]": 1}[msg.String()])
	case key.Matches(msg, k.compare):
		if why := s.run.noCompare(); why != "" {
			return ui.Do(ui.Toast{Text: "compare: " + why, Role: ui.Warn})
		}
		return ui.Do(ui.OpenParity{Cand: s.run.ref.Dir})
	case key.Matches(msg, k.cancel):
		return s.askCancel()
	case key.Matches(msg, k.zoom):
		s.zoom, s.steps.focused = !s.zoom, false
	case !s.steps.focused || !s.steps.table.Key(msg):
		return s.log.pane.Key(msg)
	}
	return nil
}

func (s *Screen) toggleSteps() {
	inView := s.w >= wide || s.run.noPhase()
	s.steps.toggle(inView)
	s.zoom = s.zoom && inView
}

func (s *Screen) openStep() tea.Cmd {
	switch log, ok := s.steps.choose(); {
	case !ok:
		return nil
	case log == "":
		return ui.Do(ui.Toast{Text: "this step has no log here", Role: ui.Warn})
	default:
		s.log.chosen = true
		return s.log.open(log)
	}
}

func (s *Screen) togglePlayback() tea.Cmd {
	if why := s.playback.unavailable(s.run.live); why != "" {
		return ui.Do(ui.Toast{Text: "play back: " + why, Role: ui.Warn})
	}
	switch {
	case s.playback.on:
		s.playback.on, s.playback.running = false, false
		s.show(s.run.live)
		return nil
	case s.playback.play == nil:
		return s.playback.open(s.eng, s.run.ref)
	}
	s.run.paused = false
	return s.playback.start()
}

func (s *Screen) askCancel() tea.Cmd {
	if why := s.run.noCancel(); why != "" {
		return ui.Do(ui.Toast{Text: "cancel: " + why, Role: ui.Warn})
	}
	return ui.Do(ui.Ask{
		ID: "cancel", Title: "Cancel " + s.run.ref.Label() + "?", Body: s.run.lost(s.clockNow()),
		Yes: "cancel the run", No: "let it go on", Danger: true,
	})
}

// Escape ends a search or a filter of the log, and then the list of steps, before
// esc leaves the screen.
func (s *Screen) Escape() (tea.Cmd, bool) {
	if cmd, did := s.log.pane.Escape(); did {
		return cmd, true
	}
	if s.steps.open {
		s.toggleSteps()
		s.arrange()
		return nil, true
	}
	return nil, false
}
