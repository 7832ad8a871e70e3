package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
)

// Parity compares two sides: runs by path, id or name, or files of figures.
// Where both are runs of ours, their recipes and workloads are compared too. The
// band is that of the configuration unless one is given or references measure it.
func (e *Engine) Parity(ctx context.Context, ref, cand string, phase int, opt parity.Options) (parity.Comparison, error) {
	if opt.Band == 0 && len(opt.References) == 0 {
		opt.Band = e.Config.BandPercent / 100
	}
	a, aRun, err := e.side(ctx, ref, phase)
	if err != nil {
		return parity.Comparison{}, fmt.Errorf("reference: %w", err)
	}
	b, bRun, err := e.side(ctx, cand, phase)
	if err != nil {
		return parity.Comparison{}, fmt.Errorf("candidate: %w", err)
	}
	c := parity.Compare(a, b, opt)
	if aRun.Record.ID == "" || bRun.Record.ID == "" {
		return c, nil
	}
	for _, f := range []struct{ kind, name string }{{"recipe", rundir.RecipeFile}, {"workload", rundir.WorkloadFile}} {
		d, err := e.Diff(ctx, filepath.Join(aRun.Dir, f.name), filepath.Join(bRun.Dir, f.name))
		if err != nil {
			c.Notes = append(c.Notes, fmt.Sprintf("the runs' %s files were not compared: %v", f.kind, err))
			continue
		}
		c.Fields = append(c.Fields, parity.FileDiff{File: f.kind, Comparison: d})
	}
	if d, err := e.identityDiff(aRun, bRun); err != nil {
		c.Notes = append(c.Notes, fmt.Sprintf("what the runs ran with was not compared: %v", err))
	} else if d.Total > 0 {
		c.Fields = append(c.Fields, parity.FileDiff{File: "identity", Comparison: d})
	}
	return c, nil
}

// References loads further runs of a reference's configuration, for
// parity.Options.
func (e *Engine) References(ctx context.Context, names []string, phase int) ([]parity.Side, error) {
	var out []parity.Side
	for _, name := range names {
		s, _, err := e.side(ctx, name, phase)
		if err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
		s.Samples = nil // only the figures are needed
		out = append(out, s)
	}
	return out, nil
}

// side loads one side, and the run that it is, if it is one.
func (e *Engine) side(ctx context.Context, name string, phase int) (parity.Side, RunRef, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		s, err := parity.Load(ctx, name, phase, results.RunContext{})
		return s, RunRef{}, err
	}
	l, err := e.Find(ctx, name)
	if err != nil {
		return parity.Side{}, l, err
	}
	known, err := l.Context()
	if err != nil {
		return parity.Side{}, l, err
	}
	s, err := parity.Load(ctx, l.Logs, phase, known)
	if err != nil {
		return s, l, err
	}
	if l.Record.ID == "" {
		s.Name = l.Label()
		return s, l, nil
	}
	status, err := e.State(l)
	if err != nil {
		return s, l, err
	}
	if status.State != event.Done {
		verb := "is "
		if status.State == event.Failed {
			verb = ""
		}
		s.Failure = strings.TrimSuffix(verb+string(status.State)+": "+status.Message, ": ")
	}
	s.About.Model = l.Record.Model
	id, err := e.Identity(l)
	if err != nil {
		return s, l, err
	}
	s.About.ClientCommit, s.About.DatasetHash = id.Client.String(), id.Dataset()
	if id.Model != nil {
		s.About.ModelRevision = cmp.Or(id.Model.Revision, id.Model.Expected)
	}
	s.Name, s.About.Job, s.About.Recipe = l.Label(), l.Record.ID, l.Record.Recipe
	// What the run was really given, where that is another file than it came from.
	for _, name := range []string{"benchmark_config.yaml", rundir.WorkloadFile} {
		if w, _, err := recipes.LoadWorkload(filepath.Join(l.Dir, name)); err == nil && w != nil {
			s.About.Seed, s.About.Dataset = fmt.Sprint(w.Seed), w.TrajectoryPath
			break
		}
	}
	return s, l, nil
}
