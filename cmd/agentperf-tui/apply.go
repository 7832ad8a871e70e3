package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/safetext"
)

// gated is the engine with one condition more: a recipe that a port left must-fix
// questions open for is not submitted unless that is allowed.
type gated struct{ *engine.Engine }

// Gate asks the engine, then the port's own report beside the recipe.
func (g gated) Gate(p *engine.Pair, pl *plan.Plan, allowTodo bool) error {
	if err := g.Engine.Gate(p, pl, allowTodo); err != nil || allowTodo {
		return err
	}
	workload := "" // only the compute nodes have it
	if p.Workload != nil {
		workload = p.Workload.File
	}
	open, err := porter.OpenMustFix(p.Recipe.File, workload)
	if err != nil {
		return err
	}
	if len(open) > 0 {
		return fmt.Errorf("the port left %d must-fix questions open, the first is: %s; answer it, or submit all the same with --allow-todo", len(open), open[0].Message)
	}
	return nil
}

// Apply submits what passes the gate.
func (g gated) Apply(ctx context.Context, p *engine.Pair, pl *plan.Plan, allowTodo bool) (rundir.Record, error) {
	if err := g.Gate(p, pl, allowTodo); err != nil {
		return rundir.Record{}, err
	}
	return g.Engine.Apply(ctx, p, pl, allowTodo)
}

// applying is what apply was told.
type applying struct {
	launcher              string
	scale                 *plan.LocalScale
	yes, allowTodo, watch bool
	smoke                 bool
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
	f, flag := files(cmd)
	o := &applying{scale: scaleFlags(cmd)}
	fl := cmd.Flags()
	fl.StringVar(&o.launcher, "launcher", "slurm", "slurm, local or srtctl")
	fl.StringVar(&a.outputDir, "output-dir", "", "base of run folders (default: output_dir of the configuration, else ./outputs)")
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
		e, p, pl, err := a.toApply(cmd, args, f, *flag, o)
		if err != nil {
			return err
		}
		return a.apply(cmd.Context(), gated{e}, p, pl, o)
	}
	return cmd
}

// mostRepeats is more than a band needs, and less than a slip of the keyboard.
const mostRepeats = 50

// toApply loads and plans what is to be submitted: files, or an earlier run's.
func (a *app) toApply(cmd *cobra.Command, args []string, f *engine.Files, flag string, o *applying) (*engine.Engine, *engine.Pair, *plan.Plan, error) {
	if o.again == "" {
		return a.planned(cmd, args, f, flag, planning{o.launcher, o.smoke, *o.scale})
	}
	for _, name := range []string{"file", "workload", "cluster"} {
		if cmd.Flags().Changed(name) || len(args) > 0 {
			return nil, nil, nil, badInput(fmt.Errorf("--again %s: the run's own files are taken; change them with --set, or apply a recipe without --again", o.again))
		}
	}
	e, l, err := a.find(cmd.Context(), o.again)
	if err != nil {
		return nil, nil, nil, err
	}
	p, opt, err := e.Again(cmd.Context(), l, f.Edits)
	if err != nil {
		return nil, nil, nil, badInput(err)
	}
	if cmd.Flags().Changed("launcher") {
		if opt.Target, err = target(o.launcher); err != nil {
			return nil, nil, nil, err
		}
	}
	if cmd.Flags().Changed("users") || opt.Local.Users == 0 {
		opt.Local.Users = o.scale.Users
	}
	if cmd.Flags().Changed("seconds") || opt.Local.Seconds == 0 {
		opt.Local.Seconds = o.scale.Seconds
	}
	opt.Smoke = opt.Smoke && !cmd.Flags().Changed("smoke") || o.smoke
	pl, err := a.plan(e, p, opt)
	return e, p, pl, err
}

// apply asks and submits, once for each repeat, and follows if that was asked for.
func (a *app) apply(ctx context.Context, gate gated, p *engine.Pair, pl *plan.Plan, o *applying) error {
	if err := gate.Gate(p, pl, o.allowTodo); err != nil {
		return err
	}
	notes, err := gate.Preflight(ctx, p, pl)
	for _, n := range notes {
		if err := a.note("%s\n", safetext.Clean(n)); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if !o.yes {
		question := fmt.Sprintf("submit %s to %s: %d nodes, %d steps, into %s?", pl.Name, pl.Target, len(pl.Nodes), len(pl.Steps), pl.OutputDir)
		if o.repeat > 1 {
			question = fmt.Sprintf("%d times, one after another: %s", o.repeat, question)
		}
		if err := a.confirm(ctx, question); err != nil {
			return err
		}
	}
	var runs []rundir.Record
	last := rundir.Record{}
	for range o.repeat {
		if last, err = gate.ApplyAfter(ctx, p, pl, o.allowTodo, last); err != nil {
			return notAll(runs, o.repeat, err)
		}
		runs = append(runs, last)
		if a.json {
			err = printLine(a.stdout, last)
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
		l, err := gate.Find(ctx, r.Dir)
		if err != nil {
			return err
		}
		if err := a.watch(ctx, gate.Engine, l, engine.WatchOptions{UntilDone: true}); err != nil {
			failed = err
		}
	}
	return failed
}

// notAll tells what has become of repeated runs when one of them was not submitted.
func notAll(runs []rundir.Record, want int, err error) error {
	if len(runs) == 0 {
		return err
	}
	last := runs[len(runs)-1]
	return fmt.Errorf("%d of %d runs were submitted, the last one is %s_%s, which goes on; no more were: %w", len(runs), want, last.Name, last.ID, err)
}

func cancelCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "cancel RUN", Short: "End a run in an orderly way and wait for it", Args: usage(cobra.ExactArgs(1))}
	yes := cmd.Flags().Bool("yes", false, "cancel without asking")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, l, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		before, err := e.State(l)
		if over := err == nil && l.Record.ID != "" && before.State.Final(); !*yes && !over {
			if err := a.confirm(cmd.Context(), "cancel "+l.Label()+"?"); err != nil {
				return err
			}
		}
		ctx, done := context.WithTimeout(cmd.Context(), 3*time.Minute)
		defer done()
		if err := e.Cancel(ctx, l); err != nil {
			return err
		}
		s, err := e.State(l)
		if err != nil {
			return err
		}
		if a.json {
			return a.print(s)
		}
		return a.say("%s  %s\n", l.Label(), s.State)
	}
	return cmd
}

// jobCmd are the commands of the job itself.
func jobCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "job", Short: "Commands that a job runs", Hidden: true}
	run := &cobra.Command{Use: "run", Short: "Supervise a published run folder", Args: usage(cobra.NoArgs)}
	dir := run.Flags().String("run-dir", "", "the run's folder")
	run.RunE = func(cmd *cobra.Command, _ []string) error {
		e, err := a.engine()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(cmd.Context()))
		defer cancel(nil)
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(signals)
		go func() {
			select {
			case <-signals:
				cancel(job.Stopped{State: event.Cancelled})
			case <-ctx.Done():
			}
		}()
		code, err := e.Supervise(ctx, *dir, a.stdout)
		if err != nil {
			return exitError{code: max(1, code), err: err}
		}
		return exitWith(code)
	}
	cmd.AddCommand(run, benchCmd(a))
	return cmd
}
