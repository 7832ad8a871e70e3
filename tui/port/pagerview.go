package port

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// pagerGutter is the width of the line numbers.
const pagerGutter = 10

func (p *pager) room() int { return max(p.w-pagerGutter, 1) }

// draw draws a title and the rows in view.
func (p *pager) draw(th ui.Theme) string {
	lines := []string{p.title(th)}
	if p.err != nil {
		for _, l := range ui.Wrap(p.err.Error(), p.w-3) {
			lines = append(lines, " "+th.Paint(ui.Bad, l))
		}
		return strings.Join(lines, "\n")
	}
	end := min(p.top+p.page(), len(p.rows))
	line := p.first
	if line > 0 {
		line += lineEnds(p.rows[:min(p.top+1, len(p.rows))])
	}
	for i := p.top; i < end; i++ {
		r := p.rows[i]
		if i > p.top && !r.Part && line > 0 {
			line++
		}
		lines = append(lines, p.row(th, r, line))
	}
	return strings.Join(lines, "\n")
}

func (p *pager) title(th ui.Theme) string {
	left := th.Title.Render(ui.Clean(p.places[p.at].Artifact))
	if n := len(p.places); n > 1 {
		left += th.Paint(ui.Muted, fmt.Sprintf("  place %d of %d", p.at+1, n))
	}
	switch {
	case p.typed != nil:
		left += "  " + th.Paint(ui.Accent, "search › ") + p.typed.Draw(th, max(p.w/3, 8), true)
	case p.busy:
		left += th.Paint(ui.Muted, "  reading …  esc gives it up")
	case p.said != "":
		left += "  " + th.Paint(ui.Warn, p.said)
	}
	right := ""
	if p.size > 0 && len(p.rows) > 0 {
		r := p.rows[min(p.top, len(p.rows)-1)]
		right = th.Paint(ui.Muted, fmt.Sprintf("%s of %s", bytesText(r.At), bytesText(p.size)))
	}
	return th.Titled(left, right, p.w)
}

// row draws a row of the file: its line's number, and the part that is in view.
func (p *pager) row(th ui.Theme, r session.Row, line int) string {
	num := ""
	if line > 0 && !r.Part {
		num = fmt.Sprint(line)
	}
	pointed := r.At == p.mark
	gutter := " " + ui.Right(num, pagerGutter-3) + "  "
	if pointed {
		gutter = th.Paint(ui.Accent, "▸"+ui.Right(num, pagerGutter-3)+"  ")
	} else {
		gutter = th.Paint(ui.Muted, gutter)
	}
	from, to := p.hit(r, pointed)
	head, match, tail := ui.Clean(r.Text[:from]), ui.Clean(r.Text[from:to]), ui.Clean(r.Text[to:])
	text := head
	if match != "" {
		text += th.Selected.Inherit(th.Title).Render(match)
	}
	text += tail
	switch {
	case p.left > 0 && text != "" && ui.Width(text) <= p.left:
		text = th.Paint(ui.Muted, "…")
	case p.left > 0:
		text = cutLeft(text, p.left)
	}
	return gutter + ansi.Truncate(text, p.room(), "…")
}

// hit is what is lit in a row: what is looked for, or what is pointed to.
func (p *pager) hit(r session.Row, pointed bool) (from, to int) {
	switch {
	case p.sought != "":
		lower := strings.ToLower(r.Text)
		if i := strings.Index(lower, strings.ToLower(p.sought)); i >= 0 && len(lower) == len(r.Text) {
			return i, min(i+len(p.sought), len(r.Text))
		}
	case pointed && p.column > 0:
		from = min(p.column-1, len(r.Text))
		return from, min(from+p.length, len(r.Text))
	}
	return 0, 0
}

// bytesText is a size as people read it.
func bytesText(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d B", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KB", n>>10)
	case n < 10<<30:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d GB", n>>30)
}

// ranged says which lines of how many are in view.
func ranged(first, last, n int) string { return fmt.Sprintf("%d–%d of %d", first, last, n) }
