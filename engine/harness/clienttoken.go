package harness

import (
	"path"
	"slices"
	"strings"
)

// ClientToken is a token of the client script.
type ClientToken struct {
	Token
	Command int // index in Commands
	At      Evidence
}

// Tokens returns the tokens of the client script, in the order of its commands. The caller must not change them.
func (c *ClientCommand) Tokens() []ClientToken {
	if c.tokens == nil {
		c.tokens = c.parseTokens()
	}
	return c.tokens
}

func (c *ClientCommand) parseTokens() []ClientToken {
	var out []ClientToken
	for i := range c.Commands {
		for _, t := range c.tokensOf(i) {
			out = append(out, ClientToken{t, i, c.src.at(t.Name, t.Source, t.Offset)})
		}
	}
	c.overrideVariables(out)
	return out
}

// IsLaunch reports whether a command is the srun command that starts the shell of the client.
func (c *ClientCommand) IsLaunch(i int) bool { return c.Launch != nil && i == c.Outer }

// IsRun reports whether a command is the one that runs the client.
func (c *ClientCommand) IsRun(i int) bool { return len(c.Runs) > 0 && i == c.Runs[len(c.Runs)-1] }

func (c *ClientCommand) tokensOf(i int) tokens {
	cmd := c.Commands[i]
	if !c.IsLaunch(i) && !c.IsRun(i) {
		return cmd.Tokens()
	}
	var ts tokens
	words := cmd.Words
	if srun := slices.IndexFunc(words, isSrun); c.IsLaunch(i) && srun >= 0 {
		rest := srun + 1
		ts.srun(Command{Assigns: cmd.Assigns, Words: words}, srun, rest)
		rest += ts.flags(words[rest:])
		if !c.Launch.ExportsAll() {
			for k := range cmd.Assigns {
				ts[k].Overridden = notPassedOn
			}
		}
		words = words[rest:]
	} else {
		ts.assigns(cmd.Assigns)
	}
	script := len(words)
	if c.IsRun(i) {
		script = slices.IndexFunc(words, isClientScript)
	}
	for _, w := range words[:script] {
		if n := nameLen(w.Text); n > 0 && n < len(w.Text) && w.Text[n] == '=' { // env NAME=value … python run.py
			ts.vars([]Var{newVar(w.Text, w.Offset)})
		} else {
			ts.word(Program, w)
		}
	}
	if script < len(words) {
		ts.word(StartScript, words[script])
		ts.options(words[script+1:], 0)
	}
	ts.redirects(cmd.Redirects)
	return ts
}

func isSrun(w Word) bool { return path.Base(w.Text) == "srun" }

func isClientScript(w Word) bool { return path.Base(w.Text) == "run.py" }

// Reaches reports whether a variable that a command sets reaches the client.
func (c *ClientCommand) Reaches(i int, name string) bool {
	cmd := c.Commands[i]
	switch {
	case c.IsRun(i) || c.IsLaunch(i):
		return true
	case len(c.Runs) == 0 || i > c.Runs[len(c.Runs)-1]:
		return false
	case cmd.Exports:
		return true
	case len(cmd.Words) > 0:
		return false
	}
	// A variable of the shell may be exported later.
	return slices.ContainsFunc(c.Commands[i:c.Runs[len(c.Runs)-1]], func(later Command) bool {
		return later.Exports && slices.ContainsFunc(later.Names, func(w Word) bool { return w.Text == name })
	})
}

// Reasons for which variables have no effect.
const (
	notPassedOn = "--export does not pass it on"
	setAgain    = "the variable is set again later"
	givenAgain  = "the same flag is given again later in the line"
	notExported = "only the shell of the old script had it"
	setLater    = "set after the client was started"
)

// overrideVariables marks the variables that do not reach the client, and those that are set again later.
func (c *ClientCommand) overrideVariables(all []ClientToken) {
	last := map[string]int{}
	for i, t := range all {
		if t.Part != Variable || t.Overridden != "" {
			continue
		}
		if !c.Reaches(t.Command, t.Name) {
			switch cmd := c.Commands[t.Command]; {
			case cmd.Exports:
				all[i].Overridden = setLater
			case len(cmd.Words) == 0:
				all[i].Overridden = notExported
			}
			continue
		}
		if old, again := last[t.Name]; again {
			all[old].Overridden = setAgain
		}
		last[t.Name] = i
	}
}

// Env returns the environment that the script gives to the client.
func (c *ClientCommand) Env() []Var {
	var out []Var
	for _, t := range c.Tokens() {
		if t.Part == Variable && t.Overridden == "" && c.Reaches(t.Command, t.Name) {
			v := t.Var
			v.At = t.At
			out = append(out, v)
		}
	}
	return out
}

// BareNames returns the names without a value in the --export list of the client.
func (c *ClientCommand) BareNames() []Value {
	if c.Launch == nil {
		return nil
	}
	return c.Launch.BareNames
}

// IsBenchStepFlag reports whether the bench step of the new job sets a flag of the client itself.
func IsBenchStepFlag(name string) bool { return benchStepFlags[name] }

// Text returns a command as written, without its assignments and redirections.
func (c Command) Text() string {
	words := make([]string, 0, len(c.Words)+1)
	if c.Compound.Text != "" {
		words = append(words, c.Compound.Text)
	}
	for _, w := range c.Words {
		words = append(words, w.Source)
	}
	return strings.Join(words, " ")
}
