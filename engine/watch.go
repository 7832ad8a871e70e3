package engine

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
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/slurm"
)

// Update is what a watcher is told: the events since the last update, and the
// whole state as it stands.
type Update struct {
	At     time.Time
	Events []event.Event // new ones, by time
	Status event.Status
	Run    results.Run // figures so far
	// Series are the phases over time, in the order of Run.Phases.
	Series []results.Series
	// Recent are the figures of the last minute of the newest phase; nil before
	// the first request.
	Recent *results.Recent
	Done   bool  // the last update: nothing more will come
	Err    error // a file could not be read; the watch goes on
}

// WatchOptions say how closely to watch; zero values take the defaults.
type WatchOptions struct {
	// Interval is the shortest time between two updates: 1 s.
	Interval time.Duration
	// UntilDone waits out a run whose state is unknown instead of ending there.
	UntilDone bool
}

// recentSeconds is what "recent" means on a watch.
const recentSeconds = 60

// quiet is how long another tool's outputs must have been still to count as ended.
const quiet = time.Minute

// Watch follows a run from its beginning, whenever it is called, until it ends
// or ctx does. Updates are coalesced, never lost: each holds all events since the
// one before. The channel is closed after the update with Done.
func (e *Engine) Watch(ctx context.Context, l Located, opt WatchOptions) (<-chan Update, error) {
	known, err := l.Known()
	if err != nil {
		return nil, err
	}
	if opt.Interval <= 0 {
		opt.Interval = time.Second
	}
	w := &watcher{e: e, l: l, opt: opt, known: known, fold: results.NewFold(), in: make(chan piece), stop: make(chan struct{}), stems: map[string]time.Time{}, out: make(chan Update), answers: make(chan slurm.Answer)}
	w.fold.Plan(known.Levels...)
	go w.run(ctx)
	return w.out, nil
}

// piece is a chunk of one of the files.
type piece struct {
	name string // base name
	follow.Chunk
	closed bool
}

type watcher struct {
	e     *Engine
	l     Located
	opt   WatchOptions
	known results.Known
	fold  *results.Fold
	in    chan piece
	stop  chan struct{}
	stems map[string]time.Time // statistics files by name, as last read
	open  int                  // followers that have not closed
	out   chan Update

	answers chan slurm.Answer // the queue's, for runs of Slurm
	answer  slurm.Answer

	status event.Status
	fresh  []event.Event
	err    error
}

func (w *watcher) run(ctx context.Context) {
	defer close(w.out)
	defer w.fold.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, name := range []string{event.FileName, event.ClientFileName, "agentperf/" + results.RequestsFile, "agentperf/" + results.ManifestFile} {
		w.follow(ctx, name)
	}
	if w.slurm() {
		go w.e.pollQueue(ctx, w.answers)
	}
	tick := time.NewTicker(w.opt.Interval)
	defer tick.Stop()
	dirty, stopping := true, false
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-w.in:
			w.take(p)
			dirty = true
			if w.open == 0 {
				w.statistics(ctx)
				w.send(ctx, true)
				return
			}
		case w.answer = <-w.answers:
			dirty = true
		case <-tick.C:
			w.statistics(ctx)
			if dirty {
				dirty = false
				w.send(ctx, false)
			}
			if !stopping && w.e.over(w.l, w.judge(), w.opt.UntilDone) {
				stopping = true
				close(w.stop)
			}
		}
	}
}

// follow reads one file of the log dir into the watcher's channel.
func (w *watcher) follow(ctx context.Context, name string) {
	chunks, err := follow.File(ctx, filepath.Join(w.l.Logs, name), follow.Options{Stop: w.stop, Rest: true})
	if err != nil {
		w.err = err
		return
	}
	w.open++
	base := filepath.Base(name)
	go func() {
		for c := range chunks {
			select {
			case w.in <- piece{name: base, Chunk: c}:
			case <-ctx.Done():
			}
		}
		select {
		case w.in <- piece{name: base, closed: true}:
		case <-ctx.Done():
		}
	}()
}

func (w *watcher) take(p piece) {
	if p.closed {
		w.open--
		return
	}
	if p.Err != nil {
		w.err = p.Err
	}
	if p.Restarted {
		w.fold.Forget(p.name)
	}
	for _, line := range p.Lines {
		switch p.name {
		case event.FileName, event.ClientFileName:
			w.event(line)
		case results.RequestsFile:
			_ = w.fold.Live(line) // what is wrong with it is among the run's warnings
		case results.ManifestFile:
			_ = w.fold.Manifest(line)
		default:
			if stem, ok := results.ParseStem(strings.TrimSuffix(p.name, ".jsonl")); ok {
				_ = w.fold.Analysis(stem, line)
			}
		}
	}
}

