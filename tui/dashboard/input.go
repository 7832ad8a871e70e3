package dashboard

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

func (s *Screen) mouse(m ui.Mouse) {
	onSteps := s.lay.stepsH > 0 && m.X >= s.lay.stepsX && m.Y >= s.lay.stepsY && m.Y < s.lay.stepsY+s.lay.stepsH
	switch {
	case m.Wheel != 0 && onSteps && s.stepsShown():
		s.steps.Move(m.Wheel)
	case m.Wheel != 0:
		s.log.list.Scroll(m.Wheel)
	case onSteps && s.stepsShown():
		if i, ok := s.steps.At(m.Y - s.lay.stepsY); ok {
			s.steps.Cursor, s.focusSteps = i, true
		}
	default:
		s.focusSteps = false
	}
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	k := s.keys
	switch {
	case key.Matches(msg, k.pause):
		s.paused, s.still = !s.paused, s.now
		s.log.list.Follow(!s.paused)
		if !s.paused && s.live != nil {
			s.show()
		}
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

// logKey handles the keys of the log.
func (s *Screen) logKey(msg tea.KeyPressMsg) tea.Cmd {
	k := s.keys
	switch {
	case key.Matches(msg, k.log):
		return s.switchLog(1)
	case key.Matches(msg, k.logBack):
		return s.switchLog(-1)
	case key.Matches(msg, k.search):
		s.typing = true
		s.input.SetValue(s.log.query)
	case key.Matches(msg, k.next):
		s.log.list.Next(1)
	case key.Matches(msg, k.prev):
		s.log.list.Next(-1)
	case key.Matches(msg, k.follow):
		s.log.list.Follow(!s.log.list.Following())
	case key.Matches(msg, k.zoom):
		s.zoom, s.focusSteps = !s.zoom, false
	default:
		s.scroll(msg)
	}
	return nil
}

func (s *Screen) scroll(msg tea.KeyPressMsg) {
	move, page := s.log.list.Scroll, s.log.list.Page()
	if s.focusSteps {
		move, page = s.steps.Move, s.steps.Page()
	}
	const far = 1 << 30
	k := s.keys
	switch {
	case key.Matches(msg, k.up):
		move(-1)
	case key.Matches(msg, k.down):
		move(1)
	case key.Matches(msg, k.pageUp):
		move(-page)
	case key.Matches(msg, k.pageDown):
		move(page)
	case key.Matches(msg, k.top):
		move(-far)
	case key.Matches(msg, k.end):
		move(far)
	case key.Matches(msg, k.left):
		s.log.list.Shift(-16)
	case key.Matches(msg, k.right):
		s.log.list.Shift(16)
	}
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

// switchLog opens the next log, or with -1 the one before.
func (s *Screen) switchLog(dir int) tea.Cmd {
	if len(s.files) == 0 {
		return nil
	}
	at := 0
	for i, f := range s.files {
		if f.Step == s.log.step {
			at = i
		}
	}
	s.log.chosen = true
	return s.openLog(s.files[(at+dir+len(s.files))%len(s.files)].Step)
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

func (s *Screen) typed(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "esc":
		s.typing = false
		s.input.SetValue("")
		s.search()
	case "enter":
		s.typing = false
	default:
		if s.input.Key(msg) {
			s.search()
		}
	}
}

func (s *Screen) pasted(msg tea.PasteMsg) {
	if s.typing {
		s.input.Insert(msg.Content)
		s.search()
	}
}

func (s *Screen) search() {
	s.log.query = s.input.Value()
	s.log.list.Search(s.log.query)
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
