// Package texttable aligns columns of text by terminal cells: a wide character
// takes two of them, a combining mark and an escape sequence none. It is where
// commands, reports and screens measure text, so that all of them agree.
package texttable

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width is the number of cells that a line takes.
func Width(s string) int { return ansi.StringWidth(s) }

// AlignLeft pads a line with spaces on the right to w cells; a wider one stays as it is.
func AlignLeft(s string, w int) string { return s + spaces(w-Width(s)) }

// AlignRight pads a line with spaces on the left to w cells; a wider one stays as it is.
func AlignRight(s string, w int) string { return spaces(w-Width(s)) + s }

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// Column is the layout of one column.
type Column struct {
	Gap   int  // spaces before the column
	Right bool // aligned on the right, as numbers are
}

// Lines lays rows out in columns, each as wide as its widest cell; rows may be of
// different lengths. A column that is not described is aligned on the left, two
// spaces behind the one before. No line ends with a space.
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
