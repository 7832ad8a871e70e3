package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

func parityCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "parity REF CAND", Short: "Compare two runs and give a verdict", Args: usage(cobra.ExactArgs(2)),
		Long: `Compare two runs of one configuration side by side. REF and CAND are runs, log
directories, benchmark-rollup.json files, statistics files of the client, YAML or JSON
files of figures with the same keys, Markdown tables, or exports of aiperf, vLLM
(bench serve) or SGLang (bench_serving). FILE#NAME or FILE#N chooses a column of a
table or a run of an export. Exit code 0 if the primary metric is within the band, 1 if
it is not, 3 if the runs are not comparable.

With --ref the band is the 95% prediction interval for one more run (Student's t) around
the mean of REF and all --ref, but never narrower than band_percent of the configuration;
the other metrics likewise. Of equal runs, at most 5% lie outside. With two references
the interval is wide; with three it is typically a third as wide.

The intervals of differences are 95% intervals within the runs, from at least 12 users;
those of rates need a window of at least 100 s. --paired pairs the requests of the same
user, conversation, turn and pass, tells which share pairs, and gives intervals by
bootstrap over users. They are narrower, because both runs replay the same trajectories,
but drift common to a whole run is not in them.`,
		Example: `  agentperf-tui parity dsv4_12345 dsv4_12346
  agentperf-tui parity reference.yaml dsv4_12346
  agentperf-tui parity published.md#harness dsv4_12346
  agentperf-tui parity ref1 cand --ref ref2 --ref ref3 --format markdown`,
	}
	fl := cmd.Flags()
	phase := fl.Int("phase", parity.AnyPhase, "phase to compare; required if a side has several")
	band := fl.String(
		"band",
		"",
		"tolerance band of the primary metric, such as 2% (default: band_percent of the configuration)",
	)
	force := fl.Bool("force", false, "give a verdict on runs that are unlike, unless a figure permits none")
	var format string
	addChoiceFlag(fl, &format, "format", "", "table", "markdown", "json")
	more := fl.StringArray("ref", nil,
		"another reference; repeatable: the band is the 95% prediction interval from all references")
	paired := fl.Bool("paired", false, "also compare request by request, with 95% intervals over users")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, err := a.engine()
		if err != nil {
			return err
		}
		opt := parity.Options{Force: *force, Paired: *paired}
		if *band != "" {
			percent, err := strconv.ParseFloat(strings.TrimSuffix(*band, "%"), 64)
			if err != nil || !(percent > 0 && percent <= 100) {
				return badInput(
					problem.Errorf(problem.FlagValue, "--band: must be above 0 and at most 100%%, such as 2%%, got %q", *band),
				)
			}
			opt.Band = percent / 100
		}
		if opt.References, err = e.References(cmd.Context(), *more, *phase); err != nil {
			return badInput(err)
		}
		c, err := e.Parity(cmd.Context(), args[0], args[1], *phase, opt)
		if err != nil {
			return badInput(err)
		}
		switch {
		case format == "json" || a.json:
			a.print(c)
		case format == "markdown":
			a.say("%s", c.Markdown())
		default:
			a.say("%s", c.Text())
		}
		return exitWith(map[string]int{parity.Within: 0, parity.Outside: 1, parity.NotComparable: 3}[c.Verdict])
	}
	return cmd
}
