package parity

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

type (
	// comparedMsg answers one asking; an older one's answer is dropped.
	comparedMsg struct {
		gen   int
		c     engine.Comparison
		phase int // that was compared in the end
		err   error
	}
	// levelsMsg has the levels of all runs of one comparison.
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

// compare asks for the comparison anew; the one that is under way is given up.
func (s *Screen) compare() tea.Cmd {
	if s.giveUp != nil {
		s.giveUp()
	}
	s.gen++
	s.busy = true
	ctx, giveUp := context.WithCancel(s.ctx)
	s.giveUp = giveUp
	s.curve = nil
	eng, ref, cand, refs, phase, force, gen := s.eng, s.ref, s.cand, slices.Clone(s.refs), s.phase, s.force, s.gen
	ask := func(phase int) (c engine.Comparison, err error) {
		opt := engine.ComparisonOptions{Force: force, Paired: true}
		if len(refs) > 0 {
			if opt.References, err = eng.References(ctx, refs, phase); err != nil {
				return c, err
			}
		}
		return eng.Parity(ctx, ref, cand, phase, opt)
	}
	var levels tea.Cmd
	if s.view == viewLevels {
		levels = s.levels()
	}
	return tea.Batch(levels, func() tea.Msg {
		c, err := ask(phase)
		if err != nil && phase == engine.AnyPhase {
			// A side of several phases wants one to be named: the first is where to begin.
			if first, ferr := ask(0); ferr == nil {
				return comparedMsg{gen: gen, c: first, phase: 0}
			}
		}
		return comparedMsg{gen, c, phase, err}
	})
}

// curve is the levels of several runs, and what was left out of it.
type curve struct {
	points []results.Point
	kept   []kept
	left   []string
}

// kept is what one run keeps of the service levels.
type kept struct {
	run   string
	tiers []results.TierResult
}

// levels reads the levels of all runs that are compared. A side that is no run has none.
func (s *Screen) levels() tea.Cmd {
	ctx, eng, gen := s.ctx, s.eng, s.gen
	names := append([]string{s.ref, s.cand}, s.refs...)
	return func() tea.Msg {
		m := levelsMsg{gen: gen}
		for _, name := range names {
			points, tiers, err := eng.RunCurve(ctx, name, 0)
			if err != nil {
				m.curve.left = append(m.curve.left, ui.OneLine(err))
				continue
			}
			m.curve.points = append(m.curve.points, points...)
			if len(tiers) > 0 && len(points) > 0 {
				m.curve.kept = append(m.curve.kept, kept{points[0].Run, tiers})
			}
		}
		return m
	}
}

// writePage writes what is compared as a page into the current folder.
func (s *Screen) writePage() tea.Cmd {
	eng, c := s.eng, *s.c
	return func() tea.Msg {
		path, err := eng.WriteComparison(".", c)
		if err != nil {
			return ui.Toast{Text: err.Error(), Role: ui.Bad}
		}
		return ui.Toast{Text: "written: " + path, Role: ui.OK}
	}
}
