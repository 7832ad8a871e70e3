package edit

import (
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes/merge"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// This file is about a text and its file: what someone else wrote, and what would
// be lost with the program.

// metMsg is someone else's version of a file that has edits here, merged.
type metMsg struct {
	which, version int
	theirs, merged string
	conflicts      int
}

// meet brings someone else's version together with the edits.
func (s *Screen) meet(which int, theirs string) tea.Cmd {
	f := &s.sides[which]
	base, mine, version := f.disk, f.text.Text(), f.text.Version()
	return func() tea.Msg {
		m := metMsg{which: which, version: version, theirs: theirs}
		m.merged, m.conflicts = merge.Three(base, mine, theirs)
		return m
	}
}

// takeMet asks what is to become of two versions. The choice may wait.
func (s *Screen) takeMet(m metMsg) tea.Cmd {
	f := &s.sides[m.which]
	if f.theirs = &m.theirs; s.menu != nil || s.focus == onForm && s.form.typing {
		return nil // asked at the next look at the disk
	}
	if m.version != f.text.Version() {
		return s.meet(m.which, m.theirs)
	}
	f.asked = &m.theirs
	note := "no conflicts"
	if m.conflicts > 0 {
		note = ui.Plural(m.conflicts, "conflict") + ", marked in the text"
	}
	box := &menu{Menu: ui.Menu{
		Title: f.name() + " changed on disk", Foot: "ctrl+z takes each of them back · esc decides later",
		Body: "Someone else has written " + f.file + " since it was read, and what is typed here is not saved.",
	}}
	box.add(func() tea.Cmd { return s.take(m.which, m.merged, m.theirs) }, ui.Item{Text: "merge both", Note: note})
	box.add(func() tea.Cmd { return s.take(m.which, f.text.Text(), m.theirs) }, ui.Item{Text: "keep mine", Note: "saving replaces theirs then"})
	box.add(func() tea.Cmd { return s.take(m.which, m.theirs, m.theirs) }, ui.Item{Text: "take theirs"})
	return s.popUp(box)
}

// take goes on with a text, now that the disk has another one.
func (s *Screen) take(which int, text, disk string) tea.Cmd {
	f := &s.sides[which]
	if disk != f.disk {
		f.kept = -1 // it names what was on disk
	}
	f.disk, f.theirs, f.asked, f.fresh = disk, nil, nil, false
	at := f.text.Cursor()
	cmd := s.swap(which, text)
	if i := lineWith(f.text.Lines(), "<<<<<<< "); i >= 0 {
		at.Line = i
		s.active = which
	}
	f.text.Go(at)
	s.arrange()
	return cmd
}

func lineWith(lines []string, prefix string) int {
	for i, l := range lines {
		if strings.HasPrefix(l, prefix) {
			return i
		}
	}
	return -1
}

// look reads both files again, to see whether someone else wrote them.
func (s *Screen) look() tea.Cmd {
	var cmds []tea.Cmd
	for i := range s.sides {
		if f := &s.sides[i]; f.loaded && !f.saving && !f.fresh && !f.looking { // a disk that hangs is asked once
			f.looking = true
			cmds = append(cmds, s.read(i))
		}
	}
	return tea.Batch(cmds...)
}

type foundMsg struct {
	which  int
	file   string
	kept   engine.Unsaved
	ok     bool
	merged string
	clash  int
	err    error
}

// recover looks for work that an earlier program could not save. The workload of a
// recipe that was begun here is kept under the name beside it, whatever it names.
func (s *Screen) recover(which int) tea.Cmd {
	f := &s.sides[which]
	f.held = true
	ctx, eng, disk, files := s.ctx, s.eng, f.disk, []string{f.file}
	if which == workload && !f.loaded && s.sides[recipe].file != "" {
		files = append(files, beside(s.sides[recipe].file))
	}
	return func() tea.Msg {
		m := foundMsg{which: which}
		for _, m.file = range files {
			if m.kept, m.ok, m.err = eng.Unsaved(ctx, m.file); m.ok || m.err != nil {
				break
			}
		}
		if m.ok {
			m.merged, m.clash = merge.Three(m.kept.Base, m.kept.Text, disk)
		}
		return m
	}
}

// takeLost takes the outcome of that for a file that is not on disk: the work goes
// on, or a recipe can be begun.
func (s *Screen) takeLost(m foundMsg) tea.Cmd {
	s.sides[m.which].held = false
	if !m.ok {
		if m.which == recipe {
			return tea.Batch(ui.Fail(m.err), s.offerNew(m.file))
		}
		return ui.Fail(m.err)
	}
	s.start(m.which, m.file, m.kept.Text)
	s.arrange()
	cmds := []tea.Cmd{s.changed(), ui.Do(ui.Toast{Text: filepath.Base(m.file) + " is not on disk: this is what was not saved of it", Role: ui.Warn})}
	if m.which == recipe && s.sides[workload].path == "" {
		cmds = append(cmds, s.seek())
	}
	return tea.Batch(cmds...)
}

// takeFound offers unsaved work. Leaving the question open takes it too: what is
// not wanted is one undo away.
func (s *Screen) takeFound(m foundMsg) tea.Cmd {
	f := &s.sides[m.which]
	switch {
	case s.menu != nil && (m.ok || !f.loaded): // one question at a time
		s.later = append(s.later, m)
		return nil
	case !f.loaded:
		return s.takeLost(m)
	case !m.ok:
		f.held = false
		return ui.Fail(m.err)
	}
	note := ""
	if m.kept.Base != f.disk {
		note = "merged with what is on disk now"
		if m.clash > 0 {
			note += ", " + ui.Plural(m.clash, "conflict")
		}
	}
	box := &menu{Menu: ui.Menu{
		Title: "Unsaved work on " + f.name(), Foot: "esc takes it back too, and ctrl+z then gives the saved text",
		Body: fmt.Sprintf("The program ended on %s before %s was saved.", m.kept.At.Local().Format("Jan 2 at 15:04"), f.file),
	}}
	if m.kept.Elsewhere {
		box.Body = fmt.Sprintf("Another program, process %d, seems to have %s open, and had not saved it on %s.", m.kept.PID, f.file, m.kept.At.Local().Format("Jan 2 at 15:04"))
	}
	box.esc = func() tea.Cmd { f.held = false; return tea.Batch(s.swap(m.which, m.merged), s.next()) }
	box.add(box.esc, ui.Item{Text: "take it back", Note: note})
	box.add(func() tea.Cmd { f.held, f.kept = false, -1; return tea.Batch(s.keep(), s.next()) }, ui.Item{Text: "throw it away", Role: ui.Bad})
	return s.popUp(box)
}

// next asks what had to wait for another question.
func (s *Screen) next() tea.Cmd {
	if len(s.later) == 0 {
		return nil
	}
	m := s.later[0]
	s.later = s.later[1:]
	return s.takeFound(m)
}

type keptMsg struct {
	which, version int    // 0: nothing is kept any more
	base           string // what was on disk
	err            error
}

// keep writes down what is not saved, and forgets what is. One such write is under
// way for a text.
func (s *Screen) keep() tea.Cmd {
	var cmds []tea.Cmd
	ctx, eng := s.ctx, s.eng
	for i := range s.sides {
		f := &s.sides[i]
		version := f.text.Version()
		switch {
		case !f.loaded || f.keeping || f.held:
		case f.unsaved && f.kept != version:
			f.keeping = true
			file, text, disk := f.file, f.text.Text(), f.disk
			cmds = append(cmds, func() tea.Msg { return keptMsg{i, version, disk, eng.KeepUnsaved(ctx, file, text, disk)} })
		case !f.unsaved && f.kept != 0:
			f.keeping = true
			file, disk := f.file, f.disk
			cmds = append(cmds, func() tea.Msg { return keptMsg{i, 0, disk, eng.DropUnsaved(ctx, file)} })
		}
	}
	return tea.Batch(cmds...)
}

func (s *Screen) takeKept(m keptMsg) tea.Cmd {
	f := &s.sides[m.which]
	f.keeping = false
	if m.err != nil {
		if s.keepErr { // told once
			return nil
		}
		s.keepErr = true
		return ui.Fail(m.err)
	}
	f.kept, s.keepErr = m.version, false
	if m.base != f.disk { // someone else wrote meanwhile
		f.kept = -1
	}
	return nil
}

// handOff gives the text to the user's own editor, and takes back what it leaves.
func (s *Screen) handOff() tea.Cmd {
	f := &s.sides[s.active]
	if !f.loaded {
		return nil
	}
	h, err := s.eng.Editor(f.name(), f.text.Text())
	if err != nil {
		return ui.Fail(err)
	}
	which, version := s.active, f.text.Version()
	return ui.Do(ui.Exec{Program: h, Done: func(err error) tea.Msg { return editedMsg{which, version, h.Result(), err} }})
}
