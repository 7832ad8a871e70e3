package port

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// files are the two written files, of which one is shown with a cursor.
type files struct {
	*written
	doc     int    // which of the files
	at, top [2]int // line under the cursor, first line in view, from 0
	h       int    // lines in view
}

// here is the line under the cursor.
func (f *files) here() line {
	lines := f.docs[f.doc].lines
	if i := f.at[f.doc]; i < len(lines) {
		return lines[i]
	}
	return line{field: -1}
}

// fieldHere is the field of the line under the cursor.
func (f *files) fieldHere() porter.Field { return f.field(f.here()) }

func (f *files) move(by int) {
	f.at[f.doc] += by
	f.scroll()
}

// scroll keeps the cursors in range and in view.
func (f *files) scroll() {
	for d := range f.at {
		n, h := len(f.docs[d].lines), max(f.h, 1)
		f.at[d] = max(min(f.at[d], n-1), 0)
		f.top[d] = max(min(f.top[d], f.at[d], n-h), f.at[d]-h+1, 0)
	}
}

// begin puts the cursor on the first field that was translated from a line of an artifact.
func (f *files) begin() {
	for i, l := range f.docs[0].lines {
		field := f.field(l)
		if l.first && field.Class == porter.Translated && len(field.Evidence) > 0 && field.Evidence[0].Line > 0 {
			f.at[0] = i
			return
		}
	}
	f.at[0] = 0
}

// goTo puts the cursor on the line of a field.
func (f *files) goTo(file porter.File, path string) bool {
	for d := range f.docs {
		if f.docs[d].file != file {
			continue
		}
		for i, l := range f.docs[d].lines {
			if l.first && f.field(l).Path == path {
				f.doc, f.at[d] = d, i
				f.top[d] = max(i-f.h/2, 0)
				f.scroll()
				return true
			}
		}
	}
	return false
}

// nextNoted goes to the next field that is no plain copy.
func (f *files) nextNoted() {
	lines := f.docs[f.doc].lines
	for k := 1; k <= len(lines); k++ {
		i := (f.at[f.doc] + k) % len(lines)
		if c := f.field(lines[i]).Class; lines[i].first && c != porter.Copied && c != porter.Default {
			f.at[f.doc] = i
			f.scroll()
			return
		}
	}
}

// other shows the other file.
func (f *files) other() { f.doc = 1 - f.doc }

func (f *files) title(th ui.Theme, focused bool) string {
	name := func(d int, text string) string {
		if d == f.doc {
			if focused {
				return th.Title.Render(text)
			}
			return text
		}
		return th.Paint(ui.Muted, text)
	}
	return name(0, "recipe") + th.Rule.Render(" │ ") + name(1, "workload")
}

// view draws the lines in view; where an answer is being typed, its line is drawn as it would be.
func (f *files) view(th ui.Theme, b rect, focused bool, a *answer) string {
	doc := f.docs[f.doc]
	rows := make([]string, 0, b.h)
	for i := f.top[f.doc]; i < len(doc.lines) && len(rows) < b.h; i++ {
		rows = append(rows, f.row(th, i, b.w, focused, a))
	}
	return ui.Box(strings.Join(rows, "\n"), b.w, b.h)
}

func (f *files) row(th ui.Theme, i, w int, focused bool, a *answer) string {
	l := f.docs[f.doc].lines[i]
	mark, role := " ", ui.Plain
	if l.first {
		mark, role = letter(f.field(l).Class)
	}
	num, text, room := ui.Right(fmt.Sprint(i+1), 4), ui.Clean(l.text), w-9
	if p, changes := a.previewOf(l, f.field(l)); changes {
		return th.Paint(ui.Accent, "→"+num+" "+mark+"  "+ui.Fit(ui.Clean(p), room))
	}
	switch here := i == f.at[f.doc]; {
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
