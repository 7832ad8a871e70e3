package parity

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// Markdown formats the comparison for a pull request. It can be read back as two files of figures.
func (c Comparison) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n", safetext.Markdown(c.Summary()))
	origin := append([][]string{{"", c.Reference.Name, c.Candidate.Name}}, c.Origins()...)
	WriteMarkdownTable(&b, origin)
	table := [][]string{c.Titles()}
	for _, r := range c.Rows {
		table = append(table, c.Cells(r))
	}
	b.WriteByte('\n')
	WriteMarkdownTable(&b, table)
	b.WriteByte('\n')
	for _, r := range c.Rows {
		if len(r.Flags) > 0 {
			fmt.Fprintf(&b, "- %s: %s\n", r.Metric, safetext.Markdown(strings.Join(r.Flags, ", ")))
		}
	}
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "- %s\n", safetext.Markdown(n))
	}
	for i, line := range c.fieldLines() {
		fmt.Fprintf(&b, "%s- %s\n", strings.Repeat("  ", min(i, 1)), safetext.Markdown(strings.TrimSpace(line)))
	}
	if c.Paired != nil {
		b.WriteString("\n```\n" + c.Paired.Text() + "```\n")
	}
	return b.String()
}

// WriteMarkdownTable writes a table, its header first. Its cells are escaped.
func WriteMarkdownTable(b *strings.Builder, rows [][]string) {
	for i, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + safetext.Markdown(cell) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
}
