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
	"github.com/agentperf/agentperf-tui/engine/safetext"
	"github.com/agentperf/agentperf-tui/porter"
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

func applyCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "apply RECIPE", Short: "Check, plan and submit a run", Args: usage(cobra.MaximumNArgs(1)),
		Long: "Check, plan and submit a run, and print it once it is recorded and queued or at work.\nA job is queued held, and let go once its folder is complete and the run is recorded:\nwhatever interrupts a submit, no job runs that is not listed, and none runs twice.\nWith --launcher local the plan runs on this machine: mock servers stand in for the\nengines, the built-in client replays, users and times are scaled; dry-run\n--launcher local shows each of these swaps. The run goes on when this command ends.",
	}
	f, flag := files(cmd)
	launcher := cmd.Flags().String("launcher", "slurm", "slurm or local")
	scale := scaleFlags(cmd)
	cmd.Flags().StringVar(&a.outputDir, "output-dir", "", "base of run folders (default: output_dir of the configuration, else ./outputs)")
	yes := cmd.Flags().Bool("yes", false, "submit without asking")
	allowTodo := cmd.Flags().Bool("allow-todo", false, "submit although placeholders are open")
	watch := cmd.Flags().Bool("watch", false, "follow the run until it ends; exit with its result")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, p, pl, err := a.planned(cmd, args, f, *flag, *launcher, *scale)
		if err != nil {
			return err
		}
		gate := gated{e}
		if err := gate.Gate(p, pl, *allowTodo); err != nil {
			return err
		}
		notes, err := e.Preflight(cmd.Context(), p, pl)
		for _, n := range notes {
			if err := a.note("%s\n", safetext.Clean(n)); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		if !*yes {
			question := fmt.Sprintf("submit %s to %s: %d nodes, %d steps, into %s?", pl.Name, pl.Target, len(pl.Nodes), len(pl.Steps), pl.OutputDir)
			if err := a.confirm(cmd.Context(), question); err != nil {
				return err
			}
		}
		rec, err := gate.Apply(cmd.Context(), p, pl, *allowTodo)
		if err != nil {
			return err
		}
		if a.json {
			err = printLine(a.stdout, rec)
		} else {
			err = a.say("run %s_%s\nfolder %s\n", rec.Name, rec.ID, rec.Dir)
		}
		if err != nil || !*watch {
			return err
		}
		l, err := e.Find(cmd.Context(), rec.Dir)
		if err != nil {
			return err
		}
		return a.watch(cmd.Context(), e, l, engine.WatchOptions{UntilDone: true})
	}
	return cmd
}

func cancelCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "cancel RUN", Short: "End a run in an orderly way and wait for it", Args: usage(cobra.ExactArgs(1))}
	yes := cmd.Flags().Bool("yes", false, "cancel without asking")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, l, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if !*yes {
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
