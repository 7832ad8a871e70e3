package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// planFlags holds the flags that select the launcher and the scale of a run.
type planFlags struct {
	launcher string
	smoke    bool
	scale    plan.LocalScale
}

// plannedRun is a plan and the files that it was made from.
type plannedRun struct {
	engine *engine.Engine
	pair   *engine.Pair
	plan   *plan.Plan
}

// addPlanFlags adds the flags of planFlags to a command.
func addPlanFlags(cmd *cobra.Command, a *app) *planFlags {
	o := &planFlags{}
	fl := cmd.Flags()
	addChoiceFlag(fl, &o.launcher, "launcher", "", string(plan.Slurm), string(plan.Local), string(plan.Srtctl))
	addScaleFlags(cmd, &o.scale)
	fl.StringVar(&a.outputDir, "output-dir", "",
		"parent of run directories (default: output_dir of the configuration, else ./outputs)")
	return o
}

// loadAndPlan loads the files and plans the run. Errors in the files are printed; the exit code is 1.
func (a *app) loadAndPlan(cmd *cobra.Command, args []string, f *inputFlags, o planFlags) (p plannedRun, err error) {
	if err := checkScale(o.scale); err != nil {
		return p, err
	}
	to := plan.Target(o.launcher)
	for _, name := range []string{"users", "seconds"} {
		if to != plan.Local && cmd.Flags().Changed(name) {
			return p, badInput(problem.Errorf(problem.FlagConflict,
				"--%s: only valid with --launcher local; for a cluster set it in the workload", name))
		}
	}
	if p.engine, p.pair, err = a.load(cmd.Context(), args, f); err != nil {
		return p, err
	}
	p.plan, err = a.plan(p.engine, p.pair, engine.PlanOptions{Target: to, Smoke: o.smoke, Local: o.scale})
	return p, err
}

// plan plans the loaded files. If they have errors, it prints the findings instead.
func (a *app) plan(e *engine.Engine, p *engine.Pair, opt engine.PlanOptions) (*plan.Plan, error) {
	if p.Recipe != nil && p.Report.OnlyTodos() {
		return e.Plan(p, opt)
	}
	if a.json {
		a.print(document(p))
	} else {
		a.diagnostics(p.Report.Diagnostics)
	}
	return nil, exitWith(1) // the findings are printed
}

func dryRunCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "dry-run [RECIPE]", Short: "Show the plan of a run; write nothing", Args: usage(cobra.MaximumNArgs(1)),
		Long: `Show everything that a run will do: nodes by role, mounts, files, the environment of
each step with its origin, each command, and the batch script. Secrets are redacted.
Placeholders such as {node:0} stand for values that are known only in the job. They have more
braces, as in {{node:0}}, if a text of the recipe looks like a placeholder.`,
		Example: `  agentperf-tui dry-run r.yaml --workload w.yaml
  agentperf-tui dry-run r.yaml --workload w.yaml --launcher local`,
	}
	f, o := addInputFlags(cmd), addPlanFlags(cmd, a)
	cmd.Flags().BoolVar(&o.smoke, "smoke", false, "show the plan of apply --smoke")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := a.loadAndPlan(cmd, args, f, *o)
		if err != nil {
			return err
		}
		pl := p.plan.Redacted()
		if a.json {
			return a.print(pl)
		}
		for _, d := range p.pair.Report.Diagnostics {
			if d.Severity != recipes.Note {
				a.note("%s\n", safetext.Clean(d.String()))
			}
		}
		return a.planText(pl)
	}
	return cmd
}

func (a *app) planText(p *plan.Plan) error {
	a.say("plan %s  target %s  model %s (%s)  %d nodes of %d GPUs\nimage %s\n",
		p.Name, p.Target, p.Model, p.Precision, len(p.Nodes), p.GPUsPerNode, p.Image)
	for _, s := range p.Sections() {
		a.say("\n%s\n  %s\n", s.Title, strings.Join(s.Lines, "\n  "))
	}
	return a.stdout.err
}
