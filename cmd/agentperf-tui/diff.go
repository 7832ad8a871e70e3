package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

func diffCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff A B", Short: "Compare two recipes, workloads or port reports", Args: usage(cobra.ExactArgs(2)),
		Long: `Compare two recipes, two workload files or two port reports field by field. A list
counts as one field. Recipes of layout 1 and layout 2 are compared by meaning. Exit
code 1 if they differ.`,
		Example: `  agentperf-tui diff r.yaml other.yaml
  agentperf-tui diff r.provenance.json other.provenance.json`,
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if isProvenance(args[0]) || isProvenance(args[1]) {
			return a.diffProvenance(args[0], args[1])
		}
		c, err := recipes.DiffFiles(args[0], args[1])
		if err != nil {
			return badInput(err)
		}
		if a.json {
			a.print(c)
		} else {
			a.diffText(c, args)
		}
		return exitUnless(c.Identical == c.Total)
	}
	return cmd
}

func (a *app) diffText(c recipes.Comparison, names []string) {
	a.say("%d/%d fields identical\n", c.Identical, c.Total)
	side := func(name string, s *recipes.Side) string {
		if s == nil {
			return "  - " + name + ": not set\n"
		}
		return fmt.Sprintf("  - %s:%d: %s: %s\n", name, s.Line, safetext.Clean(s.Path), safetext.Clean(s.Value))
	}
	for _, d := range c.Differences {
		a.say("%s\n%s%s", safetext.Clean(d.Path), side(names[0], d.A), side(names[1], d.B))
	}
}

// isProvenance reports whether a file is a port report, by its name.
func isProvenance(path string) bool { return strings.HasSuffix(path, ".provenance.json") }

// diffProvenance compares two port reports row by row. Exit code 1 if they differ.
func (a *app) diffProvenance(x, y string) error {
	left, err := porter.LoadProvenance(x)
	if err != nil {
		return badInput(err)
	}
	right, err := porter.LoadProvenance(y)
	if err != nil {
		return badInput(err)
	}
	d := porter.DiffProvenance(left, right)
	if a.json {
		a.print(d)
	} else {
		a.lines(d.Text(x, y))
	}
	return exitUnless(d.Identical == d.Total)
}
