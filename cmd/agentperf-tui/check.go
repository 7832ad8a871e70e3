package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/safetext"
)

// files binds the flags that name a run's files and change them.
func files(cmd *cobra.Command) (*engine.Files, *string) {
	f := &engine.Files{}
	cmd.Flags().StringVar(&f.Workload, "workload", "", "workload file (default: the recipe's agentperf_config, where it can be seen)")
	cmd.Flags().StringVar(&f.Cluster, "cluster", "", "cluster file (default: $SRTSLURM_CONFIG, or srtslurm.yaml here or up to two folders above)")
	cmd.Flags().Var(&edits{op: recipes.OpSet, to: &f.Edits}, "set", "`path=value` to use instead of what the files say, in the order given; keys of the workload file too")
	cmd.Flags().Var(&edits{op: recipes.OpUnset, to: &f.Edits}, "unset", "`path` to leave out of the files")
	return f, recipeFlag(cmd)
}

// edits is a flag that may be given several times; --set and --unset share one
// list, since their order counts.
type edits struct {
	op recipes.Op
	to *[]recipes.Edit
}

// Set takes one edit.
func (e *edits) Set(text string) error {
	path, value, ok := text, "", true
	if e.op == recipes.OpSet {
		path, value, ok = strings.Cut(text, "=")
	}
	if !ok || path == "" {
		return fmt.Errorf("want path=value, found %q", text)
	}
	*e.to = append(*e.to, recipes.Edit{Op: e.op, Path: path, Value: value})
	return nil
}

// String is empty: there is no default to show.
func (e *edits) String() string { return "" }

// Type names the value in help texts.
func (e *edits) Type() string { return "string" }

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
		Long: "Check a recipe and its workload: every finding with file:line:col, the phase-timeout\nrule for each concurrency level, how long the run takes at most, open placeholders,\nand what the cluster file puts in. A file of several recipes (base and override_*, or\na sweep) is checked whole; file.yaml:override_x is one of them. --fix makes the fixes\nthat say the same as before (quotes, letter case), and --set and --unset, in the files;\nwithout it nothing is written. Exit code 1 on an error.",
	}
	f, flag := files(cmd)
	fix := cmd.Flags().Bool("fix", false, "write the fixes that change no meaning")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := recipeArg(args, *flag)
		if err != nil {
			return err
		}
		e, err := a.engine()
		if err != nil {
			return err
		}
		names, err := e.Recipes(name)
		if err != nil {
			return badInput(err)
		}
		if *fix {
			if err := a.fix(cmd.Context(), e, *f, names); err != nil {
				return err
			}
			f.Edits = nil // they are in the files now
		}
		return a.check(cmd.Context(), e, *f, names)
	}
	return cmd
}

// check reports on each recipe of a file.
func (a *app) check(ctx context.Context, e *engine.Engine, f engine.Files, names []string) error {
	ok := true
	var docs []checked
	for _, name := range names {
		f.Recipe = name
		p, err := e.Load(ctx, f)
		if err != nil {
			return badInput(err)
		}
		ok = ok && p.Report.OK()
		if a.json {
			docs = append(docs, document(name, p))
			continue
		}
		if len(names) > 1 {
			if err := a.say("%s\n", safetext.Clean(name)); err != nil {
				return err
			}
		}
		if err := a.checkText(p); err != nil {
			return err
		}
	}
	var err error
	switch {
	case a.json && len(docs) == 1:
		err = a.print(docs[0])
	case a.json:
		err = a.print(struct {
			OK      bool      `json:"ok"`
			Recipes []checked `json:"recipes"`
		}{ok, docs})
	}
	if err == nil && !ok {
		err = exitWith(1)
	}
	return err
}

func (a *app) fix(ctx context.Context, e *engine.Engine, f engine.Files, names []string) error {
	for _, name := range names {
		f.Recipe = name
		done, err := e.Fix(ctx, f)
		if err != nil {
			return badInput(err)
		}
		f.Edits = nil
		for _, file := range done {
			for _, ed := range file.Edits {
				if err := a.note("%s: %s %s %s\n", file.File, ed.Op, safetext.Clean(ed.Path), safetext.Clean(ed.Value)); err != nil {
					return err
				}
			}
		}
	}
	return nil
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
		if err := a.say("%s\n", timeoutLine(t, len(p.Report.Timeouts) > 1)); err != nil {
			return err
		}
	}
	if est := p.Report.Estimate; est != nil {
		if err := a.say("run time, %s\n", est.Sentence()); err != nil {
			return err
		}
	}
	cluster := "no cluster file"
	if p.Cluster != nil && p.Cluster.File != "" {
		cluster = "cluster file " + p.Cluster.File
	}
	if err := a.say("%s\n", safetext.Clean(cluster)); err != nil {
		return err
	}
	for _, c := range p.Changes {
		if err := a.say("  %s\n", safetext.Clean(fmt.Sprintf("%s: %q → %q (%s)", c.Field, c.From, c.To, c.Origin))); err != nil {
			return err
		}
	}
	ds := p.Report.Diagnostics
	return a.say("%s, %s, %s\n", several(ds.Errors(), "error"), several(ds.Warnings(), "warning"), several(p.Report.Todos, "open placeholder"))
}

// several is a number of things.
func several(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func timeoutLine(t recipes.TimeoutCheck, several bool) string {
	mark := "✓"
	if !t.OK {
		mark = "✗"
	}
	line := mark + " phase timeout, " + t.Sentence()
	if t.Binding && several {
		line += " (binding)"
	}
	if t.OK {
		line += fmt.Sprintf("; %s s of measurement if no stop criterion ends the phase earlier", strings.TrimSuffix(fmt.Sprintf("%.1f", t.Measurement), ".0"))
	}
	if len(t.Assumed) > 0 {
		line += "; assumed, not in the file: " + strings.Join(t.Assumed, ", ")
	}
	return line
}

// checked is the JSON form of a check.
type checked struct {
	OK          bool                   `json:"ok"`
	Recipe      string                 `json:"recipe"`
	Cluster     string                 `json:"cluster_file"`
	Changes     []recipes.Change       `json:"cluster_changes"`
	Diagnostics recipes.Diagnostics    `json:"diagnostics"`
	Timeouts    []recipes.TimeoutCheck `json:"timeouts"`
	Estimate    *check.Estimate        `json:"estimate"`
	Todos       int                    `json:"todos"`
}

func document(name string, p *engine.Pair) checked {
	doc := checked{
		OK: p.Report.OK(), Recipe: name, Changes: append([]recipes.Change{}, p.Changes...), Diagnostics: append(recipes.Diagnostics{}, p.Report.Diagnostics...),
		Timeouts: append([]recipes.TimeoutCheck{}, p.Report.Timeouts...), Estimate: p.Report.Estimate, Todos: p.Report.Todos,
	}
	if p.Cluster != nil {
		doc.Cluster = p.Cluster.File
	}
	return doc
}

func diffCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff A B", Short: "Compare two recipes, workload files or port reports, field by field", Args: usage(cobra.ExactArgs(2)),
		Long: "Compare two recipes, two workload files or two provenance reports of ports in leaf\nfields, a list counting as one; recipes of layout 1 and 2 by meaning. Exit code 1 if\nthey differ.",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if isProvenance(args[0]) || isProvenance(args[1]) {
			return a.diffProvenance(args[0], args[1])
		}
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
