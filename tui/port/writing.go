package port

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// writing asks for the names of the files, compares them with existing files, and writes them.
type writing struct {
	eng     Engine
	ctx     context.Context
	wizard  wizard
	porting *porting
	w, h    int

	names    [2]ui.Input // of recipe and workload
	cursor   int         // index of the focused name
	checked  nameCheck
	checking bool
	running  *writeRun // nil: none

	shownTargets []session.Target // existing files as shown in diffSheet
	diffSheet    *sheet           // comparison with existing files; nil: the names are shown
}

// nameCheck holds the files that would be written under the given names, compared with existing
// ones. The zero value means that nothing was checked.
type nameCheck struct {
	names   [2]string
	targets []session.Target
	err     error
}

// writeRun is a running write.
type writeRun struct{ cancel context.CancelFunc }

type (
	checkedMsg struct{ nameCheck }
	writtenMsg struct {
		write   *writeRun
		paths   [2]string // of recipe and workload
		answers int       // number of answers in the files
		targets []session.Target
		changed bool // targets differ from those that were shown
		err     error
	}
)

// start opens the pane with the previous names.
func (w *writing) start() tea.Cmd {
	w.cursor, w.checked = 0, nameCheck{}
	return w.check()
}

func (w *writing) typedNames() [2]string { return [2]string{w.names[0].Value(), w.names[1].Value()} }

// check compares the files for the typed names with existing files. One check runs at a
// time; when it ends, the next one checks the latest names.
func (w *writing) check() tea.Cmd {
	names := w.typedNames()
	if w.checking || names == w.checked.names && (w.checked.targets != nil || w.checked.err != nil) {
		return nil
	}
	w.checking = true
	ctx, eng, dir, opt := w.ctx, w.eng, w.porting.dir, w.porting.options()
	return func() tea.Msg {
		m := checkedMsg{nameCheck{names: names}}
		opt.RecipeOut, opt.WorkloadOut = session.ExpandHome(names[0]), session.ExpandHome(names[1])
		res, err := eng.Port(ctx, dir, opt)
		if err == nil {
			m.targets, err = eng.Targets(ctx, res, opt.RecipeOut, opt.WorkloadOut)
		}
		m.err = err
		return m
	}
}

func (m checkedMsg) apply(s *Screen) tea.Cmd {
	if s.writing.checking, s.writing.checked = false, m.nameCheck; s.stage != naming {
		return nil
	}
	return s.writing.check()
}

// write writes the files. The recipe contains the path of the workload file and may have
// answers of an earlier port, so it ports again for these names. With force, it replaces
// only files as they were shown.
func (w *writing) write(force bool) tea.Cmd {
	if w.running != nil {
		return nil
	}
	ctx, stop := context.WithCancel(w.ctx)
	w.running = &writeRun{stop}
	eng, dir, opt, names, shown := w.eng, w.porting.dir, w.porting.options(), w.typedNames(), w.shownTargets
	m := writtenMsg{write: w.running, answers: len(opt.Answers)}
	return func() tea.Msg {
		m.paths = [2]string{session.ExpandHome(names[0]), session.ExpandHome(names[1])}
		opt.RecipeOut, opt.WorkloadOut = m.paths[0], m.paths[1]
		res, err := eng.Port(ctx, dir, opt)
		if err == nil && force {
			m.targets, err = eng.Targets(ctx, res, m.paths[0], m.paths[1])
			if m.changed = err == nil && !allShown(m.targets, shown); m.changed {
				return m
			}
		}
		if err == nil {
			err = eng.Write(ctx, res, m.paths[0], m.paths[1], force)
		}
		if m.isExists(err) {
			var terr error
			if m.targets, terr = eng.Targets(ctx, res, m.paths[0], m.paths[1]); terr != nil {
				err = terr
			}
		}
		m.err = err
		return m
	}
}

// isExists reports whether an error means that files exist.
func (writtenMsg) isExists(err error) bool {
	var exist *porter.ExistsError
	return errors.As(err, &exist)
}

