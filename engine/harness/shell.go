package harness

import (
	"errors"
	"regexp"
	"slices"
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
	Quoted bool   // some part was in quotes
}

// Command is a simple command of a shell text, or the head of a compound command, such as for x in 1 2.
type Command struct {
	Assigns   []Assign // before the command, or of an export
	Exports   bool     // it exports variables: export, or declare -x
	Names     []Word   // options and names without a value of an export
	Words     []Word
	Redirects []Redirect
	Compound  Word // head of a compound command; Text is empty for a simple one
	Nested    int  // number of the following commands that are the text of its bash -c; that word is left out

	scope int // offset at which its subshell ends; 0 if it runs in no subshell
}

// offset returns the offset of the first word, or otherwise if there is none.
func (c *Command) offset(otherwise int) int {
	if len(c.Words) > 0 {
		return c.Words[0].Offset
	}
	return otherwise
}

// shift adds a number of bytes to all offsets.
func (c *Command) shift(by int) {
	for i := range c.Assigns {
		c.Assigns[i].Value.Offset += by
	}
	for i := range c.Words {
		c.Words[i].Offset += by
	}
	for i := range c.Redirects {
		c.Redirects[i].Target.Offset += by
	}
	for i := range c.Names {
		c.Names[i].Offset += by
	}
	c.Compound.Offset += by
	if c.scope > 0 {
		c.scope += by
	}
}

// Assign is NAME=value, as in an env file or before a command.
type Assign struct {
	Name    string
	Value   Word
	Appends bool // NAME+=value
}

// Redirect is a redirection of input or output.
type Redirect struct {
	Operator string // with its descriptor, such as &> or 2>
	Target   Word
}

// Output returns the file that standard output goes to. Text is empty if it is not redirected.
func (c *Command) Output() Word {
	var out Word
	for _, r := range c.Redirects {
		switch strings.TrimPrefix(r.Operator, "1") {
		case ">", ">>", "&>", "&>>", ">|":
			out = r.Target
		}
	}
	return out
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
func parseShell(text string) ([]Command, error) {
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
	var cmds []Command
	var scopes []int // ends of the subshells around the current node, the innermost one last
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			begin := int(n.Pos().Offset())
			scopes = slices.DeleteFunc(scopes, func(end int) bool { return end <= begin })
			if n.Background {
				scopes = append(scopes, int(n.End().Offset()))
			}
			if c, ok := simpleCommand(src, n); ok {
				c.scope = append([]int{0}, scopes...)[len(scopes)]
				cmds = append(cmds, c)
			}
		case *syntax.Subshell:
			scopes = append(scopes, int(n.End().Offset()))
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll { // each side runs in a subshell
				scopes = append(scopes, int(n.End().Offset()), int(n.X.End().Offset()))
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

func simpleCommand(src string, s *syntax.Stmt) (Command, bool) {
	var c Command
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		for _, a := range cmd.Assigns {
			c.Assigns = append(c.Assigns, newAssignment(src, a))
		}
		for _, w := range cmd.Args {
			c.Words = append(c.Words, newWord(src, w))
		}
	case *syntax.DeclClause: // export, declare
		c.Exports = exports(cmd)
		for _, a := range cmd.Args {
			switch {
			case a.Name == nil && a.Value != nil:
				c.Names = append(c.Names, newWord(src, a.Value))
			case a.Naked:
				c.Names = append(c.Names, nodeWord(src, a.Name))
			default:
				c.Assigns = append(c.Assigns, newAssignment(src, a))
			}
		}
	default:
		c.Compound = compoundHead(src, cmd)
	}
	for _, r := range s.Redirs {
		redirect := Redirect{Operator: r.Op.String()}
		if r.N != nil {
			redirect.Operator = r.N.Value + redirect.Operator
		}
		if r.Word != nil {
			redirect.Target = newWord(src, r.Word)
		}
		c.Redirects = append(c.Redirects, redirect)
	}
	isEmpty := len(c.Words)+len(c.Assigns)+len(c.Names)+len(c.Redirects) == 0 && c.Compound.Text == ""
	return c, !isEmpty
}

// exports reports whether a declaration exports its variables.
func exports(d *syntax.DeclClause) bool {
	option := func(letter string) bool {
		return slices.ContainsFunc(d.Args, func(a *syntax.Assign) bool {
			return a.Name == nil && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") &&
				strings.Contains(a.Value.Lit(), letter)
		})
	}
	return d.Variant.Value == "export" && !option("n") || d.Variant.Value != "export" && option("x")
}

// compoundHead returns the part of a compound command that is not a command of its own. Text is empty if
// there is none, as for a group.
func compoundHead(src string, cmd syntax.Command) Word {
	head := func(from syntax.Pos, to uint) Word {
		text := strings.TrimRight(substring(src, int(from.Offset()), int(to)), " ;\t\n")
		return Word{Text: restorePlaceholders.Replace(text), Source: text, Offset: int(from.Offset())}
	}
	switch cmd := cmd.(type) {
	case *syntax.IfClause:
		return head(cmd.Position, cmd.Position.Offset()+2)
	case *syntax.WhileClause:
		return head(cmd.WhilePos, cmd.WhilePos.Offset()+5)
	case *syntax.ForClause:
		return head(cmd.ForPos, cmd.DoPos.Offset())
	case *syntax.CaseClause:
		return head(cmd.Case, cmd.In.Offset())
	case *syntax.FuncDecl:
		return head(cmd.Position, cmd.Body.Pos().Offset())
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		return head(cmd.Pos(), cmd.End().Offset())
	case *syntax.TimeClause:
		return head(cmd.Time, cmd.Time.Offset()+4)
	case *syntax.CoprocClause:
		return head(cmd.Coproc, cmd.Coproc.Offset()+6)
	}
	return Word{}
}

// nodeWord returns the source of a part of the text as a word.
func nodeWord(src string, n syntax.Node) Word {
	text := substring(src, int(n.Pos().Offset()), int(n.End().Offset()))
	return Word{Text: text, Source: text, Offset: int(n.Pos().Offset())}
}

func newAssignment(src string, a *syntax.Assign) Assign {
	as := Assign{Name: a.Name.Value, Appends: a.Append, Value: Word{Offset: int(a.End().Offset())}}
	switch {
	case a.Value != nil:
		as.Value = newWord(src, a.Value)
	case a.Array != nil:
		var all []string
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				all = append(all, newWord(src, e.Value).Text)
			}
		}
		from, to := int(a.Array.Pos().Offset()), int(a.Array.End().Offset())
		as.Value = Word{Text: strings.Join(all, " "), Offset: from, Source: substring(src, from, to)}
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
			out.Quoted = true
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			out.Quoted = true
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
