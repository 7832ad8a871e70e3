package porter

import (
	"strings"
)

// variable is one NAME=value of an environment, with the place it stands at.
type variable struct {
	name   string
	value  string
	offset int    // byte offset of raw in the list it was cut from
	raw    string // NAME=value as written, quotes included
	spaced bool   // the value holds a space that no quote protects
}

// splitEnvList cuts the "K=V K=V" argument of a worker launch into variables. A
// new one begins at every unquoted NAME=, so that a value may hold spaces. ok is
// false for text that is no such list, such as '1010' or a path.
func splitEnvList(s string) (vars []variable, ok bool) {
	starts := entryStarts(s, isSpace)
	if len(starts) == 0 || strings.TrimSpace(s[:starts[0]]) != "" {
		return nil, false
	}
	for i, from := range starts {
		to := len(s)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		v := newVariable(strings.TrimRight(s[from:to], " \t\r\n"), from)
		_, value, _ := strings.Cut(v.raw, "=")
		v.spaced = value == v.value && strings.ContainsAny(value, " \t\r\n")
		vars = append(vars, v)
	}
	return vars, true
}

func newVariable(raw string, offset int) variable {
	name, value, _ := strings.Cut(raw, "=")
	return variable{name: name, value: unquote(value), offset: offset, raw: raw}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// entryStarts finds where NAME= begins, at the start of the text or after an
// unquoted separator. A quote that is never closed is an ordinary character.
func entryStarts(s string, isSep func(byte) bool) []int {
	var starts []int
	fresh := true // the last byte was a separator
	for i := 0; i < len(s); i++ {
		c := s[i]
		if fresh {
			if n := nameLen(s[i:]); n > 0 && i+n < len(s) && s[i+n] == '=' {
				starts = append(starts, i)
				i += n
				fresh = false
				continue
			}
		}
		fresh = isSep(c)
		if c == '"' || c == '\'' {
			if n := closing(s[i:]); n > 0 {
				i += n
			}
		}
	}
	return starts
}

// nameLen is the length of the variable name that s begins with.
func nameLen(s string) int {
	n := 0
	for n < len(s) && isNameByte(s[n], n == 0) {
		n++
	}
	return n
}

// maxQuoted bounds how far a closing quote is looked for, so that a text full of
// open quotes takes linear time.
const maxQuoted = 4096

// closing is the index of the quote that closes the one at s[0]; 0 if none does.
func closing(s string) int {
	for i := 1; i < min(len(s), maxQuoted); i++ {
		switch {
		case s[i] == '\\' && s[0] == '"':
			i++
		case s[i] == s[0]:
			return i
		}
	}
	return 0
}

// unquote removes a pair of quotes that encloses the whole value. Quotes inside
// a value are part of it: JSON would not survive their removal.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' && s[0] != '\'' || closing(s) != len(s)-1 {
		return s
	}
	if s[0] == '\'' {
		return s[1 : len(s)-1]
	}
	return unescape(s[1:len(s)-1], "\"\\$`")
}

// exportEntry is one entry of an --export list: a variable, or a bare name whose
// value came from the submitting shell.
type exportEntry struct {
	variable
	bare  bool
	slurm string // what Slurm really gave, where that is not the value; see commas
	// commas is true where the value was meant to hold commas: srun splits at
	// every comma, so the old job got only what stands before the first.
	commas bool
}

// splitExport cuts an --export list by meaning: an entry begins at NAME=, or is a
// bare name. After a value, a word counts as a bare name only if it looks like a
// well-known variable; otherwise it belongs to the value before it.
func splitExport(s string) []exportEntry {
	var out []exportEntry
	for from := 0; from <= len(s); {
		to := pieceEnd(s, from)
		piece := s[from:to]
		n := nameLen(piece)
		switch {
		case n > 0 && n < len(piece) && piece[n] == '=':
			out = append(out, exportEntry{variable: newVariable(piece, from)})
		case n > 0 && n == len(piece) && (len(out) == 0 || out[len(out)-1].bare || wellKnown(piece)):
			out = append(out, exportEntry{variable: variable{name: piece, raw: piece, offset: from}, bare: true})
		case len(out) > 0 && !out[len(out)-1].bare:
			last := &out[len(out)-1]
			if !last.commas {
				last.commas, last.slurm = true, last.value
			}
			last.variable = newVariable(s[last.offset:to], last.offset)
		}
		from = to + 1
	}
	return out
}

func pieceEnd(s string, from int) int {
	for i := from; i < len(s); i++ {
		switch s[i] {
		case ',':
			return i
		case '"', '\'':
			i += closing(s[i:])
		}
	}
	return len(s)
}

var bareNames = map[string]bool{
	"ALL": true, "NONE": true, "NIL": true, "PATH": true, "HOME": true, "USER": true, "SHELL": true, "TERM": true,
	"LANG": true, "PWD": true, "TMPDIR": true, "PYTHONPATH": true, "HOSTNAME": true, "LOGNAME": true,
}

func wellKnown(name string) bool {
	return bareNames[name] || strings.Contains(name, "_") && name == strings.ToUpper(name)
}
