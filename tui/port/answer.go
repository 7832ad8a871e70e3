package port

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// question is the one that is being answered, or the one under the cursor: in the
// list the selected one, in the file the one about the line's field.
func (s *Screen) question() (porter.Todo, bool) {
	if s.answer != nil {
		return s.asked, true
	}
	if s.pane == onTodos {
		if s.todo < len(s.todos) {
			return s.todos[s.todo], true
		}
		return porter.Todo{}, false
	}
	f := s.field(s.here())
	for _, t := range s.todos {
		if f.Path != "" && t.File == f.File && t.Path == f.Path {
			return t, true
		}
	}
	return porter.Todo{}, false
}

// notAcceptable is why the question under the cursor can't be settled by saying
// that what is written stands; empty if it can.
func (s *Screen) notAcceptable() string {
	t, ok := s.question()
	switch {
	case !ok:
		return "no question"
	case t.Kind == porter.MustFix:
		return "needs a value"
	}
	return ""
}

// accept settles the question under the cursor.
func (s *Screen) accept() tea.Cmd {
	if why := s.notAcceptable(); why != "" {
		return ui.Do(ui.Toast{Text: "nothing to accept: " + why, Role: ui.Warn})
	}
	t, _ := s.question()
	return s.settle(porter.Answer{ID: t.ID, Accepted: true})
}

// settle gives an answer; the port is made again with it.
func (s *Screen) settle(a porter.Answer) tea.Cmd {
	if s.porting {
		return ui.Do(ui.Toast{Text: "the last answer is still being worked in", Role: ui.Muted})
	}
	s.before = s.opt
	s.opt.Answers = append(slices.Clone(s.opt.Answers), a)
	return s.port()
}

// searchKey is for the folder in which the datasets are looked for.
func (s *Screen) searchKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, escKey):
		s.search = nil
	case key.Matches(msg, giveKey):
		root := s.search.Value()
		s.search = nil
		if root == "" || s.porting {
			return nil
		}
		s.before = s.opt
		s.opt.DatasetRoots = append(slices.Clone(s.opt.DatasetRoots), root)
		s.opt.Datasets = nil // the index is of the folders before
		return s.port()
	default:
		s.search.Key(msg)
	}
	return nil
}

// askable is the question under the cursor, or one about the field there: any value
// can be set. A remark about the whole run has none.
func (s *Screen) askable() (porter.Todo, bool) {
	if t, ok := s.question(); ok || s.pane != onFile {
		return t, ok && t.Path != ""
	}
	f := s.field(s.here())
	return porter.Todo{ID: f.ID(), Kind: ownValue, File: f.File, Path: f.Path, Message: "nothing is open here: a value of your own goes before what was read"}, f.Path != ""
}

// ownValue is the kind of a question that only the user asked.
const ownValue porter.TodoKind = "set"

// ask opens the input for what is under the cursor, with what is written, or the
// first candidate where that is a placeholder or nothing.
func (s *Screen) ask() {
	t, ok := s.askable()
	if !ok {
		return
	}
	if i := slices.IndexFunc(s.todos, func(o porter.Todo) bool { return o.ID == t.ID }); i >= 0 {
		s.todo, s.pane = i, onTodos
	}
	s.answer, s.asked = &ui.Input{}, t
	f, there := s.fieldOf(t)
	switch {
	case (t.Kind == porter.MustFix || !there) && len(t.Candidates) > 0:
		s.answer.SetValue(t.Candidates[0].Value)
	case f.Class != porter.Missing:
		s.answer.SetValue(f.Value)
	}
	s.tryAnswer()
	s.arrange()
}

// tryAnswer finds out what would be written for what is typed.
func (s *Screen) tryAnswer() {
	s.preview, s.refused = "", nil
	if t, ok := s.question(); ok && s.answer.Value() != "" {
		s.preview, s.refused = s.written.res.Preview(t.ID, s.answer.Value())
	}
}

// dropAnswer ends the typing of an answer.
func (s *Screen) dropAnswer() {
	s.answer, s.preview, s.refused = nil, "", nil
	s.arrange()
}

// shownField is the field that the pane with the keys is about.
func (s *Screen) shownField() porter.Field {
	if t, ok := s.question(); ok && s.pane == onTodos {
		f, _ := s.fieldOf(t)
		if len(f.Evidence) == 0 {
			f.Evidence = t.Evidence
		}
		return f
	}
	return s.field(s.here())
}

func (s *Screen) fieldOf(t porter.Todo) (porter.Field, bool) {
	for _, f := range s.written.res.Fields {
		if f.File == t.File && f.Path == t.Path {
			return f, true
		}
	}
	return porter.Field{}, false
}

func (s *Screen) answerKey(msg tea.KeyPressMsg) tea.Cmd {
	t, ok := s.question()
	switch {
	case !ok || key.Matches(msg, escKey):
		s.dropAnswer()
	case key.Matches(msg, offerKey):
		s.offer(t, 1)
	case key.Matches(msg, priorKey):
		s.offer(t, -1)
	case key.Matches(msg, giveKey) && s.refused != nil: // it says why
	case key.Matches(msg, giveKey):
		value := s.answer.Value()
		s.dropAnswer()
		if value == "" {
			return nil
		}
		f, ok := s.fieldOf(t)
		switch same := ok && f.Value == value; {
		case same && t.Kind == ownValue:
			return nil
		case same && t.Kind != porter.MustFix:
			return s.settle(porter.Answer{ID: t.ID, Accepted: true})
		}
		return s.settle(porter.Answer{ID: t.ID, Value: value})
	default:
		s.answer.Key(msg)
		s.tryAnswer()
	}
	return nil
}

// offer puts the candidate after or before the one that stands there into the input.
func (s *Screen) offer(t porter.Todo, by int) {
	n := len(t.Candidates)
	if n == 0 {
		return
	}
	next := 0
	if i := s.offered(t); i >= 0 {
		next = (i + by + n) % n
	}
	s.answer.SetValue(t.Candidates[next].Value)
	s.tryAnswer()
}

// offered is the candidate that stands in the input; -1: none.
func (s *Screen) offered(t porter.Todo) int {
	return slices.IndexFunc(t.Candidates, func(c porter.Candidate) bool { return c.Value == s.answer.Value() })
}

// openViewer opens the artifacts that a field rests on, or one artifact.
func (s *Screen) openViewer() tea.Cmd {
	var places []porter.Evidence
	if s.pane == onArtifacts {
		if a, ok := s.chosenArtifact(); ok && a.Present && a.Problem != "a directory" {
			places = []porter.Evidence{{Artifact: a.Name}}
		}
	} else {
		for _, e := range s.shownField().Evidence {
			if e.Artifact != "answer" {
				places = append(places, e)
			}
		}
	}
	if len(places) == 0 {
		return ui.Do(ui.Toast{Text: "no artifact shows it", Role: ui.Warn})
	}
	return s.viewer.open(s.dir, places)
}
