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

// writing asks for the names of the files, says what they would replace, and writes them.
type writing struct {
	eng    Engine
	ctx    context.Context
	wizard wizard
	job    *porting
	w, h   int

	names    [2]ui.Input // of recipe and workload
	at       int         // the one with the cursor
	found    findings
	checking bool
	now      *write // nil: none

	compared []session.Target // what is shown before it is replaced
	compare  *sheet           // of it, in place of the names; nil: there was nothing yet
}

// findings are what some names mean; the zero value is not known yet.
type findings struct {
	names   [2]string
	targets []session.Target
	err     error
}

// write is one under way.
type write struct{ stop context.CancelFunc }

type (
	checkedMsg struct{ findings }
	writtenMsg struct {
		write   *write
		paths   [2]string // of recipe and workload
		answers int       // that went into them
		targets []session.Target
		moved   bool // targets are others than those that were shown
		err     error
	}
)

// start begins with names that may have been typed before.
func (w *writing) start() tea.Cmd {
	w.at, w.found = 0, findings{}
	return w.check()
}

func (w *writing) typed() [2]string { return [2]string{w.names[0].Value(), w.names[1].Value()} }

// check finds out what the typed names would replace, one pair at a time: when it
// answers, those typed by then are next.
func (w *writing) check() tea.Cmd {
	names := w.typed()
	if w.checking || names == w.found.names && (w.found.targets != nil || w.found.err != nil) {
		return nil
	}
	w.checking = true
	ctx, eng, dir, opt := w.ctx, w.eng, w.job.dir, w.job.options()
	return func() tea.Msg {
		m := checkedMsg{findings{names: names}}
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
	if s.writing.checking, s.writing.found = false, m.findings; s.stage != naming {
		return nil
	}
	return s.writing.check()
}

// write writes the files under the names that were typed. The recipe names the
// workload file and takes up the answers of an earlier port, so the port is made
// again for these names. By force only what has been shown is replaced.
func (w *writing) write(force bool) tea.Cmd {
	if w.now != nil {
		return nil
	}
	ctx, stop := context.WithCancel(w.ctx)
	w.now = &write{stop}
	eng, dir, opt, names, shown := w.eng, w.job.dir, w.job.options(), w.typed(), w.compared
	m := writtenMsg{write: w.now, answers: len(opt.Answers)}
	return func() tea.Msg {
		m.paths = [2]string{session.ExpandHome(names[0]), session.ExpandHome(names[1])}
		opt.RecipeOut, opt.WorkloadOut = m.paths[0], m.paths[1]
		res, err := eng.Port(ctx, dir, opt)
		if err == nil && force {
			m.targets, err = eng.Targets(ctx, res, m.paths[0], m.paths[1])
			if m.moved = err == nil && !allShown(m.targets, shown); m.moved {
				return m
			}
		}
		if err == nil {
			err = eng.Write(ctx, res, m.paths[0], m.paths[1], force)
		}
		if m.exists(err) {
			var terr error
			if m.targets, terr = eng.Targets(ctx, res, m.paths[0], m.paths[1]); terr != nil {
				err = terr
			}
		}
		m.err = err
		return m
	}
}

// exists says whether an error is that files are there.
func (writtenMsg) exists(err error) bool {
	var exist *porter.ExistsError
	return errors.As(err, &exist)
}

// allShown says whether all that would be replaced is among what was shown: the
// difference from the same new text tells one old text from another.
func allShown(now, shown []session.Target) bool {
	for _, t := range now {
		seen := slices.ContainsFunc(shown, func(o session.Target) bool { return reflect.DeepEqual(o, t) })
		if t.Exists && !t.Same && !seen {
			return false
		}
	}
	return true
}

// ended takes the end of a write; false if it was given up.
func (w *writing) ended(m writtenMsg) bool {
	if m.write != w.now {
		return false
	}
	w.drop()
	return true
}

// apply opens the editor, or the comparison with what is there.
func (m writtenMsg) apply(s *Screen) tea.Cmd {
	switch {
	case !s.writing.ended(m):
		return tooLate(m)
	case m.moved || m.exists(m.err):
		s.writing.compared, s.writing.compare = m.targets, targetDiff(m.targets)
		s.writing.compare.open(s.th, s.w, s.h)
		if m.moved {
			text := "nothing is written: what is there has changed since it was shown"
			return ui.Send(ui.Toast{Text: text, Role: ui.Warn})
		}
		return nil
	case m.err != nil:
		return s.fail(m.err)
	}
	s.stage, s.writing.compare = reviewing, nil
	s.porting.saved(m.answers)
	return ui.Send(ui.OpenEdit{Recipe: m.paths[0], Workload: m.paths[1]})
}

// drop gives up a write.
func (w *writing) drop() {
	if w.now != nil {
		w.now.stop()
		w.now = nil
	}
}

// tooLate says when a write that was given up had come to its end before.
func tooLate(m writtenMsg) tea.Cmd {
	if m.err != nil || m.moved {
		return nil
	}
	return ui.Send(ui.Toast{Text: "it was too late to give up: " + m.paths[0] + " is written", Role: ui.Warn})
}

func (w *writing) keys() []key.Binding {
	switch {
	case w.compare != nil && w.now != nil:
		return nil
	case w.compare != nil:
		return append([]key.Binding{yesKey, namesKey}, moves...)
	case w.now != nil:
		return []key.Binding{escKey}
	}
	return []key.Binding{saveKey, nextKey, escKey}
}

func (w *writing) typing() bool { return w.compare == nil }

func (w *writing) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case w.compare != nil:
		return w.compareKey(msg)
	case key.Matches(msg, escKey):
		w.drop()
		w.wizard.goBack()
		return nil
	case w.now != nil:
		return nil
	case key.Matches(msg, saveKey):
		return w.write(false)
	case key.Matches(msg, nextKey):
		w.at = 1 - w.at
		return nil
	}
	w.names[w.at].Key(msg)
	return w.check()
}

