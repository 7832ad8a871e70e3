package port

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// artifacts is the list of the files that were read, or missed, with the number of
// fields that rest on each.
type artifacts struct {
	*written
	at int
}

func (a *artifacts) move(by int) { a.at = max(min(a.at+by, len(a.res.Artifacts)-1), 0) }

// here is the one under the cursor.
func (a *artifacts) here() (porter.Artifact, bool) {
	if all := a.res.Artifacts; a.at < len(all) {
		return all[a.at], true
	}
	return porter.Artifact{}, false
}

// resting are the fields that rest on an artifact, or a file below it.
func (a *artifacts) resting(name string) (out []porter.Field) {
	for _, f := range a.res.Fields {
		if restsOn(f, name) {
			out = append(out, f)
		}
	}
	return out
}

// top is the first one in view among h lines.
func (a *artifacts) top(h int) int { return max(min(a.at-h/2, len(a.res.Artifacts)-h), 0) }

// view draws the list; those that a field rests on are lit.
func (a *artifacts) view(th ui.Theme, b rect, focused bool, of porter.Field) string {
	lines := make([]string, 0, b.h)
	all := a.res.Artifacts
	for i := a.top(b.h); i < len(all) && len(lines) < b.h; i++ {
		at := all[i]
		sign, role := artifactLook(at)
		n := "-"
		if fields := a.resting(at.Name); len(fields) > 0 {
			n = fmt.Sprint(len(fields))
		}
		name := ui.Clean(at.Name)
		if restsOn(of, at.Name) {
			name = th.Paint(ui.Accent, name)
		} else if !at.Present {
			name = th.Paint(ui.Muted, name)
		}
		mark := " "
		if focused && i == a.at {
			mark = th.Paint(ui.Accent, "▸")
		}
		text := mark + th.Paint(role, sign) + " " + name
		if b.w > 50 {
			told := ui.Clean(strings.Trim(at.Found+"; "+at.Problem, "; "))
			text = ui.Fit(text, 30) + th.Paint(ui.Muted, told)
		}
		lines = append(lines, ui.LeftRight(text, th.Paint(ui.Muted, n), b.w))
	}
	return ui.Box(strings.Join(lines, "\n"), b.w, b.h)
}

func artifactLook(a porter.Artifact) (sign string, role ui.Role) {
	switch {
	case !a.Present:
		return "·", ui.Muted
	case a.Problem != "":
		return "⚠", ui.Warn
	}
	return "✓", ui.OK
}

// about tells of the one under the cursor: what was read from it, and which fields rest on it.
func (a *artifacts) about(th ui.Theme, w int) []string {
	at, ok := a.here()
	if !ok {
		return nil
	}
	sign, role := artifactLook(at)
	out := []string{th.Paint(role, sign) + " " + th.Title.Render(ui.Clean(at.Name))}
	if at.Found != "" {
		out = append(out, ui.Wrap(at.Found, w)...)
	}
	if at.Problem != "" {
		out = append(out, th.PaintWrapped(role, at.Problem, w)...)
	}
	if at.Lines > 0 {
		out = append(out, th.Paint(ui.Muted, fmt.Sprintf("%d lines read", at.Lines)))
	}
	fields := a.resting(at.Name)
	note := "what it would have told got fallbacks or questions"
	switch {
	case len(fields) > 0:
		note = fmt.Sprintf("%d fields rest on it; enter goes to the first, o opens it:", len(fields))
	case at.Present:
		note = "no field rests on it; o opens it"
	}
	out = append(out, th.Paint(ui.Muted, note))
	for _, f := range fields {
		out = append(out, "  "+ui.Clean(f.Path))
	}
	return out
}
