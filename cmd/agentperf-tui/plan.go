package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/safetext"
)

// scaleFlags bind what target local plays of a run.
func scaleFlags(cmd *cobra.Command) *plan.LocalScale {
	s := &plan.LocalScale{}
	cmd.Flags().IntVar(&s.Users, "users", plan.DefaultUsers, "launcher local: users of the highest level")
	cmd.Flags().Float64Var(&s.Seconds, "seconds", plan.DefaultSeconds, "launcher local: length of a phase, its timeout")
	return s
}

// checkScale makes nonsense bad input.
func checkScale(s plan.LocalScale) error {
	if s.Users < 1 || !(s.Seconds > 0) || math.IsInf(s.Seconds, 0) {
		return badInput(fmt.Errorf("--users %d --seconds %g: want at least one user and more than 0 s", s.Users, s.Seconds))
	}
	return nil
}

// target reads --launcher.
func target(launcher string) (plan.Target, error) {
	switch launcher {
	case "slurm":
		return plan.Slurm, nil
	case "local":
		return plan.Local, nil
	case "srtctl":
		return plan.Srtctl, nil
	}
	return "", badInput(fmt.Errorf("launcher %q: want slurm, local or srtctl", launcher))
}

// planning is where and how large a run is to be.
type planning struct {
	launcher string
	smoke    bool
	scale    plan.LocalScale
}

// planned loads and plans; with errors in the files these are printed and the
// exit code is 1.
func (a *app) planned(cmd *cobra.Command, args []string, f *engine.Files, flag string, o planning) (*engine.Engine, *engine.Pair, *plan.Plan, error) {
	if err := checkScale(o.scale); err != nil {
		return nil, nil, nil, err
	}
	to, err := target(o.launcher)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, name := range []string{"users", "seconds"} {
		if to != plan.Local && cmd.Flags().Changed(name) {
			return nil, nil, nil, badInput(fmt.Errorf("--%s is for --launcher local; elsewhere the workload says it", name))
		}
	}
	e, p, err := a.load(cmd, args, f, flag)
	if err != nil {
		return nil, nil, nil, err
	}
	pl, err := a.plan(e, p, engine.PlanOptions{Target: to, Smoke: o.smoke, Local: o.scale})
	return e, p, pl, err
}

// plan plans what was loaded, or prints what is wrong with it.
func (a *app) plan(e *engine.Engine, p *engine.Pair, opt engine.PlanOptions) (*plan.Plan, error) {
	if p.Recipe != nil && p.Report.OnlyTodos() {
		return e.Plan(p, opt)
	}
	var err error
	if a.json {
		err = a.print(document(p.File, p))
	} else {
		err = a.diagnostics(p.Report.Diagnostics)
	}
	if err == nil {
		err = exitWith(1) // the findings say it all
	}
	return nil, err
}

func dryRunCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "dry-run RECIPE", Short: "Show the whole plan of a run; write nothing", Args: usage(cobra.MaximumNArgs(1)),
		Long: "Show everything that a run will do: nodes by role, mounts, files, each step's\nenvironment with its origin and its command, and the batch script. Secrets are\nhidden. {node:0} and the like stand for what is known only in the job.",
	}
	f, flag := files(cmd)
	o := &planning{}
	cmd.Flags().StringVar(&o.launcher, "launcher", "slurm", "slurm, local or srtctl")
	cmd.Flags().BoolVar(&o.smoke, "smoke", false, "the plan of apply --smoke")
	scale := scaleFlags(cmd)
	cmd.Flags().StringVar(&a.outputDir, "output-dir", "", "base of run folders")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.scale = *scale
		_, p, pl, err := a.planned(cmd, args, f, *flag, *o)
		if err != nil {
			return err
		}
		pl = pl.Redacted()
		if a.json {
			return a.print(pl)
		}
		for _, d := range p.Report.Diagnostics {
			if d.Severity != recipes.Note {
				if err := a.note("%s\n", safetext.Clean(d.String())); err != nil {
					return err
				}
			}
		}
		return a.planText(pl)
	}
	return cmd
}

func (a *app) planText(p *plan.Plan) error {
	if err := a.say("plan %s  target %s  model %s  %d nodes of %d GPUs\nimage %s\n", p.Name, p.Target, p.Model, len(p.Nodes), p.GPUsPerNode, p.Image); err != nil {
		return err
	}
	for _, s := range p.Sections() {
		if err := a.say("\n%s\n  %s\n", s.Title, strings.Join(s.Lines, "\n  ")); err != nil {
			return err
		}
	}
	return nil
}