func (w *writing) paste(text string) tea.Cmd {
	if w.compare != nil {
		return nil
	}
	w.names[w.at].Insert(text)
	return w.check()
}

func (w *writing) mouse(m ui.Mouse) tea.Cmd {
	if w.compare != nil {
		w.compare.scroll(m.Wheel)
	}
	return nil
}

// askReplace is the question whether to replace what is compared.
const askReplace = "replace"

// compareKey is for the comparison with what is there.
func (w *writing) compareKey(msg tea.KeyPressMsg) tea.Cmd {
	w.compare.key(msg)
	if w.now != nil || !key.Matches(msg, yesKey) {
		return nil
	}
	return ui.Send(ui.Ask{
		ID: askReplace, Title: "Replace what is there?", Danger: true,
		Body: strings.Join(w.replaced(), "\n"), Yes: "replace", No: "no",
	})
}

// back leaves the comparison for the names.
func (w *writing) back() tea.Cmd {
	w.compare = nil
	return w.check()
}

// replaced are the names of the files that hold something else now.
func (w *writing) replaced() []string {
	var out []string
	for _, t := range w.compared {
		if t.Exists && !t.Same {
			out = append(out, t.Path)
		}
	}
	return out
}

// view asks for the names, with a summary of what goes into the files.
func (w *writing) view(th ui.Theme) string {
	if w.compare != nil {
		return w.compare.view(th)
	}
	labels, of := [2]string{"recipe", "workload"}, w.job.result
	lines := []string{of.factLine(th, w.w), th.TitledRule(th.Title.Render("write the files"), "", w.w)}
	for i := range w.names {
		focused, role := i == w.at && w.now == nil, ui.Muted
		if focused {
			role = ui.Accent
		}
		note := w.target(th, i)
		input := w.names[i].Draw(th, max(w.w-15-ui.Width(note), 1), focused)
		lines = append(lines, "  "+th.Paint(role, ui.Fit(labels[i], 10))+input+" "+note)
	}
	origin := ui.Fit("origin", 10) + ui.Clean(porter.ProvenancePath(w.names[0].Value()))
	lines = append(lines, ui.LeftRight("  "+th.Paint(ui.Muted, origin), w.target(th, 2)+"  ", w.w))
	if w.found.err != nil {
		lines = append(lines, wrapped(th, "            ", ui.Bad, w.found.err.Error(), w.w)...)
	}
	var gap []string
	if w.h >= 16 {
		gap = []string{""}
	}
	lines = append(append(append(lines, gap...), of.account(th, w.w)...), gap...)
	if w.now != nil {
		lines = append(lines, "  "+th.Paint(ui.Muted, "writing …  esc gives it up"))
	} else if n := of.res.CountOpen(porter.MustFix); n > 0 {
		text := ui.Plural(n, "question") + " must be answered before a run; the files can be written all the same"
		lines = append(lines, wrapped(th, "  ", ui.Warn, text, w.w)...)
	}
	return strings.Join(lines, "\n")
}

// target says what the name of a file means, as far as that is known.
func (w *writing) target(th ui.Theme, i int) string {
	if i >= len(w.found.targets) || w.typed() != w.found.names {
		return ""
	}
	text, role := standing(w.found.targets[i])
	return th.Paint(role, ui.Fit(text, min(ui.Width(text), max(w.w/2-4, 1))))
}

// account sums up what goes into the files: fields by class, what is open, the proof.
func (w *written) account(th ui.Theme, width int) []string {
	counts := w.res.Summary()
	fields := make([]string, 0, len(classes))
	for _, c := range classes {
		if n := counts[c.class]; n > 0 {
			fields = append(fields, th.Paint(c.role, c.mark)+fmt.Sprintf(" %d %s", n, c.class))
		}
	}
	var open []string
	for _, k := range []porter.TodoKind{porter.MustFix, porter.Confirm, porter.Note} {
		if n := w.res.CountOpen(k); n > 0 {
			open = append(open, th.Paint(kindRole(k), fmt.Sprintf("%d %s", n, k)))
		}
	}
	if len(open) == 0 {
		open = []string{th.Paint(ui.OK, "✓ nothing")}
	}
	if n := len(w.res.Answered); n > 0 {
		open = append(open, th.Paint(ui.Muted, fmt.Sprintf("%d answered", n)))
	}
	label := func(text string) string { return "  " + th.Paint(ui.Muted, ui.Fit(text, 12)) }
	out := flowed(label(fmt.Sprintf("%d fields", len(w.res.Fields))), fields, width)
	out = append(out, flowed(label("open"), open, width)...)
	text, role := verdict(&w.res.Proof)
	proof := wrapped(th, "              ", role, text, width)
	if len(proof) > 0 {
		proof[0] = label("proof") + strings.TrimLeft(proof[0], " ")
	}
	return append(out, proof...)
}

// flowed are styled parts behind a label, in as many lines as they take.
func flowed(label string, parts []string, w int) []string {
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
