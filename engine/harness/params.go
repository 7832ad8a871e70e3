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
	UnquotedSpace bool // the value contains a space outside quotes

	// HasCommas is set if the value was apparently meant to contain commas: srun splits --export at every
	// comma, so the old job got only Truncated, the part before the first one.
	HasCommas bool
	Truncated string

	bare    bool // a name without a value in an --export list
	appends bool // NAME+=value
	offset  int  // byte offset of Raw in its line
}

// SplitEnvList splits a "K=V K=V" list into variables. They have no evidence, unlike those of a
// [Launch].
func SplitEnvList(s string) []Var { return splitEnvList(s, 0) }

// splitEnvList splits the "K=V K=V" argument of a worker launch into variables. A variable begins
// at each unquoted NAME=, so values may contain spaces. It returns nil for any other text, such as
// a number or a path.
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

// entryStarts returns the offsets where NAME= begins: at the start of the text or after an unquoted
// separator. An unclosed quote is an ordinary character.
func entryStarts(s string, isSep func(byte) bool) []int {
	var starts []int
	atStart := true // the last byte was a separator
	for i := 0; i < len(s); i++ {
		c := s[i]
		if atStart {
			if n := nameLen(s[i:]); n > 0 && i+n < len(s) && s[i+n] == '=' {
				starts = append(starts, i)
				i += n
				atStart = false
				continue
			}
		}
		atStart = isSep(c)
		if c == '"' || c == '\'' {
			if n := closingQuote(s[i:]); n > 0 {
				i += n
			}
		}
	}
	return starts
}

// nameLen returns the length of the variable name at the start of s.
func nameLen(s string) int {
	n := 0
	for n < len(s) && isNameByte(s[n], n == 0) {
		n++
	}
	return n
}

// maxQuoted bounds the search for a closing quote, in bytes. It keeps the time linear for a text
// with many unclosed quotes.
const maxQuoted = 4096

// closingQuote returns the index of the quote that closes the one at s[0], or 0.
func closingQuote(s string) int {
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

// unquote removes quotes that enclose the whole value. Quotes inside a value are kept: it may be
// JSON.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' && s[0] != '\'' || closingQuote(s) != len(s)-1 {
		return s
	}
	if s[0] == '\'' {
		return s[1 : len(s)-1]
	}
	return unescape(s[1:len(s)-1], "\"\\$`")
}

// isEmpty reports whether the variable is set to nothing.
func (v *Var) isEmpty() bool { return !v.bare && v.Value == "" && !v.HasCommas }

// splitExport splits an --export list as its author intended. An entry is NAME=value or a name
// alone. After a value that is not empty, a word is a name only if it looks like a well-known variable;
// otherwise it belongs to the value, which then contains a comma. An entry that is neither has no name.
func splitExport(s string, offset int) []Var {
	var out []Var
	begin := 0 // of the last entry
	for from := 0; from <= len(s); {
		to := entryEnd(s, from)
		piece := s[from:to]
		n := nameLen(piece)
		var last *Var
		if len(out) > 0 {
			last = &out[len(out)-1]
		}
		switch {
		case n > 0 && n < len(piece) && piece[n] == '=':
			out, begin = append(out, newVar(piece, offset+from)), from
		case n > 0 && n == len(piece) && (last == nil || last.bare || last.isEmpty() || isWellKnown(piece)):
			out, begin = append(out, Var{Name: piece, Raw: piece, offset: offset + from, bare: true}), from
		case last != nil && !last.bare:
			truncated := last.Value
			if last.HasCommas {
				truncated = last.Truncated
			}
			*last = newVar(s[begin:to], last.offset)
			last.HasCommas, last.Truncated = true, truncated
		case piece != "":
			out = append(out, Var{Raw: piece, offset: offset + from, bare: true})
		}
		from = to + 1
	}
	return out
}

func entryEnd(s string, from int) int {
	for i := from; i < len(s); i++ {
		switch s[i] {
		case ',':
			return i
		case '"', '\'':
			i += closingQuote(s[i:])
		}
	}
	return len(s)
}

// exportWords are the words that --export accepts besides names.
var exportWords = map[string]bool{"ALL": true, "NONE": true, "NIL": true}

var wellKnownNames = map[string]bool{
	"PATH": true, "HOME": true, "USER": true, "SHELL": true, "TERM": true,
	"LANG": true, "PWD": true, "TMPDIR": true, "PYTHONPATH": true, "HOSTNAME": true, "LOGNAME": true,
}

func isWellKnown(name string) bool {
	return exportWords[name] || wellKnownNames[name] || strings.Contains(name, "_") && name == strings.ToUpper(name)
}

// parseParams parses shell assignments, one per line. The last assignment of a name counts. Any
// other line is a problem.
func (r *Run) parseParams(ctx context.Context, f io.Reader, a *Artifact) error {
	err := newLineReader(io.LimitReader(f, maxLine)).forEach(ctx, func(l rawLine) bool {
		a.Lines = l.number
		src := &source{artifact: a.Name}
		src.addLine(l.number, l.text, 0)
		switch {
		case l.truncated:
			a.problem(l.number, "line is too long")
		case l.open && !isComment(src.text):
			a.problem(l.number, cutText+safetext.Clip(src.text, 80))
		default:
			r.assign(a, src)
		}
		return true
	})
	a.Found = countText(len(r.Params), "variable")
	return err
}

// isComment reports whether a line is empty or a comment.
func isComment(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#'
}

// assign sets the variables of a line.
func (r *Run) assign(a *Artifact, src *source) {
	number := src.lineAt(0)
	cmds, err := parseShell(src.text)
	if err != nil {
		a.problem(number, err.Error())
		return
	}
	for _, c := range cmds {
		if len(c.Words) > 0 {
			a.problem(number, fmt.Sprintf("is a command (%s), not an assignment; values with spaces need quotes",
				safetext.Clip(c.Words[0].Text, 40)))
			continue
		}
		if c.Compound.Text != "" {
			a.problem(number, fmt.Sprintf("is a compound command (%s), not an assignment", safetext.Clip(c.Compound.Text, 40)))
		}
		for _, as := range c.Assigns {
			text := as.Value.Text
			if as.Name == "" { // += without a name
				a.problem(number, "assignment without a name")
				continue
			}
			if old, again := r.Params[as.Name]; again && old.Text != text {
				a.problem(number, fmt.Sprintf("%s is set again (first on line %d); the last value was used", as.Name, old.At.Line))
			}
			r.Params[as.Name] = Value{text, src.at(as.Name, text, as.Value.Offset)}
		}
	}
}
