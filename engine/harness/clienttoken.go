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
	ts.programs(words[:script])
	if script < len(words) {
		ts.word(StartScript, words[script])
		ts.options(words[script+1:], 0)
	}
	ts.redirects(cmd.Redirects)
	ts.nameBearers()
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
	case len(c.Runs) == 0 || i > c.Runs[len(c.Runs)-1] || !c.inScope(i):
		return false
	case cmd.Exports:
		return true
	case len(cmd.Words) > 0:
		return false
	case c.exportsAll(i):
		return true
	}
	// A variable of the shell may be exported by another command.
	return slices.ContainsFunc(c.Commands[:c.Runs[len(c.Runs)-1]], func(other Command) bool {
		return other.Exports && (slices.ContainsFunc(other.Names, func(w Word) bool { return w.Text == name }) ||
			slices.ContainsFunc(other.Assigns, func(a Assign) bool { return a.Name == name }))
	})
}

// exportsAll reports whether set -a is in effect at a command.
func (c *ClientCommand) exportsAll(i int) bool {
	on := false
	for _, cmd := range c.Commands[:i] {
		if len(cmd.Words) < 2 || cmd.Words[0].Text != "set" {
			continue
		}
		for k, w := range cmd.Words[1:] {
			switch isLetters := len(w.Text) > 1 && w.Text[1] != '-'; {
			case w.Text == "allexport":
				on = strings.HasSuffix(cmd.Words[k].Text, "o") && cmd.Words[k].Text[0] == '-'
			case isLetters && w.Text[0] == '-' && strings.Contains(w.Text, "a"):
				on = true
			case isLetters && w.Text[0] == '+' && strings.Contains(w.Text, "a"):
				on = false
			}
		}
	}
	return on
}

// inScope reports whether what a command sets in its shell is set where the client runs.
func (c *ClientCommand) inScope(i int) bool {
	end := c.Commands[i].scope
	run := c.Run()
	return end == 0 || run.offset(0) < end
}

// unsets returns the name of the variable that a token of unset or export -n removes; empty for another one.
func (c *ClientCommand) unsets(t ClientToken) string {
	cmd := c.Commands[t.Command]
	isUnset := t.Part == Argument && len(cmd.Words) > 0 && cmd.Words[0].Text == "unset"
	isNot := t.Part == BareVariable && len(cmd.Names) > 0 && cmd.Names[0].Text == "-n"
	if !isUnset && !isNot || t.Command > c.Runs[len(c.Runs)-1] || !c.inScope(t.Command) {
		return ""
	}
	return t.Value
}

// Reasons for which variables have no effect.
const (
	notPassedOn = "--export does not pass it on"
	setAgain    = "the variable is set again later"
	givenAgain  = "the same flag is given again later in the line"
	notExported = "only the shell of the old script had it"
	setLater    = "set after the client was started"
	setInside   = "set in a subshell in which the client did not run"
	unsetLater  = "the script unsets it later"
)

// overrideVariables marks the variables that do not reach the client, and those that are set again later.
func (c *ClientCommand) overrideVariables(all []ClientToken) {
	last := map[string]int{}
	for i, t := range all {
		if len(c.Runs) > 0 {
			if old, set := last[c.unsets(t)]; set {
				all[old].Overridden = unsetLater
				delete(last, c.unsets(t))
			}
		}
		if t.Part != Variable || t.Overridden != "" {
			continue
		}
		if !c.Reaches(t.Command, t.Name) {
			switch cmd := c.Commands[t.Command]; {
			case len(c.Runs) > 0 && !c.inScope(t.Command):
				all[i].Overridden = setInside
			case cmd.Exports:
				all[i].Overridden = setLater
			case len(cmd.Words) == 0:
				all[i].Overridden = notExported
			}
			continue
		}
		var before *Var
		if old, again := last[t.Name]; again {
			all[old].Overridden, before = setAgain, &all[old].Var
		}
		all[i].Var = t.Var.after(before)
		all[i].Value = all[i].Var.Value
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
