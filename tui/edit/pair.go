package edit

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/examples"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// pair is the recipe and its workload. It reads and saves the files, detects changes by
// other programs, and backs up unsaved changes. Its methods may return a question for
// the user.
type pair struct {
	docs         [2]document
	active       side
	afterSave    tea.Msg        // sent once everything is saved
	saveAgain    bool           // save again after the current save
	waiting      []recoveredMsg // backups to ask about once the open question is answered
	backupFailed bool           // a failed backup has been reported
}

func newPair(ctx context.Context, eng Engine, paths ...string) pair {
	var p pair
	for i, path := range paths {
		p.docs[i] = document{ctx: ctx, eng: eng, side: side(i), path: path}
		p.docs[i].text.SetText("")
	}
	return p
}

// Messages for the choices of questions.
type (
	// saveMsg saves everything and then sends a message.
	saveMsg struct{ then tea.Msg }
	// leaveMsg removes the backups and closes the screen.
	leaveMsg struct{}
	// exampleMsg starts both texts from an example.
	exampleMsg struct{ example string }
)

// Update handles a message. While a question is open (busy), no other one is returned.
func (p *pair) Update(msg tea.Msg, busy bool) (*question, tea.Cmd) {
	switch msg := msg.(type) {
	case readMsg:
		return nil, p.handleRead(msg)
	case savedMsg:
		return nil, p.handleSaved(msg)
	case backedUpMsg:
		return nil, p.handleBackedUp(msg)
	case mergedMsg:
		return p.docs[msg.side].handleMerged(msg, busy)
	case recoveredMsg:
		return p.handleRecovered(msg, busy)
	case adoptMsg:
		p.adopt(msg)
	case restoreMsg:
		p.docs[msg.side].backup.undecided = false
		p.docs[msg.side].replace(msg.text)
		return p.nextQuestion()
	case discardMsg:
		p.docs[msg.side].backup = backup{version: -1}
		q, cmd := p.nextQuestion()
		return q, tea.Batch(p.backUp(), cmd)
	case editMsg:
		return nil, p.docs[msg.side].edit(msg.change)
	case exampleMsg:
		return nil, p.startFromExample(msg.example)
	case saveMsg:
		return nil, p.saveThen(msg.then)
	case leaveMsg:
		return nil, p.leave()
	}
	return nil, nil
}

// updateUnsaved compares the texts that have changed with their files.
func (p *pair) updateUnsaved() {
	for i := range p.docs {
		if d := &p.docs[i]; d.comparedVersion != d.text.Version() {
			d.updateUnsaved()
		}
	}
}

// versions identifies the state of the texts and the form from which a result was computed.
// The zero value means that there is no result.
type versions struct{ recipe, workload, form int }

// activeDoc returns the text that gets the keys.
func (p *pair) activeDoc() *document { return &p.docs[p.active] }

func (p *pair) draft() engine.Draft {
	d := engine.Draft{RecipePath: p.docs[recipe].path, Recipe: []byte(p.docs[recipe].text.Text())}
	if w := &p.docs[workload]; w.loaded {
		d.WorkloadPath, d.Workload = w.path, []byte(w.text.Text())
	}
	return d
}

// unsaved returns the names of the texts with unsaved changes.
func (p *pair) unsaved() (names []string) {
	for i := range p.docs {
		if p.docs[i].unsaved {
			names = append(names, p.docs[i].name())
		}
	}
	return names
}

// saving reports whether a save is in progress.
func (p *pair) saving() bool { return p.docs[recipe].saving || p.docs[workload].saving }

// findWorkload looks for the workload of the recipe if none was given: the file that the
// recipe names, resolved through its mounts, or one beside the recipe.
func (p *pair) findWorkload() tea.Cmd {
	w := &p.docs[workload]
	if w.path != "" {
		return nil
	}
	ctx, eng, path, text := w.ctx, w.eng, p.docs[recipe].path, []byte(p.docs[recipe].text.Text())
	return w.readFirst("", func() (files []string) {
		file, selector := recipes.SplitSelector(path)
		if r, _, _ := recipes.Select(file, text, selector); r != nil && r.Benchmark.ConfigPath != "" {
			named := r.Benchmark.ConfigPath
			resolved := eng.WorkloadOf(ctx, path, text)
			if resolved == "" {
				resolved = named
			}
			files = append(files, resolved, filepath.Join(filepath.Dir(file), filepath.Base(named)))
		}
		return append(files, defaultWorkloadPath(file))
	})
}

// defaultWorkloadPath returns the path of a new workload file beside a recipe.
func defaultWorkloadPath(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".yml") + ".workload.yaml"
}

