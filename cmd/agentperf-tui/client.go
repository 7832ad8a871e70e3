package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine/mockserver"
	"github.com/agentperf/agentperf-tui/engine/replay"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func replayCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay", Short: "The built-in client: replay trajectories against a server", Args: usage(cobra.NoArgs),
		Long: `Replay trajectories against any OpenAI-compatible server, with the flags and outputs
of the external client. The banner and every output name the implementation.`,
	}
	opt := replay.Options{Version: version, Now: time.Now, Log: a.stdout.Writer}
	fl := cmd.Flags()
	fl.StringVar(&opt.Workload, "config", "", "workload file (required)")
	fl.StringVar(&opt.BaseURL, "base-url", "", "base URL of the API, with /v1 (required)")
	fl.StringVar(&opt.Model, "model", "", "served model name (required)")
	fl.StringVar(&opt.APIKey, "api-key", "", "bearer token (default: the workload's)")
	levels := fl.String("concurrencies", "", "levels, one phase each: 64,1010 (default: the workload's)")
	fl.StringVar(&opt.ResultsDir, "results-dir", "", "folder of the outputs (required)")
	fl.StringVar(&opt.RequestLog, "request-log-path", "", "request rows (default: requests.jsonl in the results folder)")
	seed := fl.Int64("seed", 0, "seed (default: the workload's)")
	fl.StringVar(&opt.DelayKey, "delay-key", replay.DelayKey, "key of the tool-call delay in trajectory rows, in ms")
	fl.StringVar(&opt.EventFile, "events", "", "append progress events to this file")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := required(cmd, "config", "base-url", "model", "results-dir"); err != nil {
			return err
		}
		if *levels != "" {
			var err error
			if opt.Levels, err = parseLevels(*levels); err != nil {
				return badInput(err)
			}
		}
		if fl.Changed("seed") {
			opt.Seed = seed
		}
		err := replay.Run(cmd.Context(), opt)
		if errors.Is(err, replay.ErrInterrupted) {
			return exitError{code: 1, err: err}
		}
		if bad := (*replay.ConfigError)(nil); errors.As(err, &bad) {
			return badInput(err)
		}
		return err
	}
	return cmd
}

func mockServerCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mock-server", Short: "A mock OpenAI-compatible server with deterministic timing", Args: usage(cobra.NoArgs),
		Long: `A mock server: agg answers alone; frontend routes to prefill and decode workers.
Tokens and times follow from the request by arithmetic.`,
	}
	d := mockserver.DefaultTiming()
	var cfg mockserver.Config
	var exitAfter time.Duration
	fl := cmd.Flags()
	listen := fl.String("listen", "127.0.0.1:8000", "host:port")
	role := fl.String("role", string(schema.Agg), "agg, prefill, decode or frontend")
	fl.StringVar(&cfg.Model, "model", "", "served model name (default: any)")
	fl.DurationVar(&cfg.Timing.PrefillBase, "ttft", d.PrefillBase,
		"time to the first token of a prompt that is cached whole")
	fl.DurationVar(&cfg.Timing.PrefillPerToken, "prefill-per-token", d.PrefillPerToken,
		"more of it for each token that is not cached")
	fl.DurationVar(&cfg.Timing.ITL, "itl", d.ITL, "time between two output tokens")
	fl.IntVar(&cfg.Timing.StreamInterval, "stream-interval", max(1, d.StreamInterval), "tokens an event")
	fl.Float64Var(&cfg.Timing.Spread, "spread", d.Spread, "largest relative deviation of these times between requests")
	fl.IntVar(&cfg.BlockTokens, "block-tokens", 0, "tokens a prefix-cache block (default 128)")
	fl.IntVar(&cfg.CacheBlocks, "cache-blocks", 0, "blocks in the prefix cache (default 65536)")
	fl.IntVar(&cfg.MaxOutputTokens, "max-output-tokens", 0, "longest answer (default 256)")
	fl.Float64Var(&cfg.ToolCalls, "tool-calls", 0, "fraction of requests with tools answered by a tool call alone")
	fl.BoolVar(&cfg.Reasoning, "reasoning", false, "stream a third of an answer as reasoning where asked for")
	fl.StringArrayVar(&cfg.PrefillURLs, string(schema.Prefill), nil, "frontend: URL of a prefill worker; repeat")
	fl.StringArrayVar(&cfg.DecodeURLs, string(schema.Decode), nil, "frontend: URL of a decode worker; repeat")
	fl.StringArrayVar(&cfg.AggURLs, string(schema.Agg), nil, "frontend: URL of an aggregated worker; repeat")
	fl.Float64Var(&cfg.Faults.HTTPError, "fault-http", 0, "fraction of requests answered with status 500")
	fl.Float64Var(&cfg.Faults.Abort, "fault-abort", 0, "fraction of streams cut off")
	fl.Float64Var(&cfg.Faults.EventError, "fault-event", 0, "fraction of streams with an error event")
	fl.DurationVar(&cfg.Faults.SlowStart, "slow-start", 0, "not ready for so long")
	fl.DurationVar(&exitAfter, "exit-after", 0, "end abruptly after so long")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg.Role = schema.Role(*role)
		if err := checkListen(*listen); err != nil {
			return badInput(err)
		}
		h, err := mockserver.New(cfg)
		if err != nil {
			return badInput(err)
		}
		var told error
		err = mockserver.Serve(cmd.Context(), *listen, h, mockserver.ServeOptions{
			ExitAfter: exitAfter,
			Ready: func(addr net.Addr) {
				told = a.say("agentperf-tui mock server, role %s, listening on %s\n", cfg.Role, addr)
			},
		})
		return errors.Join(err, told)
	}
	return cmd
}

// checkListen refuses what is no address of this machine, before anything starts.
func checkListen(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("--listen %q: want host:port, such as 127.0.0.1:8000", text)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("--listen %q: port %q is no number from 0 to 65535", text, port)
	} else if _, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, strconv.FormatUint(n, 10))); err != nil {
		return fmt.Errorf("--listen %q: there is no host %s", text, host)
	}
	return nil
}
