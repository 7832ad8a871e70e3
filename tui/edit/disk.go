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

// This file handles changes that other programs make to the files, and backups of
// unsaved changes.

type (
	// mergedMsg is a text with unsaved changes, merged with a newer version on disk.
	mergedMsg struct {
		side           side
		version        int
		theirs, merged string
		conflicts      int
	}
	// adoptMsg is the text that the user chose after the file changed on disk; nil is the current one.
	adoptMsg struct {
		side side
		text *string
		disk string
	}
	// recoveredMsg is the backup of unsaved changes, if there is one, merged with the file.
	recoveredMsg struct {
		side      side
		file      string
		backup    engine.Unsaved
		ok        bool
		merged    string
		conflicts int
		err       error
	}
	// restoreMsg restores unsaved changes from the backup, discardMsg discards them.
	restoreMsg struct {
		side side
		text string
	}
	discardMsg struct{ side side }
	// backedUpMsg is sent after a backup was written or, with version 0, removed.
	backedUpMsg struct {
		side    side
		version int
		base    string // the file on disk at that time
		err     error
	}
)

// backup is the state of the backup of a text's unsaved changes.
type backup struct {
	version int // of the text; 0: no backup, -1: outdated
	busy    bool
	// undecided: there may be a backup from an earlier session that the user has not
	// restored or discarded yet. It is not overwritten.
	undecided bool
}

// checkDisk reads both files again, to detect changes by other programs.
func (p *pair) checkDisk() tea.Cmd {
	var cmds []tea.Cmd
	for i := range p.docs {
		if d := &p.docs[i]; d.loaded && !d.saving && !d.isNew && !d.checkingDisk { // one read at a time: the disk may hang
			d.checkingDisk = true
			cmds = append(cmds, d.read())
		}
	}
	return tea.Batch(cmds...)
}

// merge merges the unsaved changes with a newer version on disk.
func (d *document) merge(theirs string) tea.Cmd {
	base, mine, m := d.disk, d.text.Text(), mergedMsg{side: d.side, version: d.text.Version(), theirs: theirs}
	return func() tea.Msg {
		m.merged, m.conflicts = merge.ThreeWay(base, mine, theirs)
		return m
	}
}

// handleMerged asks which version to keep. If another question is open (busy), the next
// check of the disk asks again.
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
		Title: d.name() + " changed on disk", Footer: "ctrl+z undoes the choice · esc postpones it",
		Body: "Another program changed " + d.file + ", which has unsaved changes here.",
	}}
	q.add(adoptMsg{m.side, &m.merged, m.theirs}, ui.Item{Text: "merge both", Note: note})
	q.add(adoptMsg{m.side, nil, m.theirs}, ui.Item{Text: "keep mine", Note: "the next save replaces theirs"})
	q.add(adoptMsg{m.side, &m.theirs, m.theirs}, ui.Item{Text: "take theirs"})
	return q, nil
}

// adopt continues with the chosen text after the file changed on disk, and moves the
// cursor to the first conflict in it.
func (p *pair) adopt(m adoptMsg) {
	d := &p.docs[m.side]
	if m.disk != d.disk {
		d.backup.version = -1 // its base is outdated
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

// findUnsaved looks for a backup of unsaved changes. If the workload file does not exist, it
// also looks for a backup under the default path beside the recipe.
func (p *pair) findUnsaved(which side) tea.Cmd {
	d := &p.docs[which]
	d.backup.undecided = true
	ctx, eng, disk, files := d.ctx, d.eng, d.disk, []string{d.file}
	if which == workload && !d.loaded && p.docs[recipe].file != "" {
		files = append(files, defaultWorkloadPath(p.docs[recipe].file))
	}
	return func() tea.Msg {
		m := recoveredMsg{side: which}
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

// handleRecovered asks whether to restore unsaved changes. Esc restores them as well,
// because undo can revert that.
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
		note = "merged with the file on disk"
		if m.conflicts > 0 {
			note += ", " + ui.Plural(m.conflicts, "conflict")
		}
	}
	at := m.backup.At.Local().Format("Jan 2 at 15:04")
	q := &question{Menu: ui.Menu{
		Title: "Unsaved changes in " + d.name(), Footer: "esc restores too, ctrl+z then returns to the saved text",
		Body: fmt.Sprintf("The program ended on %s before %s was saved.", at, d.file),
	}}
	if m.backup.WriterRunning {
		q.Body = fmt.Sprintf("Process %d seems to have %s open, with unsaved changes from %s.", m.backup.PID, d.file, at)
	}
	q.esc = restoreMsg{m.side, m.merged}
	q.add(q.esc, ui.Item{Text: "restore", Note: note})
	q.add(discardMsg{m.side}, ui.Item{Text: "discard", Role: ui.Bad})
	return q, nil
}

// handleMissingFile restores unsaved changes of a file that does not exist, or offers a new recipe.
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
	text := filepath.Base(m.file) + " does not exist: restored its unsaved text"
	return nil, tea.Batch(ui.Send(ui.Toast{Text: text, Role: ui.Warn}), p.findWorkload())
}

// nextQuestion asks about unsaved changes after another question was answered.
func (p *pair) nextQuestion() (*question, tea.Cmd) {
	if len(p.waiting) == 0 {
		return nil, nil
	}
	m := p.waiting[0]
	p.waiting = p.waiting[1:]
	return p.handleRecovered(m, false)
}

// backUp backs up unsaved changes, and removes backups of saved texts. One write per text runs at a time.
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
		if p.backupFailed { // shown once
			return nil
		}
		p.backupFailed = true
		return ui.ShowError(m.err)
	}
	d.backup.version, p.backupFailed = m.version, false
	if m.base != d.disk { // the file changed on disk during the backup
		d.backup.version = -1
	}
	return nil
}
