package port

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// files shows one of the two files, recipe or workload, with a cursor.
type files struct {
	*resultView
	active               int    // index of the file that is shown
	cursor, firstVisible [2]int // by file: line of the cursor, first visible line, from 0
	h                    int    // height in lines
}

// currentLine returns the line of the cursor.
func (f *files) currentLine() line {
	lines := f.docs[f.active].lines
	if i := f.cursor[f.active]; i < len(lines) {
		return lines[i]
	}
	return line{field: -1}
}

// currentField returns the field of the line of the cursor.
func (f *files) currentField() porter.Field { return f.fieldAt(f.currentLine()) }

func (f *files) move(by int) {
	f.cursor[f.active] += by
	f.scroll()
}

// scroll keeps the cursors in range and visible.
func (f *files) scroll() {
	for d := range f.cursor {
		n, h := len(f.docs[d].lines), max(f.h, 1)
		f.cursor[d] = max(min(f.cursor[d], n-1), 0)
		f.firstVisible[d] = max(min(f.firstVisible[d], f.cursor[d], n-h), f.cursor[d]-h+1, 0)
	}
}

// goToFirstTranslated moves the cursor to the first field translated from a line of an artifact.
func (f *files) goToFirstTranslated() {
	for i, l := range f.docs[0].lines {
		field := f.fieldAt(l)
		if l.first && field.Class == porter.Translated && len(field.Evidence) > 0 && field.Evidence[0].Line > 0 {
			f.cursor[0] = i
			return
		}
	}
	f.cursor[0] = 0
}

// goToField moves the cursor to a field; false if there is no such field.
func (f *files) goToField(file porter.File, path string) bool {
	for d := range f.docs {
		if f.docs[d].file != file {
			continue
		}
		for i, l := range f.docs[d].lines {
			if l.first && f.fieldAt(l).Path == path {
				f.active, f.cursor[d] = d, i
				f.firstVisible[d] = max(i-f.h/2, 0)
				f.scroll()
				return true
			}
		}
	}
	return false
}

// nextNotCopied moves the cursor to the next field that is neither copied nor a default.
func (f *files) nextNotCopied() {
	lines := f.docs[f.active].lines
	for k := 1; k <= len(lines); k++ {
		i := (f.cursor[f.active] + k) % len(lines)
		if c := f.fieldAt(lines[i]).Class; lines[i].first && c != porter.Copied && c != porter.Default {
			f.cursor[f.active] = i
			f.scroll()
			return
		}
	}
}

// switchFile shows the other file.
func (f *files) switchFile() { f.active = 1 - f.active }

func (f *files) title(th ui.Theme, focused bool) string {
	name := func(d int, text string) string {
		if d == f.active {
			if focused {
				return th.Title.Render(text)
			}
			return text
		}
		return th.Paint(ui.Muted, text)
	}
	return name(0, "recipe") + th.Rule.Render(" │ ") + name(1, "workload")
}

// view draws the visible lines. The line of an answer shows its preview.
func (f *files) view(th ui.Theme, b rect, focused bool, a *answer) string {
	doc := f.docs[f.active]
	rows := make([]string, 0, b.h)
	for i := f.firstVisible[f.active]; i < len(doc.lines) && len(rows) < b.h; i++ {
		rows = append(rows, f.row(th, i, b.w, focused, a))
	}
	return ui.Box(strings.Join(rows, "\n"), b.w, b.h)
}

func (f *files) row(th ui.Theme, i, w int, focused bool, a *answer) string {
	l := f.docs[f.active].lines[i]
	mark, role := " ", ui.Plain
	if l.first {
		mark, role = classMark(f.fieldAt(l).Class)
	}
	num, text, room := ui.Right(fmt.Sprint(i+1), 4), ui.Clean(l.text), w-9
	if p, changes := a.previewLine(l, f.fieldAt(l)); changes {
		return th.Paint(ui.Accent, "→"+num+" "+mark+"  "+ui.Fit(ui.Clean(p), room))
	}
	switch here := i == f.cursor[f.active]; {
	case here && focused:
		mark = th.Style(role).Inherit(th.Selected).Render(mark)
		return th.Selected.Render("▸"+num+" ") + mark + th.Selected.Render("  "+ui.Fit(text, room))
	case here:
		num = th.Paint(ui.Accent, num)
	default:
		num = th.Paint(ui.Muted, num)
	}
	body, comment, has := strings.Cut(text, " # ")
	if has {
		body += th.Paint(ui.Muted, " # "+comment)
	} else if strings.HasPrefix(text, "#") {
		body = th.Paint(ui.Muted, text)
	}
	return " " + num + " " + th.Paint(role, mark) + "  " + ui.Fit(body, room)
}
