package replay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// phase is one concurrency level while it runs.
type phase struct {
	*run
	index, users int
	stem         string
	analysis     *analysisFile

	start      time.Time
	rampDone   time.Time // the last user's start
	settled    time.Time // the measurement begins
	longEnough time.Time // the measurement has its least length
	deadline   time.Time

	inFlight context.Context // ends when what is in flight is to be cut off
	cutOff   context.CancelFunc
	stopping chan struct{} // closed at the stop
	enough   chan struct{} // closed when enough trajectories are completed
	broken   chan struct{} // closed at the first error of this client's own

	mu        sync.Mutex
	stopped   bool
	err       error
	counts    phaseCounts
	completed []int // trajectories, a user each
	lacking   int   // users with fewer than they must complete
	samples   []sample
	lastEnd   time.Time
	reported  map[errorKind]bool
}

// phase plays one concurrency level and writes its files.
func (r *run) phase(ctx context.Context, index, users int) error {
	p, err := r.newPhase(ctx, index, users)
	if err != nil {
		return err
	}
	defer p.cutOff()
	p.emit(eventPhaseStart, p.start, "")
	var wg sync.WaitGroup
	for u := range users {
		wg.Go(func() { p.playUser(u) })
	}
	reason := p.await(ctx)
	stop := time.Now()
	p.stop()
	p.emit(eventStop, stop, reason)
	idle := make(chan struct{})
	go func() { wg.Wait(); close(idle) }()
	p.drain(ctx, reason, idle)
	if p.err != nil {
		return errors.Join(p.err, p.analysis.discard())
	}
	// The phase ends with its last request, and not before it was stopped: users
	// that sat in a tool call then were part of it.
	end := stop
	if p.lastEnd.After(end) {
		end = p.lastEnd
	}
	p.emit(eventDrained, end, reason)
	if err := p.write(end, reason); err != nil {
		return err
	}
	p.emit(eventPhaseEnd, time.Now(), reason)
	if c := p.counts; ctx.Err() == nil && c.Successful == 0 && c.Failed > 0 {
		return fmt.Errorf("phase %d: %w, %d failed; see the log and the analysis rows",
			index, errNothingSucceeded, c.Failed)
	}
	return nil
}

func (r *run) newPhase(ctx context.Context, index, users int) (*phase, error) {
	stem := r.stem(index, users)
	analysis, err := createAnalysis(filepath.Join(r.cfg.ResultsDir, stem+".jsonl"))
	if err != nil {
		return nil, err
	}
	p := &phase{
		run: r, index: index, users: users, stem: stem, analysis: analysis,
		stopping: make(chan struct{}), enough: make(chan struct{}), broken: make(chan struct{}),
		completed: make([]int, users), reported: make(map[errorKind]bool),
	}
	// The end of ctx stops the phase, but what is in flight then may drain.
	p.inFlight, p.cutOff = context.WithCancel(context.WithoutCancel(ctx))
	p.start = time.Now()
	p.rampDone = p.userStart(users - 1)
	p.settled = p.rampDone.Add(r.cfg.SettlingTime)
	p.longEnough = p.settled.Add(r.cfg.MinMeasurement)
	p.deadline = p.start.Add(r.cfg.PhaseTimeout)
	if r.cfg.MinTrajectoriesPerUser > 0 {
		p.lacking = users
	}
	p.checkEnough()
	return p, nil
}

func (p *phase) userStart(user int) time.Time {
	return p.start.Add(seconds(float64(user) / p.cfg.SpawnRate))
}

// await passes the milestones of the phase until it has to stop.
func (p *phase) await(ctx context.Context) stopReason {
	deadline := time.NewTimer(time.Until(p.deadline))
	defer deadline.Stop()
	milestones := []struct {
		at   time.Time
		kind eventKind // empty: nothing to tell
	}{
		{at: p.rampDone, kind: eventRampDone},
		{at: p.settled, kind: eventSettlingDone},
		{at: p.longEnough},
	}
	next := time.NewTimer(time.Until(milestones[0].at))
	defer next.Stop()
	var enough <-chan struct{} // heeded once the measurement is long enough
	for {
		select {
		case <-ctx.Done():
			return stopInterrupted
		case <-p.broken:
			return stopFailed
		case <-deadline.C:
			return stopTimeout
		case <-enough:
			return stopCriteria
		case <-next.C:
			if kind := milestones[0].kind; kind != "" {
				p.emit(kind, milestones[0].at, "")
			}
			milestones = milestones[1:]
			if len(milestones) == 0 {
				enough = p.enough
				continue
			}
			next.Reset(time.Until(milestones[0].at))
		}
	}
}

func (p *phase) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	close(p.stopping)
}

// drain waits for what is in flight, within limits.
func (p *phase) drain(ctx context.Context, reason stopReason, idle <-chan struct{}) {
	limit, interrupted := p.cfg.RequestTimeout, ctx.Done()
	switch reason {
	case stopInterrupted:
		limit, interrupted = p.cfg.InterruptGrace, nil
	case stopFailed:
		limit, interrupted = 0, nil
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-idle:
			return
		case <-interrupted:
			interrupted = nil
			timer.Reset(p.cfg.InterruptGrace)
		case <-timer.C:
			p.cutOff()
			<-idle
			return
		}
	}
}

// begin admits a request, and tells when; not after the stop.
func (p *phase) begin() (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return time.Time{}, false
	}
	p.counts.InFlight++
	return time.Now(), true
}

// finish takes in a request that has ended, after its rows are written.
func (p *phase) finish(user int, last bool, x exchange, s sample) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.InFlight--
	if x.kind == "" {
		p.counts.Successful++
	} else {
		p.counts.Failed++
	}
	if x.end.After(p.lastEnd) {
		p.lastEnd = x.end
	}
	if !x.start.Before(p.settled) {
		p.samples = append(p.samples, s)
	}
	if !last {
		return
	}
	p.counts.Trajectories++
	p.completed[user]++
	if p.completed[user] == p.cfg.MinTrajectoriesPerUser {
		p.lacking--
	}
	p.checkEnough()
}

// checkEnough tells await once the stop criteria that count trajectories hold,
// which they do from then on. The caller holds the lock.
func (p *phase) checkEnough() {
	if p.lacking > 0 || p.counts.Trajectories < p.cfg.MinTotalTrajectories {
		return
	}
	select {
	case <-p.enough:
	default:
		close(p.enough)
	}
}

// cut takes in a request that the end of the drain has cut off.
func (p *phase) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.InFlight--
	p.counts.CutOff++
}

// fail ends the phase for a reason that is not the server's.
func (p *phase) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
		close(p.broken)
	}
}

func (p *phase) emit(kind eventKind, at time.Time, reason stopReason) {
	if p.cfg.onEvent == nil {
		return
	}
	p.mu.Lock()
	e := phaseEvent{
		Kind: kind, Time: p.clock.seconds(at), Phase: p.index, Concurrency: p.users,
		Reason: reason, Counts: p.counts, Stem: p.stem,
	}
	p.mu.Unlock()
	p.cfg.onEvent(e)
}
