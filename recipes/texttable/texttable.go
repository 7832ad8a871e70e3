// Package texttable aligns columns of text by terminal cells. A wide character has two cells,
// a combining mark and an escape sequence none. Commands, reports and screens all use it to
// measure text.
package texttable

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width returns the number of terminal cells of a line.
func Width(s string) int { return ansi.StringWidth(s) }

// AlignLeft pads a line on the right to w cells. A wider line is unchanged.
func AlignLeft(s string, w int) string { return s + spaces(w-Width(s)) }

// AlignRight pads a line on the left to w cells. A wider line is unchanged.
func AlignRight(s string, w int) string { return spaces(w-Width(s)) + s }

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// Column is the layout of one column.
type Column struct {
	Gap   int  // spaces before the column
	Right bool // aligned on the right
}

// Lines formats rows in columns. Each column is as wide as its widest cell, and rows may have
// different lengths. Columns without a description are aligned on the left with a gap of two
// spaces. Trailing spaces are removed.
func Lines(rows [][]string, columns ...Column) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	columns = slices.Clip(columns)
	for i := len(columns); i < len(widths); i++ {
		columns = append(columns, Column{Gap: min(i, 1) * 2})
	}
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(spaces(columns[i].Gap))
			if columns[i].Right {
				line.WriteString(AlignRight(cell, widths[i]))
			} else {
				line.WriteString(AlignLeft(cell, widths[i]))
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}
