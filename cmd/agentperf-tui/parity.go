package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine/results/parity"
)

func parityCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "parity REF CAND", Short: "Compare two runs side by side and give a verdict", Args: usage(cobra.ExactArgs(2)),
		Long: `Compare two runs of one configuration. REF and CAND are runs, log dirs,
benchmark-rollup.json files, client statistics files, or YAML or JSON files of figures
with the statistics file's keys. Exit code 0 inside the band, 1 outside, 3 not comparable.`,
	}
	fl := cmd.Flags()
	phase := fl.Int("phase", parity.AnyPhase, "phase to compare; needed where a side has several")
	band := fl.String("band", "", "band of the primary metric, such as 2% (default: band_percent of the configuration)")
	force := fl.Bool("force", false, "give a verdict although the runs are not comparable")
	format := fl.String("format", "table", "table, markdown or json")
	more := fl.StringArray("ref", nil,
		"a further run of REF's configuration, repeatable: the band is what the references differ by")
	paired := fl.Bool("paired", false, "compare request by request too: which turns, users and input lengths moved")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, err := a.engine()
		if err != nil {
			return err
		}
		opt := parity.Options{Force: *force, Paired: *paired}
		if *band != "" {
			percent, err := strconv.ParseFloat(strings.TrimSuffix(*band, "%"), 64)
			if err != nil || !(percent > 0 && percent <= 100) {
				return badInput(fmt.Errorf("--band %q: want a percentage above 0, such as 2%%", *band))
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
		case *format == "json" || a.json:
			a.print(c)
		case *format == "markdown":
			a.say("%s", c.Markdown())
		case *format == "table":
			a.say("%s", c.Text())
		default:
			return badInput(fmt.Errorf("--format %q: want table, markdown or json", *format))
		}
		return exitWith(map[string]int{parity.Within: 0, parity.Outside: 1, parity.NotComparable: 3}[c.Verdict])
	}
	return cmd
}
