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

// pair is the recipe and its workload as they are edited: it reads and saves them,
// notices what someone else writes, and keeps what is not saved. What the user has
// to decide about is a question that it returns.
type pair struct {
	docs    [2]document
	active  side
	then    tea.Msg    // what follows once everything is saved
	again   bool       // save once more when the save under way has ended
	offers  []foundMsg // that wait for the answer to another question
	keepErr bool       // that nothing can be kept has been told
}

func newPair(ctx context.Context, eng Engine, paths ...string) pair {
	var p pair
	for i, path := range paths {
		p.docs[i] = document{ctx: ctx, eng: eng, side: side(i), path: path}
		p.docs[i].text.SetText("")
	}
	return p
}

// What can be chosen.
type (
	// saveMsg saves everything, and then goes on with a message.
	saveMsg struct{ then tea.Msg }
	// leaveMsg leaves the screen, and forgets what was kept of the edits.
	leaveMsg struct{}
	// beginMsg fills both texts from an example.
	beginMsg struct{ example string }
)

// Update takes a message. While another question is open (busy), one that this leads to waits.
func (p *pair) Update(msg tea.Msg, busy bool) (*question, tea.Cmd) {
	switch msg := msg.(type) {
	case readMsg:
		return nil, p.onRead(msg)
	case savedMsg:
		return nil, p.onSaved(msg)
	case keptMsg:
		return nil, p.onKept(msg)
	case mergedMsg:
		return p.docs[msg.side].onMerged(msg, busy)
	case foundMsg:
		return p.onFound(msg, busy)
	case adoptMsg:
		p.adopt(msg)
	case restoreMsg:
		p.docs[msg.side].kept.held = false
		p.docs[msg.side].replace(msg.text)
		return p.next()
	case forgetMsg:
		p.docs[msg.side].kept = kept{version: -1}
		q, cmd := p.next()
		return q, tea.Batch(p.keep(), cmd)
	case editMsg:
		return nil, p.docs[msg.side].edit(msg.change)
	case beginMsg:
		return nil, p.begin(msg.example)
	case saveMsg:
		return nil, p.saveThen(msg.then)
	case leaveMsg:
		return nil, p.leave()
	}
	return nil, nil
}

// follow compares what was edited with the disk.
func (p *pair) follow() {
	for i := range p.docs {
		if d := &p.docs[i]; d.version != d.text.Version() {
			d.compare()
		}
	}
}

// versions say which texts an answer is about, and how much was typed into the form
// then. The zero value is none.
type versions struct{ recipe, workload, form int }

// doc is the text that keys are for.
func (p *pair) doc() *document { return &p.docs[p.active] }

func (p *pair) draft() engine.Draft {
	d := engine.Draft{RecipePath: p.docs[recipe].path, Recipe: []byte(p.docs[recipe].text.Text())}
	if w := &p.docs[workload]; w.loaded {
		d.WorkloadPath, d.Workload = w.path, []byte(w.text.Text())
	}
	return d
}

// unsaved are the names of the texts that are not saved.
func (p *pair) unsaved() (names []string) {
	for i := range p.docs {
		if p.docs[i].unsaved {
			names = append(names, p.docs[i].name())
		}
	}
	return names
}

// saving says whether a save is under way.
func (p *pair) saving() bool { return p.docs[recipe].saving || p.docs[workload].saving }

// seek looks for the workload of the recipe if none is given: the file that it
// names, as the recipe's mounts show it, else one beside the recipe.
func (p *pair) seek() tea.Cmd {
	w := &p.docs[workload]
	if w.path != "" {
		return nil
	}
	ctx, eng, path, text := w.ctx, w.eng, p.docs[recipe].path, []byte(p.docs[recipe].text.Text())
	return w.readFirst("", func() (files []string) {
		file, selector := recipes.SplitSelector(path)
		if r, _, _ := recipes.Select(file, text, selector); r != nil && r.Benchmark.ConfigPath != "" {
			named := r.Benchmark.ConfigPath
			seen := eng.WorkloadOf(ctx, path, text)
			if seen == "" {
				seen = named
			}
			files = append(files, seen, filepath.Join(filepath.Dir(file), filepath.Base(named)))
		}
		return append(files, beside(file))
	})
}

// beside is the name of a recipe's workload file beside it.
func beside(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".yml") + ".workload.yaml"
}

