package parity

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

type (
	// comparedMsg is the result of a comparison. It is dropped if gen is not the latest.
	comparedMsg struct {
		gen   int
		c     engine.Comparison
		phase int // the phase that was compared
		err   error
	}
	// levelsMsg has the concurrency levels of all runs of a comparison.
	levelsMsg struct {
		gen   int
		curve curve
	}
	runsListedMsg struct {
		runs []engine.Summary
		at   time.Time
		err  error
	}
)

// compare starts a comparison and cancels the running one.
func (s *Screen) compare() tea.Cmd {
	if s.cancelCompare != nil {
		s.cancelCompare()
	}
	s.gen++
	s.comparing = true
	ctx, cancel := context.WithCancel(s.ctx)
	s.cancelCompare = cancel
	s.curve = nil
	eng, ref, cand, refs, phase, force, gen := s.eng, s.ref, s.cand, slices.Clone(s.refs), s.phase, s.force, s.gen
	comparePhase := func(phase int) (c engine.Comparison, err error) {
		opt := engine.ComparisonOptions{Force: force, Paired: true}
		if len(refs) > 0 {
			if opt.References, err = eng.References(ctx, refs, phase); err != nil {
				return c, err
			}
		}
		return eng.Parity(ctx, ref, cand, phase, opt)
	}
	var levels tea.Cmd
	if s.view == levelsView {
		levels = s.loadLevels()
	}
	return tea.Batch(levels, func() tea.Msg {
		c, err := comparePhase(phase)
		if problem.Of(err) == problem.PhaseUnknown && phase == engine.AnyPhase {
			// A run with several phases can't be compared without a phase number: use the first.
			if first, ferr := comparePhase(0); ferr == nil {
				return comparedMsg{gen: gen, c: first, phase: 0}
			}
		}
		return comparedMsg{gen, c, phase, err}
	})
}

// curve has the concurrency levels of several runs.
type curve struct {
	points   []results.Point
	metTiers []metTiers
	skipped  []string
}

// metTiers has the result of a run for each tier: the highest concurrency level that meets it.
type metTiers struct {
	run   string
	tiers []results.TierResult
}

// loadLevels loads the concurrency levels of all compared runs. A file of figures has none.
func (s *Screen) loadLevels() tea.Cmd {
	ctx, eng, gen := s.ctx, s.eng, s.gen
	names := append([]string{s.ref, s.cand}, s.refs...)
	return func() tea.Msg {
		m := levelsMsg{gen: gen}
		for _, name := range names {
			points, tiers, err := eng.RunCurve(ctx, name, 0)
			if err != nil {
				m.curve.skipped = append(m.curve.skipped, ui.OneLine(err))
				continue
			}
			m.curve.points = append(m.curve.points, points...)
			if len(tiers) > 0 && len(points) > 0 {
				m.curve.metTiers = append(m.curve.metTiers, metTiers{points[0].Run, tiers})
			}
		}
		return m
	}
}

// writePage writes the comparison as an HTML page to the working directory.
func (s *Screen) writePage() tea.Cmd {
	eng, c := s.eng, *s.c
	return func() tea.Msg {
		path, err := eng.WriteComparison(".", c)
		if err != nil {
			return ui.Toast{Text: err.Error(), Role: ui.Bad}
		}
		return ui.Toast{Text: "wrote " + path, Role: ui.OK}
	}
}