// allShown reports whether all files that would be replaced were shown. It compares their
// diffs: the new text is the same, so equal diffs mean equal old texts.
func allShown(current, shown []session.Target) bool {
	for _, t := range current {
		seen := slices.ContainsFunc(shown, func(o session.Target) bool { return reflect.DeepEqual(o, t) })
		if t.Exists && !t.Same && !seen {
			return false
		}
	}
	return true
}

// handleEnded handles the end of a write; false if it was cancelled.
func (w *writing) handleEnded(m writtenMsg) bool {
	if m.write != w.running {
		return false
	}
	w.cancelRun()
	return true
}

// apply opens the editor, or the comparison with existing files.
func (m writtenMsg) apply(s *Screen) tea.Cmd {
	switch {
	case !s.writing.handleEnded(m):
		return cancelledTooLate(m)
	case m.changed || m.isExists(m.err):
		s.writing.shownTargets, s.writing.diffSheet = m.targets, targetDiff(m.targets)
		s.writing.diffSheet.open(s.th, s.w, s.h)
		if m.changed {
			text := "nothing written: the existing files have changed"
			return ui.Send(ui.Toast{Text: text, Role: ui.Warn})
		}
		return nil
	case m.err != nil:
		return s.showError(m.err)
	}
	s.stage, s.writing.diffSheet = reviewing, nil
	s.porting.markSaved(m.answers)
	return ui.Send(ui.OpenEdit{Recipe: m.paths[0], Workload: m.paths[1]})
}

// cancelRun cancels the running write.
func (w *writing) cancelRun() {
	if w.running != nil {
		w.running.cancel()
		w.running = nil
	}
}

// cancelledTooLate reports a write that succeeded before it was cancelled.
func cancelledTooLate(m writtenMsg) tea.Cmd {
	if m.err != nil || m.changed {
		return nil
	}
	return ui.Send(ui.Toast{Text: "too late to cancel: " + m.paths[0] + " was written", Role: ui.Warn})
}

func (w *writing) keys() []key.Binding {
	switch {
	case w.diffSheet != nil && w.running != nil:
		return nil
	case w.diffSheet != nil:
		return append([]key.Binding{replaceKey, closeDiffKey}, moveKeys...)
	case w.running != nil:
		return []key.Binding{escKey}
	}
	return []key.Binding{writeFilesKey, nextNameKey, escKey}
}

func (w *writing) typing() bool { return w.diffSheet == nil }

func (w *writing) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case w.diffSheet != nil:
		return w.handleDiffKey(msg)
	case key.Matches(msg, escKey):
		w.cancelRun()
		w.wizard.backToReview()
		return nil
	case w.running != nil:
		return nil
	case key.Matches(msg, writeFilesKey):
		return w.write(false)
	case key.Matches(msg, nextNameKey):
		w.cursor = 1 - w.cursor
		return nil
	}
	w.names[w.cursor].Key(msg)
	return w.check()
}

func (w *writing) paste(text string) tea.Cmd {
	if w.diffSheet != nil {
		return nil
	}
	w.names[w.cursor].Insert(text)
	return w.check()
}

func (w *writing) mouse(m ui.Mouse) tea.Cmd {
	if w.diffSheet != nil {
		w.diffSheet.scroll(m.Wheel)
	}
	return nil
}

// askReplace is the id of the dialog to replace existing files.
const askReplace = "replace"

// handleDiffKey handles a key in the comparison with existing files.
func (w *writing) handleDiffKey(msg tea.KeyPressMsg) tea.Cmd {
	w.diffSheet.key(msg)
	if w.running != nil || !key.Matches(msg, replaceKey) {
		return nil
	}
	return ui.Send(ui.Ask{
		ID: askReplace, Title: "Replace existing files?", Danger: true,
		Body: strings.Join(w.replacedPaths(), "\n"), Yes: "replace", No: "cancel",
	})
}

// closeDiff returns from the comparison to the names.
func (w *writing) closeDiff() tea.Cmd {
	w.diffSheet = nil
	return w.check()
}

// replacedPaths returns the existing files that would change.
func (w *writing) replacedPaths() []string {
	var out []string
	for _, t := range w.shownTargets {
		if t.Exists && !t.Same {
			out = append(out, t.Path)
		}
	}
	return out
}

