package dashboard

import (
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
		if i, ok := s.steps.table.RowAt(m.Y - s.lay.stepsY); ok {
			s.steps.table.Cursor, s.steps.focused = i, true
		}
	default:
		s.steps.focused = false
	}
	return nil
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, taken := ui.HandleKey(msg, s.commands()); taken {
		return cmd
	}
	if s.steps.focused && s.steps.table.Key(msg) {
		return nil
	}
	return s.log.pane.Key(msg)
}

func (s *Screen) pause() tea.Cmd {
	s.run.paused, s.run.still = !s.run.paused, s.run.now
	if !s.run.paused && s.run.live != nil {
		s.show(s.run.live)
	}
	return s.log.pane.Follow(!s.run.paused)
}

func (s *Screen) turnTrend() { s.trend = (s.trend + 1) % len(trends) }

func (s *Screen) toggleZoom() { s.zoom, s.steps.focused = !s.zoom, false }

func (s *Screen) compare() tea.Cmd { return ui.Send(ui.OpenParity{Cand: s.run.ref.Dir}) }

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
		return ui.Send(ui.Toast{Text: "this step has no log here", Role: ui.Warn})
	default:
		s.log.chosen = true
		return s.log.open(log)
	}
}

func (s *Screen) togglePlayback() tea.Cmd {
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
	return ui.Send(ui.Ask{
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
