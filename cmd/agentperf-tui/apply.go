package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
)

// applying is what apply was told.
type applying struct {
	*planning
	yes, allowTodo, watch bool
	repeat                int
	again                 string
}

func applyCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "apply RECIPE", Short: "Check, plan and submit a run", Args: usage(cobra.MaximumNArgs(1)),
		Long: `Check, plan and submit a run, and print it once it is recorded and queued or at work.
A job is queued held, and let go once its folder is complete and the run is recorded:
whatever interrupts a submit, no job runs that is not listed, and none runs twice.
With --launcher local the plan runs on this machine: mock servers stand in for the
engines, the built-in client replays, users and times are scaled; dry-run
--launcher local shows each of these swaps. The run goes on when this command ends.

With --launcher srtctl an installed srtctl makes the job from the same recipe; it is
watched, listed and cancelled like any other.

--smoke plays 4 users for the shortest phase on the same nodes: a proof that all comes
up. --repeat N submits N runs of the same, each waiting for the end of the one before,
however that ends, so that they measure the run-to-run band and not one another. Slurm
does the waiting for its jobs; for runs on this machine this command does, until the
last one is submitted.
--again RUN submits what an earlier run was submitted with, as its folder has it.`,
	}
	f, o := inputFlags(cmd), &applying{planning: planFlags(cmd, a)}
	fl := cmd.Flags()
	fl.BoolVar(&o.yes, "yes", false, "submit without asking")
	fl.BoolVar(&o.allowTodo, "allow-todo", false, "submit although placeholders are open")
	fl.BoolVar(&o.watch, "watch", false, "follow the run until it ends; exit with its result")
	fl.BoolVar(&o.smoke, "smoke", false, "4 users for the shortest phase, to prove that all comes up")
	fl.IntVar(&o.repeat, "repeat", 1, "submit so many runs, one after another")
	fl.StringVar(&o.again, "again", "", "submit an earlier run's recorded inputs instead of a recipe")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.repeat < 1 || o.repeat > mostRepeats {
			return badInput(fmt.Errorf("--repeat %d: want 1 to %d", o.repeat, mostRepeats))
		}
		p, err := a.toApply(cmd, args, f, o)
		if err != nil {
			return err
		}
		return a.apply(cmd.Context(), p, o)
	}
	return cmd
}

// mostRepeats is more than a band needs, and less than a slip of the keyboard.
const mostRepeats = 50

// toApply loads and plans what is to be submitted: files, or an earlier run's.
func (a *app) toApply(cmd *cobra.Command, args []string, f *inputs, o *applying) (p planned, err error) {
	if o.again == "" {
		return a.planned(cmd, args, f, *o.planning)
	}
	given := cmd.Flags().Changed
	if len(args) > 0 || given("file") || given("workload") || given("cluster") {
		return p, badInput(fmt.Errorf("--again %s: the run's own files are taken; "+
			"change them with --set, or apply a recipe without --again", o.again))
	}
	e, l, err := a.find(cmd.Context(), o.again)
	if err != nil {
		return p, err
	}
	pair, opt, err := e.Again(cmd.Context(), l, f.Edits)
	if err != nil {
		return p, badInput(err)
	}
	if given("launcher") {
		if opt.Target, err = target(o.launcher); err != nil {
			return p, err
		}
	}
	if given("users") || opt.Local.Users == 0 {
		opt.Local.Users = o.scale.Users
	}
	if given("seconds") || opt.Local.Seconds == 0 {
		opt.Local.Seconds = o.scale.Seconds
	}
	opt.Smoke = opt.Smoke && !given("smoke") || o.smoke
	pl, err := a.plan(e, pair, opt)
	return planned{e, pair, pl}, err
}

// apply asks and submits, once for each repeat, and follows if that was asked for.
func (a *app) apply(ctx context.Context, p planned, o *applying) error {
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
			return notAll(runs, o.repeat, err)
		}
		runs = append(runs, last)
		if a.json {
			err = a.printLine(last)
		} else {
			err = a.say("run %s_%s\nfolder %s\n", last.Name, last.ID, last.Dir)
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
		l, err := e.Find(ctx, r.Dir)
		if err != nil {
			return err
		}
		if err := a.watch(ctx, e, l, engine.WatchOptions{UntilDone: true}); err != nil {
			failed = err
		}
	}
	return failed
}

// notAll tells what has become of repeated runs when one of them was not submitted.
func notAll(runs []engine.Record, want int, err error) error {
	if len(runs) == 0 {
		return err
	}
	last := runs[len(runs)-1]
	return fmt.Errorf("%d of %d runs were submitted, the last one is %s_%s, which goes on; no more were: %w",
		len(runs), want, last.Name, last.ID, err)
}
