package port

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// origin shows where fields come from, with excerpts of the artifacts.
type origin struct {
	eng      Engine
	ctx      context.Context
	excerpts map[porter.Evidence]excerpt
	fetching bool
}

func newOrigin(ctx context.Context, eng Engine) origin {
	return origin{eng: eng, ctx: ctx, excerpts: map[porter.Evidence]excerpt{}}
}

// excerpt is the text that a piece of evidence refers to.
type excerpt struct {
	session.Excerpt
	err error
}

type excerptMsg struct {
	evidence porter.Evidence
	excerpt
}

// maxExcerpts limits the excerpts in memory.
const maxExcerpts = 1000

// fetch reads the excerpt for a field, unless another one is being read.
func (o *origin) fetch(dir string, f porter.Field) tea.Cmd {
	if o.fetching || len(f.Evidence) == 0 {
		return nil
	}
	e := f.Evidence[0]
	if _, have := o.excerpts[e]; have || e.Line == 0 {
		return nil
	}
	if len(o.excerpts) >= maxExcerpts {
		clear(o.excerpts)
	}
	o.fetching = true
	ctx, eng, path := o.ctx, o.eng, porter.ArtifactPath(dir, e.Artifact)
	return func() tea.Msg {
		length := len(e.Raw)
		if e.Column == 0 {
			length = 0
		}
		x, err := eng.Excerpt(ctx, path, e.Line, e.Column, length)
		return excerptMsg{e, excerpt{x, err}}
	}
}

func (m excerptMsg) apply(s *Screen) tea.Cmd {
	s.review.origin.fetching = false
	s.review.origin.excerpts[m.evidence] = m.excerpt
	return s.fetch()
}

// details describes the origin of the selected item in about h lines of w cells: rule,
// evidence with its excerpt, and reason.
func (r *review) details(th ui.Theme, w, h int) []string {
	if r.focus == artifactsFocus {
		return r.artifacts.details(th, w)
	}
	var out, question []string
	if t, ok := r.question(); ok {
		question = questionDetails(th, t, w)
		if r.focus == questionsFocus {
			if out, question = question, nil; h < unlimited { // the list below shows the rest
				out = nil
				if f, _ := r.porting.result.fieldFor(t); len(t.Evidence) != 1 || !slices.Contains(f.Evidence, t.Evidence[0]) {
					out = placesOf(th, t, w)
				}
			}
			if len(t.Fields) == 0 && t.Path == "" {
				return out
			}
			if h >= 8 && len(out) > 0 {
				out = append(out, "")
			}
		}
	}
	l := r.files.currentLine()
	if l.field < 0 {
		return append(out, th.Paint(ui.Muted, "no field on this line"))
	}
	f := r.files.fieldAt(l)
	mark, role := classMark(f.Class)
	head := th.Paint(role, mark+" "+string(f.Class))
	if rule := "  " + ui.Clean(f.Rule); f.Rule == "" || ui.Width(head+rule) <= w {
		out = append(out, strings.TrimRight(head+rule, " "))
	} else {
		out = append(append(out, head), ui.Wrap(f.Rule, w)...)
	}
	if len(f.Evidence) > 0 {
		out = append(out, r.origin.drawEvidence(th, f.Evidence[0], w, max(h-len(out)-2, 1))...)
		if more := f.Evidence[1:]; len(more) > 0 {
			out = append(out, th.PaintWrapped(ui.Muted, "also "+locationsText(more), w)...)
		}
	} else {
		out = append(out, th.Paint(ui.Muted, "not found in any artifact"))
	}
	if f.Why != "" {
		out = append(out, th.PaintWrapped(ui.Muted, "why: "+f.Why, w)...)
	}
	out = append(out, question...)
	if h < 8 {
		return out
	}
	out = append(append(out, ""), th.PaintWrapped(ui.Muted, f.Path, w)...)
	return append(out, ui.Wrap(f.Value, w)...)
}

// questionDetails returns a question with what was found, and where.
func questionDetails(th ui.Theme, t porter.Todo, w int) []string {
	out := th.PaintWrapped(kindRole(t.Kind), string(t.Kind)+": "+t.Message, w)
	for _, d := range t.Details {
		out = append(out, wrapIndented(th, d[:len(d)-len(strings.TrimLeft(d, " "))], ui.Plain, d, w)...)
	}
	return append(out, placesOf(th, t, w)...)
}

// placesOf returns the places that a question is about.
func placesOf(th ui.Theme, t porter.Todo, w int) []string {
	if len(t.Evidence) == 0 {
		return nil
	}
	return th.PaintWrapped(ui.Accent, "see "+locationsText(t.Evidence), w)
}

func (o *origin) drawEvidence(th ui.Theme, e porter.Evidence, w, maxLines int) []string {
	head := th.Paint(ui.Accent, ui.Clean(locationText(e)))
	if e.Key != "" {
		head += "  " + th.Paint(ui.Muted, ui.Clean(e.Key))
	}
	out := []string{ui.Fit(head, w)}
	x, have := o.excerpts[e]
	if !have || x.err != nil || x.Before+x.Match+x.After == "" {
		for _, l := range ui.Wrap(e.Raw, w-2) {
			out = append(out, "  "+l)
		}
		return out[:min(len(out), maxLines+1)]
	}
	if maxLines < unlimited/2 {
		maxLines = min(maxLines, 5)
	}
	for _, l := range drawExcerpt(th, x.Excerpt, w-2, maxLines) {
		out = append(out, "  "+l)
	}
	return out
}

// drawExcerpt draws an excerpt with the match highlighted: some text before it and the
// text after it, in at most n lines of w cells.
func drawExcerpt(th ui.Theme, x session.Excerpt, w, n int) []string {
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
	end := max(to, from+1)
	if n >= unlimited/2 {
		end = len(text)
	}
	return highlight(th, ui.Accent, text, from, to, w, n, end)
}

// locationText returns artifact and line of a piece of evidence.
func locationText(e porter.Evidence) string {
	if e.Line == 0 {
		return e.Artifact
	}
	return fmt.Sprintf("%s:%d", e.Artifact, e.Line)
}

// locationsText lists further evidence of the same value.
func locationsText(evs []porter.Evidence) string {
	names := make([]string, 0, len(evs))
	for i, e := range evs {
		if i == 4 && len(evs) > 5 {
			names = append(names, fmt.Sprintf("%d more", len(evs)-i))
			break
		}
		text := locationText(e)
		if e.Key != "" {
			text += " " + e.Key
		}
		names = append(names, text)
	}
	return strings.Join(names, ", ")
}

// cutLeft replaces the first n+1 cells of a text with an ellipsis.
func cutLeft(s string, n int) string { return ansi.TruncateLeft(s, n+1, "…") }
