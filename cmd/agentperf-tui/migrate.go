package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/migrate"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

func migrateCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "migrate [RECIPE]", Short: "Convert a recipe of layout 1 to layout 2", Args: usage(cobra.MaximumNArgs(1)),
		Long: `Convert a recipe of layout 1 to layout 2, or a file with a base and overrides. Comments
are kept, and the order where fields stay in place. The result is verified: it loads, has
the same meaning and all comments. Fields that layout 2 does not have, or that the
benchmark does not read, are removed with a note. If a part can't be moved, the error
names its line, and nothing is written. Without --out the result is printed. An existing
file is never overwritten.`,
		Example: `  agentperf-tui migrate old.yaml --out new.yaml`,
	}
	flag := addRecipeFlag(cmd)
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
		a.notes(res.Notes)
		switch {
		case *out == "" && a.json:
			return a.print(map[string]any{"text": string(res.Data), "notes": append([]string{}, res.Notes...)})
		case *out == "":
			_, err := a.stdout.Write(res.Data)
			return err
		}
		if _, err := os.Lstat(*out); err == nil {
			return badInput(problem.Errorf(problem.FileExists, "migrate: %s: file exists; give another name", *out))
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
