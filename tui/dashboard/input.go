package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

func (s *Screen) handleMouse(m ui.Mouse) tea.Cmd {
	onSteps := s.stepsShown() && m.In(s.layout.stepsX, s.layout.stepsY, s.layout.stepsW, s.layout.stepsH)
	switch {
	case m.Wheel != 0 && onSteps:
		s.steps.table.Move(m.Wheel)
	case m.Wheel != 0:
		return s.log.pane.Scroll(m.Wheel)
	case onSteps:
		if i, ok := s.steps.table.RowAt(m.Y - s.layout.stepsY); ok {
			s.steps.table.Cursor, s.steps.focused = i, true
		}
	default:
		s.steps.focused = false
	}
	return nil
}

func (s *Screen) handleKey(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, taken := ui.HandleKey(msg, s.commands()); taken {
		return cmd
	}
	if s.steps.focused && s.steps.table.Key(msg) {
		return nil
	}
	return s.log.pane.Key(msg)
}

func (s *Screen) pause() tea.Cmd {
	s.run.paused, s.run.pausedAt = !s.run.paused, s.run.now
	if !s.run.paused && s.run.latest != nil {
		s.show(s.run.latest)
	}
	return s.log.pane.Follow(!s.run.paused)
}

func (s *Screen) nextTrend() { s.trend = (s.trend + 1) % len(trends) }

func (s *Screen) toggleZoom() { s.zoom, s.steps.focused = !s.zoom, false }

func (s *Screen) compare() tea.Cmd { return ui.Send(ui.OpenParity{Cand: s.run.ref.Dir}) }

func (s *Screen) toggleSteps() {
	inView := s.w >= wideWidth || s.run.beforeFirstPhase()
	s.steps.toggle(inView)
	s.zoom = s.zoom && inView
}

func (s *Screen) openStep() tea.Cmd {
	switch log, ok := s.steps.selectLog(); {
	case !ok:
		return nil
	case log == "":
		return ui.Send(ui.Toast{Text: "the step has no log", Role: ui.Warn})
	default:
		s.log.chosenByUser = true
		return s.log.open(log)
	}
}

func (s *Screen) togglePlayback() tea.Cmd {
	switch {
	case s.playback.active:
		s.playback.active, s.playback.running = false, false
		s.show(s.run.latest)
		return nil
	case s.playback.source == nil:
		return s.playback.open(s.eng, s.run.ref)
	}
	s.run.paused = false
	return s.playback.start()
}

func (s *Screen) askCancel() tea.Cmd {
	return ui.Send(ui.Ask{
		ID: "cancel", Title: "Cancel " + s.run.ref.Label() + "?", Body: s.run.cancelWarning(s.displayTime()),
		Yes: "cancel run", No: "keep running", Danger: true,
	})
}

// Escape clears a search or filter of the log, or else closes the list of steps. It
// returns false if there is none, so that esc leaves the screen.
func (s *Screen) Escape() (tea.Cmd, bool) {
	if cmd, handled := s.log.pane.Escape(); handled {
		return cmd, true
	}
	if s.steps.open {
		s.toggleSteps()
		s.arrange()
		return nil, true
	}
	return nil, false
}
