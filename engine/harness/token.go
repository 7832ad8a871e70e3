package harness

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Part is the kind of a [Token].
type Part string

// The parts of a command line.
const (
	Program      Part = "program"  // srun, the shell, or another word before the start script
	SrunFlag     Part = "flag"     // with its value
	Variable     Part = "env"      // NAME=value
	BareVariable Part = "bare"     // name without a value in an --export list
	ExportWord   Part = "export"   // other entry of an --export list: ALL, NONE, NIL, or one that is no name
	MountEntry   Part = "mount"    // entry of --container-mounts
	StartScript  Part = "script"   // start script of the harness, or the client's
	Argument     Part = "argument" // of the start script, or of another command
	ProgramFlag  Part = "option"   // flag of the program that is started, with its value
	Redirection  Part = "redirect" // with its target
	OtherCommand Part = "command"  // name of another command, or head of a compound one
)

// Token is a part of a command line that has a meaning of its own. Each part of a line belongs to exactly
// one token.
type Token struct {
	Part Part
	// Name is that of a flag (the long one) or of a variable, the operator of a redirection, or [BearerToken].
	Name       string
	Value      string   // without quotes
	Source     string   // as written
	Offset     int      // of Source, in the line
	Index      int      // of an argument, from 0
	Words      []string // of a ProgramFlag and an Argument, without quotes
	Var        Var      // of a Variable
	Overridden string   // why it has no effect; empty if it has
}

// Text returns a token in the spelling that people use.
func (t Token) Text() string {
	switch t.Part {
	case SrunFlag, ProgramFlag:
		return Option{Name: t.Name, Value: t.Value}.String()
	case Variable:
		return t.Name + "=" + t.Value
	case Redirection:
		return strings.TrimSpace(t.Name + " " + t.Value)
	}
	return t.Value
}

// tokens collects the tokens of a command line.
type tokens []Token

func (ts *tokens) add(part Part, name, value, source string, offset int) *Token {
	*ts = append(*ts, Token{Part: part, Name: name, Value: value, Source: source, Offset: offset})
	return &(*ts)[len(*ts)-1]
}

func (ts *tokens) word(part Part, w Word) *Token { return ts.add(part, "", w.Text, w.Source, w.Offset) }

func (ts *tokens) vars(vars []Var) {
	for _, v := range vars {
		switch {
		case !v.bare:
			ts.add(Variable, v.Name, v.Value, v.Raw, v.offset).Var = v
		case v.Name == "" || exportWords[v.Name]:
			ts.add(ExportWord, "--export", v.Raw, v.Raw, v.offset)
		default:
			ts.add(BareVariable, v.Name, "", v.Raw, v.offset)
		}
	}
}

func (ts *tokens) assigns(as []Assign) {
	for _, a := range as {
		ts.vars([]Var{a.variable()})
	}
}

// variable returns the variable that an assignment sets.
func (a Assign) variable() Var {
	sign := "="
	if a.Appends {
		sign = "+="
	}
	v := newVar(a.Name+"="+a.Value.Source, a.Value.Offset-len(a.Name)-len(sign))
	v.Raw, v.Value, v.appends = a.Name+sign+a.Value.Source, a.Value.Text, a.Appends
	return v
}

// after returns the variable that is set after old, which is nil if only the submitting shell may have set it.
func (v Var) after(old *Var) Var {
	switch {
	case !v.appends:
	case old == nil:
		v.Value = "${" + v.Name + "}" + v.Value
	default:
		v.Value = old.Value + v.Value
	}
	return v
}

// setByEnv reports for each word whether it is a variable for the program env: env NAME=value … bash script.
func setByEnv(words []Word) []bool {
	out := make([]bool, len(words))
	inEnv := false
	for i, w := range words {
		n := nameLen(w.Text)
		switch {
		case path.Base(w.Text) == "env":
			inEnv = true
		case inEnv && n > 0 && n < len(w.Text) && w.Text[n] == '=':
			out[i] = true
		case strings.HasPrefix(w.Text, "-") || i > 0 && (words[i-1].Text == "-u" || words[i-1].Text == "--unset"):
		default:
			inEnv = false
		}
	}
	return out
}

// flags adds the flags of srun at the beginning of words and returns the index of the next word.
func (ts *tokens) flags(words []Word) (rest int) {
	uses, rest := parseFlags(words)
	last := map[string][2]int{} // tokens of the last use of each flag
	for _, u := range uses {
		n := len(*ts)
		switch u.Name {
		case "--export":
			ts.vars(splitExport(u.Value, u.offset))
		case "--container-mounts":
			at := u.offset
			for m := range strings.SplitSeq(u.Value, ",") {
				if m != "" {
					ts.add(MountEntry, u.Name, m, m, at)
				}
				at += len(m) + 1
			}
		}
		if len(*ts) == n {
			ts.add(SrunFlag, u.Name, u.Value, u.source, u.at)
		}
		for i := last[u.Name][0]; i < last[u.Name][1]; i++ {
			(*ts)[i].Overridden = givenAgain
		}
		last[u.Name] = [2]int{n, len(*ts)}
	}
	return rest
}

