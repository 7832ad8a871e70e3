package engine

import (
	"context"
	"fmt"
	"os"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/recipes"
)

// Parity compares two sides: runs by path, id or name, or files of figures.
func (e *Engine) Parity(ctx context.Context, ref, cand string, phase int, opt parity.Options) (parity.Comparison, error) {
	a, err := e.side(ctx, ref, phase)
	if err != nil {
		return parity.Comparison{}, fmt.Errorf("reference: %w", err)
	}
	b, err := e.side(ctx, cand, phase)
	if err != nil {
		return parity.Comparison{}, fmt.Errorf("candidate: %w", err)
	}
	return parity.Compare(a, b, opt), nil
}

func (e *Engine) side(ctx context.Context, name string, phase int) (parity.Side, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return parity.Load(ctx, name, phase, results.Known{})
	}
	l, err := e.Find(ctx, name)
	if err != nil {
		return parity.Side{}, err
	}
	known, err := l.Known()
	if err != nil {
		return parity.Side{}, err
	}
	s, err := parity.Load(ctx, l.Logs, phase, known)
	if err != nil || l.Record.ID == "" {
		return s, err
	}
	s.Name, s.About.Job, s.About.Recipe = l.Label(), l.Record.ID, l.Record.Recipe
	// What the run was really given, not the file that it came from.
	if w, _, err := recipes.LoadWorkload(l.Dir + "/benchmark_config.yaml"); err == nil && w != nil {
		s.About.Seed, s.About.Dataset = fmt.Sprint(w.Seed), w.TrajectoryPath
	}
	return s, nil
}

// State is what can be said of a run now, from its own files.
func (e *Engine) State(l Located) (event.Status, error) {
	s, err := readStatus(l.Logs)
	if err != nil {
		return s, err
	}
	return e.judge(l, s), nil
}
