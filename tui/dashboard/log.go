package dashboard

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// openLog is the log that is open in the pane.
type openLog struct {
	pane   *logs.Pane
	step   string // empty: none, or all
	merged bool   // all logs are open, by time
	chosen bool   // by a key; else the screen picks
	held   bool   // another is to be picked once the display moves on
}

// open opens the log of a step, if it is among the run's files.
func (s *Screen) openLog(step string) tea.Cmd {
	for _, f := range s.files {
		if f.Step == step {
			s.log.step, s.log.merged = step, false
			return s.log.pane.Open(logOf(f))
		}
	}
	return nil
}

func logOf(f engine.LogFile) logs.Log { return logs.Log{Name: f.Step, Path: f.Path} }

// mergeLogs opens all logs by time, or the one before again.
func (s *Screen) mergeLogs() tea.Cmd {
	switch {
	case s.log.merged:
		s.log.merged = false
		return s.openLog(s.log.step)
	case len(s.files) < 2:
		return ui.Do(ui.Toast{Text: "there are no several logs to merge", Role: ui.Warn})
	}
	all := make([]logs.Log, 0, len(s.files))
	for _, f := range s.files {
		all = append(all, logOf(f))
	}
	s.log.merged, s.log.chosen = true, true
	return s.log.pane.Open(all...)
}

// lookForLog lists the logs until there is one, since a log appears with its step.
func (s *Screen) lookForLog() tea.Cmd {
	if s.found && s.log.step == "" {
		return s.list()
	}
	return nil
}

// holdsLog says that what is in the log's pane must not move: the display is
// paused, or somebody reads older lines.
func (s *Screen) holdsLog() bool {
	return s.paused || s.log.step != "" && !s.log.pane.Following()
}

// pickLog opens the log that tells most: the job's until there is the client's,
// that of the step which a failed run blames, and whichever there is in other
// tools' folders. It waits as long as the pane must not move.
func (s *Screen) pickLog() tea.Cmd {
	if s.log.held = false; s.log.chosen || len(s.files) == 0 {
		return nil
	}
	blamed := ""
	if s.live != nil {
		blamed = telling(s.live.Status)
	}
	step := s.files[0].Step // the client's, if there is one
	for _, f := range s.files {
		if f.Step == blamed || f.Step == "job" && step != event.ClientStep && step != blamed {
			step = f.Step
		}
	}
	if s.log.step == step {
		return nil
	}
	if s.log.held = s.holdsLog(); s.log.held {
		return nil
	}
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

// Escape ends a search or a filter of the log, and then the list of steps, before
// esc leaves the screen.
func (s *Screen) Escape() (tea.Cmd, bool) {
	if cmd, did := s.log.pane.Escape(); did {
		return cmd, true
	}
	if s.stepsOpen {
		s.toggleSteps()
		s.SetSize(s.w, s.h)
		return nil, true
	}
	return nil, false
}

func (s *Screen) logTitle(w int) string {
	left, right := s.log.pane.Title(!s.focusSteps && s.stepsShown(), w)
	facts := []string{right}
	if right == "" {
		facts = nil
	}
	if n := len(s.files); n > 1 && !s.log.pane.Typing() {
		facts = append(facts, s.th.Paint(ui.Muted, fmt.Sprintf("%d logs", n)))
	}
	return s.th.Titled(left, strings.Join(facts, s.th.Paint(ui.Muted, " · ")), w)
}
