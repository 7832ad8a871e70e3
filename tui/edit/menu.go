package edit

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/recipes/examples"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// menu is an open list of what may be done; all keys go to it.
type menu struct {
	ui.Menu
	acts []func() tea.Cmd // of each item
	esc  func() tea.Cmd   // nil: esc only closes
	hot  map[string]int   // further keys that choose an item
	cold bool             // opened by itself just now: keys are meant for something else
}

// armMsg says that a menu has been seen long enough to be meant.
type armMsg struct{ of *menu }

// grace is how long a menu that opens by itself takes no keys.
const grace = 400 * time.Millisecond

// popUp opens a menu that no key asked for.
func (s *Screen) popUp(m *menu) tea.Cmd {
	m.cold, s.menu, s.comp, s.reading = true, m, nil, false
	return tea.Tick(grace, func(time.Time) tea.Msg { return armMsg{m} })
}

func (m *menu) add(act func() tea.Cmd, it ui.Item) {
	m.Items, m.acts = append(m.Items, it), append(m.acts, act)
}

func (s *Screen) menuKey(msg tea.KeyPressMsg) tea.Cmd {
	m := s.menu
	if m.cold {
		return nil
	}
	choice, closed := m.Key(msg)
	if i, ok := m.hot[msg.String()]; ok {
		choice, closed = i, true
	}
	switch {
	case choice >= 0:
		s.menu = nil
		return m.acts[choice]()
	case closed:
		s.menu = nil
		if m.esc != nil {
			return m.esc()
		}
	}
	return nil
}

// timeoutRule is what findings of the rule that is always in view are called.
const timeoutRule = "phase-timeout"

// fixMenu lists what a program can fix: at the cursor first, then the changes of
// which each alone satisfies the timeout rule, then the rest.
func (s *Screen) fixMenu() tea.Cmd {
	m := &menu{Menu: ui.Menu{Title: "Fix", Foot: "a number or enter makes it · ctrl+z takes it back · esc closes"}}
	seen := map[recipes.Edit]bool{}
	add := func(ps []problem) {
		for _, p := range ps {
			if p.Edit == nil || p.side < 0 || seen[*p.Edit] || p.Rule == timeoutRule && len(s.fixes()) > 0 {
				continue
			}
			seen[*p.Edit] = true
			m.add(func() tea.Cmd { return s.fixProblem(p) }, ui.Item{Text: inWords(*p.Edit), Note: fmt.Sprintf("%s:%d %s", textOf(p), p.Line, p.Message), Role: p.role()})
		}
	}
	add(s.here())
	for _, k := range s.fixes() {
		m.add(func() tea.Cmd { return s.turn(k) }, ui.Item{Text: k.String(), Note: "the phase timeout holds"})
	}
	add(s.problems)
	if len(m.Items) == 0 {
		return ui.Do(ui.Toast{Text: "nothing that a program can fix", Role: ui.Muted})
	}
	s.menu = m
	return nil
}

// inWords is an edit as a person reads it.
func inWords(e recipes.Edit) string {
	switch e.Op {
	case recipes.OpUnset:
		return "remove " + e.Path
	case recipes.OpRename:
		return "rename " + e.Path + " to " + e.Value
	}
	return e.Path + ": " + e.Value
}

// editedMsg is a text with something done to it outside the loop.
type editedMsg struct {
	which, version int // of the text that it was done to
	text           string
	err            error
}

// edited makes a change of a text in a command.
func (s *Screen) edited(which int, change func(text []byte) ([]byte, error)) tea.Cmd {
	f := &s.sides[which]
	text, version := f.text.Text(), f.text.Version()
	return func() tea.Msg {
		out, err := change([]byte(text))
		return editedMsg{which, version, string(out), err}
	}
}

func (s *Screen) takeEdited(m editedMsg) tea.Cmd {
	switch {
	case m.err != nil:
		return ui.Fail(m.err)
	case m.version != s.sides[m.which].text.Version():
		return ui.Do(ui.Toast{Text: "the text was changed meanwhile: once more", Role: ui.Warn})
	}
	if s.focus != onForm {
		s.active, s.focus = m.which, onText
	}
	return s.swap(m.which, m.text)
}

