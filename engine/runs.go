package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/logline"
	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
)

// Located is a run that was found: by path, id or name.
type Located struct {
	Dir    string        // the run's folder; for foreign outputs the folder that was given
	Logs   string        // its log dir
	Record rundir.Record // zero for outputs of other tools
}

// onSlurm says whether the run is a job of Slurm's, ours or srtctl's.
func (l Located) onSlurm() bool { return plan.Target(l.Record.Launcher).OnSlurm() }

// Label is the run's name for people.
func (l Located) Label() string {
	if l.Record.ID != "" {
		return l.Record.Name + "_" + l.Record.ID
	}
	return filepath.Base(filepath.Dir(l.Dir)) + "/" + filepath.Base(l.Dir)
}

// Find finds a run: a path (log dir or run dir), an exact job id, or a unique
// prefix of <name>_<id>, in this order. Several matches are an error that lists them.
func (e *Engine) Find(ctx context.Context, run string) (Located, error) {
	if err := ctx.Err(); err != nil {
		return Located{}, err
	}
	if run == "" {
		return Located{}, errors.New("run: the name is empty; agentperf-tui runs lists the runs that are known")
	}
	if info, err := os.Stat(run); err == nil {
		if !info.IsDir() {
			return Located{}, fmt.Errorf("run %s: a file, want a run's folder or its log dir", run)
		}
		return locate(run)
	}
	records, listErr := e.registry.List()
	var hits []rundir.Record
	for _, r := range records {
		if r.ID == run || r.Name+"_"+r.ID == run {
			return located(r)
		}
		if strings.HasPrefix(r.Name+"_"+r.ID, run) {
			hits = append(hits, r)
		}
	}
	switch len(hits) {
	case 1:
		return located(hits[0])
	case 0:
		return Located{}, errors.Join(fmt.Errorf("run %q: no folder, no job id and no beginning of <name>_<id> of the %d runs known here; agentperf-tui runs lists them", run, len(records)), listErr)
	}
	names := make([]string, 0, len(hits))
	for _, h := range hits {
		names = append(names, h.Name+"_"+h.ID)
	}
	slices.Sort(names)
	return Located{}, fmt.Errorf("run %q: matches %d runs: %s; give more of the name", run, len(hits), strings.Join(names, ", "))
}

// located is a run of the list. Where its folder is gone, its entry in the list is all
// that is known of it, and enough to find its job by.
func located(r rundir.Record) (Located, error) {
	l, err := locate(r.Dir)
	if err == nil && l.Record.ID == "" {
		l = Located{Dir: r.Dir, Logs: rundir.Logs(r.Dir), Record: r}
	}
	return l, err
}

// gone says that the folder of a run of the list is not there any more, and what its
// supervisor left to say of that.
func (l Located) gone() error {
	if _, err := os.Stat(l.Dir); l.Record.ID == "" || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.New(strings.TrimSuffix("its folder is gone: "+l.Dir+"; "+l.Record.Lost, "; "))
}

func locate(dir string) (Located, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Located{}, err
	}
	if filepath.Base(dir) == "agentperf" { // the client's folder in the log dir was given
		dir = filepath.Dir(dir)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} { // the log dir was given
		rec, err := rundir.ReadRecord(d)
		if err == nil {
			return Located{Dir: d, Logs: rundir.Logs(d), Record: rec}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Located{}, err
		}
	}
	logs := dir
	if _, err := os.Stat(filepath.Join(dir, rundir.LogsDir, "agentperf")); err == nil {
		logs = rundir.Logs(dir)
	}
	return Located{Dir: dir, Logs: logs}, nil
}

// Known is what the run's own files tell of it beyond the client's outputs.
func (l Located) Known() (results.RunContext, error) {
	var k results.RunContext
	if l.Record.ID == "" {
		return k, nil
	}
	phases, err := l.phases()
	if err != nil {
		return k, err
	}
	k.Levels = job.Levels(phases)
	status, err := readStatus(l.Logs)
	if err != nil {
		return k, err
	}
	for _, s := range status.Steps {
		if s.Name == "client" {
			k.Start = s.Started
		}
	}
	return k, nil
}

