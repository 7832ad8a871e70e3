package engine

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/recipes"
)

// Parity compares two sides, each a run (by path, id or name) or a file of figures.
// If both are runs of this program, it also compares their recipes, workloads and
// identities. The configured band applies unless opt gives one; several references can only widen it.
func (e *Engine) Parity(
	ctx context.Context, ref, cand string, phase int, opt parity.Options,
) (parity.Comparison, error) {
	opt.DefaultBand = e.band
	a, aRun, err := e.loadSide(ctx, ref, phase)
	if err != nil {
		return parity.Comparison{}, fmt.Errorf("reference: %w", err)
	}
	b, bRun, err := e.loadSide(ctx, cand, phase)
	if err != nil {
		return parity.Comparison{}, fmt.Errorf("candidate: %w", err)
	}
	out := parity.Compare(a, b, opt)
	if aRun.Record.ID != "" && bRun.Record.ID != "" {
		for _, f := range []struct{ kind, name string }{{"recipe", rundir.RecipeFile}, {"workload", rundir.WorkloadFile}} {
			d, err := recipes.DiffFiles(filepath.Join(aRun.Dir, f.name), filepath.Join(bRun.Dir, f.name))
			if err != nil {
				out.Notes = append(out.Notes, fmt.Sprintf("the %s files of the runs were not compared: %v", f.kind, err))
				continue
			}
			out.Fields = append(out.Fields, parity.FileDiff{File: f.kind, Comparison: d})
		}
	}
	if x, y := a.Inputs.Identity, b.Inputs.Identity; x.Version > 0 && y.Version > 0 {
		out.Fields = append(out.Fields, parity.FileDiff{File: "identity", Comparison: diffIdentities(x, y)})
	}
	return out, nil
}

// References loads more runs of the reference's configuration, for parity.Options.
func (e *Engine) References(ctx context.Context, names []string, phase int) ([]parity.Side, error) {
	var out []parity.Side
	for _, name := range names {
		s, _, err := e.loadSide(ctx, name, phase)
		if err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
		s.Requests = nil // only the figures are needed
		out = append(out, s)
	}
	return out, nil
}

// loadSide loads one side. The run reference is the zero value for a file of figures.
func (e *Engine) loadSide(ctx context.Context, name string, phase int) (parity.Side, runs.Ref, error) {
	if parity.IsFile(name) {
		s, err := parity.Load(ctx, name, phase, results.RunContext{})
		return s, runs.Ref{}, err
	}
	ref, err := e.Find(ctx, name)
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
	facts, err := ref.Facts(ctx)
	if err != nil {
		return s, ref, err
	}
	s.About.Nodes, s.About.ToolVersions = facts.Nodes, facts.Tools
	s.About.Dataset = cmp.Or(s.About.Dataset, facts.Dataset)
	if s.About.Date == "" && !facts.Date.IsZero() {
		s.About.Date = parity.DateText(float64(facts.Date.Unix()))
	}
	if ref.Record.ID == "" {
		s.Name = ref.Label()
		return s, ref, nil
	}
	status, err := e.State(ref)
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
	s.Name, s.About.Job, s.About.Recipe = ref.Label(), ref.Record.ID, ref.Record.Recipe
	return s, ref, nil
}

// diffIdentities compares two identities field by field.
func diffIdentities(a, b identity.Identity) recipes.Comparison {
	c := recipes.Comparison{Differences: []recipes.Difference{}}
	remaining := b.Fields()
	for _, f := range a.Fields() {
		c.Total++
		side := &recipes.Side{Path: f.Path, Value: f.Value}
		i := slices.IndexFunc(remaining, func(o identity.Field) bool { return o.Path == f.Path })
		switch {
		case i < 0:
			c.Differences = append(c.Differences, recipes.Difference{Path: f.Path, A: side})
			continue
		case remaining[i].Value == f.Value:
			c.Identical++
		default:
			c.Differences = append(c.Differences,
				recipes.Difference{Path: f.Path, A: side, B: &recipes.Side{Path: f.Path, Value: remaining[i].Value}})
		}
		remaining = slices.Delete(remaining, i, i+1)
	}
	for _, f := range remaining {
		c.Total++
		c.Differences = append(c.Differences,
			recipes.Difference{Path: f.Path, B: &recipes.Side{Path: f.Path, Value: f.Value}})
	}
	return c
}

// Curve returns throughput per GPU against speed per user, one point for each
// concurrency level of each run. If gpus is 0, the number of GPUs comes from the
// run's recipe; it is unknown for local runs and for runs without a recipe.
func (e *Engine) Curve(ctx context.Context, runs []string, gpus int) ([]results.Point, error) {
	points := []results.Point{}
	for _, name := range runs {
		more, _, err := e.RunCurve(ctx, name, gpus)
		if err != nil {
			return nil, err
		}
		points = append(points, more...)
	}
	return points, nil
}

// RunCurve returns the points of one run for Curve, and the result of each configured
// service level (tier).
func (e *Engine) RunCurve(ctx context.Context, name string, gpus int) ([]results.Point, []results.TierResult, error) {
	ref, err := e.Find(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	run, err := e.Results(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	if gpus <= 0 {
		gpus = ref.GPUs()
	}
	return results.Curve(ref.Label(), run.Phases, gpus), results.TierResults(run.Phases, e.tiers), nil
}
