package edit

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// side is one of the two texts: the recipe or the workload.
type side int

// A finding may be in neither text, but in the cluster file.
const (
	otherFile side = iota - 1
	recipe
	workload
)

func (s side) String() string { return [...]string{"cluster", "recipe", "workload"}[s+1] }

// document is one of the two texts with its file.
type document struct {
	ctx  context.Context // done when the screen is closed
	eng  Engine
	side side
	path string // as given, with the selector of a recipe; empty without a file
	file string // path without the selector
	text ui.Editor
	disk string // last known content of the file
	err  error  // why the file can't be loaded

	loaded          bool
	isNew           bool // the file does not exist yet
	unsaved         bool // the text differs from the file
	comparedVersion int  // of the text, when unsaved was set
	saving          bool
	checkingDisk    bool    // a read is in progress
	theirs          *string // newer version on disk that the user has not decided on
	askedAbout      *string // newer version that the user was asked about
	backup          backup
}

type (
	readMsg struct {
		side       side
		path       string // as given
		file       string // path of the file that was read
		text       string
		err        error
		diskBefore string // document.disk when the read began; if that has changed, the result is outdated
	}
	savedMsg struct {
		side side
		text string // the saved text
		err  error
	}
	// editMsg requests a change of a text. A command makes it in a copy, which editedMsg contains.
	editMsg struct {
		side   side
		change func(text []byte) ([]byte, error)
	}
	editedMsg struct {
		side    side
		version int // of the text before the change
		text    string
		err     error
	}
)

func (d *document) name() string { return filepath.Base(d.path) }

func (d *document) updateUnsaved() {
	d.comparedVersion = d.text.Version()
	d.unsaved = d.loaded && (d.isNew || d.text.Text() != d.disk)
}

// read returns a command that reads the file; nil without one.
func (d *document) read() tea.Cmd {
	if d.path == "" {
		return nil
	}
	which, path := d.side, d.path
	return d.readFirst(path, func() []string {
		if which == recipe {
			path, _ = recipes.SplitSelector(path)
		}
		return []string{path}
	})
}

// readFirst returns a command that reads the first readable file. If none is readable, it
// reports the error of the first one. If path is empty, the document gets the path of the file.
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

// load shows the file that was read.
func (d *document) load(m readMsg) {
	d.err, d.loaded, d.path, d.file, d.disk = nil, true, m.path, m.file, m.text
	d.text.SetText(m.text)
	d.text.MoveTo(ui.Pos{Line: firstLine(d.text.Lines())})
}

// startNew starts a document whose file does not exist yet.
func (d *document) startNew(path, text string) {
	d.err, d.loaded, d.isNew, d.path, d.file = nil, true, true, path, path
	d.text.SetText(text)
}

// firstLine returns the line on which the cursor starts: that of phase_timeout_seconds,
// or the first that is not a comment.
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

// save returns a command that writes the text, unless the file has changed on disk.
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

// replace changes the text to next in one edit. It replaces only the part that differs,
// so that the cursor moves to the change.
func (d *document) replace(next string) {
	from, to, text := changedRange(d.text.Text(), next)
	d.text.Replace(from, to, text)
	d.text.Centre()
}

// edit returns a command that makes a change in a copy of the text.
func (d *document) edit(change func([]byte) ([]byte, error)) tea.Cmd {
	text, m := d.text.Text(), editedMsg{side: d.side, version: d.text.Version()}
	return func() tea.Msg {
		out, err := change([]byte(text))
		m.text, m.err = string(out), err
		return m
	}
}

// handleEdited replaces the text by the changed one; false if the change failed or is outdated.
func (d *document) handleEdited(m editedMsg) (tea.Cmd, bool) {
	switch {
	case m.err != nil:
		return ui.ShowError(m.err), false
	case m.version != d.text.Version():
		return ui.Send(ui.Toast{Text: "the text has changed in the meantime; try again", Role: ui.Warn}), false
	}
	d.replace(m.text)
	return nil, true
}

// openExternalEditor opens a copy of the text in the user's own editor.
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

// title returns the name of the text, with a dot if it has unsaved changes.
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

// View draws the text, or why it is not loaded.
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

// changedRange returns the part in which two texts differ: its range in a, and its text
// in b.
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

// position returns the line and column of a byte of a text.
func position(s string, at int) ui.Pos {
	return ui.Pos{Line: strings.Count(s[:at], "\n"), Col: at - strings.LastIndexByte(s[:at], '\n') - 1}
}
