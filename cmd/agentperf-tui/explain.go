package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/reference"
)

func explainCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "explain [NAME]", Short: "Explain a field, a rule or an error", Args: usage(cobra.MaximumNArgs(1)),
		Long: `Explain a name: a field, a rule of check, or the id of an error.

A field of the recipe, the workload or the cluster file is given by its path in either
layout, or by the last part of the path; the output has its type, default, allowed
values, unit, what plans do with it, and pitfall. The path of a mapping lists the fields in it. Without NAME,
all fields are listed. The output of check --json has the ids of rules; the id of an
error is in brackets at the end of its message.`,
		Example: `  agentperf-tui explain benchmark.agentperf_config
  agentperf-tui explain phase-timeout
  agentperf-tui explain run-not-found`,
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		word := ""
		if len(args) == 1 {
			word = args[0]
		}
		ans := reference.Explain(word)
		if a.json {
			a.print(ans)
		}
		if ans.Rule == nil && ans.Error == nil && len(ans.Entries) == 0 {
			hint := ""
			if ans.Nearest != "" {
				hint = fmt.Sprintf("; did you mean %s?", ans.Nearest)
			}
			return badInput(problem.Errorf(problem.NameUnknown, "explain %q: no such field, rule or error%s", word, hint))
		}
		if a.json {
			return nil
		}
		if ans.Rule != nil {
			a.say("%s", ruleText(*ans.Rule))
			if len(ans.Entries) > 0 {
				a.say("\n")
			}
		}
		switch {
		case len(ans.Entries) == 0 && ans.Rule != nil:
			return nil
		case ans.Error != nil:
			return a.say("%s: %s\n  cause    %s\n  remedy   %s\n", ans.Error.ID, ans.Error.Title, ans.Error.Cause,
				ans.Error.Remedy)
		case len(ans.Entries) == 1:
			return a.say("%s", ans.Entries[0].Text())
		}
		rows := [][]string{{"FIELD", "TYPE", "DEFAULT", "MEANING"}}
		for _, e := range ans.Entries {
			def := e.DefaultText()
			if e.Required {
				def = "required"
			}
			rows = append(rows, []string{e.Path, e.Type, def, e.Doc})
		}
		return a.table(rows)
	}
	return cmd
}

func ruleText(r recipes.Rule) string {
	return fmt.Sprintf("%s  (%s)\n  area     %s\n  pitfall  %s\n  fix      %s\n",
		r.ID, r.Severity, r.Area, r.Pitfall, r.Fix)
}
