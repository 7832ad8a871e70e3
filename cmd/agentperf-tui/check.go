package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/safetext"
	"github.com/agentperf/agentperf-tui/recipes"
)

// files binds the flags that name a run's files.
func files(cmd *cobra.Command) (*engine.Files, *string) {
	f := &engine.Files{}
	cmd.Flags().StringVar(&f.Workload, "workload", "", "workload file (default: the recipe's agentperf_config, where it can be seen)")
	cmd.Flags().StringVar(&f.Cluster, "cluster", "", "cluster file (default: $SRTSLURM_CONFIG, or srtslurm.yaml here or up to two folders above)")
	return f, recipeFlag(cmd)
}

// load reads the files of a command line.
func (a *app) load(cmd *cobra.Command, args []string, f *engine.Files, flag string) (*engine.Engine, *engine.Pair, error) {
	var err error
	if f.Recipe, err = recipeArg(args, flag); err != nil {
		return nil, nil, err
	}
	e, err := a.engine()
	if err != nil {
		return nil, nil, err
	}
	p, err := e.Load(cmd.Context(), *f)
	return e, p, badInput(err)
}

func checkCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "check RECIPE", Short: "All that is wrong with a recipe and its workload", Args: usage(cobra.MaximumNArgs(1)),
		Long: "Check a recipe and its workload: every finding with file:line:col, the phase-timeout\nrule for each concurrency level, open placeholders. Exit code 1 on an error.",
	}
	f, flag := files(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, p, err := a.load(cmd, args, f, *flag)
		if err != nil {
			return err
		}
		if a.json {
			err = a.print(checkDocument(p))
		} else {
			err = a.checkText(p)
		}
		if err == nil && !p.Report.OK() {
			err = exitWith(1)
		}
		return err
	}
	return cmd
}

func (a *app) checkText(p *engine.Pair) error {
	if err := a.diagnostics(p.Report.Diagnostics); err != nil {
		return err
	}
	if p.Workload == nil && p.Recipe != nil {
		if err := a.note("no workload file: the timeout rule was not checked; give it with --workload\n"); err != nil {
			return err
		}
	}
	for _, t := range p.Report.Timeouts {
		mark := "✓"
		if !t.OK {
			mark = "✗"
		}
		line := mark + " phase timeout, " + t.Sentence()
		if t.Binding && len(p.Report.Timeouts) > 1 {
			line += " (binding)"
		}
		if t.OK {
			line += fmt.Sprintf("; %s s of measurement if no stop criterion ends the phase earlier", strings.TrimSuffix(fmt.Sprintf("%.1f", t.Measurement), ".0"))
		}
		if len(t.Assumed) > 0 {
			line += "; assumed, not in the file: " + strings.Join(t.Assumed, ", ")
		}
		if err := a.say("%s\n", line); err != nil {
			return err
		}
	}
	ds := p.Report.Diagnostics
	return a.say("%d errors, %d warnings, %d open placeholders\n", ds.Errors(), ds.Warnings(), p.Report.Todos)
}

func checkDocument(p *engine.Pair) any {
	cluster := ""
	if p.Cluster != nil {
		cluster = p.Cluster.File
	}
	doc := struct {
		OK          bool                   `json:"ok"`
		Cluster     string                 `json:"cluster_file"`
		Changes     []recipes.Change       `json:"cluster_changes"`
		Diagnostics recipes.Diagnostics    `json:"diagnostics"`
		Timeouts    []recipes.TimeoutCheck `json:"timeouts"`
		Todos       int                    `json:"todos"`
	}{p.Report.OK(), cluster, p.Changes, p.Report.Diagnostics, p.Report.Timeouts, p.Report.Todos}
	if doc.Diagnostics == nil {
		doc.Diagnostics = recipes.Diagnostics{}
	}
	if doc.Timeouts == nil {
		doc.Timeouts = []recipes.TimeoutCheck{}
	}
	if doc.Changes == nil {
		doc.Changes = []recipes.Change{}
	}
	return doc
}

func diffCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff A B", Short: "Compare two recipes, or two workload files, field by field", Args: usage(cobra.ExactArgs(2)),
		Long: "Compare two recipes or two workload files in leaf fields, a list counting as one;\nrecipes of layout 1 and 2 by meaning. Exit code 1 if they differ.",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, err := a.engine()
		if err != nil {
			return err
		}
		c, err := e.Diff(cmd.Context(), args[0], args[1])
		if err != nil {
			return badInput(err)
		}
		if a.json {
			err = a.print(c)
		} else {
			err = a.diffText(c, args)
		}
		if err == nil && c.Identical != c.Total {
			err = exitWith(1)
		}
		return err
	}
	return cmd
}

func (a *app) diffText(c recipes.Comparison, names []string) error {
	if err := a.say("%d/%d fields identical\n", c.Identical, c.Total); err != nil {
		return err
	}
	side := func(name string, s *recipes.Side) string {
		if s == nil {
			return "  - " + name + ": not given\n"
		}
		return fmt.Sprintf("  - %s:%d: %s: %s\n", name, s.Line, safetext.Clean(s.Path), safetext.Clean(s.Value))
	}
	for _, d := range c.Differences {
		if err := a.say("%s\n%s%s", safetext.Clean(d.Path), side(names[0], d.A), side(names[1], d.B)); err != nil {
			return err
		}
	}
	return nil
}
