package dashboard

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

func (s *Screen) mouse(m ui.Mouse) tea.Cmd {
	onSteps := m.In(s.lay.stepsX, s.lay.stepsY, s.lay.stepsW, s.lay.stepsH)
	switch {
	case m.Wheel != 0 && onSteps && s.stepsShown():
		s.steps.Move(m.Wheel)
	case m.Wheel != 0:
		return s.log.pane.Scroll(m.Wheel)
	case onSteps && s.stepsShown():
		if i, ok := s.steps.At(m.Y - s.lay.stepsY); ok {
			s.steps.Cursor, s.focusSteps = i, true
		}
	default:
		s.focusSteps = false
	}
	return nil
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, ok := s.tapeKey(msg); ok {
		return cmd
	}
	k := s.keys
	switch {
	case key.Matches(msg, k.pause):
		s.paused, s.still = !s.paused, s.now
		if !s.paused && s.live != nil {
			s.show()
		}
		return s.log.pane.Follow(!s.paused)
	case key.Matches(msg, k.steps):
		s.toggleSteps()
	case key.Matches(msg, k.focus) && s.stepsShown():
		s.focusSteps = !s.focusSteps
	case key.Matches(msg, k.open) && s.focusSteps:
		return s.openStep()
	case key.Matches(msg, k.trend):
		s.trend = (s.trend + 1) % len(trends)
	case key.Matches(msg, k.phase):
		s.turnPhase(msg.String())
	case key.Matches(msg, k.compare):
		if why := s.noCompare(); why != "" {
			return ui.Do(ui.Toast{Text: "compare: " + why, Role: ui.Warn})
		}
		return ui.Do(ui.OpenParity{Cand: s.located.Dir})
	case key.Matches(msg, k.cancel):
		return s.askCancel()
	default:
		return s.logKey(msg)
	}
	return nil
}

// logKey handles the keys of the log, and those that move in the steps.
func (s *Screen) logKey(msg tea.KeyPressMsg) tea.Cmd {
	k := s.keys
	switch {
	case key.Matches(msg, k.log):
		return s.switchLog(1)
	case key.Matches(msg, k.logBack):
		return s.switchLog(-1)
	case key.Matches(msg, k.merge):
		return s.mergeLogs()
	case key.Matches(msg, k.zoom):
		s.zoom, s.focusSteps = !s.zoom, false
	case !s.focusSteps || !s.moveSteps(msg):
		return s.log.pane.Key(msg)
	}
	return nil
}

// moveSteps moves the cursor of the steps; false if the key does not.
func (s *Screen) moveSteps(msg tea.KeyPressMsg) bool {
	const far = 1 << 30
	page := s.steps.Page()
	by, ok := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "pgdown": page, "home": -far, "g": -far, "end": far, "G": far}[msg.String()]
	if ok {
		s.steps.Move(by)
	}
	return ok
}

func (s *Screen) toggleSteps() {
	if s.w >= wide || s.noPhase() {
		s.focusSteps = !s.focusSteps
		return
	}
	s.stepsOpen = !s.stepsOpen
	s.focusSteps, s.zoom = s.stepsOpen, false
}

func (s *Screen) openStep() tea.Cmd {
	if s.steps.Cursor >= len(s.stepRows) {
		return nil
	}
	step := s.stepRows[s.steps.Cursor].log
	if step == "" {
		return ui.Do(ui.Toast{Text: "this step has no log here", Role: ui.Warn})
	}
	s.stepsOpen, s.focusSteps, s.log.chosen = false, false, true
	return s.openLog(step)
}

func (s *Screen) turnPhase(key string) {
	n := len(s.phases)
	if n < 2 {
		return
	}
	at := s.phase
	if at < 0 || at >= n {
		at = newest(s.phases)
	}
	by := 1
	if key == "[" {
		by = -1
	}
	s.phase = (at + by + n) % n
	if s.phase == newest(s.phases) {
		s.phase = -1 // on with the newest as they come
	}
}

func (s *Screen) askCancel() tea.Cmd {
	if why := s.noCancel(); why != "" {
		return ui.Do(ui.Toast{Text: "cancel: " + why, Role: ui.Warn})
	}
	return ui.Do(ui.Ask{
		ID: "cancel", Title: "Cancel " + s.located.Label() + "?", Body: s.lost(),
		Yes: "cancel the run", No: "let it go on", Danger: true,
	})
}
