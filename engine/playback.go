package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// Playback is a run that has ended, told again as it stood at any moment between
// From and To. What a moment shows is what a watcher could have seen then: rows
// and events up to it, and a window's end only once it has come.
type Playback struct {
	From, To time.Time

	mu       sync.Mutex // guards reel
	logs     string
	known    results.RunContext
	events   []event.Event // by time
	spans    []phaseSpan
	manifest []dated // rows, by their window's end
	stats    []dated // files, likewise
	reel     *reel   // what has been played
}

// phaseSpan is when a phase began and when it was measured; zero when not known.
type phaseSpan struct {
	phase, level              int
	first, last, measure, end time.Time
}

func spanOf(f *results.Fold, p results.Phase) phaseSpan {
	s := phaseSpan{phase: p.Index, level: p.Concurrency}
	s.first, s.last = f.Span(p.Index)
	if w := p.Window; w != nil && w.End > w.Start {
		s.measure = fromUnix(w.Start)
		if w.Source != results.Estimated { // whose end is the present
			s.end = fromUnix(w.End)
		}
	}
	return s
}

// dated is something that appears at a time.
type dated struct {
	at   time.Time
	stem harness.Stem // of a statistics file
	data []byte
}

// reel is a fold with all that had happened by a time.
type reel struct {
	at      time.Time
	fold    *results.Fold
	file    *os.File
	rows    *bufio.Reader
	pending []byte // the row that comes next, which ended at due
	due     float64
	ahead   []byte  // the row behind it; nil at the end of the file
	end     float64 // of the request of ahead, in Unix s; NaN when it does not tell
	events  int     // that were told
	status  event.Status
	started int // entries of manifest and stats that were given
	stated  int
}

// maxRow is longer than any row of requests.jsonl, in bytes.
const maxRow = 1 << 20

// Playback reads a run once to learn what it holds; then At tells any moment of it.
func (e *Engine) Playback(ctx context.Context, l Located) (*Playback, error) {
	p := &Playback{logs: l.Logs}
	var err error
	if p.known, err = l.Known(); err != nil {
		return nil, err
	}
	for _, name := range []string{event.FileName, event.ClientFileName} {
		es, err := event.ReadFile(filepath.Join(l.Logs, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		p.events = append(p.events, es...)
	}
	slices.SortStableFunc(p.events, func(a, b event.Event) int { return a.T.Compare(b.T) })
	if err := p.survey(ctx); err != nil {
		return nil, fmt.Errorf("play %s back: %w", l.Label(), err)
	}
	return p, nil
}

// survey plays everything at once, to learn when each phase was what.
func (p *Playback) survey(ctx context.Context) error {
	if err := p.ends(); err != nil {
		return err
	}
	r, err := p.rewind()
	if err != nil {
		return err
	}
	defer r.close()
	far := time.Unix(1<<33, 0) // later than the end of any row, and within an int64 of ns
	if err := p.advance(ctx, r, far); err != nil {
		return err
	}
	run := r.fold.Run(time.Time{})
	for _, ph := range run.Phases {
		s := spanOf(r.fold, ph)
		if s.first.IsZero() {
			continue
		}
		p.spans = append(p.spans, s)
		p.From, p.To = earlier(p.From, s.first), later(p.To, s.last)
	}
	if len(p.spans) == 0 {
		return fmt.Errorf("%s has no rows of this client start; only what has request rows can be played back", results.RequestsFile)
	}
	if n := len(p.events); n > 0 {
		p.From, p.To = earlier(p.From, p.events[0].T), later(p.To, p.events[n-1].T)
	}
	for i, m := range p.manifest {
		p.manifest[i].at = p.endOf(manifestPhase(m.data))
	}
	for i, s := range p.stats {
		p.stats[i].at = p.endOf(s.stem.Phase)
	}
	p.plan()
	return nil
}

// plan lets the windows of phases of which no plan is at hand be known from their
// beginning, where the run's own files tell them at its end.
func (p *Playback) plan() {
	if p.known.Start.IsZero() {
		p.known.Start = p.spans[0].first
	}
	for _, s := range p.spans {
		has := slices.ContainsFunc(p.known.Levels, func(l results.Level) bool { return l.Phase == s.phase })
		if !has && !s.measure.IsZero() {
			p.known.Levels = append(p.known.Levels, results.Level{
				Phase: s.phase, Concurrency: s.level, Settling: s.measure.Sub(s.first).Seconds(), Timeout: s.end.Sub(s.first).Seconds(),
			})
		}
	}
}

// ends reads the small files that the client writes at a phase's end.
func (p *Playback) ends() error {
	dir := filepath.Join(p.logs, "agentperf")
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
		if errors.Is(err, results.ErrTooLarge) {
			continue // told with the run's figures
		}
		if err != nil {
			return err
		}
		if isStats {
			p.stats = append(p.stats, dated{stem: stem, data: data})
			continue
		}
		for line := range bytes.Lines(data) {
			p.manifest = append(p.manifest, dated{data: line})
		}
	}
	return nil
}

func manifestPhase(line []byte) int {
	m := struct {
		Phase int `json:"phase_idx"`
	}{Phase: -1}
	if err := json.Unmarshal(line, &m); err != nil { // the fold says so too
		return -1
	}
	return m.Phase
}

// endOf is when a phase's window closed; the end of all for another one.
func (p *Playback) endOf(phase int) time.Time {
	for _, s := range p.spans {
		if s.phase == phase && !s.end.IsZero() {
			return later(s.end, s.last)
		}
	}
	return p.To
}

func (p *Playback) rewind() (*reel, error) {
	f, err := os.Open(filepath.Join(p.logs, "agentperf", results.RequestsFile))
	if err != nil {
		return nil, err
	}
	r := &reel{fold: results.NewFold(), file: f, rows: bufio.NewReaderSize(f, 1<<16), due: math.Inf(-1)}
	r.fold.Plan(p.known.Levels...)
	if !p.known.Start.IsZero() {
		r.fold.Start(p.known.Start)
	}
	return r, nil
}

func (r *reel) close() {
	r.fold.Close()
	_ = r.file.Close() // was only read
}

// Close gives back what the playback holds.
func (p *Playback) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close()
}

