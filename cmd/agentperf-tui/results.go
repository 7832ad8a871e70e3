package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
)

func resultsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "results RUN", Short: "Show the figures of each phase", Args: usage(cobra.ExactArgs(1)),
		Long: `Show the figures of each phase, recomputed from the request rows. RUN is a run, a log
directory, a harness run directory or the output directory of the client. If there are no
figures, the exit code is 1.`,
		Example: `  agentperf-tui results dsv4_12345
  agentperf-tui results results/bm_dsv4/c1010 --json`,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, ref, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		run, err := e.Results(cmd.Context(), ref)
		if err != nil {
			return badInput(err)
		}
		id, err := e.Identity(ref)
		if err != nil {
			return err
		}
		tiers := results.TierResults(run.Phases, e.Tiers())
		if a.json {
			err = a.print(struct {
				results.Run
				Tiers    []results.TierResult `json:"tiers,omitempty"`
				Identity *identity.Identity   `json:"identity,omitempty"`
			}{run, tiers, recorded(id)})
		} else {
			a.say("%s", run.Text())
			a.identity(id)
			err = a.tiers(tiers)
		}
		return cmp.Or(err, run.WithoutFigures(args[0]))
	}
	return cmd
}

// recorded returns id, or nil if the run has no recorded identity.
func recorded(id identity.Identity) *identity.Identity {
	if id.Version == 0 {
		return nil
	}
	return &id
}

// identity prints the identity of a run, with abbreviated hashes.
func (a *app) identity(id identity.Identity) {
	for i, f := range id.Fields() {
		if i == 0 {
			a.say("identity\n")
		}
		value := f.Value
		if short := fmt.Sprintf("%.12s", value); strings.HasSuffix(f.Path, "sha256") && len(short) < len(value) {
			value = short + "…"
		}
		a.say("  %s %s\n", texttable.AlignLeft(f.Path, 32), safetext.Clean(value))
	}
}

// tiers prints, for each service level, the highest concurrency level that meets it, and
// why the others do not.
func (a *app) tiers(tiers []results.TierResult) error {
	for _, r := range tiers {
		best := "met at no concurrency level"
		switch {
		case r.Concurrency > 0:
			best = fmt.Sprintf("%d users", r.Concurrency)
		case slices.ContainsFunc(r.Levels, func(l results.TierLevel) bool { return l.Unknown }):
			best = "unknown"
		}
		a.say("tier %s (≥ %g tok/s at p25, TTFT p95 ≤ %g s): %s\n",
			safetext.Clean(r.Tier.Name), r.Tier.SpeedFloor, r.Tier.TTFTCeiling, best)
		for _, l := range r.Levels {
			switch {
			case l.Unknown:
				a.say("  unknown at %d users: %s\n", l.Concurrency, l.Reason)
			case !l.Meets:
				a.say("  not met at %d users: %s\n", l.Concurrency, l.Reason)
			}
		}
	}
	return a.stdout.err
}

func rollupCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rollup RUN", Short: "Write " + results.RollupFile + " to the log directory",
		Args: usage(cobra.ExactArgs(1)),
		Long: "Write " + results.RollupFile + `, the figures of all phases of a run, to its log directory.
If no phase has ended, there is nothing to write, and the exit code is 1.`,
		Example: `  agentperf-tui rollup dsv4_12345`,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, ref, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		path, doc, err := e.Rollup(cmd.Context(), ref)
		if err != nil {
			return badInput(err)
		}
		for _, s := range doc.Skipped {
			a.note("left out: %s\n", safetext.Clean(s))
		}
		if path == "" {
			return problem.Errorf(problem.ResultsNotFound, "roll up: %s: found no statistics file of the client, which it "+
				"writes when a phase ends; for the figures so far use results", ref.Logs)
		}
		if a.json {
			return a.print(doc)
		}
		return a.say("%s\n", path)
	}
	return cmd
}
