package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
placeholders and questions of a port, and the values from the cluster file. All
recipes of a file with several (base and override_*, or a sweep) are checked, and equal
findings are one line. A selector checks some of them: file.yaml:override_x,
:zip_override_x, :zip_override_x[1], :override_*, :sweep[3].

--srtctl asks an installed srtctl (srtctl schema) about the keys that this version does
not know: those that srtctl accepts are warnings.

--fix writes the fixes that don't change the meaning (quotes, letter case), and the
changes of --set and --unset, to the files. Without it nothing is written. Exit code 1
if there is an error.`,
		Example: `  agentperf-tui check r.yaml --workload w.yaml
  agentperf-tui check r.yaml --set benchmark.concurrency=512
  agentperf-tui check r.yaml --srtctl
  agentperf-tui check r.yaml --fix`,
	}
	f := addInputFlags(cmd)
	fix := cmd.Flags().Bool("fix", false, "write the fixes that don't change the meaning")
	ask := cmd.Flags().Bool("srtctl", false, "ask an installed srtctl about unknown keys")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := recipeArg(args, *f.file)
		if err != nil {
			return err
		}
		e, err := a.engine()
		if err != nil {
			return err
		}
		f.Recipe = name
		if *fix {
			if err := a.fix(cmd.Context(), e, f.Files); err != nil {
				return err
			}
			f.Edits = nil // they are in the files now
		}
		return a.check(cmd.Context(), e, f.Files, *ask)
	}
	return cmd
}

// check checks each recipe of a file and prints the findings. If ask is true, an installed srtctl is asked
// about unknown keys.
func (a *app) check(ctx context.Context, e *engine.Engine, f engine.Files, ask bool) error {
	pairs, err := e.LoadAll(ctx, f)
	if err != nil {
		return badInput(err)
	}
	if ask {
		if err := e.AskSrtctl(ctx, pairs); err != nil {
			return badInput(err)
		}
	}
	ok := !slices.ContainsFunc(pairs, func(p *engine.Pair) bool { return !p.Report.OK() })
	switch {
	case a.json && len(pairs) == 1:
		err = a.print(document(pairs[0]))
	case a.json:
		doc := checkedFile{OK: ok}
		for _, p := range pairs {
			doc.Recipes = append(doc.Recipes, document(p))
		}
		err = a.print(doc)
	case len(pairs) == 1:
		err = a.checkText(pairs[0])
	default:
		err = a.checkedFileText(f.Recipe, pairs)
	}
	return errors.Join(err, exitUnless(ok))
}

// fix applies the edits of --set and --unset and the safe fixes of each recipe to the files.
func (a *app) fix(ctx context.Context, e *engine.Engine, f engine.Files) error {
	done, err := e.Fix(ctx, f)
	for _, file := range done {
		for _, ed := range file.Edits {
			a.note("%s: %s %s %s\n", file.File, ed.Op, safetext.Clean(ed.Path), safetext.Clean(ed.Value))
		}
	}
	return badInput(err)
}

func (a *app) checkText(p *engine.Pair) error {
	a.diagnostics(p.Report.Diagnostics)
	a.noteWithoutWorkload([]*engine.Pair{p})
	for _, t := range p.Report.Timeouts {
		a.say("%s\n", timeoutLine(t, len(p.Report.Timeouts) > 1))
	}
	if est := p.Report.Estimate; est != nil {
		a.say("run time, %s\n", est.Summary())
	}
	a.say("%s\n", safetext.Clean(clusterFile(p)))
	for _, c := range p.Changes {
		a.say("  %s\n", safetext.Clean(changeText(c)))
	}
	ds := p.Report.Diagnostics
	return a.say("%s\n", countText(ds, p.Report.Todos, p.Report.Questions))
}

// countText counts findings, placeholders, and must-fix questions of a port if there are any.
func countText(ds recipes.Diagnostics, todos, questions int) string {
	text := fmt.Sprintf("%s, %s, %s", ui.Plural(ds.Errors(), "error"), ui.Plural(ds.Warnings(), "warning"),
		ui.Plural(todos, "open placeholder"))
	if questions > 0 {
		text += ", " + ui.Plural(questions, "open must-fix question") + " of the port"
	}
	return text
}

// noteWithoutWorkload notes that the phase timeout rule needs a workload file.
func (a *app) noteWithoutWorkload(pairs []*engine.Pair) {
	if slices.ContainsFunc(pairs, func(p *engine.Pair) bool { return p.Workload == nil && p.Recipe != nil }) {
		a.note("no workload file: the phase timeout rule was not checked; pass --workload\n")
	}
}

func clusterFile(p *engine.Pair) string {
	if p.Cluster == nil || p.Cluster.File == "" {
		return "no cluster file"
	}
	return "cluster file " + p.Cluster.File
}

func changeText(c recipes.Change) string {
	return fmt.Sprintf("%s: %q → %q (%s)", c.Field, c.From, c.To, c.Origin)
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

// checkedFile is the JSON output of check for a file with several recipes.
type checkedFile struct {
	OK      bool      `json:"ok"`
	Recipes []checked `json:"recipes"`
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

func document(p *engine.Pair) checked {
	doc := checked{
		OK: p.Report.OK(), Recipe: p.File, Estimate: p.Report.Estimate, Todos: p.Report.Todos,
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