// handleRead handles a file that was read. If it changed on disk and has no unsaved changes,
// it is reloaded, which undo reverts; otherwise the user is asked. Outdated results are
// dropped.
func (p *pair) handleRead(m readMsg) tea.Cmd {
	d := &p.docs[m.side]
	d.checkingDisk = false
	switch {
	case !d.loaded:
		return p.handleFirstRead(m)
	case d.disk != m.diskBefore || d.saving || d.isNew:
		return nil
	case errors.Is(m.err, fs.ErrNotExist):
		d.isNew = true
		d.updateUnsaved()
		return ui.Send(ui.Toast{Text: d.name() + " was deleted on disk; saving creates it again", Role: ui.Warn})
	case m.err != nil: // the next check of the disk tries again
		return nil
	case m.text == d.disk:
		d.theirs, d.askedAbout = nil, nil
		return nil
	case d.unsaved && m.text != d.text.Text():
		if d.askedAbout != nil && m.text == *d.askedAbout { // asked before, and the user has not decided
			return nil
		}
		return d.merge(m.text)
	}
	p.adopt(adoptMsg{m.side, &m.text, m.text})
	text := d.name() + " changed on disk and was reloaded; ctrl+z restores the old text"
	return ui.Send(ui.Toast{Text: text, Role: ui.Warn})
}

// handleFirstRead handles a file that was read for the first time.
func (p *pair) handleFirstRead(m readMsg) tea.Cmd {
	d := &p.docs[m.side]
	switch {
	case m.err == nil:
		d.load(m)
		return tea.Batch(p.findUnsaved(m.side), p.findWorkload())
	case errors.Is(m.err, fs.ErrNotExist):
		d.path, d.file, d.err = m.path, m.file, m.err
		return p.findUnsaved(m.side)
	}
	d.path, d.err = m.path, m.err
	return nil
}

// startFromExample starts both texts from an example.
func (p *pair) startFromExample(example string) tea.Cmd {
	r, w, err := examples.Read(example)
	if err != nil {
		return ui.ShowError(err)
	}
	file, _ := recipes.SplitSelector(p.docs[recipe].path)
	if p.docs[workload].path == "" {
		p.docs[workload].path = defaultWorkloadPath(file)
	}
	p.docs[recipe].path = file
	var cmds []tea.Cmd
	for i, text := range [][]byte{r, w} {
		if d := &p.docs[i]; !d.loaded {
			d.startNew(d.path, string(text))
			cmds = append(cmds, p.findUnsaved(d.side))
		}
	}
	return tea.Batch(cmds...)
}

// saveThen saves everything and then sends a message, which by default is a toast.
func (p *pair) saveThen(then tea.Msg) tea.Cmd {
	p.afterSave = then
	if cmd := p.saveUnsaved(); cmd != nil || p.saving() {
		return cmd
	}
	if p.afterSave = nil; then == nil {
		then = ui.Toast{Text: "nothing to save", Role: ui.Muted}
	}
	return ui.Send(then)
}

// saveUnsaved starts to save the unsaved texts; nil if there is nothing to start. A text
// that is being saved is saved again afterwards. If a text changed on disk, the user is
// asked first.
func (p *pair) saveUnsaved() tea.Cmd {
	var cmds []tea.Cmd
	for i := range p.docs {
		switch d := &p.docs[i]; {
		case d.saving:
			p.saveAgain = true
		case d.theirs != nil:
			p.afterSave = nil
			cmds = append(cmds, d.merge(*d.theirs))
		case d.unsaved:
			cmds = append(cmds, d.save())
		}
	}
	return tea.Batch(cmds...)
}

// handleSaved handles the end of a save and sends the message that waited for it.
func (p *pair) handleSaved(m savedMsg) tea.Cmd {
	d := &p.docs[m.side]
	d.saving = false
	if m.err != nil {
		p.afterSave, p.saveAgain = nil, false
		if !errors.Is(m.err, engine.ErrChanged) {
			return ui.ShowError(m.err)
		}
		d.isNew, d.askedAbout = false, nil // another program wrote it first
		return d.read()                    // its result makes handleRead ask the user
	}
	d.disk, d.isNew = m.text, false
	d.updateUnsaved()
	if p.saving() {
		return nil
	}
	then, again := p.afterSave, p.saveAgain
	p.saveAgain = false
	if (again || then != nil) && len(p.unsaved()) > 0 {
		return p.saveUnsaved()
	}
	if p.afterSave = nil; then == nil {
		then = ui.Toast{Text: "saved", Role: ui.OK}
	}
	return tea.Batch(p.backUp(), ui.Send(then))
}

// leave removes the backups and closes the screen.
func (p *pair) leave() tea.Cmd {
	ctx, eng := p.docs[recipe].ctx, p.docs[recipe].eng
	var files []string
	for i := range p.docs {
		if d := &p.docs[i]; d.loaded && !d.backup.undecided {
			files = append(files, d.file)
		}
	}
	return func() tea.Msg {
		for _, f := range files {
			if err := eng.DiscardUnsaved(ctx, f); err != nil {
				return ui.Toast{Text: err.Error(), Role: ui.Bad}
			}
		}
		return ui.Back{}
	}
}

// tabs returns the line with the names of the texts, and a remark if only one text is in view.
func (p *pair) tabs(th ui.Theme, b boxes, remark string) string {
	title := func(which side) string { return p.docs[which].title(th, which == p.active) }
	line := title(recipe)
	switch {
	case b.sideBySide:
		return ui.Fit(line, b.text[recipe].w) + th.Rule.Render(" │ ") + ui.Fit(title(workload), b.text[workload].w)
	case p.docs[workload].path != "":
		line += th.Rule.Render("  │ ") + title(workload)
	}
	return ui.LeftRight(line, th.Paint(ui.Muted, remark), b.all.w)
}
