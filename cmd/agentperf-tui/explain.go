package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/migrate"
	"github.com/agentperf/agentperf-tui/recipes/reference"
	"github.com/agentperf/agentperf-tui/safetext"
)

func explainCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "explain [PATH]", Short: "What a field, or a rule of check, is", Args: usage(cobra.MaximumNArgs(1)),
		Long: "What a field of recipe, workload or cluster file is: type, default, allowed values,\nunit, and what bites. PATH may be in the spelling of either layout, or the last part\nof it; a mapping lists its fields, nothing lists all. The name of a rule, as check\nreports it with --json, explains the rule.",
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		word := ""
		if len(args) == 1 {
			word = args[0]
		}
		ans := reference.Explain(word)
		if a.json {
			if err := a.print(ans); err != nil {
				return err
			}
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
	return fmt.Sprintf("%s  (%s)\n  where    %s\n  bites    %s\n  right    %s\n", r.ID, r.Severity, r.Area, r.Bites, r.Right)
}

func migrateCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "migrate RECIPE", Short: "Write a recipe of layout 1 in layout 2", Args: usage(cobra.MaximumNArgs(1)),
		Long: "Write a recipe of layout 1 in layout 2, comments and order kept as far as fields that\nmove allow. The result is read again and has to mean the same. Without --out it is\nprinted; a file that is there already is never overwritten.",
	}
	flag := recipeFlag(cmd)
	out := cmd.Flags().String("out", "", "file to write")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := recipeArg(args, *flag)
		if err != nil {
			return err
		}
		data, err := recipes.Read(name)
		if err != nil {
			return badInput(fmt.Errorf("migrate: %w", err))
		}
		res, err := migrate.Recipe(name, data)
		if err != nil {
			return badInput(err)
		}
		for _, n := range res.Notes {
			if err := a.note("%s\n", safetext.Clean(n)); err != nil {
				return err
			}
		}
		switch {
		case *out == "" && a.json:
			return a.print(map[string]any{"text": string(res.Data), "notes": append([]string{}, res.Notes...)})
		case *out == "":
			_, err := a.stdout.Write(res.Data)
			return err
		}
		if _, err := os.Lstat(*out); !errors.Is(err, fs.ErrNotExist) {
			return badInput(fmt.Errorf("migrate: %s is there already: give another name", *out))
		}
		e, err := a.engine()
		if err != nil {
			return err
		}
		if err := e.Save(cmd.Context(), *out, res.Data, nil); err != nil {
			return written("migrate", err)
		}
		if a.json {
			return a.print(map[string]any{"out": *out, "notes": append([]string{}, res.Notes...)})
		}
		return a.say("wrote %s\n", *out)
	}
	return cmd
}
