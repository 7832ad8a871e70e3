// Package safetext makes untrusted text safe to show in a terminal: log lines, file names, messages
// of servers.
package safetext

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// CleanLines applies [Clean] to each line of a text.
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Clean(l)
	}
	return strings.Join(lines, "\n")
}

// Clean removes escape sequences, control characters and bidirectional control characters
// from a line. Tabs become spaces and invalid bytes question marks.
func Clean(s string) string {
	if isPrintableASCII(s) {
		return s
	}
	return strings.Map(replaceUnsafe, ansi.Strip(strings.ToValidUTF8(s, "?")))
}

// CleanKeepColors is like [Clean] but keeps the escape sequences that set colors and font
// weight. It appends a reset if there are any.
func CleanKeepColors(s string) string {
	if isPrintableASCII(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "?")
	var b strings.Builder
	var state byte
	for len(s) > 0 {
		seq, width, n, next := ansi.DecodeSequence(s, state, nil)
		switch {
		case setsColor(seq):
			b.WriteString(seq)
		case width > 0 || seq == "\t":
			b.WriteString(strings.Map(replaceUnsafe, seq))
		}
		s, state = s[n:], next
	}
	if strings.Contains(b.String(), "\x1b") {
		b.WriteString(ansi.ResetStyle)
	}
	return b.String()
}

// setsColor reports whether a sequence is ESC [ numbers m.
func setsColor(seq string) bool {
	body, ok := strings.CutPrefix(seq, "\x1b[")
	if body, ok2 := strings.CutSuffix(body, "m"); ok && ok2 {
		return strings.Trim(body, "0123456789;:") == ""
	}
	return false
}

// isPrintableASCII reports whether a text is printable ASCII. Most texts are, so it is the fast path.
func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// replaceUnsafe maps tabs to spaces and unsafe characters to -1, which removes them.
func replaceUnsafe(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
		return -1
	}
	return r
}

// Clip truncates a text to n bytes for use in a message and replaces control characters and
// invalid bytes by question marks.
func Clip(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffd {
			return '?'
		}
		return r
	}, s)
}
