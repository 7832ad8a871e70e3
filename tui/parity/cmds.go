package parity

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
)

// Engine is what the comparison needs.
type Engine interface {
	Parity(ctx context.Context, ref, cand string, phase int, opt parity.Options) (parity.Comparison, error)
	Runs(ctx context.Context, roots []string) ([]engine.Summary, error)
}

type (
	// comparedMsg answers one asking; an older one's answer is dropped.
	comparedMsg struct {
		gen   int
		c     parity.Comparison
		phase int // that was compared in the end
		err   error
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
	eng, ref, cand, phase, gen := s.eng, s.ref, s.cand, s.phase, s.gen
	opt := parity.Options{Force: s.force}
	return func() tea.Msg {
		c, err := eng.Parity(ctx, ref, cand, phase, opt)
		if err != nil && phase == parity.AnyPhase {
			// A side of several phases wants one to be named: the first is where
			// to begin.
			if first, ferr := eng.Parity(ctx, ref, cand, 0, opt); ferr == nil {
				return comparedMsg{gen: gen, c: first, phase: 0}
			}
		}
		return comparedMsg{gen, c, phase, err}
	}
}

func (s *Screen) listRuns() tea.Cmd {
	ctx, eng, roots := s.ctx, s.eng, s.roots
	return func() tea.Msg {
		runs, err := eng.Runs(ctx, roots)
		return runsListedMsg{runs, time.Now(), err}
	}
}
