package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

func watchCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "watch RUN", Short: "Follow a run: events, phases and figures", Args: usage(cobra.ExactArgs(1)),
		Long: `Follow a run from its beginning until it ends. Exit code 0 if it is done; 1 if it
failed, was cancelled or timed out.`,
		Example: `  agentperf-tui watch dsv4_12345
  agentperf-tui watch dsv4_12345 --json
  agentperf-tui watch dsv4_12345 --playback 20`,
	}
	var opt engine.WatchOptions
	speed := cmd.Flags().Float64("playback", 0,
		"play back a run that has ended, at 1 to 100 times its speed")
	cmd.Flags().BoolVar(&opt.UntilDone, "until-done", false,
		"keep waiting while the state of the run is unknown")
	cmd.Flags().DurationVar(&opt.Interval, "interval", time.Second, "minimum time between two updates")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if opt.Interval < 0 {
			return badInput(problem.Errorf(problem.FlagValue, "--interval: must not be negative, got %v", opt.Interval))
		}
		e, ref, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if !cmd.Flags().Changed("playback") {
			return a.watch(cmd.Context(), e, ref, opt)
		}
		if !(*speed >= 1 && *speed <= 100) {
			return badInput(
				problem.Errorf(
					problem.FlagValue,
					"--playback: must be between 1 and 100 (times the speed of the run), got %g",
					*speed,
				),
			)
		}
		return a.playback(cmd.Context(), e, ref, *speed, opt.Interval)
	}
	return cmd
}

// playback prints the updates of a run as they were during the run, one per interval.
func (a *app) playback(
	ctx context.Context, e *engine.Engine, ref engine.RunRef, speed float64, interval time.Duration,
) error {
	p, err := e.Playback(ctx, ref)
	if err != nil {
		return badInput(err)
	}
	defer p.Close()
	tick := time.NewTicker(max(interval, time.Millisecond))
	defer tick.Stop()
	step := time.Duration(float64(max(interval, time.Millisecond)) * speed)
	for at := p.From; ; at = at.Add(step) {
		if at.After(p.To) {
			at = p.To
		}
		u, err := p.At(ctx, at)
		if err == nil {
			err = a.update(ref, u)
		}
		if err != nil || u.Done {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return exitError{code: 1, err: problem.New(problem.Interrupted, "interrupted")}
		}
	}
}

// watch prints updates until the run ends. It returns an error unless the run is done.
func (a *app) watch(ctx context.Context, e *engine.Engine, ref engine.RunRef, opt engine.WatchOptions) error {
	updates, err := e.Watch(ctx, ref, opt)
	if err != nil {
		return badInput(err)
	}
	var last engine.Update
	assigned := false // whether the run has its nodes, so that shell commands are known
	for u := range updates {
		if !assigned && a.json && len(u.Status.Steps) > 0 {
			assigned = true
			if err := a.shellsJSON(e, ref); err != nil {
				return err
			}
		}
		last = u
		if err := a.update(ref, u); err != nil {
			return err
		}
	}
	if !last.Done {
		return exitError{
			code: 1,
			err:  problem.Errorf(problem.RunNotEnded, "watch %s: stopped before the run ended; the run continues", ref.Label()),
		}
	}
	if last.Status.State != event.Done {
		why := last.Status.Message
		if why != "" {
			why = ": " + safetext.Clean(why)
		}
		return exitError{code: 1, err: problem.Errorf(problem.RunFailed, "run %s: %s%s", ref.Label(), last.Status.State, why)}
	}
	return nil
}
