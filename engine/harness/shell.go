package harness

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// maxNesting bounds the nesting of shell text, since the parser is recursive.
const maxNesting = 2000

var errTooNested = problem.New(problem.ArtifactInvalid, "too deeply nested for a command of the harness")

// Word is one argument of a command, without quotes. Variables are not expanded.
type Word struct {
	Text   string
	Offset int    // byte offset of its source in the parsed text
	Source string // as written
	quoted bool   // some part was in quotes
}

// command is a simple command with its output redirection.
type command struct {
	assigns []assignment
	words   []Word
	output  string // target of > or &>, empty if none
}

// assignment is NAME=value, as in an env file or before a command.
type assignment struct {
	name  string
	value Word
}

// Placeholders such as <node0_placeholder> are filled in by the harness, but a shell parses them as
// redirections. Two control characters replace their brackets while the text is parsed.
const (
	placeholderOpen  = '\x01'
	placeholderClose = '\x02'
)

var placeholder = regexp.MustCompile(`<[A-Za-z_]\w*>[\w>&]?`)

func hidePlaceholders(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(m string) string {
		if name, rest, _ := strings.Cut(m[1:], ">"); rest == "" {
			return string(placeholderOpen) + name + string(placeholderClose)
		}
		return m // "<in>out": two redirections
	})
}

var restorePlaceholders = strings.NewReplacer(string(placeholderOpen), "<", string(placeholderClose), ">")

func isNameByte(c byte, first bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || !first && c >= '0' && c <= '9'
}

// parseShell returns the simple commands of a shell text in order, including those in lists, pipes
// and compound commands.
func parseShell(text string) ([]command, error) {
	if len(text) > maxLine {
		return nil, problem.Errorf(problem.ArtifactInvalid, "longer than %d KiB", maxLine>>10)
	}
	if countNesting(text) > maxNesting {
		return nil, errTooNested
	}
	src := hidePlaceholders(text)
	p, _ := shellParsers.Get().(*syntax.Parser) // the pool holds only parsers
	file, err := p.Parse(strings.NewReader(src), "")
	shellParsers.Put(p)
	if err != nil {
		return nil, shellError(err)
	}
	var cmds []command
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if c, ok := simpleCommand(src, n); ok {
				cmds = append(cmds, c)
			}
		case *syntax.Word:
			return false // command substitutions are kept as text
		}
		return true
	})
	return cmds, nil
}

// shellParsers reuses parsers, whose buffers are costly to allocate per line.
var shellParsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

func shellError(err error) error {
	var parse syntax.ParseError
	if errors.As(err, &parse) {
		return problem.New(problem.ArtifactInvalid, restorePlaceholders.Replace(parse.Text))
	}
	return problem.Mark(problem.ArtifactInvalid, err)
}

func countNesting(text string) int {
	n := 0
	for open := range strings.FieldsSeq("( { ` if while until for case time coproc select function") {
		n += strings.Count(text, open)
	}
	return n
}

func simpleCommand(src string, s *syntax.Stmt) (command, bool) {
	var c command
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		for _, a := range cmd.Assigns {
			c.assigns = append(c.assigns, newAssignment(src, a))
		}
		for _, w := range cmd.Args {
			c.words = append(c.words, newWord(src, w))
		}
	case *syntax.DeclClause: // export, declare
		for _, a := range cmd.Args {
			if a.Name != nil && !a.Naked {
				c.assigns = append(c.assigns, newAssignment(src, a))
			}
		}
	default:
		return c, false
	}
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
			if r.N == nil || r.N.Value == "1" {
				c.output = newWord(src, r.Word).Text
			}
		}
	}
	return c, true
}

func newAssignment(src string, a *syntax.Assign) assignment {
	as := assignment{name: a.Name.Value}
	switch {
	case a.Value != nil:
		as.value = newWord(src, a.Value)
	case a.Array != nil:
		var all []string
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				all = append(all, newWord(src, e.Value).Text)
			}
		}
		from, to := int(a.Array.Pos().Offset()), int(a.Array.End().Offset())
		as.value = Word{Text: strings.Join(all, " "), Offset: from, Source: substring(src, from, to)}
	}
	return as
}

func newWord(src string, w *syntax.Word) Word {
	from, to := int(w.Pos().Offset()), int(w.End().Offset())
	out := Word{Offset: from, Source: restorePlaceholders.Replace(substring(src, from, to))}
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted:
			out.quoted = true
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			out.quoted = true
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					b.WriteString(unescape(lit.Value, "\"\\$`\n"))
				} else {
					b.WriteString(substring(src, int(q.Pos().Offset()), int(q.End().Offset())))
				}
			}
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, ""))
		default:
			b.WriteString(substring(src, int(p.Pos().Offset()), int(p.End().Offset())))
		}
	}
	out.Text = restorePlaceholders.Replace(b.String())
	return out
}

func substring(s string, from, to int) string {
	from = min(max(from, 0), len(s))
	return s[from:min(max(to, from), len(s))]
}

// unescape removes the backslash before the given bytes, or before any byte if none are given. An
// escaped newline is removed.
func unescape(s, only string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || only != "" && !strings.Contains(only, s[i+1:i+2]) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