func (p *Playback) close() {
	if p.reel != nil {
		p.reel.close()
		p.reel = nil
	}
}

// At is the run as it stood at a time. Going on from the last moment asked for
// reads only what came since; going back reads again from the beginning.
func (p *Playback) At(ctx context.Context, t time.Time) (Update, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Update{}, err
	}
	if p.reel == nil || t.Before(p.reel.at) {
		p.close()
		r, err := p.rewind()
		if err != nil {
			return Update{}, fmt.Errorf("play back: %w", err)
		}
		p.reel = r
	}
	r := p.reel
	told := r.events
	if err := p.advance(ctx, r, t); err != nil {
		p.close()
		return Update{}, fmt.Errorf("play back: %w", err)
	}
	r.at = t
	u := Update{At: t, Events: p.events[told:r.events], Status: r.status, Heard: earlier(t, p.To), Done: !t.Before(p.To)}
	now := t
	if u.Done {
		now = time.Time{}
	}
	u.figures(r.fold, now)
	u.Run.LogDir = p.logs
	if len(p.events) == 0 {
		u.Status = p.told(t)
	}
	return u, nil
}

// told is the status of a run without a diary, by what its rows and windows say.
func (p *Playback) told(t time.Time) event.Status {
	s := event.Status{Started: p.From, Last: t, State: event.Starting}
	for _, ph := range p.spans {
		if t.Before(ph.first) {
			break
		}
		m := ph.mark(t)
		s.Phases = append(s.Phases, m)
		switch {
		case !m.Stop.IsZero():
			s.State, s.Since = event.Post, m.Stop
		case !m.Measure.IsZero():
			s.State, s.Since = event.Measuring, m.Measure
		default:
			s.State, s.Since = event.Ramp, m.Ramp
		}
	}
	if !t.Before(p.To) {
		s.State, s.Since, s.Last = event.Done, p.To, p.To
	}
	return s
}

// mark is what can be said of a phase at a time without a diary.
func (s phaseSpan) mark(t time.Time) event.PhaseMark {
	m := event.PhaseMark{Phase: s.phase, Level: s.level, Ramp: s.first}
	if !s.measure.IsZero() && !t.Before(s.measure) {
		m.Measure = s.measure
	}
	if !s.end.IsZero() && !t.Before(s.end) {
		m.Stop = s.end
	}
	return m
}

// advance gives the reel everything up to a time.
func (p *Playback) advance(ctx context.Context, r *reel, t time.Time) error {
	for ; r.events < len(p.events) && !p.events[r.events].T.After(t); r.events++ {
		r.status.Apply(p.events[r.events])
	}
	until := float64(t.UnixNano()) / 1e9
	for n := 0; r.due <= until; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if r.pending != nil {
			_ = r.fold.Live(r.pending) // what is wrong with it is among the run's warnings
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	for ; r.started < len(p.manifest) && !p.manifest[r.started].at.After(t); r.started++ {
		_ = r.fold.Manifest(p.manifest[r.started].data)
	}
	for ; r.stated < len(p.stats) && !p.stats[r.stated].at.After(t); r.stated++ {
		_ = r.fold.Statistics(p.stats[r.stated].stem, p.stats[r.stated].data)
	}
	return nil
}

// apart is how far a row must be from the ones before and behind it for its time to
// be wrong, in s. A client that was started again goes on where it is then.
const apart = 24 * 3600

// next reads the row that comes next; at the end none is due any more. A row whose time
// is wrong is left out: with it the run would seem to last for years.
func (r *reel) next() error {
	if r.ahead == nil { // at the beginning, or at the end
		if err := r.read(); err != nil {
			return err
		}
	}
	for {
		if r.ahead == nil {
			r.pending, r.due = nil, math.Inf(1)
			return nil
		}
		end := r.end
		r.pending, r.ahead = r.ahead, r.pending[:0]
		if err := r.read(); err != nil {
			return err
		}
		behind := r.end
		if r.ahead == nil && !math.IsInf(r.due, -1) {
			behind = r.due
		}
		if end > r.due+apart && behind < end-apart {
			continue
		}
		if end > r.due { // rows are in the order of their ends
			r.due = end
		}
		return nil
	}
}

// read reads the row that is to come behind the next one.
func (r *reel) read() error {
	line, err := r.rows.ReadSlice('\n')
	r.ahead = append(r.ahead[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.rows.ReadSlice('\n')
		if len(r.ahead) < maxRow {
			r.ahead = append(r.ahead, line...)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if r.end = results.RowEnd(r.ahead); len(r.ahead) == 0 {
		r.ahead, r.end = nil, math.NaN()
	}
	return nil
}

// fromUnix is a time of Unix s.
func fromUnix(s float64) time.Time {
	whole, fraction := math.Modf(s)
	return time.Unix(int64(whole), int64(fraction*1e9))
}

// earlier and later take a zero time for none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
