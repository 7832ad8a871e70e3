package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

func checkCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "check [RECIPE]", Short: "Check a recipe and its workload", Args: usage(cobra.MaximumNArgs(1)),
		Long: `Check a recipe and its workload. Print each finding with file:line:col, the phase
timeout rule for each concurrency level, an upper bound on the run time, open
placeholders and questions of a port, and the values from the cluster file. A file with several recipes (base
and override_*, or a sweep) is checked recipe by recipe; file.yaml:override_x selects
one.

--fix writes the fixes that don't change the meaning (quotes, letter case), and the
changes of --set and --unset, to the files. Without it nothing is written. Exit code 1
if there is an error.`,
		Example: `  agentperf-tui check r.yaml --workload w.yaml
  agentperf-tui check r.yaml --set benchmark.concurrency=512
  agentperf-tui check r.yaml --fix`,
	}
	f := addInputFlags(cmd)
	fix := cmd.Flags().Bool("fix", false, "write the fixes that don't change the meaning")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := recipeArg(args, *f.file)
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
			if err := a.fix(cmd.Context(), e, f.Files, names); err != nil {
				return err
			}
			f.Edits = nil // they are in the files now
		}
		return a.check(cmd.Context(), e, f.Files, names)
	}
	return cmd
}

// check checks each recipe of a file and prints the findings.
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
			a.say("%s\n", safetext.Clean(name))
		}
		a.checkText(p)
	}
	switch {
	case a.json && len(docs) == 1:
		a.print(docs[0])
	case a.json:
		a.print(struct {
			OK      bool      `json:"ok"`
			Recipes []checked `json:"recipes"`
		}{ok, docs})
	}
	return exitUnless(ok)
}

// fix applies the edits of --set and --unset and the safe fixes of each recipe to the files.
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
				a.note("%s: %s %s %s\n", file.File, ed.Op, safetext.Clean(ed.Path), safetext.Clean(ed.Value))
			}
		}
	}
	return nil
}

func (a *app) checkText(p *engine.Pair) error {
	a.diagnostics(p.Report.Diagnostics)
	if p.Workload == nil && p.Recipe != nil {
		a.note("no workload file: the phase timeout rule was not checked; pass --workload\n")
	}
	for _, t := range p.Report.Timeouts {
		a.say("%s\n", timeoutLine(t, len(p.Report.Timeouts) > 1))
	}
	if est := p.Report.Estimate; est != nil {
		a.say("run time, %s\n", est.Summary())
	}
	cluster := "no cluster file"
	if p.Cluster != nil && p.Cluster.File != "" {
		cluster = "cluster file " + p.Cluster.File
	}
	a.say("%s\n", safetext.Clean(cluster))
	for _, c := range p.Changes {
		a.say("  %s\n", safetext.Clean(fmt.Sprintf("%s: %q → %q (%s)", c.Field, c.From, c.To, c.Origin)))
	}
	ds := p.Report.Diagnostics
	summary := fmt.Sprintf("%s, %s, %s", ui.Plural(ds.Errors(), "error"),
		ui.Plural(ds.Warnings(), "warning"), ui.Plural(p.Report.Todos, "open placeholder"))
	if n := p.Report.Questions; n > 0 {
		summary += ", " + ui.Plural(n, "open must-fix question") + " of the port"
	}
	return a.say("%s\n", summary)
}

func timeoutLine(t recipes.TimeoutCheck, several bool) string {
	mark := "✓"
	if !t.OK {
		mark = "✗"
	}
	line := mark + " phase timeout, " + t.Summary()
	if t.Binding && several {
		line += " (binding)"
	}
	if t.OK {
		seconds := strings.TrimSuffix(fmt.Sprintf("%.1f", t.Measurement), ".0")
		line += fmt.Sprintf("; %s s of measurement if no stop criterion ends the phase earlier", seconds)
	}
	if len(t.Assumed) > 0 {
		line += "; assumed, not in the file: " + strings.Join(t.Assumed, ", ")
	}
	return line
}

// checked is the JSON output of check.
type checked struct {
	OK          bool                   `json:"ok"`
	Recipe      string                 `json:"recipe"`
	Cluster     string                 `json:"cluster_file"`
	Changes     []recipes.Change       `json:"cluster_changes"`
	Diagnostics recipes.Diagnostics    `json:"diagnostics"`
	Timeouts    []recipes.TimeoutCheck `json:"timeouts"`
	Estimate    *check.Estimate        `json:"estimate"`
	Todos       int                    `json:"todos"`
	Questions   int                    `json:"questions"`
}

func document(name string, p *engine.Pair) checked {
	doc := checked{
		OK: p.Report.OK(), Recipe: name, Estimate: p.Report.Estimate, Todos: p.Report.Todos,
		Questions:   p.Report.Questions,
		Changes:     append([]recipes.Change{}, p.Changes...),
		Diagnostics: append(recipes.Diagnostics{}, p.Report.Diagnostics...),
		Timeouts:    append([]recipes.TimeoutCheck{}, p.Report.Timeouts...),
	}
	if p.Cluster != nil {
		doc.Cluster = p.Cluster.File
	}
	return doc
}
