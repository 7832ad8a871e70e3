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
	"github.com/agentperf/agentperf-tui/engine/harness"
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
	// Heard is when the client last wrote a request row or a line of its log; zero
	// before it has.
	Heard time.Time
	Done  bool  // the last update: nothing more will come
	Err   error // a file could not be read; the watch goes on
}

// alarm is how long the client of a phase that runs may say nothing, at least:
// where requests take long, it is three times what the slowest hundredth takes.
const alarm = time.Minute

// Stalled is since when a phase that runs has been silent, neither a request
// having ended nor a line having come of the client; zero as long as that is no
// alarm. What the run's own orchestrator says of it, by the limit that its plan has,
// comes first.
func (u Update) Stalled(now time.Time) time.Time {
	if since := u.Status.Stalled; !since.IsZero() && !u.Status.State.Final() {
		return since
	}
	switch u.Status.State {
	case event.Ramp, event.Settling, event.Measuring:
	case event.Unknown: // another tool's run, whose outputs are unfinished
		if len(u.Run.Phases) == 0 {
			return time.Time{}
		}
	default:
		return time.Time{}
	}
	if u.Heard.IsZero() {
		return time.Time{}
	}
	most := alarm
	if n := len(u.Run.Phases); n > 0 {
		if slow := u.Run.Phases[n-1].Figures.Of("e2e_p99_s").Value; slow > 0 && slow < 3600 {
			most = max(most, time.Duration(3*slow*float64(time.Second)))
		}
	}
	if now.Sub(u.Heard) < most {
		return time.Time{}
	}
	return u.Heard
}

// figures fills in what a fold tells at a time; zero: the time of the last request.
func (u *Update) figures(f *results.Fold, now time.Time) {
	u.Run = f.Run(now)
	for _, p := range u.Run.Phases {
		series, err := f.Series(p.Index, 0)
		u.Series = append(u.Series, series)
		u.Err = errors.Join(u.Err, err)
	}
	if n := len(u.Run.Phases); n > 0 {
		recent, err := f.Recent(u.Run.Phases[n-1].Index, recentSeconds, now)
		if u.Err = errors.Join(u.Err, err); !recent.Until.IsZero() {
			u.Recent = &recent
		}
	}
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

// gaveUp is how long they must have been still where no phase's statistics say
// that it has ended.
const gaveUp = 10 * time.Minute

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
	known results.RunContext
	fold  *results.Fold
	in    chan piece
	stop  chan struct{}
	stems map[string]time.Time // statistics files by name, as last read
	open  int                  // followers that have not closed
	out   chan Update

	answers chan slurm.Answer // the queue's, for runs of Slurm
	answer  slurm.Answer

	status  event.Status
	fresh   []event.Event
	err     error
	last    Update // that was sent
	stalled bool   // as was told
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
			if w.listen() || dirty {
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
			if stem, ok := harness.ParseStem(strings.TrimSuffix(p.name, ".jsonl")); ok {
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
		stem, ok := harness.ParseStem(stemName)
		info, err := entry.Info()
		if !ok || err != nil { // gone since the listing, or no output of the client
			continue
		}
		seen, known := w.stems[name]
		switch {
		case isStats && (!known || !seen.Equal(info.ModTime())):
			data, err := results.ReadFile(filepath.Join(dir, name))
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

func (w *watcher) slurm() bool { return w.l.onSlurm() }

func (w *watcher) judge() event.Status {
	if w.l.Record.ID == "" && w.last.Status.State != "" {
		return w.last.Status
	}
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
	most := quiet
	if untilDone && !s.State.Final() {
		most = gaveUp // it may be a stall
	}
	return e.now().Sub(info.ModTime()) > most
}

func (w *watcher) send(ctx context.Context, done bool) {
	now := w.e.now()
	slices.SortStableFunc(w.fresh, func(a, b event.Event) int { return a.T.Compare(b.T) })
	u := Update{At: now, Events: w.fresh, Status: w.judge(), Heard: heard(w.l.Logs), Done: done, Err: w.err}
	if done || w.e.over(w.l, u.Status, w.opt.UntilDone) {
		now = time.Time{} // windows end with the last request, as they do when read later
	}
	u.figures(w.fold, now)
	u.Run.LogDir = w.l.Logs
	if w.l.Record.ID == "" {
		s := Summary{}
		s.foreign(w.l, u.Run)
		u.Status.State, u.Status.Last = s.State, s.Since
		w.marks(&u)
	}
	w.progress(&u)
	select {
	case w.out <- u:
		w.fresh, w.err = nil, nil
		w.last, w.stalled = u, !u.Stalled(u.At).IsZero()
	case <-ctx.Done():
	}
}

// listen notices what no followed file tells: that the client has gone silent, or
// writes nothing but its log.
func (w *watcher) listen() bool {
	u := w.last
	if u.Run.Phases == nil {
		return false
	}
	u.Heard = heard(w.l.Logs)
	return w.stalled == u.Stalled(w.e.now()).IsZero() || u.Heard.Sub(w.last.Heard) > alarm/4
}

// marks tells when the phases of another tool's run began and were measured, by its
// rows and windows: it has no diary.
func (w *watcher) marks(u *Update) {
	var last time.Time
	u.Status.Phases = nil
	for _, p := range u.Run.Phases {
		s := spanOf(w.fold, p)
		if s.first.IsZero() {
			continue
		}
		u.Status.Phases = append(u.Status.Phases, s.mark(u.At))
		u.Status.Started, last = earlier(u.Status.Started, s.first), later(last, s.last)
	}
	if !last.IsZero() {
		u.Status.Last = last
	}
}

// heard is when the client last wrote something; zero before it has.
func heard(logs string) time.Time {
	var at time.Time
	for _, name := range []string{"agentperf/" + results.RequestsFile, "benchmark.out", "client.log"} {
		if info, err := os.Stat(filepath.Join(logs, name)); err == nil {
			at = later(at, info.ModTime())
		}
	}
	return at
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
