package safetext

import (
	"strings"
	"unicode"
)

// Markdown returns a line as [Clean] does, escaped for Markdown: as a name in a table, a list or a
// paragraph it shows as it is, without links, emphasis, code or HTML.
func Markdown(s string) string {
	runes := []rune(Clean(s))
	marker := blockMarker(runes)
	var b strings.Builder
	for i, r := range runes {
		inWord := i > 0 && i+1 < len(runes) && isWord(runes[i-1]) && isWord(runes[i+1])
		switch {
		case strings.ContainsRune("\\`*[]<>|~&", r),
			r == '_' && !inWord, i == marker,
			r == ':' && i+2 < len(runes) && runes[i+1] == '/' && runes[i+2] == '/': // would become a link
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// blockMarker returns the index of the character that would make a line a heading or an item of a
// list, or -1.
func blockMarker(line []rune) int {
	i := 0
	for i < len(line) && unicode.IsDigit(line[i]) {
		i++
	}
	markers := "#+-"
	if i > 0 {
		markers = ".)"
	}
	if i >= len(line) || !strings.ContainsRune(markers, line[i]) || i+1 < len(line) && line[i+1] != ' ' && line[i] != '#' {
		return -1
	}
	if i+1 == len(line) && line[i] == '-' {
		return -1 // a dash for what is unknown
	}
	return i
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
