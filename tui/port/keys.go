package port

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

var (
	takeKey     = key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "port, or open the folder"))
	completeKey = key.NewBinding(key.WithKeys("tab"), key.WithHelp("tab", "complete"))
	prevKey     = key.NewBinding(key.WithKeys("up"), key.WithHelp("↑", "up"))
	followKey   = key.NewBinding(key.WithKeys("down"), key.WithHelp("↓", "down"))
	escKey      = key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "back"))

	writeKey  = key.NewBinding(key.WithKeys("w"), key.WithHelp("w", "write"))
	paneKey   = key.NewBinding(key.WithKeys("tab"), key.WithHelp("tab", "pane"))
	fileKey   = key.NewBinding(key.WithKeys("v", "left", "right"), key.WithHelp("v", "recipe/workload"))
	notedKey  = key.NewBinding(key.WithKeys("n"), key.WithHelp("n", "next not copied"))
	editKey   = key.NewBinding(key.WithKeys("e", "enter"), key.WithHelp("e", "answer, set"))
	acceptKey = key.NewBinding(key.WithKeys("a"), key.WithHelp("a", "accept"))
	seekKey   = key.NewBinding(key.WithKeys("s"), key.WithHelp("s", "search datasets"))
	undoKey   = key.NewBinding(key.WithKeys("u"), key.WithHelp("u", "undo answer"))
	upKey     = key.NewBinding(key.WithKeys("up", "k"), key.WithHelp("↑ k", "up"))
	downKey   = key.NewBinding(key.WithKeys("down", "j"), key.WithHelp("↓ j", "down"))
	pageUp    = key.NewBinding(key.WithKeys("pgup"), key.WithHelp("pgup", "page up"))
	pageDown  = key.NewBinding(key.WithKeys("pgdown"), key.WithHelp("pgdn", "page down"))
	homeKey   = key.NewBinding(key.WithKeys("home", "g"), key.WithHelp("g", "first"))
	endKey    = key.NewBinding(key.WithKeys("end", "G"), key.WithHelp("G", "last"))

	giveKey  = key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "answer with this"))
	findKey  = key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "search"))
	offerKey = key.NewBinding(key.WithKeys("down", "tab"), key.WithHelp("↓", "next candidate"))
	priorKey = key.NewBinding(key.WithKeys("up"), key.WithHelp("↑", "candidate before"))

	diffKey  = key.NewBinding(key.WithKeys("d"), key.WithHelp("d", "raw/written"))
	openKey  = key.NewBinding(key.WithKeys("o"), key.WithHelp("o", "open artifact"))
	wholeKey = key.NewBinding(key.WithKeys("i"), key.WithHelp("i", "read it whole"))
	otherKey = key.NewBinding(key.WithKeys("d", "tab"), key.WithHelp("d", "launch lines/fields"))
	yesKey   = key.NewBinding(key.WithKeys("r"), key.WithHelp("r", "replace them"))
	shutKey  = key.NewBinding(key.WithKeys("esc", "q"), key.WithHelp("esc", "close"))
	namesKey = key.NewBinding(key.WithKeys("esc", "q"), key.WithHelp("esc", "other names"))

	saveKey = key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "write"))
	nextKey = key.NewBinding(key.WithKeys("tab", "up", "down"), key.WithHelp("tab", "other name"))
)

