package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine/bench"
)

// benchCmd is the client's step in the container.
func benchCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "bench", Short: "Build and run the external client", Args: usage(cobra.NoArgs),
		Long: "Build the external client in a runtime folder of its own, stage its datasets and run\nit. The exit code is the client's. SIGTERM goes to the client, which is waited for.",
	}
	opt := bench.Options{Log: a.stdout, Now: time.Now}
	fl := cmd.Flags()
	fl.StringVar(&opt.Endpoint, "endpoint", "", "http://host:port of the frontend; SRT_FRONTEND_HOST and SRT_FRONTEND_PORT win (required)")
	fl.StringVar(&opt.Model, "model", "", "served model name (required)")
	fl.StringVar(&opt.ClientDir, "client-dir", "", "the client's checkout (required)")
	fl.StringVar(&opt.Config, "config", "", "workload file (required)")
	levels := fl.String("concurrencies", "", "levels, one phase each: 64,1010 (required)")
	fl.StringVar(&opt.ResultsDir, "results-dir", bench.ResultsDir, "folder of the client's outputs")
	fl.StringVar(&opt.EventFile, "events", "", "append progress events to this file (default: events.client.jsonl beside the results folder)")
	fl.StringVar(&opt.SystemPath, "system-path", bench.SystemPath, "folders of the image's programs, searched behind the runtime's own")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, f := range []string{"endpoint", "model", "client-dir", "config", "concurrencies"} {
			if fl.Lookup(f).Value.String() == "" {
				return badInput(fmt.Errorf("--%s is required", f))
			}
		}
		var err error
		if opt.Levels, err = parseLevels(*levels); err != nil {
			return badInput(err)
		}
		opt.Environ = os.Environ()
		// A first SIGTERM ends the context. Later ones must not end this process
		// before its client, for whose orderly end it waits.
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

// parseLevels reads concurrency levels: 64,1010.
func parseLevels(text string) ([]int, error) {
	var levels []int
	for l := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(l))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("--concurrencies %q: %q is no whole number above 0", text, l)
		}
		levels = append(levels, n)
	}
	return levels, nil
}