// srun adds the part of a command before the word at index program.
func (ts *tokens) srun(c Command, srun, program int) {
	ts.assigns(c.Assigns)
	for _, w := range c.Words[:srun+1] {
		ts.word(Program, w)
	}
	rest := srun + 1 + ts.flags(c.Words[srun+1:program])
	ts.programs(c.Words[rest:program])
}

// programs adds the words before a script: programs with their flags, and the variables of env.
func (ts *tokens) programs(words []Word) {
	isVar := setByEnv(words)
	for i, w := range words {
		if isVar[i] {
			ts.vars([]Var{newVar(w.Text, w.Offset)})
		} else {
			ts.word(Program, w)
		}
	}
}

func (ts *tokens) redirects(rs []Redirect) {
	for _, r := range rs {
		ts.add(Redirection, r.Operator, r.Target.Text, strings.TrimSpace(r.Operator+" "+r.Target.Source), r.Target.Offset)
	}
}

// BearerToken is the name of an argument that is the secret after the word Bearer in the header of a request.
const BearerToken = "bearer token"

// nameBearers names the arguments that follow the word Bearer, so that their values are known as secrets.
func (ts tokens) nameBearers() {
	for i := 1; i < len(ts); i++ {
		if t, before := &ts[i], strings.TrimRight(ts[i-1].Value, " "); t.Part == Argument && t.Name == "" &&
			endsInBearer.MatchString(before) {
			t.Name = BearerToken
		}
	}
}

var endsInBearer = regexp.MustCompile(`(?i)(?:^|[\s:=])bearer$`)

// options adds the flags of a program, with their values, and its arguments.
func (ts *tokens) options(words []Word, first int) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, value, attached := strings.Cut(w.Text, "=")
		if !strings.HasPrefix(name, "--") || name == "--" {
			t := ts.word(Argument, w)
			t.Index, t.Words = first+i, []string{w.Text}
			continue
		}
		t := ts.add(ProgramFlag, name, value, w.Source, w.Offset)
		t.Words = []string{w.Text}
		for !attached && i+1 < len(words) && !strings.HasPrefix(words[i+1].Text, "-") {
			i++
			t.Value, t.Source = strings.TrimSpace(t.Value+" "+words[i].Text), t.Source+" "+words[i].Source
			t.Words = append(t.Words, words[i].Text)
			if name != "--concurrencies" {
				break
			}
		}
	}
}

// Tokens returns the tokens of a launch. The caller must not change them.
func (l *Launch) Tokens() []Token {
	if l.tokens == nil {
		l.tokens = l.parseTokens()
	}
	return l.tokens
}

// parseTokens returns the tokens of a launch. Most of them are variables.
func (l *Launch) parseTokens() tokens {
	c := l.Command
	ts := make(tokens, 0, len(c.Words)+len(l.Env)+len(l.BareNames)+len(c.Redirects)+8)
	ts.srun(c, l.Srun, l.Script)
	if !l.ExportsAll() {
		for i := range c.Assigns {
			ts[i].Overridden = notPassedOn
		}
	}
	if l.Script < len(c.Words) {
		ts.word(StartScript, c.Words[l.Script])
	}
	for i, w := range l.Args {
		switch {
		case l.Role != "" && i == l.EnvArg:
			ts.vars(splitEnvList(w.Text, w.Offset))
		case l.Service == "frontend" && i == frontendFlags:
			ts.options(l.Args[i:], i)
		case l.Service == "frontend" && i > frontendFlags:
		default:
			ts.word(Argument, w).Index = i
		}
	}
	ts.redirects(c.Redirects)
	ts.override(Variable, setAgain)
	ts.override(ProgramFlag, givenAgain)
	ts.nameBearers()
	return ts
}

// frontendFlags is the index of the first flag of the frontend among the arguments of its start script.
const frontendFlags = 3

// override marks the tokens that a later one of the same name overrides.
func (ts tokens) override(part Part, why string) {
	last := map[string]int{}
	for i, t := range ts {
		if t.Part != part || t.Overridden != "" {
			continue
		}
		old, again := last[t.Name]
		if again {
			ts[old].Overridden = why
		}
		if t.Var.appends {
			var before *Var
			if again {
				before = &ts[old].Var
			}
			ts[i].Var = t.Var.after(before)
			ts[i].Value = ts[i].Var.Value
		}
		last[t.Name] = i
	}
}

// Tokens returns the tokens of a command.
func (c Command) Tokens() []Token {
	var ts tokens
	ts.assigns(c.Assigns)
	for _, w := range c.Names {
		ts.word(BareVariable, w).Name = w.Text
	}
	if c.Compound.Text != "" {
		ts.word(OtherCommand, c.Compound)
	}
	for i, w := range c.Words {
		if i == 0 {
			ts.word(OtherCommand, w)
		} else {
			ts.word(Argument, w).Index = i - 1
		}
	}
	ts.redirects(c.Redirects)
	slices.SortStableFunc(ts, func(a, b Token) int { return cmp.Compare(a.Offset, b.Offset) })
	ts.nameBearers()
	return ts
}
