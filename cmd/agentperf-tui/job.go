package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine/bench"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/job"
)

// jobCmd groups the commands that a job runs.
func jobCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "job", Short: "Run the commands of a job", Hidden: true, Args: usage(cobra.NoArgs)}
	cmd.Example = "  agentperf-tui job run --run-dir outputs/12345"
	run := &cobra.Command{
		Use: "run", Short: "Supervise the run in a run directory", Args: usage(cobra.NoArgs),
		Example: `  agentperf-tui job run --run-dir outputs/12345`,
	}
	dir := run.Flags().String("run-dir", "", "run directory (required)")
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
				cancel(job.StopCause{State: event.Cancelled})
			case <-ctx.Done():
			}
		}()
		code, err := e.Supervise(ctx, *dir, a.stdout.Writer)
		if err != nil {
			return exitError{code: max(1, code), err: err}
		}
		return exitWith(code)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return errors.Join(cmd.Help(), exitWith(2)) }
	cmd.AddCommand(run, benchCmd(a))
	return cmd
}

// benchCmd is the command of the client step; it runs in the container.
func benchCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "bench", Short: "Build and run the external client", Args: usage(cobra.NoArgs),
		Long: `Build the external client in a runtime directory of its own, stage its datasets and run
it. The exit code is that of the client. SIGTERM is forwarded to the client.`,
		Example: `  agentperf-tui job bench --endpoint http://node1:8000 --model dsv4 \
      --client-dir /client --config /w.yaml --concurrencies 64`,
	}
	opt := bench.Options{Log: a.stdout.Writer, Now: time.Now} // a file, so that the client inherits it instead of a pipe
	fl := cmd.Flags()
	fl.StringVar(&opt.Endpoint, "endpoint", "",
		"http://host:port of the frontend; SRT_FRONTEND_HOST and SRT_FRONTEND_PORT override it (required)")
	fl.StringVar(&opt.Model, "model", "", "served model name (required)")
	fl.StringVar(&opt.ClientDir, "client-dir", "", "checkout of the client (required)")
	fl.StringVar(&opt.Config, "config", "", "workload file (required)")
	levels := fl.String("concurrencies", "", "concurrency levels, one phase each: 64,1010 (required)")
	fl.StringVar(&opt.ResultsDir, "results-dir", bench.ResultsDir, "output directory of the client")
	fl.StringVar(&opt.EventFile, "events", "",
		"append progress events to this file (default: events.client.jsonl beside the output directory)")
	fl.StringVar(&opt.SystemPath, "system-path", bench.SystemPath,
		"directories of programs in the image, searched after those of the runtime")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := required(cmd, "endpoint", "model", "client-dir", "config", "concurrencies"); err != nil {
			return err
		}
		var err error
		if opt.Levels, err = parseLevels(*levels); err != nil {
			return badInput(err)
		}
		opt.Environ = os.Environ()
		// A first SIGTERM ends the context. Later ones must not end this process
		// before the client, which is still shutting down.
		more := make(chan os.Signal, 1)
		signal.Notify(more, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(more)
		code, err := bench.Run(cmd.Context(), opt)
		if err != nil {
			return exitError{code: code, err: err}
		}
		return exitWith(code)
	}
	return cmd
}