// Keys are the bindings that work now.
func (s *Screen) Keys() []key.Binding {
	switch {
	case s.viewer.shown():
		return s.viewer.keys()
	case s.stage == comparing && s.saving:
		return nil
	case s.stage == comparing:
		return []key.Binding{yesKey, namesKey, upKey, downKey, pageUp, pageDown, homeKey, endKey}
	case s.sheet != nil && s.sheet.differing:
		return []key.Binding{shutKey, otherKey, upKey, downKey, pageUp, pageDown, homeKey, endKey}
	case s.sheet != nil:
		return []key.Binding{shutKey, upKey, downKey, pageUp, pageDown, homeKey, endKey}
	case s.stage == choosing:
		return []key.Binding{takeKey, completeKey, prevKey, followKey, escKey}
	case s.stage == reading:
		return nil
	case s.stage == writing && s.saving:
		return []key.Binding{escKey}
	case s.stage == writing:
		return []key.Binding{saveKey, nextKey, escKey}
	case s.search != nil:
		return []key.Binding{findKey, escKey}
	case s.answer != nil:
		if t, _ := s.question(); len(t.Candidates) > 0 {
			return []key.Binding{giveKey, offerKey, priorKey, escKey}
		}
		return []key.Binding{giveKey, escKey}
	}
	edit, accept, undo := editKey, acceptKey, undoKey
	_, any := s.askable()
	edit.SetEnabled(any)
	why := s.notAcceptable()
	accept.SetEnabled(why == "")
	if why != "" {
		accept.SetHelp("a", "accept ("+why+")")
	}
	undo.SetEnabled(len(s.opt.Answers) > 0)
	if s.pane == onTodos {
		return []key.Binding{writeKey, edit, accept, openKey, diffKey, seekKey, wholeKey, undo, paneKey, fileKey, upKey, downKey}
	}
	return []key.Binding{writeKey, paneKey, openKey, diffKey, notedKey, fileKey, edit, accept, seekKey, wholeKey, undo, upKey, downKey, pageUp, pageDown, homeKey, endKey}
}

func (s *Screen) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case s.viewer.shown():
		return s.viewer.key(msg)
	case s.sheet != nil:
		return s.sheetKey(msg)
	case s.stage == choosing:
		return s.chooseKey(msg)
	case s.stage == writing:
		return s.nameKey(msg)
	case s.stage == looking && s.search != nil:
		return s.searchKey(msg)
	case s.stage == looking && s.answer != nil:
		return s.answerKey(msg)
	case s.stage == looking:
		return s.lookKey(msg)
	}
	return nil
}

func (s *Screen) sheetKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case s.sheet.key(msg):
	case s.sheet.differing && key.Matches(msg, otherKey):
		s.compare(!s.sheet.launchings)
	case s.stage == comparing && key.Matches(msg, yesKey) && !s.saving:
		return ui.Do(ui.Ask{
			ID: askReplace, Title: "Replace what is there?", Danger: true,
			Body: strings.Join(replaced(s.compared), "\n"), Yes: "replace", No: "no",
		})
	}
	return nil
}

// replaced are the names of the files that hold something else now.
func replaced(targets []session.Target) []string {
	var out []string
	for _, t := range targets {
		if t.There && !t.Same {
			out = append(out, t.Path)
		}
	}
	return out
}

func (s *Screen) chooseKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, escKey):
		return ui.Do(ui.Back{})
	case key.Matches(msg, prevKey):
		s.row = max(s.row-1, 0)
	case key.Matches(msg, followKey):
		s.row = max(min(s.row+1, len(s.rows)-1), 0)
	case key.Matches(msg, completeKey):
		if base, _ := split(s.path.Value()); base == s.looked {
			s.path.SetValue(completed(s.path.Value(), s.dirs))
		}
		return s.typed()
	case key.Matches(msg, takeKey):
		return s.takeChoice()
	default:
		if s.path.Key(msg) {
			return s.typed()
		}
	}
	return nil
}

func (s *Screen) typed() tea.Cmd {
	s.row, s.err = 0, nil
	s.choose()
	return s.look()
}

// takeChoice opens the folder under the cursor, or ports the run.
func (s *Screen) takeChoice() tea.Cmd {
	if len(s.rows) == 0 {
		return nil
	}
	c := s.rows[s.row]
	if c.kind == "folder" {
		s.path.SetValue(c.path + "/")
		return s.typed()
	}
	s.dir = c.path
	s.stage, s.opt, s.before, s.err, s.kept = reading, porter.Options{}, porter.Options{}, nil, 0
	s.at, s.top, s.todo, s.doc, s.pane = [2]int{}, [2]int{}, 0, 0, onFile
	clear(s.excerpts)
	return s.port()
}

