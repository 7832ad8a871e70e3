package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// planning is where and how large a run is to be.
type planning struct {
	launcher string
	smoke    bool
	scale    plan.LocalScale
}

// planned is a plan with the files that it is of.
type planned struct {
	engine *engine.Engine
	pair   *engine.Pair
	plan   *plan.Plan
}

// planFlags bind what a plan depends on beside the files.
func planFlags(cmd *cobra.Command, a *app) *planning {
	o := &planning{}
	fl := cmd.Flags()
	fl.StringVar(&o.launcher, "launcher", "slurm", "slurm, local or srtctl")
	scaleFlags(cmd, &o.scale)
	fl.StringVar(&a.outputDir, "output-dir", "",
		"base of run folders (default: output_dir of the configuration, else ./outputs)")
	return o
}

// planned loads and plans; with errors in the files these are printed and the exit code is 1.
func (a *app) planned(cmd *cobra.Command, args []string, f *inputs, o planning) (p planned, err error) {
	if err := checkScale(o.scale); err != nil {
		return p, err
	}
	to, err := target(o.launcher)
	if err != nil {
		return p, err
	}
	for _, name := range []string{"users", "seconds"} {
		if to != plan.Local && cmd.Flags().Changed(name) {
			return p, badInput(fmt.Errorf("--%s is for --launcher local; elsewhere the workload says it", name))
		}
	}
	if p.engine, p.pair, err = a.load(cmd.Context(), args, f); err != nil {
		return p, err
	}
	p.plan, err = a.plan(p.engine, p.pair, engine.PlanOptions{Target: to, Smoke: o.smoke, Local: o.scale})
	return p, err
}

// plan plans what was loaded, or prints what is wrong with it.
func (a *app) plan(e *engine.Engine, p *engine.Pair, opt engine.PlanOptions) (*plan.Plan, error) {
	if p.Recipe != nil && p.Report.OnlyTodos() {
		return e.Plan(p, opt)
	}
	if a.json {
		a.print(document(p.File, p))
	} else {
		a.diagnostics(p.Report.Diagnostics)
	}
	return nil, exitWith(1) // the findings say it all
}

func dryRunCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "dry-run RECIPE", Short: "Show the whole plan of a run; write nothing", Args: usage(cobra.MaximumNArgs(1)),
		Long: `Show everything that a run will do: nodes by role, mounts, files, each step's
environment with its origin and its command, and the batch script. Secrets are
hidden. {node:0} and the like stand for what is known only in the job.`,
	}
	f, o := inputFlags(cmd), planFlags(cmd, a)
	cmd.Flags().BoolVar(&o.smoke, "smoke", false, "the plan of apply --smoke")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := a.planned(cmd, args, f, *o)
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
	a.say("plan %s  target %s  model %s  %d nodes of %d GPUs\nimage %s\n",
		p.Name, p.Target, p.Model, len(p.Nodes), p.GPUsPerNode, p.Image)
	for _, s := range p.Sections() {
		a.say("\n%s\n  %s\n", s.Title, strings.Join(s.Lines, "\n  "))
	}
	return a.stdout.err
}
