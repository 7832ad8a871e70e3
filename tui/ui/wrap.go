package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Wrap breaks a text of somebody else into lines of at most w cells: at spaces
// where it can, inside a word where that alone is longer than a line.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(Clean(s)) {
		if line != "" && Width(line)+1+Width(word) > w {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
		for Width(line) > w {
			head := ansi.Truncate(line, w, "")
			if head == "" { // one wide character, and no room for it
				break
			}
			lines = append(lines, head)
			line = line[len(head):]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
