package ui

import (
	"regexp"
	"strings"
)

// kind is the kind of a part of a line of YAML.
type kind int

const (
	plain   kind = iota
	keyword      // a mapping's key
	literal      // a number, true, false, null
	quoted
	mark // punctuation, anchors, aliases, tags
	comment
	numKinds // number of kinds
)

// span is a part of a line: it ends before byte to, and starts where the last one ends.
type span struct {
	to   int
	kind kind
}

// spans splits a line of YAML into parts, without looking at other lines. It returns at
// least one part; the last one ends at the end of the line.
func spans(s string) []span {
	out := make([]span, 0, 8)
	add := func(to int, k kind) {
		if n := len(out); n > 0 && out[n-1].kind == k {
			out[n-1].to = to
		} else if n == 0 && to > 0 || n > 0 && to > out[n-1].to {
			out = append(out, span{to, k})
		}
	}
	end := len(s)
	if c := commentStart(s); c >= 0 {
		end = c
	}
	at := 0
	for at < end && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	for strings.HasPrefix(s[at:end], "- ") || s[at:end] == "-" {
		for at++; at < end && s[at] == ' '; at++ {
		}
		add(at, mark)
	}
	if colon := keyEnd(s[at:end]); colon >= 0 {
		add(at, plain)
		add(at+colon, keyword)
		at += colon + 1
		add(at, mark)
	}
	for at < end {
		next, k := valueSpan(s[:end], at)
		add(next, k)
		at = next
	}
	if end < len(s) {
		add(len(s), comment)
	}
	if len(out) == 0 {
		out = append(out, span{len(s), plain})
	}
	return out
}

// keyEnd returns the offset of the colon after the key at the start of a line; -1 without one.
func keyEnd(s string) int {
	if s == "" || strings.IndexByte("[{&*!|>%@`", s[0]) >= 0 {
		return -1
	}
	from := 0
	if s[0] == '"' || s[0] == '\'' {
		if from = strings.IndexByte(s[1:], s[0]) + 2; from < 2 {
			return -1
		}
	}
	for i := from; i < len(s); i++ {
		if s[i] == ':' && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\t') {
			return i
		}
	}
	return -1
}

var literalWord = regexp.MustCompile(
	`^(?:[-+]?[0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|0x[0-9a-fA-F]+|true|false|null|~)$`)

// valueSpan returns the end and the kind of the next part of a value.
func valueSpan(s string, at int) (to int, k kind) {
	switch c := s[at]; {
	case c == '"' || c == '\'':
		for to = at + 1; to < len(s) && s[to] != c; to++ {
			if c == '"' && s[to] == '\\' {
				to++
			}
		}
		return min(to+1, len(s)), quoted
	case strings.IndexByte("[]{},|>", c) >= 0:
		return at + 1, mark
	case c == ' ' || c == '\t':
		for to = at; to < len(s) && (s[to] == ' ' || s[to] == '\t'); to++ {
		}
		return to, plain
	}
	for to = at; to < len(s) && strings.IndexByte(",]}\t ", s[to]) < 0; to++ {
	}
	if to == at { // a bracket in the middle of a word
		to++
	}
	switch {
	case strings.IndexByte("&*!:", s[at]) >= 0:
		return to, mark
	case s[to-1] == ':': // a key of a flow mapping
		return to - 1, keyword
	case literalWord.MatchString(s[at:to]):
		return to, literal
	}
	return to, plain
}

// commentStart returns the offset of the comment in a line of YAML; -1 without one.
func commentStart(s string) int {
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t'):
			return i
		case (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" [{,:", s[i-1]) >= 0):
			quote = c
		}
	}
	return -1
}
