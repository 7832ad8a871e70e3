package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Playback returns the state of a completed run at any time between From and To. It shows only
// what a watcher could have seen at that time: the rows and events up to then. A measuring
// window has no end before the time at which it ended.
type Playback struct {
	From, To time.Time

	mu       sync.Mutex // guards cursor
	logs     string
	context  results.RunContext
	events   []event.Event // by time
	spans    []phaseSpan
	manifest []timedData // rows, by the end of their phase
	stats    []timedData // statistics files, by the end of their phase
	cursor   *cursor     // position of the last call of At
}

// timedData is a row or a file of the client.
type timedData struct {
	at   time.Time    // when a watcher could have seen it
	stem harness.Stem // of a statistics file
	data []byte
}

// Playback reads a run once, to find its phases and times, and returns its playback.
func (*Watcher) Playback(ctx context.Context, ref runs.Ref) (*Playback, error) {
	p := &Playback{logs: ref.Logs}
	var err error
	if p.context, err = ref.Context(); err != nil {
		return nil, err
	}
	if p.events, err = event.ReadLogs(ref.Logs); err != nil {
		return nil, err
	}
	if err := p.scanRun(ctx); err != nil {
		return nil, fmt.Errorf("play back %s: %w", ref.Label(), err)
	}
	return p, nil
}

// scanRun reads the entire run to find the times of its phases.
func (p *Playback) scanRun(ctx context.Context) error {
	if err := p.readPhaseFiles(); err != nil {
		return err
	}
	c, err := newCursor(p)
	if err != nil {
		return err
	}
	defer c.close()
	end := time.Unix(1<<33, 0) // later than all rows; fits in an int64 of ns
	if err := c.advance(ctx, end); err != nil {
		return err
	}
	run := c.aggregator.Snapshot(time.Time{})
	for _, ph := range run.Phases {
		s := spanOf(c.aggregator, ph)
		if s.first.IsZero() {
			continue
		}
		p.spans = append(p.spans, s)
		p.From, p.To = earlier(p.From, s.first), later(p.To, s.last)
	}
	if len(p.spans) == 0 {
		return problem.Errorf(problem.PlaybackNotPossible,
			"%s has no request rows since the last start of the client, and playback needs them", results.RequestsFile)
	}
	if n := len(p.events); n > 0 {
		p.From, p.To = earlier(p.From, p.events[0].T), later(p.To, p.events[n-1].T)
	}
	for i, m := range p.manifest {
		p.manifest[i].at = p.phaseEnd(results.ManifestPhase(m.data))
	}
	for i, s := range p.stats {
		p.stats[i].at = p.phaseEnd(s.stem.Phase)
	}
	p.completePlan()
	return nil
}

// completePlan adds the phases that are not in the plan, with times from the files that the client
// writes at the end, so that At knows their windows from the beginning.
func (p *Playback) completePlan() {
	if p.context.Start.IsZero() {
		p.context.Start = p.spans[0].first
	}
	for _, s := range p.spans {
		planned := slices.ContainsFunc(p.context.Planned, func(l results.PlannedPhase) bool { return l.Phase == s.phase })
		if !planned && !s.measure.IsZero() {
			p.context.Planned = append(p.context.Planned, results.PlannedPhase{
				Phase: s.phase, Concurrency: s.concurrency, Settling: s.measure.Sub(s.first).Seconds(),
				Timeout: s.end.Sub(s.first).Seconds(),
			})
		}
	}
}

// readPhaseFiles reads the small files that the client writes at the end of a phase.
func (p *Playback) readPhaseFiles() error {
	dir := results.OutputDir(p.logs)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name, isStats := strings.CutSuffix(entry.Name(), ".json")
		stem, ok := harness.ParseStem(name)
		if entry.Name() != results.ManifestFile && !(isStats && ok) {
			continue
		}
		data, err := results.ReadFile(filepath.Join(dir, entry.Name()))
		if errors.Is(err, smallfile.ErrTooLarge) {
			continue // reported with the results of the run
		}
		if err != nil {
			return err
		}
		if isStats {
			p.stats = append(p.stats, timedData{stem: stem, data: data})
			continue
		}
		for line := range bytes.Lines(data) {
			p.manifest = append(p.manifest, timedData{data: line})
		}
	}
	return nil
}

// phaseEnd returns the end of a phase, or of the run if the phase is unknown.
func (p *Playback) phaseEnd(phase int) time.Time {
	for _, s := range p.spans {
		if s.phase == phase && !s.end.IsZero() {
			return later(s.end, s.last)
		}
	}
	return p.To
}

// Close releases the resources of the playback.
func (p *Playback) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close()
}

func (p *Playback) close() {
	if p.cursor != nil {
		p.cursor.close()
		p.cursor = nil
	}
}

// At returns the state of the run at a time. A later time than in the last call reads only
// what is new; an earlier one reads again from the beginning.
func (p *Playback) At(ctx context.Context, t time.Time) (Update, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Update{}, err
	}
	if p.cursor == nil || t.Before(p.cursor.at) {
		p.close()
		var err error
		if p.cursor, err = newCursor(p); err != nil {
			return Update{}, fmt.Errorf("play back run: %w", err)
		}
	}
	c := p.cursor
	before := c.eventsApplied
	if err := c.advance(ctx, t); err != nil {
		p.close()
		return Update{}, fmt.Errorf("play back run: %w", err)
	}
	c.at = t
	u := Update{
		At: t, Events: p.events[before:c.eventsApplied], Status: c.status, LastActivity: earlier(t, p.To),
		Done: !t.Before(p.To),
	}
	now := t
	if u.Done {
		now = time.Time{}
	}
	u.setFigures(c.aggregator, now)
	u.Run.LogDir = p.logs
	if len(p.events) == 0 {
		u.Status = p.statusAt(t)
	}
	return u, nil
}

// statusAt infers the status of a run without events from its rows and windows.
func (p *Playback) statusAt(t time.Time) event.Status {
	s := event.Status{Started: p.From, Last: t, State: event.Starting}
	for _, ph := range p.spans {
		if t.Before(ph.first) {
			break
		}
		m := ph.times(t)
		s.Phases = append(s.Phases, m)
		s.State, s.Since = phaseState(m, nil, t)
	}
	if !t.Before(p.To) {
		s.State, s.Since, s.Last = event.Done, p.To, p.To
	}
	return s
}