func (s *Screen) lookKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, writeKey):
		s.stage, s.name, s.targets, s.targetErr = writing, 0, nil, nil
		return s.check()
	case key.Matches(msg, openKey):
		return s.openViewer()
	case key.Matches(msg, diffKey):
		s.compare(false)
	case key.Matches(msg, wholeKey):
		s.whole()
	case key.Matches(msg, paneKey):
		s.pane = (s.pane + 1) % panes
		s.arrange()
		s.move(0)
	case key.Matches(msg, fileKey):
		s.doc = 1 - s.doc
	case key.Matches(msg, notedKey):
		s.nextNoted()
	case key.Matches(msg, acceptKey):
		return s.accept()
	case key.Matches(msg, seekKey):
		s.search = &ui.Input{}
	case key.Matches(msg, undoKey):
		if n := len(s.opt.Answers); n > 0 {
			s.before = s.opt
			s.opt.Answers = s.opt.Answers[:n-1]
			s.kept = min(s.kept, n-1)
			return s.port()
		}
	case s.pane == onArtifacts && msg.String() == "enter":
		s.firstResting()
	case key.Matches(msg, editKey):
		s.ask()
	default:
		s.move(motion(msg, s.boxes.file.h-1))
	}
	return s.fetch()
}

// motion is by how many lines a key moves; 0 if it is for something else.
func motion(msg tea.KeyPressMsg, page int) int {
	switch {
	case key.Matches(msg, upKey):
		return -1
	case key.Matches(msg, downKey):
		return 1
	case key.Matches(msg, pageUp):
		return -max(page, 1)
	case key.Matches(msg, pageDown):
		return max(page, 1)
	case key.Matches(msg, homeKey):
		return -farAway
	case key.Matches(msg, endKey):
		return farAway
	}
	return 0
}

// farAway is more lines than any list or text has.
const farAway = 1 << 30

// move moves the cursor of the pane; in the list of questions the file follows.
func (s *Screen) move(by int) {
	switch s.pane {
	case onTodos:
		s.todo = max(min(s.todo+by, len(s.todos)-1), 0)
		if t, ok := s.question(); ok {
			s.goTo(t.File, t.Path)
		}
	case onArtifacts:
		s.artifact = max(min(s.artifact+by, len(s.written.res.Artifacts)-1), 0)
	default:
		s.at[s.doc] += by
		s.scroll()
	}
}

// nextNoted goes to the next field that is no plain copy.
func (s *Screen) nextNoted() {
	lines := s.written.docs[s.doc].lines
	for k := 1; k <= len(lines); k++ {
		i := (s.at[s.doc] + k) % len(lines)
		if c := s.field(lines[i]).Class; lines[i].first && c != porter.Copied && c != porter.Default {
			s.at[s.doc] = i
			s.scroll()
			return
		}
	}
}

// firstResting goes to the first field that rests on the artifact under the cursor.
func (s *Screen) firstResting() {
	a, ok := s.chosenArtifact()
	if !ok {
		return
	}
	name := a.Name
	for _, f := range s.written.res.Fields {
		if restsOn(f, name) {
			if s.goTo(f.File, f.Path) {
				s.pane = onFile
			}
			return
		}
	}
}

func (s *Screen) nameKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, escKey):
		s.dropWrite()
	case s.saving:
	case key.Matches(msg, nextKey):
		s.name = 1 - s.name
	case key.Matches(msg, saveKey):
		return s.write(false)
	default:
		s.names[s.name].Key(msg)
		return s.check()
	}
	return nil
}

func (s *Screen) paste(text string) tea.Cmd {
	text = strings.TrimSpace(text)
	switch {
	case s.viewer.shown():
		return s.viewer.pane.Paste(text)
	case s.sheet != nil:
	case s.stage == choosing:
		s.path.Insert(text)
		return s.typed()
	case s.stage == writing:
		s.names[s.name].Insert(text)
		return s.check()
	case s.stage == looking && s.search != nil:
		s.search.Insert(text)
	case s.stage == looking && s.answer != nil:
		s.answer.Insert(text)
		s.tryAnswer()
	}
	return nil
}

// chosenArtifact is the one under the cursor of their list.
func (s *Screen) chosenArtifact() (porter.Artifact, bool) {
	if all := s.written.res.Artifacts; s.artifact < len(all) {
		return all[s.artifact], true
	}
	return porter.Artifact{}, false
}
