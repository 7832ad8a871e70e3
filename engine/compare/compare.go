// Package compare holds runs against each other: two sides with a verdict, and the
// levels of any number of runs. It knows where the figures of a run come from, not
// how they are computed.
package compare

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/recipes"
)

// Comparer compares runs. Make it with [New].
type Comparer struct {
	runs  *runs.Store
	files *draft.Drafts
	band  float64 // fraction
	tiers []results.Tier
}

// New makes a comparer with the band of a verdict, a fraction, where none is given,
// and the service levels.
func New(store *runs.Store, files *draft.Drafts, band float64, tiers []results.Tier) *Comparer {
	return &Comparer{runs: store, files: files, band: band, tiers: tiers}
}

// Parity compares two sides: runs by path, id or name, or files of figures.
// Where both are runs of ours, their recipes and workloads are compared too. The
// band is that of the configuration unless one is given or references measure it.
func (c *Comparer) Parity(
	ctx context.Context, ref, cand string, phase int, opt parity.Options,
) (parity.Comparison, error) {
	if opt.Band == 0 && len(opt.References) == 0 {
		opt.Band = c.band
	}
	a, aRun, err := c.side(ctx, ref, phase)
	if err != nil {
		return parity.Comparison{}, fmt.Errorf("reference: %w", err)
	}
	b, bRun, err := c.side(ctx, cand, phase)
	if err != nil {
		return parity.Comparison{}, fmt.Errorf("candidate: %w", err)
	}
	out := parity.Compare(a, b, opt)
	if aRun.Record.ID == "" || bRun.Record.ID == "" {
		return out, nil
	}
	for _, f := range []struct{ kind, name string }{{"recipe", rundir.RecipeFile}, {"workload", rundir.WorkloadFile}} {
		d, err := c.files.Diff(ctx, filepath.Join(aRun.Dir, f.name), filepath.Join(bRun.Dir, f.name))
		if err != nil {
			out.Notes = append(out.Notes, fmt.Sprintf("the runs' %s files were not compared: %v", f.kind, err))
			continue
		}
		out.Fields = append(out.Fields, parity.FileDiff{File: f.kind, Comparison: d})
	}
	if d, err := c.identityDiff(aRun, bRun); err != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("what the runs ran with was not compared: %v", err))
	} else if d.Total > 0 {
		out.Fields = append(out.Fields, parity.FileDiff{File: "identity", Comparison: d})
	}
	return out, nil
}

// References loads further runs of a reference's configuration, for
// parity.Options.
func (c *Comparer) References(ctx context.Context, names []string, phase int) ([]parity.Side, error) {
	var out []parity.Side
	for _, name := range names {
		s, _, err := c.side(ctx, name, phase)
		if err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
		s.Requests = nil // only the figures are needed
		out = append(out, s)
	}
	return out, nil
}

// side loads one side, and the run that it is, if it is one.
func (c *Comparer) side(ctx context.Context, name string, phase int) (parity.Side, runs.Ref, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		s, err := parity.Load(ctx, name, phase, results.RunContext{})
		return s, runs.Ref{}, err
	}
	ref, err := c.runs.Find(ctx, name)
	if err != nil {
		return parity.Side{}, ref, err
	}
	about, err := ref.Context()
	if err != nil {
		return parity.Side{}, ref, err
	}
	s, err := parity.Load(ctx, ref.Logs, phase, about)
	if err != nil {
		return s, ref, err
	}
	if ref.Record.ID == "" {
		s.Name = ref.Label()
		return s, ref, nil
	}
	status, err := c.runs.State(ref)
	if err != nil {
		return s, ref, err
	}
	if status.State != event.Done {
		verb := "is "
		if status.State == event.Failed {
			verb = ""
		}
		s.Failure = strings.TrimSuffix(verb+string(status.State)+": "+status.Message, ": ")
	}
	s.About.Model = ref.Record.Model
	id, err := c.runs.Identity(ref)
	if err != nil {
		return s, ref, err
	}
	s.About.ClientCommit, s.About.DatasetHash = id.Client.String(), id.Dataset()
	if id.Model != nil {
		s.About.ModelRevision = cmp.Or(id.Model.Revision, id.Model.Expected)
	}
	s.Name, s.About.Job, s.About.Recipe = ref.Label(), ref.Record.ID, ref.Record.Recipe
	// What the run was really given, where that is another file than it came from.
	for _, name := range []string{"benchmark_config.yaml", rundir.WorkloadFile} {
		if w, _, err := recipes.LoadWorkload(filepath.Join(ref.Dir, name)); err == nil && w != nil {
			s.About.Seed, s.About.Dataset = fmt.Sprint(w.Seed), w.TrajectoryPath
			break
		}
	}
	return s, ref, nil
}
