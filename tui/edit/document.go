package edit

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// side is one of the two texts.
type side int

// A finding may be in neither text, as one in the cluster file is.
const (
	otherFile side = iota - 1
	recipe
	workload
)

func (s side) String() string { return [...]string{"cluster", "recipe", "workload"}[s+1] }

// document is one of the two texts, with the file that it is read from and saved to.
type document struct {
	ctx  context.Context // ends with the screen
	eng  Engine
	side side
	path string // as given, a recipe's selector included; empty: there is none
	file string // that is read and written
	text ui.Editor
	disk string // as it is on disk, as far as known
	err  error  // why it could not be read

	loaded          bool
	isNew           bool // there is no such file yet
	unsaved         bool // the text is not what is on disk, as of a version of it
	comparedVersion int
	saving          bool
	checkingDisk    bool    // at the disk
	theirs          *string // what someone else wrote to the file, while that is undecided
	askedAbout      *string // of these, what the user was asked about
	backup          backup
}

type (
	readMsg struct {
		side       side
		path       string // as given
		file       string // that was read
		text       string
		err        error
		diskBefore string // as known when the read began: if it is another by now, the answer is about the past
	}
	savedMsg struct {
		side side
		text string // as saved
		err  error
	}
	// editMsg asks for a change of a text, which a command makes; editedMsg is the
	// text with the change made in it.
	editMsg struct {
		side   side
		change func(text []byte) ([]byte, error)
	}
	editedMsg struct {
		side    side
		version int // of the text that was changed
		text    string
		err     error
	}
)

func (d *document) name() string { return filepath.Base(d.path) }

func (d *document) updateUnsaved() {
	d.comparedVersion = d.text.Version()
	d.unsaved = d.loaded && (d.isNew || d.text.Text() != d.disk)
}

// read reads the file, if one is given.
func (d *document) read() tea.Cmd {
	if d.path == "" {
		return nil
	}
	of, path := d.side, d.path
	return d.readFirst(path, func() []string {
		if of == recipe {
			path, _ = recipes.SplitSelector(path)
		}
		return []string{path}
	})
}

// readFirst reads the first of some files that can be read; without one the error
// is about the first. The path as given is that of the file if it is empty.
func (d *document) readFirst(path string, files func() []string) tea.Cmd {
	ctx, eng, m := d.ctx, d.eng, readMsg{side: d.side, path: path, diskBefore: d.disk}
	return func() tea.Msg {
		for i, file := range files() {
			data, err := eng.ReadFile(ctx, file)
			if err == nil || i == 0 {
				m.file, m.text, m.err = file, string(data), err
			}
			if err == nil {
				break
			}
		}
		if m.path == "" {
			m.path = m.file
		}
		return m
	}
}

// load fills the document with its file.
func (d *document) load(m readMsg) {
	d.err, d.loaded, d.path, d.file, d.disk = nil, true, m.path, m.file, m.text
	d.text.SetText(m.text)
	d.text.MoveTo(ui.Pos{Line: firstLine(d.text.Lines())})
}

// startNew fills a document whose file is not there yet.
func (d *document) startNew(path, text string) {
	d.err, d.loaded, d.isNew, d.path, d.file = nil, true, true, path, path
	d.text.SetText(text)
}

// firstLine is the line on which the cursor begins: the one that the timeout rule
// is about, else the first that is no comment.
func firstLine(lines []string) int {
	first := -1
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "phase_timeout_seconds:"):
			return i
		case first < 0 && strings.TrimSpace(l) != "" && l[0] != '#':
			first = i
		}
	}
	return max(first, 0)
}

// save writes the text if the file still is as it was read.
func (d *document) save() tea.Cmd {
	d.saving = true
	ctx, eng, file, m, before := d.ctx, d.eng, d.file, savedMsg{side: d.side, text: d.text.Text()}, []byte(d.disk)
	if d.isNew {
		before = nil
	}
	return func() tea.Msg {
		m.err = eng.Save(ctx, file, []byte(m.text), before)
		return m
	}
}

// replace replaces what differs of the text, as one step that can be undone, so
// that the cursor lands on the change.
func (d *document) replace(next string) {
	from, to, text := changedRange(d.text.Text(), next)
	d.text.Replace(from, to, text)
	d.text.Centre()
}

// edit makes a change of the text in a command.
func (d *document) edit(change func([]byte) ([]byte, error)) tea.Cmd {
	text, m := d.text.Text(), editedMsg{side: d.side, version: d.text.Version()}
	return func() tea.Msg {
		out, err := change([]byte(text))
		m.text, m.err = string(out), err
		return m
	}
}

// handleEdited takes a text that was changed; false if it can't be taken.
func (d *document) handleEdited(m editedMsg) (tea.Cmd, bool) {
	switch {
	case m.err != nil:
		return ui.ShowError(m.err), false
	case m.version != d.text.Version():
		return ui.Send(ui.Toast{Text: "the text was changed meanwhile: once more", Role: ui.Warn}), false
	}
	d.replace(m.text)
	return nil, true
}

// openExternalEditor gives the text to the user's own editor, and takes back what that leaves.
func (d *document) openExternalEditor() tea.Cmd {
	if !d.loaded {
		return nil
	}
	h, err := d.eng.Editor(d.name(), d.text.Text())
	if err != nil {
		return ui.ShowError(err)
	}
	m := editedMsg{side: d.side, version: d.text.Version()}
	return ui.Send(ui.Exec{Program: h, Done: func(err error) tea.Msg {
		m.text, m.err = h.Result(), err
		return m
	}})
}

// title names the text; a dot marks one that is not saved.
func (d *document) title(th ui.Theme, active bool) string {
	name := th.Paint(ui.Muted, ui.Clean(d.name()))
	if active {
		name = th.Title.Render(ui.Clean(d.name()))
	}
	if d.unsaved {
		name += th.Paint(ui.Warn, " ●")
	}
	if d.theirs != nil {
		name += th.Paint(ui.Warn, " ⚠ changed on disk")
	}
	return " " + name
}

// View draws the text, or why there is none.
func (d *document) View(th ui.Theme, r rect, focused bool) string {
	switch {
	case d.err != nil:
		lines := ui.Wrap(ui.OneLine(d.err), r.w-4)
		return ui.Box("\n  "+th.Paint(ui.Bad, strings.Join(lines, "\n  ")), r.w, r.h)
	case !d.loaded:
		return ui.Box("\n  "+th.Paint(ui.Muted, "reading "+ui.Clean(d.path)+" …"), r.w, r.h)
	}
	return d.text.Draw(th, focused)
}

// changedRange is the one part in which two texts differ: where it is in the first,
// and what stands there in the second.
func changedRange(a, b string) (from, to ui.Pos, text string) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return position(a, head), position(a, len(a)-tail), b[head : len(b)-tail]
}

// position is a byte of a text as line and column.
func position(s string, at int) ui.Pos {
	return ui.Pos{Line: strings.Count(s[:at], "\n"), Col: at - strings.LastIndexByte(s[:at], '\n') - 1}
}
