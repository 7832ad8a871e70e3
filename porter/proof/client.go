package proof

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// extraArgs is the variable in which the bench step gets more flags of the client.
const extraArgs = "AGENTPERF_EXTRA_ARGS"

// compareClient compares the client script with the client's step.
func (p *comparer) compareClient(client *harness.ClientCommand) {
	step := p.findStep(string(schema.Client))
	ts := client.Tokens()
	if step == nil {
		p.wholeLaunch(len(ts), p.question("resources", "layout"))
		return
	}
	p.current.Step = step.Name
	c := p.newLaunchComparer(nil, step, client.Env())
	passed := strings.Fields(c.env[extraArgs].Value)
	for _, t := range ts {
		if f := rules.OfClient(client, t); t.Overridden == "" && f.Action != "" {
			c.fated(t.Token, f, false)
			continue
		}
		switch {
		case t.Overridden == "" && rules.IsCheckout(client, t):
			c.compareValue("cd", "directory", t.Value, argumentOf(step.Argv, "--client-dir"),
				c.explainField("benchmark.agentperf_client_dir", ""))
		case t.Overridden == "" && (t.Part == harness.ProgramFlag || t.Part == harness.Argument):
			passed = c.clientArgument(t.Token, passed)
		default:
			c.account(t.Token)
		}
	}
	if len(client.Flags) > 0 {
		c.seen[extraArgs] = true
		if len(passed) > 0 {
			c.addDifference(added, "env", extraArgs, "", strings.Join(passed, " "), c.explainExtraArgs())
		}
	}
	c.addNewVariables()
	c.addNewFlags()
	c.addNewMounts()
}

// clientArgument compares a flag or argument of the client with those that are passed on, and returns the
// rest of these.
func (c *launchComparer) clientArgument(t harness.Token, passed []string) []string {
	const levels = "benchmark.concurrency"
	if t.Name == "--concurrencies" {
		if c.hasLevels(t.Value) {
			c.addDifference(changed, "option", t.Name, t.Value, "", because("the concurrency levels are in the recipe"))
		} else {
			c.addDifference(dropped, "option", t.Name, t.Value, "",
				c.question(levels, "disagrees").or(c.answer(levels), c.question(levels, "")))
		}
		return passed
	}
	if len(passed) >= len(t.Words) && slices.Equal(passed[:len(t.Words)], t.Words) {
		c.same(string(t.Part), cmp.Or(t.Name, t.Value))
		return passed[len(t.Words):]
	}
	name := t.Text()
	if t.Name == harness.BearerToken {
		name = t.Name
	}
	c.addDifference(dropped, string(t.Part), name, "", "", c.explainExtraArgs())
	return passed
}

// explainExtraArgs explains other flags than the old ones.
func (c *launchComparer) explainExtraArgs() reason {
	const field = "benchmark.env." + extraArgs
	return c.answer(field).or(c.question(field, "spaces"))
}

// argumentOf returns the argument that follows a flag.
func argumentOf(argv []string, flag string) string {
	if i := slices.Index(argv, flag); i >= 0 && i+1 < len(argv) {
		return argv[i+1]
	}
	return ""
}