func (w *watcher) event(line []byte) {
	e, err := event.Parse(line)
	if err != nil {
		return // a line of a later version, or a torn one
	}
	w.fresh = append(w.fresh, e)
	w.status.Apply(e)
	if e.Kind == event.StepStart && e.Step == "client" {
		w.fold.Start(e.T)
	}
}

// statistics looks for files that the client writes at a phase's end: their
// names are not known before.
func (w *watcher) statistics(ctx context.Context) {
	dir := filepath.Join(w.l.Logs, "agentperf")
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.err = err
		}
		return
	}
	for _, entry := range entries {
		name := entry.Name()
		stemName, isStats := strings.CutSuffix(name, ".json")
		if rest, ok := strings.CutSuffix(name, ".jsonl"); ok {
			stemName = rest
		}
		stem, ok := results.ParseStem(stemName)
		info, err := entry.Info()
		if !ok || err != nil { // gone since the listing, or no output of the client
			continue
		}
		seen, known := w.stems[name]
		switch {
		case isStats && (!known || !seen.Equal(info.ModTime())):
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = w.fold.Statistics(stem, data)
			}
			if err != nil {
				w.err = err // half written, perhaps: read again at its next change
			}
		case !isStats && !known && filepath.Ext(name) == ".jsonl":
			w.follow(ctx, "agentperf/"+name)
		}
		w.stems[name] = info.ModTime()
	}
}

func (w *watcher) slurm() bool { return w.l.Record.Launcher == string(plan.Slurm) }

func (w *watcher) judge() event.Status {
	if w.slurm() && !w.status.State.Final() {
		return w.e.judgeSlurm(w.l, w.status, w.answer)
	}
	return w.e.judge(w.l, w.status)
}

// over says whether a run writes no more, by its status as judged.
func (e *Engine) over(l Located, s event.Status, untilDone bool) bool {
	if s.State == event.Unknown && s.Queue != nil && s.Queue.Error != "" {
		return false // an outage passes
	}
	if l.Record.ID != "" {
		return s.State.Final() || s.State == event.Unknown && !untilDone
	}
	info, err := os.Stat(filepath.Join(l.Logs, "agentperf", results.RequestsFile))
	if err != nil {
		return !untilDone
	}
	return e.now().Sub(info.ModTime()) > quiet
}

func (w *watcher) send(ctx context.Context, done bool) {
	now := w.e.now()
	slices.SortStableFunc(w.fresh, func(a, b event.Event) int { return a.T.Compare(b.T) })
	u := Update{At: now, Events: w.fresh, Status: w.judge(), Done: done, Err: w.err}
	if done {
		now = time.Time{} // windows end with the last request, as they do when read later
	}
	u.Run = w.fold.Run(now)
	u.Run.LogDir = w.l.Logs
	for _, p := range u.Run.Phases {
		series, err := w.fold.Series(p.Index, 0)
		u.Series = append(u.Series, series)
		u.Err = errors.Join(u.Err, err)
	}
	if n := len(u.Run.Phases); n > 0 {
		recent, err := w.fold.Recent(u.Run.Phases[n-1].Index, recentSeconds, now)
		u.Recent, u.Err = &recent, errors.Join(u.Err, err)
	}
	if w.l.Record.ID == "" {
		s := Summary{}
		s.foreign(w.l, u.Run)
		u.Status.State, u.Status.Last = s.State, s.Since
	}
	select {
	case w.out <- u:
		w.fresh, w.err = nil, nil
	case <-ctx.Done():
	}
}

// Results reads a run's figures from its files.
func (e *Engine) Results(ctx context.Context, l Located) (results.Run, error) {
	known, err := e.allKnown(l)
	if err != nil {
		return results.Run{}, err
	}
	return results.Load(ctx, l.Logs, known)
}

// Rollup writes benchmark-rollup.json into the log dir and returns its path;
// empty when no phase has ended.
func (e *Engine) Rollup(ctx context.Context, l Located) (string, results.Rollup, error) {
	known, err := e.allKnown(l)
	if err != nil {
		return "", results.Rollup{}, err
	}
	return results.WriteRollup(ctx, l.Logs, known)
}
