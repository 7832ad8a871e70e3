package port

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// origin tells where the line under the cursor comes from, in at most h lines of
// w cells: rule, evidence with the part that matched, why.
func (s *Screen) origin(w, h int) []string {
	if s.pane == onArtifacts {
		return s.artifactOrigin(w)
	}
	var out []string
	if t, ok := s.question(); ok && s.pane == onTodos {
		for _, l := range ui.Wrap(string(t.Kind)+": "+t.Message, w) {
			out = append(out, s.th.Paint(kindRole(t.Kind), l))
		}
		if t.Path == "" {
			return out
		}
		if h >= 8 {
			out = append(out, "")
		}
	}
	l := s.here()
	if l.field < 0 {
		return append(out, s.th.Paint(ui.Muted, "no field on this line"))
	}
	f := s.field(l)
	mark, role := letter(f.Class)
	head := s.th.Paint(role, mark+" "+string(f.Class))
	if f.Rule != "" {
		head += "  " + ui.Clean(f.Rule)
	}
	if ui.Width(head) <= w {
		out = append(out, head)
	} else {
		out = append(out, s.th.Paint(role, mark+" "+string(f.Class)))
		out = append(out, ui.Wrap(f.Rule, w)...)
	}
	for i, e := range f.Evidence {
		if i == 1 {
			out = append(out, s.more(f.Evidence[1:], w)...)
			break
		}
		out = append(out, s.evidence(e, w, max(h-len(out)-2, 1))...)
	}
	if len(f.Evidence) == 0 {
		out = append(out, s.th.Paint(ui.Muted, "no artifact shows it"))
	}
	if f.Why != "" {
		for _, l := range ui.Wrap("why: "+f.Why, w) {
			out = append(out, s.th.Paint(ui.Muted, l))
		}
	}
	if t, ok := s.question(); ok && s.pane == onFile {
		for _, l := range ui.Wrap(string(t.Kind)+": "+t.Message, w) {
			out = append(out, s.th.Paint(kindRole(t.Kind), l))
		}
	}
	if h < 8 {
		return out
	}
	tail := []string{""}
	for _, l := range ui.Wrap(f.Path, w) {
		tail = append(tail, s.th.Paint(ui.Muted, l))
	}
	return append(append(out, tail...), ui.Wrap(f.Value, w)...)
}

func (s *Screen) evidence(e porter.Evidence, w, most int) []string {
	at := ui.Clean(e.Artifact)
	if e.Line > 0 {
		at += fmt.Sprintf(":%d", e.Line)
	}
	head := s.th.Paint(ui.Accent, at)
	if e.Key != "" {
		head += "  " + s.th.Paint(ui.Muted, ui.Clean(e.Key))
	}
	out := []string{ui.Fit(head, w)}
	x, have := s.excerpts[e]
	if !have || x.err != nil || x.Before+x.Match+x.After == "" {
		for _, l := range ui.Wrap(e.Raw, w-2) {
			out = append(out, "  "+l)
		}
		return out[:min(len(out), most+1)]
	}
	if most < unlimited/2 {
		most = min(most, 5)
	}
	for _, l := range s.lighten(x.Excerpt, w-2, most) {
		out = append(out, "  "+l)
	}
	return out
}

// lighten draws an excerpt with the matched part lit: a little before it, and
// what follows, in at most n lines of w cells.
func (s *Screen) lighten(x session.Excerpt, w, n int) []string {
	if w < 8 || n < 1 {
		return nil
	}
	before, match, after := ui.Clean(x.Before), ui.Clean(x.Match), ui.Clean(x.After)
	lead := w / 3
	if n == 1 || match == "" {
		lead = w / 6
	}
	if k := ui.Width(before); k > lead {
		before = cutLeft(before, k-lead)
	}
	text, from, to := before+match+after, len(before), len(before)+len(match)
	var out []string
	for at := 0; at < len(text) && len(out) < n; {
		piece := ansi.Truncate(text[at:], w, "")
		if piece == "" {
			break
		}
		end := at + len(piece)
		a, b := min(max(from, at), end), min(max(to, at), end)
		out = append(out, s.th.Paint(ui.Muted, text[at:a])+s.th.Title.Render(text[a:b])+s.th.Paint(ui.Muted, text[b:end]))
		if at = end; at >= to && at > from && n < unlimited/2 {
			break
		}
	}
	return out
}

// more names the other places that say the same.
func (s *Screen) more(evs []porter.Evidence, w int) []string {
	names := make([]string, 0, len(evs))
	for i, e := range evs {
		if i == 4 && len(evs) > 5 {
			names = append(names, fmt.Sprintf("%d more", len(evs)-i))
			break
		}
		at := e.Artifact
		if e.Line > 0 {
			at += fmt.Sprintf(":%d", e.Line)
		}
		if e.Key != "" {
			at += " " + e.Key
		}
		names = append(names, at)
	}
	var out []string
	for _, l := range ui.Wrap("also "+strings.Join(names, ", "), w) {
		out = append(out, s.th.Paint(ui.Muted, l))
	}
	return out
}

// cutLeft leaves the first n cells of a text out.
func cutLeft(s string, n int) string { return ansi.TruncateLeft(s, n+1, "…") }
