// Package watch follows a run until it ends, or plays back a completed run. It reads the files of the
// run and queries its state, and changes nothing.
package watch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/follow"
	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/engine/slurm"
)

// Options are the options of a watch.
type Options struct {
	Interval  time.Duration // the shortest time between two updates; 0: 1 s
	UntilDone bool          // continue while the state of the run is unknown
}

// Watcher follows runs. Make it with [New].
type Watcher struct {
	status *runs.Resolver
	now    func() time.Time
}

// New returns a watcher that gets the states of runs from a resolver.
func New(status *runs.Resolver, now func() time.Time) *Watcher {
	return &Watcher{status: status, now: now}
}

// Watch follows a run from its beginning, even if the run started earlier, until the run or ctx ends.
// Each update holds all events since the last one, so that none are lost. The channel is closed
// after the update with Done.
func (w *Watcher) Watch(ctx context.Context, ref runs.Ref, opt Options) (<-chan Update, error) {
	c, err := ref.Context()
	if err != nil {
		return nil, err
	}
	if opt.Interval <= 0 {
		opt.Interval = time.Second
	}
	f := &follower{
		Watcher: w, run: ref, opt: opt, context: c,
		in: make(chan fileChunk), stop: make(chan struct{}), out: make(chan Update),
		queueAnswers: make(chan slurm.Answer),
	}
	go f.follow(ctx)
	return f.out, nil
}

// fileChunk is a chunk of one of the followed files.
type fileChunk struct {
	of   *output // the file belongs to; nil for an event log
	name string  // base name
	follow.Chunk
	closed bool
}

// follower is the state of one watch.
type follower struct {
	*Watcher
	run        runs.Ref
	opt        Options
	context    results.RunContext
	aggregator *results.Aggregator // of the rows and files of output
	output     *output
	in         chan fileChunk
	stop       chan struct{}
	open       int // number of followed event logs
	out        chan Update

	queueAnswers chan slurm.Answer // of the queue, for Slurm runs
	queueAnswer  slurm.Answer

	eventStatus event.Status // status from the events alone
	clientStart time.Time    // from the events; zero if unknown
	newEvents   []event.Event
	err         error
	last        Update // the last update sent
	stalled     bool   // whether the last update showed a stall
}

func (f *follower) follow(ctx context.Context) {
	defer close(f.out)
	defer func() { f.aggregator.Close() }() // of the last output
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, name := range []string{event.FileName, event.ClientFileName} {
		f.followFile(ctx, filepath.Join(f.run.Logs, name), nil)
	}
	f.followOutput(ctx)
	if f.run.OnSlurm() {
		go f.status.PollQueue(ctx, f.queueAnswers)
	}
	tick := time.NewTicker(f.opt.Interval)
	defer tick.Stop()
	dirty, stopping := true, false
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-f.in:
			f.handleChunk(p)
			dirty = true
			if f.idle() {
				f.followOutput(ctx)
				f.readStatistics(ctx)
			}
			if f.idle() { // there were no new files
				f.send(ctx, true)
				return
			}
		case f.queueAnswer = <-f.queueAnswers:
			dirty = true
		case <-tick.C:
			dirty = f.followOutput(ctx) || dirty
			f.readStatistics(ctx)
			if f.activityChanged() || dirty {
				dirty = false
				f.send(ctx, false)
			}
			if !stopping && f.status.Ended(f.run, f.resolve(), f.opt.UntilDone) {
				stopping = true
				close(f.stop)
			}
		}
	}
}

// idle reports whether no file is followed.
func (f *follower) idle() bool { return f.open == 0 && f.output.open == 0 }

func (f *follower) handleChunk(p fileChunk) {
	if p.closed {
		*f.openOf(p.of)--
	}
	if p.closed || p.of != nil && p.of != f.output { // that of an earlier client start
		return
	}
	if p.Err != nil {
		f.err = p.Err
	}
	if p.Restarted {
		f.aggregator.DropFile(p.name)
	}
	for _, line := range p.Lines {
		switch p.name {
		case event.FileName, event.ClientFileName:
			f.applyEvent(line)
		case results.RequestsFile:
			_ = f.aggregator.AddRequestRow(line) // errors are in the warnings of the run
		case results.ManifestFile:
			_ = f.aggregator.AddManifestRow(line)
		default:
			if stem, ok := harness.ParseStem(strings.TrimSuffix(p.name, ".jsonl")); ok {
				_ = f.aggregator.AddAnalysisRow(stem, line)
			}
		}
	}
}

func (f *follower) applyEvent(line []byte) {
	e, err := event.Parse(line)
	if err != nil {
		return // a line of a later version, or an incomplete one
	}
	f.newEvents = append(f.newEvents, e)
	f.eventStatus.Apply(e)
	if e.Kind == event.StepStart && e.Step == event.ClientStep {
		f.clientStart = later(f.clientStart, e.T)
		f.aggregator.SetStart(e.T)
	}
}

func (f *follower) resolve() event.Status {
	if f.run.Record.ID == "" && f.last.Status.State != "" {
		return f.last.Status
	}
	if f.run.OnSlurm() && !f.eventStatus.State.Final() {
		return f.status.ResolveJob(f.run, f.eventStatus, f.queueAnswer)
	}
	return f.status.Resolve(f.run, f.eventStatus)
}

func (f *follower) send(ctx context.Context, done bool) {
	now := f.now()
	slices.SortStableFunc(f.newEvents, func(a, b event.Event) int { return a.T.Compare(b.T) })
	u := Update{
		At: now, Events: f.newEvents, Status: f.resolve(), LastActivity: lastActivity(f.run.Logs), Done: done, Err: f.err,
	}
	if done || f.status.Ended(f.run, u.Status, f.opt.UntilDone) {
		now = time.Time{} // windows end with the last request, as in results read later
	}
	u.setFigures(f.aggregator, now)
	u.Run.LogDir = f.run.Logs
	u.Run.Warnings = append(u.Run.Warnings, results.OtherStarts(f.run.Logs)...)
	if f.run.Record.ID == "" {
		u.Status.State, u.Status.Last = runs.ExternalState(f.run, u.Run)
		f.inferPhaseTimes(&u)
	}
	f.inferPhase(&u)
	select {
	case f.out <- u:
		f.newEvents, f.err = nil, nil
		f.last, f.stalled = u, !u.StalledSince(u.At).IsZero()
	case <-ctx.Done():
	}
}

// activityChanged reports whether the client has stalled or resumed, or has written only to its
// log. None of these changes a followed file.
func (f *follower) activityChanged() bool {
	u := f.last
	if u.Run.Phases == nil {
		return false
	}
	u.LastActivity = lastActivity(f.run.Logs)
	return f.stalled == u.StalledSince(f.now()).IsZero() || u.LastActivity.Sub(f.last.LastActivity) > minStall/4
}

// lastActivity returns when the client last wrote a row or log line; zero: not yet.
func lastActivity(logs string) time.Time {
	var at time.Time
	for _, path := range []string{
		results.RequestsPath(results.OutputDir(logs)), filepath.Join(logs, "benchmark.out"),
		filepath.Join(logs, "client.log"),
	} {
		if info, err := os.Stat(path); err == nil {
			at = later(at, info.ModTime())
		}
	}
	return at
}