// fixProblem makes the edit that a problem comes with, as one step that can be undone.
func (s *Screen) fixProblem(p problem) tea.Cmd {
	return s.edited(p.side, func(text []byte) ([]byte, error) {
		out, err := edit.Apply(text, []recipes.Edit{*p.Edit})
		if err != nil {
			return nil, fmt.Errorf("fix %s: %w", p.Path, err)
		}
		return out, nil
	})
}

// turn makes a fix of the timeout rule.
func (s *Screen) turn(k recipes.Knob) tea.Cmd {
	c, ok := s.bar.binding()
	if !ok {
		return nil
	}
	which := workload
	if k.Key == "concurrency" {
		which = recipe
	}
	return s.edited(which, func(text []byte) ([]byte, error) {
		out, err := knob(text, which, c.Level, k)
		if err != nil {
			return nil, fmt.Errorf("apply %s: %w", k, err)
		}
		return out, nil
	})
}

// Leave asks before edits are lost.
func (s *Screen) Leave() tea.Cmd {
	open := s.open()
	if len(open) == 0 {
		return ui.Do(ui.Back{})
	}
	m := &menu{Menu: ui.Menu{Title: "Leave without saving?", Body: "Not saved: " + strings.Join(open, ", ")}, hot: map[string]int{"ctrl+s": 0, "s": 0}}
	m.add(func() tea.Cmd { s.leaving = true; return s.save() }, ui.Item{Text: "save, then leave", Note: "ctrl+s"})
	m.add(func() tea.Cmd { return nil }, ui.Item{Text: "stay", Note: "esc"})
	m.add(s.discard, ui.Item{Text: "leave, and discard the edits", Role: ui.Bad})
	m.At = 1
	s.menu = m
	return nil
}

// open are the names of the texts that are not saved.
func (s *Screen) open() (names []string) {
	for i := range s.sides {
		if s.sides[i].unsaved {
			names = append(names, s.sides[i].name())
		}
	}
	return names
}

// discard leaves, and forgets what was kept of the edits.
func (s *Screen) discard() tea.Cmd {
	ctx, eng := s.ctx, s.eng
	files := make([]string, 0, len(s.sides))
	for i := range s.sides {
		if s.sides[i].unsaved && !s.sides[i].held {
			files = append(files, s.sides[i].file)
		}
	}
	return func() tea.Msg {
		for _, f := range files {
			if err := eng.DropUnsaved(ctx, f); err != nil {
				return ui.Toast{Text: err.Error(), Role: ui.Bad}
			}
		}
		return ui.Back{}
	}
}

// offerNew offers to begin a recipe that is not there yet.
func (s *Screen) offerNew(path string) tea.Cmd {
	m := &menu{Menu: ui.Menu{Title: "There is no " + path, Body: "A new recipe can begin as one of the examples, each with its workload. Nothing is written before it is saved.", Foot: "a number or enter chooses · esc goes back"}}
	m.esc = func() tea.Cmd { return ui.Do(ui.Back{}) }
	m.add(m.esc, ui.Item{Text: "go back", Note: "esc"})
	for _, name := range examples.Names() {
		m.add(func() tea.Cmd { return s.begin(name) }, ui.Item{Text: "new, from " + name})
	}
	return s.popUp(m)
}

// begin fills both texts from an example.
func (s *Screen) begin(example string) tea.Cmd {
	r, w, err := examples.Read(example)
	if err != nil {
		return ui.Fail(err)
	}
	file, _ := recipes.SplitSelector(s.sides[recipe].path)
	if s.sides[workload].path == "" {
		s.sides[workload].path = beside(file)
	}
	s.sides[recipe].path = file
	var cmds []tea.Cmd
	for i, text := range [2][]byte{r, w} {
		if s.sides[i].loaded {
			continue
		}
		s.start(i, s.sides[i].path, string(text))
		cmds = append(cmds, s.recover(i))
	}
	s.arrange()
	return tea.Batch(append(cmds, s.changed())...)
}

// start fills a side whose file is not there yet.
func (s *Screen) start(which int, path, text string) {
	f := &s.sides[which]
	f.err, f.loaded, f.fresh, f.path, f.file = nil, true, true, path, path
	f.text.SetText(text)
}

// beside is the name of a recipe's workload file beside it.
func beside(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".yml") + ".workload.yaml"
}
