package replay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// phase is the state of one phase: the run of one concurrency level.
type phase struct {
	*run
	index, users int
	stem         string
	analysis     *analysisFile

	start        time.Time
	rampDone     time.Time // start of the last user
	settled      time.Time // start of the measuring window
	minWindowEnd time.Time // end of the shortest allowed measuring window
	deadline     time.Time

	requestCtx         context.Context // cancelled to cut off the requests in flight
	cancelRequests     context.CancelFunc
	stopping           chan struct{} // closed when the phase stops
	enoughTrajectories chan struct{} // closed when enough trajectories are completed
	clientFailed       chan struct{} // closed at the first error of the client itself

	mu            sync.Mutex
	stopped       bool
	err           error
	counts        phaseCounts
	completed     []int // trajectories per user
	usersBelowMin int   // users with fewer trajectories than MinTrajectoriesPerUser
	samples       []sample
	lastEnd       time.Time
	loggedKinds   map[errorKind]bool
	noted         notes // of all successful responses so far
}

// runPhase runs one concurrency level and writes its files.
func (r *run) runPhase(ctx context.Context, index, users int) error {
	p, err := r.newPhase(ctx, index, users)
	if err != nil {
		return err
	}
	defer p.cancelRequests()
	p.emit(eventPhaseStart, p.start, "")
	var wg sync.WaitGroup
	for u := range users {
		wg.Go(func() { p.runUser(u) })
	}
	reason := p.awaitStop(ctx)
	stop := time.Now()
	p.stop()
	p.emit(eventStop, stop, reason)
	idle := make(chan struct{})
	go func() { wg.Wait(); close(idle) }()
	p.drain(ctx, reason, idle)
	if p.err != nil {
		return errors.Join(p.err, p.analysis.discard())
	}
	// The phase ends with its last request, but not before the stop, because users that were
	// waiting for a tool call then count as active.
	end := stop
	if p.lastEnd.After(end) {
		end = p.lastEnd
	}
	p.emit(eventDrained, end, reason)
	if err := p.writeResults(end, reason); err != nil {
		return err
	}
	p.emit(eventPhaseEnd, time.Now(), reason)
	if c := p.counts; ctx.Err() == nil && c.Successful == 0 && c.Failed > 0 {
		return fmt.Errorf("phase %d: %w (%d requests); see the log and the analysis rows",
			index, errAllFailed, c.Failed)
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
		stopping: make(chan struct{}), enoughTrajectories: make(chan struct{}), clientFailed: make(chan struct{}),
		completed: make([]int, users), loggedKinds: make(map[errorKind]bool),
	}
	// When ctx ends, the phase stops, but the requests in flight may still finish.
	p.requestCtx, p.cancelRequests = context.WithCancel(context.WithoutCancel(ctx))
	p.start = time.Now()
	p.rampDone = p.userStart(users - 1)
	p.settled = p.rampDone.Add(r.cfg.SettlingTime)
	p.minWindowEnd = p.settled.Add(r.cfg.MinMeasurement)
	p.deadline = p.start.Add(r.cfg.PhaseTimeout)
	if r.cfg.MinTrajectoriesPerUser > 0 {
		p.usersBelowMin = users
	}
	p.checkTrajectories()
	return p, nil
}

func (p *phase) userStart(user int) time.Time {
	return p.start.Add(seconds(float64(user) / p.cfg.SpawnRate))
}

// awaitStop reports the milestones of the phase and returns when the phase must stop.
func (p *phase) awaitStop(ctx context.Context) stopReason {
	deadline := time.NewTimer(time.Until(p.deadline))
	defer deadline.Stop()
	milestones := []struct {
		at   time.Time
		kind eventKind // empty: not reported
	}{
		{at: p.rampDone, kind: eventRampDone},
		{at: p.settled, kind: eventSettlingDone},
		{at: p.minWindowEnd},
	}
	next := time.NewTimer(time.Until(milestones[0].at))
	defer next.Stop()
	var enough <-chan struct{} // nil until minWindowEnd
	for {
		select {
		case <-ctx.Done():
			return stopInterrupted
		case <-p.clientFailed:
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
				enough = p.enoughTrajectories
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

// drain waits for the requests in flight and cuts off those that exceed the time limit.
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
			p.cancelRequests()
			<-idle
			return
		}
	}
}

// startRequest counts a new request and returns its start time. It returns false after the stop.
func (p *phase) startRequest() (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return time.Time{}, false
	}
	p.counts.InFlight++
	return time.Now(), true
}

// finishRequest counts a request that has ended and whose rows are written.
func (p *phase) finishRequest(user int, last bool, x exchange, s sample) {
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
		p.usersBelowMin--
	}
	p.checkTrajectories()
}

// checkTrajectories closes enoughTrajectories once the stop criteria on trajectories are met.
// The caller must hold p.mu.
func (p *phase) checkTrajectories() {
	if p.usersBelowMin > 0 || p.counts.Trajectories < p.cfg.MinTotalTrajectories {
		return
	}
	select {
	case <-p.enoughTrajectories:
	default:
		close(p.enoughTrajectories)
	}
}

// recordCutOff counts a request that was cut off at the end of the drain.
func (p *phase) recordCutOff() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.InFlight--
	p.counts.CutOff++
}

// fail stops the phase because of an error of the client itself.
func (p *phase) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
		close(p.clientFailed)
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