// view draws the names and a summary of the files.
func (w *writing) view(th ui.Theme) string {
	if w.diffSheet != nil {
		return w.diffSheet.view(th)
	}
	labels, result := [2]string{"recipe", "workload"}, w.porting.result
	lines := []string{result.factLine(th, w.w), th.TitledRule(th.Title.Render("write the files"), "", w.w)}
	for i := range w.names {
		focused, role := i == w.cursor && w.running == nil, ui.Muted
		if focused {
			role = ui.Accent
		}
		note := w.targetNote(th, i)
		input := w.names[i].Draw(th, max(w.w-15-ui.Width(note), 1), focused)
		lines = append(lines, "  "+th.Paint(role, ui.Fit(labels[i], 10))+input+" "+note)
	}
	report := ui.Fit("report", 10) + ui.Clean(porter.ProvenancePath(w.names[0].Value()))
	lines = append(lines, ui.LeftRight("  "+th.Paint(ui.Muted, report), w.targetNote(th, 2)+"  ", w.w))
	if w.checked.err != nil {
		lines = append(lines, wrapIndented(th, "            ", ui.Bad, w.checked.err.Error(), w.w)...)
	}
	var gap []string
	if w.h >= 16 {
		gap = []string{""}
	}
	lines = append(append(append(lines, gap...), result.writeSummary(th, w.w)...), gap...)
	if w.running != nil {
		lines = append(lines, "  "+th.Paint(ui.Muted, "writing …  esc cancels"))
	} else if n := result.res.CountOpen(porter.MustFix); n > 0 {
		text := ui.Plural(n, "question") + " must be answered before a run; the files can be written now"
		lines = append(lines, wrapIndented(th, "  ", ui.Warn, text, w.w)...)
	}
	return strings.Join(lines, "\n")
}

// targetNote returns the status of a file; empty if it is not checked yet.
func (w *writing) targetNote(th ui.Theme, i int) string {
	if i >= len(w.checked.targets) || w.typedNames() != w.checked.names {
		return ""
	}
	text, role := targetStatus(w.checked.targets[i])
	return th.Paint(role, ui.Fit(text, min(ui.Width(text), max(w.w/2-4, 1))))
}

// writeSummary summarizes the files: fields by class, questions, proof.
func (v *resultView) writeSummary(th ui.Theme, width int) []string {
	counts := v.res.Summary()
	fields := make([]string, 0, len(classes))
	for _, c := range classes {
		if n := counts[c.class]; n > 0 {
			fields = append(fields, th.Paint(c.role, c.mark)+fmt.Sprintf(" %d %s", n, c.class))
		}
	}
	var open []string
	for _, k := range []porter.TodoKind{porter.MustFix, porter.Confirm, porter.Note} {
		if n := v.res.CountOpen(k); n > 0 {
			open = append(open, th.Paint(kindRole(k), fmt.Sprintf("%d %s", n, k)))
		}
	}
	if len(open) == 0 {
		open = []string{th.Paint(ui.OK, "✓ none")}
	}
	if n := len(v.res.Answered); n > 0 {
		open = append(open, th.Paint(ui.Muted, fmt.Sprintf("%d answered", n)))
	}
	label := func(text string) string { return "  " + th.Paint(ui.Muted, ui.Fit(text, 12)) }
	out := flow(label(fmt.Sprintf("%d fields", len(v.res.Fields))), fields, width)
	out = append(out, flow(label("questions"), open, width)...)
	text, role := proofVerdict(&v.res.Proof)
	proof := wrapIndented(th, "              ", role, text, width)
	if len(proof) > 0 {
		proof[0] = label("proof") + strings.TrimLeft(proof[0], " ")
	}
	return append(out, proof...)
}

// flow wraps styled parts after a label.
func flow(label string, parts []string, w int) []string {
	margin := strings.Repeat(" ", ui.Width(label))
	var out []string
	line := label
	for _, p := range parts {
		if line != label && line != margin && ui.Width(line)+ui.Width(p)+3 > w {
			out = append(out, line)
			line = margin
		}
		if line != label && line != margin {
			line += "   "
		}
		line += p
	}
	return append(out, line)
}
