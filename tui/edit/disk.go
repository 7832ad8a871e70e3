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

type (
	// mergedMsg is someone else's version of a file that has edits here, merged.
	mergedMsg struct {
		side           side
		version        int
		theirs, merged string
		conflicts      int
	}
	// adoptMsg goes on with a text, nil for the one that is there, now that the disk has another one.
	adoptMsg struct {
		side side
		text *string
		disk string
	}
	// recoveredMsg is what an earlier program kept of a text, merged with the file.
	recoveredMsg struct {
		side      side
		file      string
		backup    engine.Unsaved
		ok        bool
		merged    string
		conflicts int
		err       error
	}
	// restoreMsg takes back what was kept, forgetMsg discards it.
	restoreMsg struct {
		side side
		text string
	}
	discardMsg struct{ side side }
	// backedUpMsg tells that a text was written down; version 0: that nothing is kept any more.
	backedUpMsg struct {
		side    side
		version int
		base    string // what was on disk
		err     error
	}
)

// backup is what is written down of a text in case the program ends.
type backup struct {
	version int // of the text; 0: nothing, -1: what is no longer right
	busy    bool
	// held: an earlier program may have kept something that the user has not decided
	// on; it is not overwritten.
	undecided bool
}

// checkDisk reads both files again, to see whether someone else wrote them.
func (p *pair) checkDisk() tea.Cmd {
	var cmds []tea.Cmd
	for i := range p.docs {
		if d := &p.docs[i]; d.loaded && !d.saving && !d.isNew && !d.checkingDisk { // a disk that hangs is asked once
			d.checkingDisk = true
			cmds = append(cmds, d.read())
		}
	}
	return tea.Batch(cmds...)
}

// merge brings someone else's version together with the edits.
func (d *document) merge(theirs string) tea.Cmd {
	base, mine, m := d.disk, d.text.Text(), mergedMsg{side: d.side, version: d.text.Version(), theirs: theirs}
	return func() tea.Msg {
		m.merged, m.conflicts = merge.ThreeWay(base, mine, theirs)
		return m
	}
}

// handleMerged asks what is to become of two versions. The choice may wait: it is asked
// about again at the next look at the disk.
func (d *document) handleMerged(m mergedMsg, busy bool) (*question, tea.Cmd) {
	if d.theirs = &m.theirs; busy {
		return nil, nil
	}
	if m.version != d.text.Version() {
		return nil, d.merge(m.theirs)
	}
	d.askedAbout = &m.theirs
	note := "no conflicts"
	if m.conflicts > 0 {
		note = ui.Plural(m.conflicts, "conflict") + ", marked in the text"
	}
	q := &question{Menu: ui.Menu{
		Title: d.name() + " changed on disk", Footer: "ctrl+z takes each of them back · esc decides later",
		Body: "Someone else has written " + d.file + " since it was read, and what is typed here is not saved.",
	}}
	q.add(adoptMsg{m.side, &m.merged, m.theirs}, ui.Item{Text: "merge both", Note: note})
	q.add(adoptMsg{m.side, nil, m.theirs}, ui.Item{Text: "keep mine", Note: "saving replaces theirs then"})
	q.add(adoptMsg{m.side, &m.theirs, m.theirs}, ui.Item{Text: "take theirs"})
	return q, nil
}

// adopt goes on with a text, now that the disk has another one. A conflict that is
// marked in the text comes under the cursor.
func (p *pair) adopt(m adoptMsg) {
	d := &p.docs[m.side]
	if m.disk != d.disk {
		d.backup.version = -1 // it names what was on disk
	}
	d.disk, d.theirs, d.askedAbout, d.isNew = m.disk, nil, nil, false
	at := d.text.Cursor()
	if m.text != nil {
		d.replace(*m.text)
	}
	for i, l := range d.text.Lines() {
		if strings.HasPrefix(l, "<<<<<<< ") {
			at.Line, p.active = i, m.side
			break
		}
	}
	d.text.MoveTo(at)
	d.updateUnsaved()
}

