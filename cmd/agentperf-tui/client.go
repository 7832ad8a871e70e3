package main

import (
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine/mockserver"
	"github.com/agentperf/agentperf-tui/engine/replay"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func replayCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay", Short: "Replay trajectories with the built-in client", Args: usage(cobra.NoArgs),
		Long: `Replay trajectories against any OpenAI-compatible server, with the flags and outputs of
the external client. The banner and every output file name the built-in client.`,
		Example: `  agentperf-tui replay --config w.yaml --base-url http://127.0.0.1:8000/v1 --model dsv4 --results-dir out`,
	}
	opt := replay.Options{Version: version, Now: time.Now, Log: a.stdout.Writer}
	fl := cmd.Flags()
	fl.StringVar(&opt.Workload, "config", "", "workload file (required)")
	fl.StringVar(&opt.BaseURL, "base-url", "", "base URL of the API, with /v1 (required)")
	fl.StringVar(&opt.Model, "model", "", "served model name (required)")
	fl.StringVar(&opt.APIKey, "api-key", "", "bearer token (default: from the workload)")
	levels := fl.String("concurrencies", "", "concurrency levels, one phase each: 64,1010 (default: from the workload)")
	fl.StringVar(&opt.ResultsDir, "results-dir", "", "output directory (required)")
	fl.StringVar(
		&opt.RequestLog,
		"request-log-path",
		"",
		"request rows (default: requests.jsonl in the output directory)",
	)
	seed := fl.Int64("seed", 0, "seed (default: from the workload)")
	fl.StringVar(
		&opt.DelayKey,
		"delay-key",
		replay.DefaultDelayKey,
		"key of the tool-call delay in trajectory rows, in ms",
	)
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
		Use: "mock-server", Short: "Serve a mock OpenAI API with deterministic timing", Args: usage(cobra.NoArgs),
		Long: `Serve a mock OpenAI-compatible API. The role agg answers by itself; frontend routes
requests to prefill and decode workers. Tokens and times are computed from the request,
so that the figures of a replay are known in advance.`,
		Example: `  agentperf-tui mock-server --listen 127.0.0.1:8000 --ttft 200ms --itl 10ms
  agentperf-tui mock-server --role frontend --agg http://127.0.0.1:8001`,
	}
	d := mockserver.DefaultTiming()
	var cfg mockserver.Config
	var exitAfter time.Duration
	fl := cmd.Flags()
	listen := fl.String("listen", "127.0.0.1:8000", "host:port")
	var role string
	addChoiceFlag(fl, &role, "role", "", string(schema.Agg), string(schema.Prefill), string(schema.Decode), "frontend")
	fl.StringVar(&cfg.Model, "model", "", "served model name (default: any)")
	fl.DurationVar(&cfg.Timing.PrefillBase, "ttft", d.PrefillBase,
		"time to the first token of a fully cached prompt")
	fl.DurationVar(&cfg.Timing.PrefillPerToken, "prefill-per-token", d.PrefillPerToken,
		"additional time for each token that is not cached")
	fl.DurationVar(&cfg.Timing.ITL, "itl", d.ITL, "time between two output tokens")
	fl.IntVar(&cfg.Timing.StreamInterval, "stream-interval", max(1, d.StreamInterval), "tokens per event")
	fl.Float64Var(&cfg.Timing.Spread, "spread", d.Spread, "maximum relative deviation of these times between requests")
	fl.IntVar(&cfg.BlockTokens, "block-tokens", 0, "tokens per prefix-cache block (default 128)")
	fl.IntVar(&cfg.CacheBlocks, "cache-blocks", 0, "blocks in the prefix cache (default 65536)")
	fl.IntVar(&cfg.MaxOutputTokens, "max-output-tokens", 0, "maximum length of an answer, in tokens (default 256)")
	fl.Float64Var(
		&cfg.ToolCalls,
		"tool-calls",
		0,
		"fraction of requests with tools that are answered by a tool call only",
	)
	fl.BoolVar(
		&cfg.Reasoning,
		"reasoning",
		false,
		"stream a third of the answer as reasoning, if the request asks for it",
	)
	fl.StringArrayVar(&cfg.PrefillURLs, string(schema.Prefill), nil, "frontend: URL of a prefill worker; repeatable")
	fl.StringArrayVar(&cfg.DecodeURLs, string(schema.Decode), nil, "frontend: URL of a decode worker; repeatable")
	fl.StringArrayVar(&cfg.AggURLs, string(schema.Agg), nil, "frontend: URL of an aggregated worker; repeatable")
	fl.Float64Var(&cfg.Faults.HTTPError, "fault-http", 0, "fraction of requests answered with status 500")
	fl.Float64Var(&cfg.Faults.Abort, "fault-abort", 0, "fraction of streams cut off")
	fl.Float64Var(&cfg.Faults.EventError, "fault-event", 0, "fraction of streams with an error event")
	fl.DurationVar(&cfg.Faults.SlowStart, "slow-start", 0, "time until the server is ready")
	fl.DurationVar(&exitAfter, "exit-after", 0, "exit abruptly after this time")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg.Role = schema.Role(role)
		if err := checkListen(*listen); err != nil {
			return badInput(err)
		}
		h, err := mockserver.New(cfg)
		if err != nil {
			return badInput(err)
		}
		var printed error
		err = mockserver.Serve(cmd.Context(), *listen, h, mockserver.ServeOptions{
			ExitAfter: exitAfter,
			Ready: func(addr net.Addr) {
				printed = a.say("agentperf-tui mock server, role %s, listening on %s\n", cfg.Role, addr)
			},
		})
		return errors.Join(err, printed)
	}
	return cmd
}

// checkListen checks the value of --listen before the server starts.
func checkListen(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return problem.Errorf(problem.FlagValue, "--listen: must be host:port, such as 127.0.0.1:8000, got %q", text)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return problem.Errorf(problem.FlagValue, "--listen %q: port must be between 0 and 65535, got %q", text, port)
	} else if _, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, strconv.FormatUint(n, 10))); err != nil {
		return problem.Errorf(problem.FlagValue, "--listen %q: host not found: %s", text, host)
	}
	return nil
}
