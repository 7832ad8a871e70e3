// Package watch follows a run until it ends, or plays back a completed run. It reads the files of the
// run and queries its state, and changes nothing.
package watch

import (
	"context"
	"errors"
	"io/fs"
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
		Watcher: w, run: ref, opt: opt, planned: c.Planned, aggregator: results.NewAggregator(),
		statFiles: map[string]time.Time{},
		in:        make(chan fileChunk), stop: make(chan struct{}), out: make(chan Update),
		queueAnswers: make(chan slurm.Answer),
	}
	f.aggregator.AddPlan(c.Planned...)
	f.aggregator.SetMinMeasurement(c.MinMeasurement)
	go f.follow(ctx)
	return f.out, nil
}

// fileChunk is a chunk of one of the followed files.
type fileChunk struct {
	name string // base name
	follow.Chunk
	closed bool
}

// follower is the state of one watch.
type follower struct {
	*Watcher
	run        runs.Ref
	opt        Options
	planned    []results.PlannedPhase // phases of the plan
	aggregator *results.Aggregator
	in         chan fileChunk
	stop       chan struct{}
	outDir     string               // the client's output directory
	statFiles  map[string]time.Time // modification times of the client's output files when last read, by name
	open       int                  // number of followed files
	out        chan Update

	queueAnswers chan slurm.Answer // of the queue, for Slurm runs
	queueAnswer  slurm.Answer

	eventStatus event.Status // status from the events alone
	newEvents   []event.Event
	err         error
	last        Update // the last update sent
	stalled     bool   // whether the last update showed a stall
}

func (f *follower) follow(ctx context.Context) {
	defer close(f.out)
	defer f.aggregator.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.outDir = results.OutputDir(f.run.Logs)
	for _, path := range []string{
		filepath.Join(f.run.Logs, event.FileName), filepath.Join(f.run.Logs, event.ClientFileName),
		results.RequestsPath(f.outDir), filepath.Join(f.outDir, results.ManifestFile),
	} {
		f.followFile(ctx, path)
	}
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
			if f.open == 0 {
				f.readStatistics(ctx)
				f.send(ctx, true)
				return
			}
		case f.queueAnswer = <-f.queueAnswers:
			dirty = true
		case <-tick.C:
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

// followFile follows one file of the log directory and sends its chunks to f.in.
func (f *follower) followFile(ctx context.Context, path string) {
	chunks, err := follow.File(ctx, path, follow.Options{Stop: f.stop, FinalPartial: true})
	if err != nil {
		f.err = err
		return
	}
	f.open++
	base := filepath.Base(path)
	if base == results.PredecessorRequestsFile {
		base = results.RequestsFile
	}
	go func() {
		for c := range chunks {
			select {
			case f.in <- fileChunk{name: base, Chunk: c}:
			case <-ctx.Done():
			}
		}
		select {
		case f.in <- fileChunk{name: base, closed: true}:
		case <-ctx.Done():
		}
	}()
}

func (f *follower) handleChunk(p fileChunk) {
	if p.closed {
		f.open--
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
		f.aggregator.SetStart(e.T)
	}
}

// readStatistics looks for new or changed files that the client writes at the end of a phase.
// Their names are not known in advance.
func (f *follower) readStatistics(ctx context.Context) {
	dir := f.outDir
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.err = err
		}
		return
	}
	for _, entry := range entries {
		name := entry.Name()
		stemName, isStats := strings.CutSuffix(name, ".json")
		if rest, ok := strings.CutSuffix(name, ".jsonl"); ok {
			stemName = rest
		}
		stem, ok := harness.ParseStem(stemName)
		info, err := entry.Info()
		if !ok || err != nil { // removed since the listing, or not an output of the client
			continue
		}
		seen, known := f.statFiles[name]
		switch {
		case isStats && (!known || !seen.Equal(info.ModTime())):
			data, err := results.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = f.aggregator.AddStatistics(stem, data)
			}
			if err != nil {
				f.err = err // perhaps incomplete; read again after its next change
			}
		case !isStats && !known && filepath.Ext(name) == ".jsonl":
			f.followFile(ctx, filepath.Join(dir, name))
		}
		f.statFiles[name] = info.ModTime()
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
