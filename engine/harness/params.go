package harness

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// Var is one NAME=value of an environment.
type Var struct {
	Name, Value   string
	Raw           string // NAME=value as written, quotes included
	At            Evidence
	UnquotedSpace bool // the value holds a space that no quote protects

	// HasCommas is set where the value was meant to contain commas: srun splits --export at every
	// comma, so the old job got only Truncated, the part before the first one.
	HasCommas bool
	Truncated string

	bare   bool // a name of an --export list that has no value
	offset int  // byte offset of Raw in its line
}

// SplitEnvList cuts a "K=V K=V" list into variables, of which nothing is known but
// what stands in it; see [Launch] for those with their places.
func SplitEnvList(s string) []Var { return splitEnvList(s, 0) }

// splitEnvList cuts the "K=V K=V" argument of a worker launch into variables. A
// new one begins at every unquoted NAME=, so that a value may hold spaces. A text
// that is no such list, such as '1010' or a path, has none.
func splitEnvList(s string, offset int) []Var {
	starts := entryStarts(s, isSpace)
	if len(starts) == 0 || strings.TrimSpace(s[:starts[0]]) != "" {
		return nil
	}
	vars := make([]Var, 0, len(starts))
	for i, from := range starts {
		to := len(s)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		v := newVar(strings.TrimRight(s[from:to], " \t\r\n"), offset+from)
		_, value, _ := strings.Cut(v.Raw, "=")
		v.UnquotedSpace = value == v.Value && strings.ContainsAny(value, " \t\r\n")
		vars = append(vars, v)
	}
	return vars
}

func newVar(raw string, offset int) Var {
	name, value, _ := strings.Cut(raw, "=")
	return Var{Name: name, Value: unquote(value), Raw: raw, offset: offset}
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

// splitExport cuts an --export list by meaning: an entry begins at NAME=, or is a
// bare name. After a value, a word counts as a bare name only if it looks like a
// well-known variable; otherwise it belongs to the value before it.
func splitExport(s string, offset int) []Var {
	var out []Var
	begin := 0 // of the last entry
	for from := 0; from <= len(s); {
		to := pieceEnd(s, from)
		piece := s[from:to]
		n := nameLen(piece)
		var last *Var
		if len(out) > 0 {
			last = &out[len(out)-1]
		}
		switch {
		case n > 0 && n < len(piece) && piece[n] == '=':
			out, begin = append(out, newVar(piece, offset+from)), from
		case n > 0 && n == len(piece) && (last == nil || last.bare || wellKnown(piece)):
			out, begin = append(out, Var{Name: piece, Raw: piece, offset: offset + from, bare: true}), from
		case last != nil && !last.bare:
			slurm := last.Value
			if last.HasCommas {
				slurm = last.Truncated
			}
			*last = newVar(s[begin:to], last.offset)
			last.HasCommas, last.Truncated = true, slurm
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

// exportWords are what --export takes beside names.
var exportWords = map[string]bool{"ALL": true, "NONE": true, "NIL": true}

var bareNames = map[string]bool{
	"PATH": true, "HOME": true, "USER": true, "SHELL": true, "TERM": true,
	"LANG": true, "PWD": true, "TMPDIR": true, "PYTHONPATH": true, "HOSTNAME": true, "LOGNAME": true,
}

func wellKnown(name string) bool {
	return exportWords[name] || bareNames[name] || strings.Contains(name, "_") && name == strings.ToUpper(name)
}

// parseParams reads shell assignments, one per line; the last one of a name holds. A
// line that is none is a problem, not an end.
func (r *Run) parseParams(ctx context.Context, f io.Reader, a *Artifact) error {
	err := newLineReader(io.LimitReader(f, maxLine), "").each(ctx, func(l rawLine) bool {
		a.Lines = l.number
		if l.cut {
			a.problem(l.number, "line is too long")
		} else {
			r.assign(a, l.number, clean(l.text))
		}
		return true
	})
	a.Found = count(len(r.Params), "variable")
	return err
}

func (r *Run) assign(a *Artifact, number int, line string) {
	cmds, err := parseShell(line)
	if err != nil {
		a.problem(number, err.Error())
		return
	}
	for _, c := range cmds {
		if len(c.words) > 0 {
			a.problem(number, fmt.Sprintf("a command (%s) where an assignment is expected; values with spaces need quotes",
				safetext.Clip(c.words[0].Text, 40)))
			continue
		}
		for _, as := range c.assigns {
			text := as.value.Text
			if as.name == "" { // += with nothing before it
				a.problem(number, "an assignment without a name")
				continue
			}
			if old, again := r.Params[as.name]; again && old.Text != text {
				a.problem(number, fmt.Sprintf("%s is set again (first on line %d); the last one counts", as.name, old.At.Line))
			}
			r.Params[as.name] = Value{text, evidence(a.Name, number, line, as.name, text, as.value.Offset)}
		}
	}
}
