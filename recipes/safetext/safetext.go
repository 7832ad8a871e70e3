// Package safetext makes text that somebody else wrote safe to show: a log line, a file name, a
// message from a server. It knows nothing of where text comes from or goes to.
package safetext

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// CleanLines is a text of several lines, each made safe as by [Clean].
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Clean(l)
	}
	return strings.Join(lines, "\n")
}

// Clean is a text on one line without terminal escapes, control characters and
// marks that reorder text; tabs become spaces, invalid bytes question marks.
func Clean(s string) string {
	if isPrintableASCII(s) {
		return s
	}
	return strings.Map(replaceUnsafe, ansi.Strip(strings.ToValidUTF8(s, "?")))
}

// CleanKeepColors is Clean with the sequences kept that set colours and weight; what they
// have set ends with the text.
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

// setsColour says that a sequence is ESC [ numbers m and nothing else.
func setsColor(seq string) bool {
	body, ok := strings.CutPrefix(seq, "\x1b[")
	if body, ok2 := strings.CutSuffix(body, "m"); ok && ok2 {
		return strings.Trim(body, "0123456789;:") == ""
	}
	return false
}

// plain says that a text is printable ASCII, as nearly all are.
func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func replaceUnsafe(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
		return -1
	}
	return r
}

// Clip shortens a text to some bytes, for a message, and makes it safe to show: what
// can't be shown becomes a question mark.
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
