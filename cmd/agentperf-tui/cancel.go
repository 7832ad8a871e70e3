package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

func cancelCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel RUN", Short: "Stop a run gracefully and wait for its end", Args: usage(cobra.ExactArgs(1)),
		Long: `Stop a run gracefully and wait until it has ended, 3 minutes at most. What was measured
is kept, and rolled up as partial.`,
		Example: `  agentperf-tui cancel dsv4_12345
  agentperf-tui cancel 12345 --yes`,
	}
	yes := cmd.Flags().Bool("yes", false, "cancel without asking")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, ref, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		before, err := e.State(ref)
		if over := err == nil && ref.Record.ID != "" && before.State.Final(); !*yes && !over {
			if err := a.confirm(cmd.Context(), "cancel "+ref.Label()+"?"); err != nil {
				return err
			}
		}
		ctx, done := context.WithTimeout(cmd.Context(), 3*time.Minute)
		defer done()
		if err := e.Cancel(ctx, ref); err != nil {
			return err
		}
		s, err := e.State(ref)
		if err != nil {
			return err
		}
		if a.json {
			return a.print(s)
		}
		return a.say("%s  %s\n", ref.Label(), s.State)
	}
	return cmd
}