// onRead takes a file. What someone else wrote to one that was not edited is the
// new text, and one undo brings the old one back; otherwise it is asked about. An
// answer is dropped if what is on disk moved on since it was asked for.
func (p *pair) onRead(m readMsg) tea.Cmd {
	d := &p.docs[m.side]
	d.looking = false
	switch {
	case !d.loaded:
		return p.onFirstRead(m)
	case d.disk != m.disk || d.saving || d.fresh:
		return nil
	case errors.Is(m.err, fs.ErrNotExist):
		d.fresh = true
		d.compare()
		return ui.Send(ui.Toast{Text: d.name() + " is gone from the disk: saving writes it anew", Role: ui.Warn})
	case m.err != nil: // not now: the next look may
		return nil
	case m.text == d.disk:
		d.theirs, d.asked = nil, nil
		return nil
	case d.unsaved && m.text != d.text.Text():
		if d.asked != nil && m.text == *d.asked { // decided later
			return nil
		}
		return d.merge(m.text)
	}
	p.adopt(adoptMsg{m.side, &m.text, m.text})
	text := d.name() + " was changed on disk, and is read again: ctrl+z gives the old text"
	return ui.Send(ui.Toast{Text: text, Role: ui.Warn})
}

// onFirstRead takes a file that is read for the first time.
func (p *pair) onFirstRead(m readMsg) tea.Cmd {
	d := &p.docs[m.side]
	switch {
	case m.err == nil:
		d.load(m)
		return tea.Batch(p.recover(m.side), p.seek())
	case errors.Is(m.err, fs.ErrNotExist):
		d.path, d.file, d.err = m.path, m.file, m.err
		return p.recover(m.side)
	}
	d.path, d.err = m.path, m.err
	return nil
}

// begin fills both texts from an example.
func (p *pair) begin(example string) tea.Cmd {
	r, w, err := examples.Read(example)
	if err != nil {
		return ui.ShowError(err)
	}
	file, _ := recipes.SplitSelector(p.docs[recipe].path)
	if p.docs[workload].path == "" {
		p.docs[workload].path = beside(file)
	}
	p.docs[recipe].path = file
	var cmds []tea.Cmd
	for i, text := range [][]byte{r, w} {
		if d := &p.docs[i]; !d.loaded {
			d.begin(d.path, string(text))
			cmds = append(cmds, p.recover(d.side))
		}
	}
	return tea.Batch(cmds...)
}

// saveThen saves everything, and goes on with a message when that has ended; without
// one it says so.
func (p *pair) saveThen(then tea.Msg) tea.Cmd {
	p.then = then
	if cmd := p.save(); cmd != nil || p.saving() {
		return cmd
	}
	if p.then = nil; then == nil {
		then = ui.Toast{Text: "nothing to save", Role: ui.Muted}
	}
	return ui.Send(then)
}

// save writes what is not saved; nil if there is nothing to start. A text that is
// being saved is saved again afterwards, with what was typed meanwhile; one that
// someone else wrote meanwhile is asked about first.
func (p *pair) save() tea.Cmd {
	var cmds []tea.Cmd
	for i := range p.docs {
		switch d := &p.docs[i]; {
		case d.saving:
			p.again = true
		case d.theirs != nil:
			p.then = nil
			cmds = append(cmds, d.merge(*d.theirs))
		case d.unsaved:
			cmds = append(cmds, d.save())
		}
	}
	return tea.Batch(cmds...)
}

// onSaved takes the outcome of a save, and goes on with what waited for it.
func (p *pair) onSaved(m savedMsg) tea.Cmd {
	d := &p.docs[m.side]
	d.saving = false
	if m.err != nil {
		p.then, p.again = nil, false
		if !errors.Is(m.err, engine.ErrChanged) {
			return ui.ShowError(m.err)
		}
		d.fresh, d.asked = false, nil // somebody was faster
		return d.read()               // which asks
	}
	d.disk, d.fresh = m.text, false
	d.compare()
	if p.saving() {
		return nil
	}
	then, again := p.then, p.again
	p.again = false
	if (again || then != nil) && len(p.unsaved()) > 0 {
		return p.save()
	}
	if p.then = nil; then == nil {
		then = ui.Toast{Text: "saved", Role: ui.OK}
	}
	return tea.Batch(p.keep(), ui.Send(then))
}

// leave forgets what was kept of the edits, which are saved or not wanted, and goes.
func (p *pair) leave() tea.Cmd {
	ctx, eng := p.docs[recipe].ctx, p.docs[recipe].eng
	var files []string
	for i := range p.docs {
		if d := &p.docs[i]; d.loaded && !d.kept.held {
			files = append(files, d.file)
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

// tabs name the texts in a line; where one is in view they end with a remark.
func (p *pair) tabs(th ui.Theme, b boxes, remark string) string {
	title := func(of side) string { return p.docs[of].title(th, of == p.active) }
	line := title(recipe)
	switch {
	case b.both:
		return ui.Fit(line, b.text[recipe].w) + th.Rule.Render(" │ ") + ui.Fit(title(workload), b.text[workload].w)
	case p.docs[workload].path != "":
		line += th.Rule.Render("  │ ") + title(workload)
	}
	return ui.LeftRight(line, th.Paint(ui.Muted, remark), b.all.w)
}
