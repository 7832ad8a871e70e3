package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// RunMarkdown writes a run as Markdown: its inputs and settings, and the figures of each phase.
func RunMarkdown(w io.Writer, r Run) error { return writeMarkdown(w, runPage(r)) }

// CurveMarkdown writes the table of throughput per GPU over speed per user.
func CurveMarkdown(w io.Writer, points []results.Point) error {
	return writeMarkdown(w, curvePage(points))
}

func writeMarkdown(w io.Writer, p page) error {
	if _, err := io.WriteString(w, p.markdown()); err != nil {
		return fmt.Errorf("write Markdown: %w", problem.Mark(problem.WriteFailed, err))
	}
	return nil
}

// markdown formats the page without its charts.
func (p page) markdown() string {
	var b strings.Builder
	list := func(texts []string) {
		for _, t := range texts {
			fmt.Fprintf(&b, "- %s\n", safetext.Markdown(t))
		}
		if len(texts) > 0 {
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, "# %s\n\n", safetext.Markdown(p.Title))
	list(p.Facts)
	for i, s := range append([]section{p.Origin}, p.Sections...) {
		if i > 0 {
			fmt.Fprintf(&b, "## %s\n\n", safetext.Markdown(s.Title))
		}
		list(s.Invalid)
		if len(s.Rows) > 0 {
			parity.WriteMarkdownTable(&b, append([][]string{s.Head}, s.Rows...))
			b.WriteByte('\n')
		}
		list(s.Notes)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
