package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/reference"
)

func explainCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "explain [PATH]", Short: "What a field, or a rule of check, is", Args: usage(cobra.MaximumNArgs(1)),
		Long: `What a field of recipe, workload or cluster file is: type, default, allowed values,
unit, and what bites. PATH may be in the spelling of either layout, or the last part
of it; a mapping lists its fields, nothing lists all. The name of a rule, as check
reports it with --json, explains the rule.`,
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
		if ans.Rule == nil && len(ans.Entries) == 0 {
			meant := ""
			if ans.Nearest != "" {
				meant = fmt.Sprintf("; did you mean %s?", ans.Nearest)
			}
			return badInput(fmt.Errorf("explain %q: no field and no rule is called so%s", word, meant))
		}
		switch {
		case a.json:
			return nil
		case ans.Rule != nil:
			return a.say("%s", ruleText(*ans.Rule))
		case len(ans.Entries) == 1:
			return a.say("%s", ans.Entries[0].Text())
		}
		rows := [][]string{{"FIELD", "TYPE", "DEFAULT", "MEANING"}}
		for _, e := range ans.Entries {
			def := e.Default
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
	return fmt.Sprintf("%s  (%s)\n  where    %s\n  bites    %s\n  right    %s\n",
		r.ID, r.Severity, r.Area, r.Pitfall, r.Fix)
}
