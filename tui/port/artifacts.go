package port

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// artifacts is the list of artifacts, present or missing, with the number of fields
// that come from each.
type artifacts struct {
	*resultView
	cursor int
}

func (a *artifacts) move(by int) { a.cursor = max(min(a.cursor+by, len(a.res.Artifacts)-1), 0) }

// current returns the selected artifact.
func (a *artifacts) current() (porter.Artifact, bool) {
	if all := a.res.Artifacts; a.cursor < len(all) {
		return all[a.cursor], true
	}
	return porter.Artifact{}, false
}

// fieldsFrom returns the fields that come from an artifact, or from a file below it.
func (a *artifacts) fieldsFrom(name string) (out []porter.Field) {
	for _, f := range a.res.Fields {
		if comesFrom(f, name) {
			out = append(out, f)
		}
	}
	return out
}

// firstVisible returns the first visible artifact in h lines.
func (a *artifacts) firstVisible(h int) int { return max(min(a.cursor-h/2, len(a.res.Artifacts)-h), 0) }

// view draws the list. The artifacts of the selected field are highlighted.
func (a *artifacts) view(th ui.Theme, b rect, focused bool, selected porter.Field) string {
	lines := make([]string, 0, b.h)
	all := a.res.Artifacts
	for i := a.firstVisible(b.h); i < len(all) && len(lines) < b.h; i++ {
		artifact := all[i]
		sign, role := artifactStatus(artifact)
		n := "-"
		if fields := a.fieldsFrom(artifact.Name); len(fields) > 0 {
			n = fmt.Sprint(len(fields))
		}
		name := ui.Clean(artifact.Name)
		if comesFrom(selected, artifact.Name) {
			name = th.Paint(ui.Accent, name)
		} else if !artifact.Present {
			name = th.Paint(ui.Muted, name)
		}
		mark := " "
		if focused && i == a.cursor {
			mark = th.Paint(ui.Accent, "▸")
		}
		text := mark + th.Paint(role, sign) + " " + name
		if b.w > 50 {
			note := ui.Clean(strings.Trim(artifact.Found+"; "+artifact.Problem, "; "))
			text = ui.Fit(text, 30) + th.Paint(ui.Muted, note)
		}
		lines = append(lines, ui.LeftRight(text, th.Paint(ui.Muted, n), b.w))
	}
	return ui.Box(strings.Join(lines, "\n"), b.w, b.h)
}

func artifactStatus(a porter.Artifact) (sign string, role ui.Role) {
	switch {
	case !a.Present:
		return "·", ui.Muted
	case a.Problem != "":
		return "⚠", ui.Warn
	}
	return "✓", ui.OK
}

// details describes the selected artifact: what was read, and the fields that come from it.
func (a *artifacts) details(th ui.Theme, w int) []string {
	artifact, ok := a.current()
	if !ok {
		return nil
	}
	sign, role := artifactStatus(artifact)
	out := []string{th.Paint(role, sign) + " " + th.Title.Render(ui.Clean(artifact.Name))}
	if artifact.Found != "" {
		out = append(out, ui.Wrap(artifact.Found, w)...)
	}
	if artifact.Problem != "" {
		out = append(out, th.PaintWrapped(role, artifact.Problem, w)...)
	}
	if artifact.Lines > 0 {
		out = append(out, th.Paint(ui.Muted, fmt.Sprintf("%d lines read", artifact.Lines)))
	}
	fields := a.fieldsFrom(artifact.Name)
	note := "its fields have defaults or questions instead"
	switch {
	case len(fields) > 0:
		note = "source of " + ui.Plural(len(fields), "field") + "; enter goes to the first, o opens it:"
	case artifact.Present:
		note = "source of no field; o opens it"
	}
	out = append(out, th.Paint(ui.Muted, note))
	for _, f := range fields {
		out = append(out, "  "+ui.Clean(f.Path))
	}
	return out
}
