package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

const (
	whyBenchStarts = "the bench step starts the client itself"
	whyBenchSets   = "the bench step sets it"
	whyBenchBuilds = "the bench step builds the client itself"

	clientScript = "the client script"
)

// OfClient returns the fate of a token of the client script. It is empty for a token that is compared with
// the new job.
func OfClient(c *harness.ClientCommand, t harness.ClientToken) Fate {
	cmd := c.Commands[t.Command]
	switch {
	case c.IsLaunch(t.Command) || c.IsRun(t.Command):
		return runFate(c, t)
	case isOtherRun(c, t.Command):
		return ask("client runs", clientScript+" runs the client more than once, and only the last one is ported: "+
			"port the others by hand, or accept that they are not run")
	case IsCheckout(c, t):
		return Fate{}
	case t.Part == harness.Variable && c.Reaches(t.Command, t.Name):
		return Fate{}
	case t.Part == harness.BareVariable:
		return exportFate(c, t)
	case buildsClient(cmd):
		return dropped(whyBenchBuilds)
	}
	f := OfCommand(cmd, clientScript)
	if outer, ok := enclosing(c, t.Command); ok && f.Action == Ask {
		f = OfCommand(outer, clientScript) // one decision about all that it runs
	}
	return f
}

// isOtherRun reports whether a command runs the client, or is the shell in which it runs, and is not the one
// that is ported.
func isOtherRun(c *harness.ClientCommand, i int) bool {
	return slices.ContainsFunc(c.Runs, func(run int) bool { return i <= run && run <= i+c.Commands[i].Nested })
}

// runFate returns the fate of a token of the command that runs the client, or of the srun command around
// it.
func runFate(c *harness.ClientCommand, t harness.ClientToken) Fate {
	switch t.Part {
	case harness.Program:
		return programFate(t.Token, func() []harness.Token { return clientPrograms(c) })
	case harness.StartScript:
		return managed(whyBenchStarts)
	case harness.ProgramFlag:
		switch {
		case t.Name == "--concurrencies" && len(Levels(t.Value)) == 0:
			text := safetext.Clip(t.Value, 60)
			return ask("client levels "+text, fmt.Sprintf("the client's command has --concurrencies %q, which is no list of "+
				"concurrency levels: check those of the recipe", text))
		case t.Name != "--concurrencies" && harness.IsBenchStepFlag(t.Name):
			return managed(whyBenchSets)
		}
	case harness.ExportWord, harness.Redirection:
		return Of(&harness.Launch{}, t.Token)
	}
	return Fate{}
}

// clientPrograms returns the words before the client's script, and those of the shell around it.
func clientPrograms(c *harness.ClientCommand) []harness.Token {
	var all []harness.Token
	for _, t := range c.Tokens() {
		if t.Part == harness.Program && (c.IsLaunch(t.Command) || c.IsRun(t.Command)) {
			all = append(all, t.Token)
		}
	}
	return all
}

// IsCheckout reports whether a token is the directory in which the client is started.
func IsCheckout(c *harness.ClientCommand, t harness.ClientToken) bool {
	at := c.Checkout.At
	at.Key = t.At.Key
	return t.Part == harness.Argument && commandName(c.Commands[t.Command]) == "cd" && t.At == at
}

// exportFate returns the fate of an option or a name without a value of an export.
func exportFate(c *harness.ClientCommand, t harness.ClientToken) Fate {
	set := slices.ContainsFunc(c.Commands, func(cmd harness.Command) bool {
		return slices.ContainsFunc(cmd.Assigns, func(a harness.Assign) bool { return a.Name == t.Name })
	})
	switch {
	case strings.HasPrefix(t.Name, "-"):
		return dropped(whyShell)
	case set:
		return managed("exports a variable that the script sets")
	case VariableOf(Client, t.Name).Action == Drop:
		return dropped(VariableOf(Client, t.Name).Why)
	}
	name := safetext.Clip(t.Name, 60)
	return ask("client export "+name, clientScript+" exports "+name+" without a value; it came from the submitting "+
		"shell: add it to benchmark.env if it is needed")
}

// buildsClient reports whether a command builds the client, as the bench step does.
func buildsClient(c harness.Command) bool {
	has := func(word string) bool {
		return slices.ContainsFunc(c.Words, func(w harness.Word) bool { return w.Text == word })
	}
	return commandName(c) == "uv" && (has("sync") || has("venv") || has("maturin"))
}

// enclosing returns the srun command whose shell runs a command, unless it is that of the client.
func enclosing(c *harness.ClientCommand, i int) (harness.Command, bool) {
	for j, outer := range c.Commands[:i] {
		if j+outer.Nested >= i && !c.IsLaunch(j) && !isShell(outer) {
			return outer, true
		}
	}
	return harness.Command{}, false
}
