package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// applyFlags holds the flags of apply.
type applyFlags struct {
	*planFlags
	yes, allowTodo, watch bool
	repeat                int
	again                 string
}

func applyCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "apply [RECIPE]", Short: "Check, plan and submit a run", Args: usage(cobra.MaximumNArgs(1)),
		Long: `Check, plan and submit a run, and print its name and directory. The run continues when
this command ends.

A Slurm job is submitted on hold and released when its directory is complete and the
run is recorded. If a submission is interrupted, no job starts unrecorded, and none is
submitted twice. With --launcher local the plan runs on this machine: mock servers replace the
engines, the built-in client replays the workload, and users and times are scaled
down; dry-run --launcher local lists each substitution. With --launcher srtctl, an
installed srtctl submits the job from the same recipe.

--smoke replays 4 users for the shortest phase on the same nodes, to test that all
servers start. --repeat N submits the run N times, to measure the run-to-run band; each
run starts when the one before has ended. For local runs this command waits until the
last one is submitted. --again RUN submits the recorded inputs of an earlier run.`,
		Example: `  agentperf-tui apply r.yaml --workload w.yaml
  agentperf-tui apply r.yaml --workload w.yaml --launcher local --yes
  agentperf-tui apply r.yaml --workload w.yaml --set benchmark.concurrency=512 --repeat 3
  agentperf-tui apply --again dsv4_12345`,
	}
	f, o := addInputFlags(cmd), &applyFlags{planFlags: addPlanFlags(cmd, a)}
	fl := cmd.Flags()
	fl.BoolVar(&o.yes, "yes", false, "submit without asking")
	fl.BoolVar(&o.allowTodo, "allow-todo", false, "submit even if placeholders or questions are open")
	fl.BoolVar(&o.watch, "watch", false, "follow the run until it ends; exit with its result")
	fl.BoolVar(&o.smoke, "smoke", false, "replay 4 users for the shortest phase, to test that all servers start")
	fl.IntVar(&o.repeat, "repeat", 1, "number of runs to submit, one after another")
	fl.StringVar(&o.again, "again", "", "submit the recorded inputs of this earlier `RUN` instead of a recipe")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.repeat < 1 || o.repeat > maxRepeats {
			return badInput(
				problem.Errorf(problem.FlagValue, "--repeat: must be between 1 and %d, got %d", maxRepeats, o.repeat),
			)
		}
		p, err := a.planApply(cmd, args, f, o)
		if err != nil {
			return err
		}
		return a.apply(cmd.Context(), p, o)
	}
	return cmd
}

// maxRepeats limits --repeat, so that a typing error doesn't submit hundreds of runs.
const maxRepeats = 50

// planApply loads and plans the given files or, with --again, those of an earlier run.
func (a *app) planApply(cmd *cobra.Command, args []string, f *inputFlags, o *applyFlags) (p plannedRun, err error) {
	if o.again == "" {
		return a.loadAndPlan(cmd, args, f, *o.planFlags)
	}
	given := cmd.Flags().Changed
	if len(args) > 0 || given("file") || given("workload") || given("cluster") {
		return p, badInput(problem.Errorf(problem.FlagConflict, "--again %s: takes all files from that run; "+
			"give no other files, and change fields with --set", o.again))
	}
	e, ref, err := a.find(cmd.Context(), o.again)
	if err != nil {
		return p, err
	}
	pair, opt, err := e.Again(cmd.Context(), ref, f.Edits)
	if err != nil {
		return p, badInput(err)
	}
	if given("launcher") {
		opt.Target = plan.Target(o.launcher)
	}
	if given("users") || opt.Local.Users == 0 {
		opt.Local.Users = o.scale.Users
	}
	if given("seconds") || opt.Local.Seconds == 0 {
		opt.Local.Seconds = o.scale.Seconds
	}
	opt.Smoke = opt.Smoke && !given("smoke") || o.smoke
	pl, err := a.plan(e, pair, opt)
	return plannedRun{e, pair, pl}, err
}

// apply asks for confirmation, submits each repeat, and with --watch follows the runs.
func (a *app) apply(ctx context.Context, p plannedRun, o *applyFlags) error {
	e, pl := p.engine, p.plan
	if err := e.Gate(p.pair, pl, o.allowTodo); err != nil {
		return err
	}
	notes, err := e.Preflight(ctx, p.pair, pl)
	a.notes(notes)
	if err = cmp.Or(err, a.stderr.err); err != nil {
		return err
	}
	if !o.yes {
		question := fmt.Sprintf("submit %s to %s: %d nodes, %d steps, into %s?",
			pl.Name, pl.Target, len(pl.Nodes), len(pl.Steps), pl.OutputDir)
		if o.repeat > 1 {
			question = fmt.Sprintf("%d times, one after another: %s", o.repeat, question)
		}
		if err := a.confirm(ctx, question); err != nil {
			return err
		}
	}
	var runs []engine.Record
	last := engine.Record{}
	for range o.repeat {
		if last, err = e.ApplyAfter(ctx, p.pair, pl, o.allowTodo, last); err != nil {
			return withSubmittedCount(runs, o.repeat, err)
		}
		runs = append(runs, last)
		if a.json {
			err = a.printLine(last)
		} else {
			err = a.say("run %s_%s\ndirectory %s\n", last.Name, last.ID, last.Dir)
		}
		if err != nil {
			return err
		}
	}
	if !o.watch {
		return nil
	}
	var failed error
	for _, r := range runs {
		ref, err := e.Find(ctx, r.Dir)
		if err != nil {
			return err
		}
		if err := a.watch(ctx, e, ref, engine.WatchOptions{UntilDone: true}); err != nil {
			failed = err
		}
	}
	return failed
}

// withSubmittedCount adds to err how many of the repeated runs were submitted before it.
func withSubmittedCount(runs []engine.Record, want int, err error) error {
	if len(runs) == 0 {
		return err
	}
	last := runs[len(runs)-1]
	return fmt.Errorf("%d of %d runs were submitted (the last one, %s_%s, continues): %w",
		len(runs), want, last.Name, last.ID, err)
}