// readStatus folds the events of a log dir. Without event files it is the zero
// status.
func readStatus(logs string) (event.Status, error) {
	var all []event.Event
	for _, name := range []string{event.FileName, event.ClientFileName} {
		es, err := event.ReadFile(filepath.Join(logs, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return event.Status{}, err
		}
		all = append(all, es...)
	}
	slices.SortStableFunc(all, func(a, b event.Event) int { return a.T.Compare(b.T) })
	var s event.Status
	for _, ev := range all {
		s.Apply(ev)
	}
	return s, nil
}

// judge turns a status into what can be said of the run now: a run whose
// supervisor is gone without a final word has failed, and one on another machine
// whose end is not known is unknown.
func (e *Engine) judge(l Located, s event.Status) event.Status {
	if s.State.Final() || l.Record.ID == "" {
		return s
	}
	gone := l.gone()
	if l.onSlurm() {
		s = e.judgeSlurm(l, s, e.queue.Ask(context.Background())) // has time limits of its own
		if gone != nil {
			s.Message = strings.TrimSuffix(gone.Error()+"; "+s.Message, "; ")
		}
		return s
	}
	if gone != nil {
		s.State, s.Message = event.Unknown, gone.Error()
		return s
	}
	if l.Record.Host != e.host {
		return e.judgeFromAfar(l, s)
	}
	alive, err := local.Alive(l.Dir)
	if err == nil && !alive {
		// It may have ended between the two looks: its last word counts.
		if again, rerr := readStatus(l.Logs); rerr == nil && again.State.Final() {
			return again
		}
	}
	switch {
	case err != nil:
		s.State, s.Message = event.Unknown, err.Error()
	case alive && s.State == "":
		s.State = event.Starting
	case !alive && e.now().Sub(l.Record.Created) < startTimeout && s.State == "":
		s.State = event.Pending
	case !alive:
		one := 1
		s.State, s.ExitCode = event.Failed, &one
		s.Message = "the run's supervisor ended without a word (killed?); its servers went with it"
		if last := lastError(filepath.Join(l.Logs, "sweep_"+l.Record.ID+".log")); last != "" {
			s.Message = "the run's supervisor ended, and its servers with it; its log says: " + last
		}
	}
	return s
}

// lastError is the last line of the job's log, if it tells of an error: of a full disk
// it is the only trace, for the diary could not be written then.
func lastError(path string) string {
	v := logview.NewView(time.Local, path)
	defer v.Close()
	at, err := v.End()
	if err != nil {
		return ""
	}
	got, err := v.Step(context.Background(), logview.Query{From: at, Back: true, Lines: 1})
	if err != nil || len(got.Lines) == 0 {
		return ""
	}
	if l := got.Lines[0]; l.Severity() == logline.Error || strings.Contains(l.Text, logline.DiskFull) {
		return strings.ToValidUTF8(l.Text[:min(len(l.Text), 300)], "")
	}
	return ""
}

// silence is how long a run on another machine may say nothing until its state is
// not known any more: its lock is not seen from here.
const silence = 2 * time.Minute

func (e *Engine) judgeFromAfar(l Located, s event.Status) event.Status {
	last := s.Last
	if info, err := os.Stat(filepath.Join(l.Logs, "agentperf", results.RequestsFile)); err == nil && info.ModTime().After(last) {
		last = info.ModTime()
	}
	if e.now().Sub(last) > silence {
		s.State, s.Message = event.Unknown, "runs on "+l.Record.Host+", which has said nothing for a while; look there"
	}
	return s
}

// Summary is one line of the list of runs.
type Summary struct {
	Located Located      `json:"-"`
	ID      string       `json:"id"` // empty for outputs of other tools
	Name    string       `json:"name"`
	Dir     string       `json:"dir"`
	Source  string       `json:"source"` // the launcher; harness for outputs of other tools
	State   event.State  `json:"state"`
	Message string       `json:"message,omitempty"`
	Since   time.Time    `json:"since,omitzero"` // last sign of life
	Levels  []int        `json:"levels"`
	Output  *float64     `json:"output_tok_s"` // of the highest level; null without data
	TTFT95  *float64     `json:"ttft_p95_s"`
	Cache   *float64     `json:"cache_hit_rate"` // fraction
	Errors  int          `json:"errors"`         // failed requests of all phases
	Status  event.Status `json:"-"`
	Plan    []plan.Phase `json:"-"` // none for outputs of other tools
}

// Runs lists the runs known here and, below the given roots, the folders of other
// tools; newest first. What could not be read is the error beside the rest.
func (e *Engine) Runs(ctx context.Context, roots []string) ([]Summary, error) {
	records, err := e.registry.List()
	problems := []error{err}
	var out []Summary
	seen := map[string]bool{}
	add := func(dir string) {
		l, err := locate(dir)
		if err == nil && !seen[l.Dir] {
			seen[l.Dir] = true
			var s Summary
			s, err = e.summarize(ctx, l) // what can't be read of it is told beside it
			out = append(out, s)
		}
		problems = append(problems, err)
	}
	for _, r := range records {
		if l := (Located{Dir: r.Dir, Logs: rundir.Logs(r.Dir), Record: r}); l.gone() != nil {
			s := e.judge(l, event.Status{})
			out = append(out, Summary{
				Located: l, ID: r.ID, Name: r.Name, Dir: r.Dir, Source: r.Launcher, Levels: r.Levels, Since: r.Created, State: s.State, Message: s.Message, Status: s,
			})
			continue
		}
		add(r.Dir)
	}
	for _, root := range roots {
		if _, err := os.Stat(root); err != nil {
			problems = append(problems, fmt.Errorf("look for runs: %w", err))
			continue
		}
		dirs, err := findRuns(ctx, root)
		problems = append(problems, err)
		for _, d := range dirs {
			add(d)
		}
	}
	slices.SortStableFunc(out, func(a, b Summary) int { return b.Since.Compare(a.Since) })
	return out, errors.Join(problems...)
}

func (e *Engine) summarize(ctx context.Context, l Located) (Summary, error) {
	s := Summary{Located: l, ID: l.Record.ID, Name: l.Record.Name, Dir: l.Dir, Source: l.Record.Launcher, Levels: l.Record.Levels}
	status, err := readStatus(l.Logs)
	if err != nil {
		return s, err
	}
	s.Status = e.judge(l, status)
	s.State, s.Message, s.Since = s.Status.State, s.Status.Message, s.Status.Last
	if s.ID == "" {
		s.Name, s.Source = filepath.Base(filepath.Dir(l.Dir))+"/"+filepath.Base(l.Dir), "harness"
	}
	if s.Since.IsZero() {
		s.Since = l.Record.Created
	}
	if s.Plan, err = l.phases(); err != nil {
		return s, err
	}
	return s, e.figures(ctx, l, &s)
}

// liveLimit is the size of the request log up to which a list shows the figures
// of a run that is still writing: they are computed anew each time.
const liveLimit = 16 << 20

// figures fills in the figures of the highest level. They are computed once for
// outputs that no longer change.
func (e *Engine) figures(ctx context.Context, l Located, s *Summary) error {
	info, err := os.Stat(filepath.Join(l.Logs, "agentperf", results.RequestsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("figures of %s: %w", l.Label(), err)
	}
	growing := s.ID != "" && !s.State.Final() || s.ID == "" && e.now().Sub(info.ModTime()) < quiet
	if growing && info.Size() > liveLimit {
		return nil
	}
	run, err := e.cached(ctx, l)
	if err != nil {
		return err
	}
	if s.ID == "" {
		s.foreign(l, run)
	}
	s.progress(run)
	best := -1
	for i, p := range run.Phases {
		if p.Requests != nil {
			s.Errors += p.Requests.Failed
		}
		if best < 0 || p.Concurrency > run.Phases[best].Concurrency {
			best = i
		}
	}
	if best >= 0 {
		p := run.Phases[best]
		s.Output, s.TTFT95, s.Cache = figureOf(p, "output_server_tok_s"), figureOf(p, "ttft_p95_s"), figureOf(p, "cache_hit_rate")
	}
	return nil
}

// seen is a run's figures and the state of the files that they are of.
type seen struct {
	stamp string
	run   results.Run
}

// stamp changes whenever the client writes something.
func stamp(logs string) string {
	var s strings.Builder
	for _, name := range []string{".", results.RequestsFile, results.ManifestFile} {
		if info, err := os.Stat(filepath.Join(logs, "agentperf", name)); err == nil {
			fmt.Fprintf(&s, "%d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return s.String()
}

func (e *Engine) cached(ctx context.Context, l Located) (results.Run, error) {
	now := stamp(l.Logs)
	e.mu.Lock()
	old, ok := e.seen[l.Dir]
	e.mu.Unlock()
	if ok && old.stamp == now {
		return old.run, nil
	}
	run, err := e.Results(ctx, l)
	if err != nil {
		return run, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen == nil {
		e.seen = map[string]seen{}
	}
	e.seen[l.Dir] = seen{now, run}
	return run, nil
}

// foreign fills what the outputs alone tell of another tool's run.
func (s *Summary) foreign(l Located, run results.Run) {
	s.State = event.Unknown
	s.Levels = nil
	for _, p := range run.Phases {
		s.Levels = append(s.Levels, p.Concurrency)
		s.State = event.Unknown
		if p.Statistics != nil { // of the last phase: an earlier one's end says nothing
			s.State = event.Done
		}
	}
	if info, err := os.Stat(filepath.Join(l.Logs, "agentperf", results.RequestsFile)); err == nil {
		s.Since = info.ModTime()
	}
}

func figureOf(p results.Phase, key string) *float64 {
	if f := p.Figures.Of(key); f.Value == f.Value { // not NaN
		return &f.Value
	}
	return nil
}

// maxUnread is how many unreadable folders are named; more are counted.
const maxUnread = 3

// searchDepth bounds the look for runs below a root.
const searchDepth = 6

// isRun tells a run's folder by its record, its harness's parameters, or outputs in the
// client's folder: the client's own sources are in one of that name too.
func isRun(dir string) bool {
	for _, sign := range []string{rundir.RecordFile, "job_params.env", "agentperf/" + results.RequestsFile, "agentperf/" + results.ManifestFile} {
		if _, err := os.Stat(filepath.Join(dir, sign)); err == nil {
			return true
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "agentperf"))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		name := e.Name()
		_, ok := harness.ParseStem(strings.TrimSuffix(name, filepath.Ext(name)))
		return ok
	})
}

// findRuns looks for run folders below a root: ours by their record, others by
// the client's output folder.
func findRuns(ctx context.Context, root string) ([]string, error) {
	var out []string
	var bad []error
	unread := 0
	base := strings.Count(filepath.Clean(root), string(filepath.Separator))
	start := root
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		start += string(filepath.Separator) // the root itself may be a link
	}
	err := filepath.WalkDir(start, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if unread++; unread <= maxUnread {
				bad = append(bad, err)
			}
			return fs.SkipDir
		}
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if !d.IsDir() {
			return nil
		}
		if d.Name() == ".staged" || path == "/proc" || path == "/sys" || strings.Count(filepath.Clean(path), string(filepath.Separator))-base > searchDepth {
			return fs.SkipDir
		}
		if !isRun(path) {
			return nil
		}
		out = append(out, path)
		return fs.SkipDir
	})
	if unread > maxUnread {
		bad = append(bad, fmt.Errorf("and %d more folders below %s can't be read", unread-maxUnread, root))
	}
	return out, errors.Join(append(bad, err)...)
}