// findUnsaved looks for work that an earlier program could not save. The workload of a
// recipe that was begun here is kept under the name beside it, whatever it names.
func (p *pair) findUnsaved(of side) tea.Cmd {
	d := &p.docs[of]
	d.backup.undecided = true
	ctx, eng, disk, files := d.ctx, d.eng, d.disk, []string{d.file}
	if of == workload && !d.loaded && p.docs[recipe].file != "" {
		files = append(files, defaultWorkloadPath(p.docs[recipe].file))
	}
	return func() tea.Msg {
		m := recoveredMsg{side: of}
		for _, m.file = range files {
			if m.backup, m.ok, m.err = eng.Unsaved(ctx, m.file); m.ok || m.err != nil {
				break
			}
		}
		if m.ok {
			m.merged, m.conflicts = merge.ThreeWay(m.backup.Base, m.backup.Text, disk)
		}
		return m
	}
}

// handleRecovered offers unsaved work. Leaving the question open takes it too: what is not
// wanted is one undo away.
func (p *pair) handleRecovered(m recoveredMsg, busy bool) (*question, tea.Cmd) {
	d := &p.docs[m.side]
	switch {
	case busy && (m.ok || !d.loaded): // one question at a time
		p.waiting = append(p.waiting, m)
		return nil, nil
	case !d.loaded:
		return p.handleMissingFile(m)
	case !m.ok:
		d.backup.undecided = false
		return nil, ui.ShowError(m.err)
	}
	note := ""
	if m.backup.Base != d.disk {
		note = "merged with what is on disk now"
		if m.conflicts > 0 {
			note += ", " + ui.Plural(m.conflicts, "conflict")
		}
	}
	at := m.backup.At.Local().Format("Jan 2 at 15:04")
	q := &question{Menu: ui.Menu{
		Title: "Unsaved work on " + d.name(), Footer: "esc takes it back too, and ctrl+z then gives the saved text",
		Body: fmt.Sprintf("The program ended on %s before %s was saved.", at, d.file),
	}}
	if m.backup.WriterRunning {
		q.Body = fmt.Sprintf("Another program, process %d, seems to have %s open, and had not saved it on %s.",
			m.backup.PID, d.file, at)
	}
	q.esc = restoreMsg{m.side, m.merged}
	q.add(q.esc, ui.Item{Text: "take it back", Note: note})
	q.add(discardMsg{m.side}, ui.Item{Text: "throw it away", Role: ui.Bad})
	return q, nil
}

// handleMissingFile goes on with work on a file that is not on disk; without any, a recipe can be begun.
func (p *pair) handleMissingFile(m recoveredMsg) (*question, tea.Cmd) {
	d := &p.docs[m.side]
	d.backup.undecided = false
	if !m.ok {
		if m.side == recipe {
			return newRecipeQuestion(m.file), ui.ShowError(m.err)
		}
		return nil, ui.ShowError(m.err)
	}
	d.startNew(m.file, m.backup.Text)
	text := filepath.Base(m.file) + " is not on disk: this is what was not saved of it"
	return nil, tea.Batch(ui.Send(ui.Toast{Text: text, Role: ui.Warn}), p.findWorkload())
}

// nextQuestion makes the offer that had to wait for another question.
func (p *pair) nextQuestion() (*question, tea.Cmd) {
	if len(p.waiting) == 0 {
		return nil, nil
	}
	m := p.waiting[0]
	p.waiting = p.waiting[1:]
	return p.handleRecovered(m, false)
}

// backUp writes down what is not saved, and forgets what is. One such write is under way for a text.
func (p *pair) backUp() tea.Cmd {
	var cmds []tea.Cmd
	for i := range p.docs {
		d := &p.docs[i]
		ctx, eng, file, m := d.ctx, d.eng, d.file, backedUpMsg{side: d.side, base: d.disk}
		switch version := d.text.Version(); {
		case !d.loaded || d.backup.busy || d.backup.undecided:
		case d.unsaved && d.backup.version != version:
			d.backup.busy, m.version = true, version
			text := d.text.Text()
			cmds = append(cmds, func() tea.Msg { m.err = eng.KeepUnsaved(ctx, file, text, m.base); return m })
		case !d.unsaved && d.backup.version != 0:
			d.backup.busy = true
			cmds = append(cmds, func() tea.Msg { m.err = eng.DiscardUnsaved(ctx, file); return m })
		}
	}
	return tea.Batch(cmds...)
}

func (p *pair) handleBackedUp(m backedUpMsg) tea.Cmd {
	d := &p.docs[m.side]
	d.backup.busy = false
	if m.err != nil {
		if p.backupFailed { // told once
			return nil
		}
		p.backupFailed = true
		return ui.ShowError(m.err)
	}
	d.backup.version, p.backupFailed = m.version, false
	if m.base != d.disk { // someone else wrote meanwhile
		d.backup.version = -1
	}
	return nil
}
