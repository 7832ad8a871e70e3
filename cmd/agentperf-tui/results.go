package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/safetext"
	"github.com/agentperf/agentperf-tui/texttable"
)

func resultsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "results RUN", Short: "Figures per phase, recomputed from the request rows", Args: usage(cobra.ExactArgs(1)),
		Long: "Figures of each phase, recomputed from the request rows. RUN is a run, a log dir,\na harness directory or the client's output folder.",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, l, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		run, err := e.Results(cmd.Context(), l)
		if err != nil {
			return badInput(err)
		}
		id, err := e.Identity(l)
		if err != nil {
			return err
		}
		tiers := results.TierResults(run.Phases, e.Tiers())
		if a.json {
			return a.print(struct {
				results.Run
				Tiers    []results.TierResult `json:"tiers,omitempty"`
				Identity *identity.Identity   `json:"identity,omitempty"` // what the run ran with
			}{run, tiers, known(id)})
		}
		if err := a.say("%s", run.Text()); err != nil {
			return err
		}
		if err := a.ranWith(id); err != nil {
			return err
		}
		return a.tiers(tiers)
	}
	return cmd
}

// known is nil for an identity of which nothing is known.
func known(id identity.Identity) *identity.Identity {
	if id.Version == 0 {
		return nil
	}
	return &id
}

// ranWith says what a run ran with; hashes are cut short.
func (a *app) ranWith(id identity.Identity) error {
	for i, f := range id.Fields() {
		if i == 0 {
			if err := a.say("ran with\n"); err != nil {
				return err
			}
		}
		value := f.Value
		if strings.HasSuffix(f.Path, "sha256") && len(value) > 12 {
			value = value[:12] + "…"
		}
		if err := a.say("  %s %s\n", texttable.Left(f.Path, 32), safetext.Clean(value)); err != nil {
			return err
		}
	}
	return nil
}

// tiers prints the highest level that keeps each service level, and why others do not.
func (a *app) tiers(tiers []results.TierResult) error {
	for _, r := range tiers {
		best := "no level meets it"
		if r.Concurrency > 0 {
			best = fmt.Sprintf("%d users", r.Concurrency)
		}
		text := fmt.Sprintf("tier %s (≥ %g tok/s at p25, TTFT p95 ≤ %g s): %s\n", safetext.Clean(r.Tier.Name), r.Tier.SpeedFloor, r.Tier.TTFTCeiling, best)
		for _, l := range r.Levels {
			if !l.Meets {
				text += fmt.Sprintf("  not at %d users: %s\n", l.Concurrency, l.Why)
			}
		}
		if err := a.say("%s", text); err != nil {
			return err
		}
	}
	return nil
}

func rollupCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "rollup RUN", Short: "Write " + results.RollupFile + " into the run's log dir", Args: usage(cobra.ExactArgs(1))}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, l, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		path, doc, err := e.Rollup(cmd.Context(), l)
		if errors.Is(err, fs.ErrNotExist) {
			return a.note("%v\n", err)
		}
		if err != nil {
			return badInput(err)
		}
		for _, s := range doc.Skipped {
			if err := a.note("left out: %s\n", safetext.Clean(s)); err != nil {
				return err
			}
		}
		switch {
		case path == "":
			return a.note("no phase has ended in %s: nothing to roll up\n", l.Logs)
		case a.json:
			return a.print(doc)
		}
		return a.say("%s\n", path)
	}
	return cmd
}

func parityCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "parity REF CAND", Short: "Compare two runs side by side and give a verdict", Args: usage(cobra.ExactArgs(2)),
		Long: "Compare two runs of one configuration. REF and CAND are runs, log dirs,\nbenchmark-rollup.json files, client statistics files, or YAML or JSON files of figures\nwith the statistics file's keys. Exit code 0 inside the band, 1 outside, 3 not comparable.",
	}
	phase := cmd.Flags().Int("phase", parity.AnyPhase, "phase to compare; needed where a side has several")
	band := cmd.Flags().String("band", "", "band of the primary metric, such as 2% (default: band_percent of the configuration)")
	force := cmd.Flags().Bool("force", false, "give a verdict although the runs are not comparable")
	format := cmd.Flags().String("format", "table", "table, markdown or json")
	more := cmd.Flags().StringArray("ref", nil, "a further run of REF's configuration, repeatable: the band is what the references differ by")
	paired := cmd.Flags().Bool("paired", false, "compare request by request too: which turns, users and input lengths moved")
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
			err = a.print(c)
		case *format == "markdown":
			err = a.say("%s", c.Markdown())
		case *format == "table":
			err = a.say("%s", c.Text())
		default:
			return badInput(fmt.Errorf("--format %q: want table, markdown or json", *format))
		}
		if err == nil {
			err = exitWith(map[string]int{parity.Within: 0, parity.Outside: 1, parity.NotComparable: 3}[c.Verdict])
		}
		return err
	}
	return cmd
}
