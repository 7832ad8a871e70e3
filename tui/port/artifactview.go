package port

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// artifactTop is the first artifact in view.
func (s *Screen) artifactTop() int {
	h := s.boxes.artifacts.h
	if !s.boxes.wide {
		h = s.boxes.file.h
	}
	return max(min(s.artifact-h/2, len(s.written.res.Artifacts)-h), 0)
}

// artifacts lists them with the number of fields that rest on each.
func (s *Screen) artifacts(b rect) string {
	count := resting(s.written.res)
	lines := make([]string, 0, b.h)
	all := s.written.res.Artifacts
	for i := s.artifactTop(); i < len(all) && len(lines) < b.h; i++ {
		a := all[i]
		sign, role := artifactLook(a)
		n := "-"
		if c := count[a.Name]; c > 0 {
			n = fmt.Sprint(c)
		}
		name := ui.Clean(a.Name)
		if s.lit(a.Name) {
			name = s.th.Paint(ui.Accent, name)
		} else if !a.Present {
			name = s.th.Paint(ui.Muted, name)
		}
		mark := " "
		if s.pane == onArtifacts && i == s.artifact {
			mark = s.th.Paint(ui.Accent, "▸")
		}
		text := mark + s.th.Paint(role, sign) + " " + name
		if b.w > 50 {
			text = ui.Fit(text, 30) + s.th.Paint(ui.Muted, told(a))
		}
		lines = append(lines, ui.Ends(text, s.th.Paint(ui.Muted, n), b.w))
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

// told is what an artifact told, or why it did not.
func told(a porter.Artifact) string { return ui.Clean(strings.Trim(a.Found+"; "+a.Problem, "; ")) }

// artifactOrigin tells of the artifact under the cursor: what was read from it, and
// which fields rest on it.
func (s *Screen) artifactOrigin(w int) []string {
	a, ok := s.chosenArtifact()
	if !ok {
		return nil
	}
	sign, role := artifactLook(a)
	out := []string{s.th.Paint(role, sign) + " " + s.th.Title.Render(ui.Clean(a.Name))}
	if a.Found != "" {
		out = append(out, ui.Wrap(a.Found, w)...)
	}
	if a.Problem != "" {
		for _, l := range ui.Wrap(a.Problem, w) {
			out = append(out, s.th.Paint(role, l))
		}
	}
	if a.Lines > 0 {
		out = append(out, s.th.Paint(ui.Muted, fmt.Sprintf("%d lines read", a.Lines)))
	}
	var names []string
	for _, f := range s.written.res.Fields {
		if restsOn(f, a.Name) {
			names = append(names, f.Path)
		}
	}
	switch {
	case len(names) > 0:
		out = append(out, s.th.Paint(ui.Muted, fmt.Sprintf("%d fields rest on it; enter goes to the first, o opens it:", len(names))))
	case a.Present:
		out = append(out, s.th.Paint(ui.Muted, "no field rests on it; o opens it"))
	default:
		out = append(out, s.th.Paint(ui.Muted, "what it would have told got fallbacks or questions"))
	}
	for _, n := range names {
		out = append(out, "  "+ui.Clean(n))
	}
	return out
}
