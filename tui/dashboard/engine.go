package dashboard

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Engine is the part of the engine that the dashboard uses.
type Engine interface {
	Find(ctx context.Context, run string) (engine.RunRef, error)
	Watch(ctx context.Context, ref engine.RunRef, opt engine.WatchOptions) (<-chan engine.Update, error)
	Playback(ctx context.Context, ref engine.RunRef) (*engine.Playback, error)
	Phases(ref engine.RunRef) ([]plan.Phase, error)
	Tiers() []results.Tier
	LogFiles(ref engine.RunRef) ([]engine.LogFile, error)
	logs.Source
	Cancel(ctx context.Context, ref engine.RunRef) error
}

// maxUpdates limits the updates in one message.
const maxUpdates = 512

type (
	// foundMsg is the run that was found, with its updates.
	foundMsg struct {
		ref     engine.RunRef
		updates <-chan engine.Update
		phases  []plan.Phase
		tiers   []results.Tier
		gpus    int
		err     error
		planErr error // the run can be shown without its plan
	}
	updatedMsg struct {
		update    engine.Update // the latest one, with the events of all
		hasUpdate bool
		more      bool
	}
	filesListedMsg struct {
		files []engine.LogFile
		err   error
	}
	cancelledMsg struct{ err error }
)

func findRun(ctx context.Context, eng Engine, run string) tea.Cmd {
	return func() tea.Msg {
		ref, err := eng.Find(ctx, run)
		if err != nil {
			return foundMsg{err: err}
		}
		m := foundMsg{ref: ref, tiers: eng.Tiers(), gpus: ref.GPUs()}
		if ref.Record.ID != "" {
			m.phases, m.planErr = eng.Phases(ref)
		}
		m.updates, m.err = eng.Watch(ctx, ref, engine.WatchOptions{UntilDone: true})
		return m
	}
}

func nextUpdate(ctx context.Context, updates <-chan engine.Update) tea.Cmd {
	return func() tea.Msg {
		got, more := ui.Drain(ctx, updates, maxUpdates, func(engine.Update) int { return 1 })
		if len(got) == 0 {
			return updatedMsg{more: more}
		}
		last := got[len(got)-1]
		var events []event.Event
		var errs []error
		for _, u := range got {
			events, errs = append(events, u.Events...), append(errs, u.Err)
		}
		last.Events, last.Err = events, errors.Join(errs...)
		return updatedMsg{update: last, hasUpdate: true, more: more}
	}
}
