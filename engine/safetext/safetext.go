// Package safetext makes text that somebody else wrote safe to show: a log line,
// a file name, a message from a server. It knows nothing of where text comes from
// or goes to.
package safetext

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Lines is a text of several lines, each made safe as by [Clean].
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Clean(l)
	}
	return strings.Join(lines, "\n")
}

// Clean is a text on one line without terminal escapes, control characters and
// marks that reorder text; tabs become spaces, invalid bytes question marks.
func Clean(s string) string {
	s = ansi.Strip(strings.ToValidUTF8(s, "?"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}
