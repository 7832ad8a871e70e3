package edit

import (
	"charm.land/bubbles/v2/key"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

var (
	saveKey      = ui.Bind("ctrl+s", "save", "ctrl+s")
	submitKey    = ui.Bind("ctrl+r", "submit", "ctrl+r")
	fixKey       = ui.Bind("ctrl+f", "fix", "ctrl+f")
	nextKey      = ui.Bind("ctrl+n", "next problem", "ctrl+n")
	otherTextKey = ui.Bind("ctrl+t", "other file", "ctrl+t")
	formKey      = ui.Bind("ctrl+o", "form", "ctrl+o")
	closeFormKey = ui.Bind("ctrl+o", "text", "ctrl+o", "esc")
	findKey      = ui.Bind("ctrl+w", "find", "ctrl+w")
	findNextKey  = ui.Bind("f3", "next match", "f3")
	describeKey  = ui.Bind("ctrl+p", "describe field", "f2", "ctrl+p")
	completeKey  = ui.Bind("ctrl+space", "complete", "ctrl+space", "ctrl+@")
	diffKey      = ui.Bind("ctrl+g", "differences", "ctrl+g")
	externalKey  = ui.Bind("ctrl+x", "$EDITOR", "ctrl+x")
	undoKey      = ui.Bind("ctrl+z", "undo", "ctrl+z")
	redoKey      = ui.Bind("ctrl+y", "redo", "ctrl+y")
	leaveTextKey = ui.Bind("esc", "problem list (twice: back)", "esc")

	goKey        = ui.Bind("enter", "go to line", "enter")
	enterTextKey = ui.Bind("tab", "text", "tab", "e", "i")
	fixThisKey   = ui.Bind("f", "fix this", "f")
	slashKey     = ui.Bind("/", "find", "/")
	upKey        = ui.Bind("↑ k", "up", "up", "k")
	downKey      = ui.Bind("↓ j", "down", "down", "j")

	chooseKey   = ui.Bind("↑ ↓", "choose", "up", "down")
	applyKey    = ui.Bind("enter", "apply", "enter")
	closeKey    = ui.Bind("esc", "close", "esc")
	valueKey    = ui.Bind("enter", "change value", "enter")
	setKey      = ui.Bind("enter", "set; empty removes the field", "enter")
	diffBaseKey = ui.Bind("tab", "disk/port", "tab")
	scrollKey   = ui.Bind("↑ ↓", "scroll", "up", "down")
)

// Keys returns the current bindings.
func (s *Screen) Keys() []key.Binding {
	save, next, other, list := saveKey, nextKey, otherTextKey, goKey
	problem, some := s.problems.current()
	save.SetEnabled(s.Unsaved())
	next.SetEnabled(some)
	list.SetEnabled(some)
	other.SetEnabled(s.texts.docs[workload].path != "")
	submit := ui.Disabled(submitKey, s.checks.submitBlocker(&s.texts, s.versions(), &s.problems))
	switch {
	case s.question != nil:
		return []key.Binding{applyKey, chooseKey, closeKey}
	case !s.texts.docs[recipe].loaded:
		return nil
	case s.diff != nil:
		return []key.Binding{diffBaseKey, other, scrollKey, closeKey}
	case s.finder.active || s.describing:
		return []key.Binding{closeKey}
	case s.form.typing:
		return []key.Binding{setKey, closeKey}
	case s.form.active:
		return []key.Binding{valueKey, closeFormKey, save, submit, fixKey, describeKey, diffKey, upKey, downKey}
	case s.focus == onProblems:
		fix := fixThisKey
		fix.SetEnabled(problem.Edit != nil)
		return []key.Binding{
			list, fix, enterTextKey, slashKey, save, submit, fixKey, formKey, diffKey, upKey, downKey,
		}
	}
	return []key.Binding{
		save, fixKey, other, formKey, submit, next, diffKey, findKey, describeKey, completeKey, externalKey, undoKey, redoKey,
		findNextKey, leaveTextKey,
	}
}
