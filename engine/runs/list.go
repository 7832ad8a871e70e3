package runs

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
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
)

// Summary is an entry of the list of runs.
type Summary struct {
	Ref     Ref
	ID      string // empty for external runs
	Name    string
	Dir     string
	Source  string // launcher; "harness" for external runs
	State   event.State
	Message string
	Since   time.Time // last activity
	Levels  []int
	Figures results.Figures // of the highest concurrency level; nil without data
	Doubts  []Doubt         // about figures that are not exact
	Errors  int             // failed requests in all phases
	Status  event.Status
	Plan    []plan.Phase // none for external runs
}

// MarshalJSON encodes the summary with a key for each figure of the list, null if the figure
// is unknown.
func (s Summary) MarshalJSON() ([]byte, error) {
	var out results.Object
	out.Add("id", s.ID)
	out.Add("name", s.Name)
	out.Add("dir", s.Dir)
	out.Add("source", s.Source)
	out.Add("state", s.State)
	if s.Message != "" {
		out.Add("message", s.Message)
	}
	if !s.Since.IsZero() {
		out.Add("since", s.Since)
	}
	out.Add("levels", s.Levels)
	for _, m := range results.Metrics {
		if m.Runs != nil {
			out.Add(m.Runs.Key, results.Number(s.Figures.Get(m.Key).Value))
		}
	}
	if len(s.Doubts) > 0 {
		out.Add("not_exact", s.Doubts)
	}
	out.Add("errors", s.Errors)
	return out.MarshalJSON()
}

// Runs lists the recorded runs and the runs below the given roots, newest first. It returns the
// runs it could read together with an error for those it could not.
func (s *Store) Runs(ctx context.Context, roots []string) ([]Summary, error) {
	records, err := s.registry.List()
	problems := []error{err}
	var out []Summary
	seen := map[string]bool{}
	add := func(dir string) {
		ref, err := refFromPath(dir)
		if err == nil && !seen[ref.Dir] {
			seen[ref.Dir] = true
			var sum Summary
			sum, err = s.summarize(ctx, ref) // sum is valid despite an error
			out = append(out, sum)
		}
		problems = append(problems, err)
	}
	for _, r := range records {
		if ref := (Ref{Dir: r.Dir, Logs: rundir.Logs(r.Dir), Record: r}); ref.checkDir() != nil {
			status := s.status.Resolve(ref, event.Status{})
			out = append(out, Summary{
				Ref: ref, ID: r.ID, Name: r.Name, Dir: r.Dir, Source: r.Launcher, Levels: r.Levels, Since: r.Created,
				State: status.State, Message: status.Message, Status: status,
			})
			continue
		}
		add(r.Dir)
	}
	for _, root := range roots {
		if _, err := os.Stat(root); err != nil {
			problems = append(problems, fmt.Errorf("find runs: %w", err))
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

func (s *Store) summarize(ctx context.Context, ref Ref) (Summary, error) {
	sum := Summary{
		Ref: ref, ID: ref.Record.ID, Name: ref.Record.Name, Dir: ref.Dir, Source: ref.Record.Launcher,
		Levels: ref.Record.Levels,
	}
	var err error
	if sum.Status, err = s.State(ref); err != nil {
		return sum, err
	}
	sum.State, sum.Message, sum.Since = sum.Status.State, sum.Status.Message, sum.Status.Last
	if sum.ID == "" {
		sum.Name, sum.Source = ref.Label(), "harness"
	}
	if sum.Since.IsZero() {
		sum.Since = ref.Record.Created
	}
	if sum.Plan, err = ref.phases(); err != nil {
		return sum, err
	}
	return sum, s.fillFigures(ctx, ref, &sum)
}

// maxLiveSize is the largest file of request rows, in bytes, for which the list shows the
// figures of a run that is running. They are recomputed on each refresh.
const maxLiveSize = 16 << 20

// fillFigures sets the figures of the highest concurrency level. It computes them only once
// for outputs that no longer change.
func (s *Store) fillFigures(ctx context.Context, ref Ref, sum *Summary) error {
	info, err := os.Stat(results.RequestsPath(results.OutputDir(ref.Logs)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("figures of %s: %w", ref.Label(), err)
	}
	growing := sum.ID != "" && !sum.State.Final() || sum.ID == "" && s.status.now().Sub(info.ModTime()) < QuietPeriod
	if growing && info.Size() > maxLiveSize {
		return nil
	}
	run, err := s.cachedResults(ctx, ref)
	if err != nil {
		return err
	}
	if sum.ID == "" {
		sum.fillExternal(ref, run)
	}
	sum.fillProgress(run)
	best := -1
	for i, p := range run.Phases {
		if p.Requests != nil {
			sum.Errors += p.Requests.Failed
		}
		if best < 0 || p.Concurrency > run.Phases[best].Concurrency {
			best = i
		}
	}
	if best >= 0 {
		sum.Figures, sum.Doubts = run.Phases[best].Figures, doubts(&run.Phases[best])
	}
	return nil
}

// Doubt says why a figure of the list is not exact.
type Doubt struct {
	Key     string           `json:"key"` // of the figure in the list
	Class   results.Class    `json:"class"`
	AtLeast bool             `json:"at_least,omitempty"`
	Reasons []results.Reason `json:"reasons"`
}

func doubts(p *results.Phase) []Doubt {
	var out []Doubt
	for _, m := range results.Metrics {
		f := p.Figures.Get(m.Key)
		if m.Runs != nil && (f.Class == results.Invalid || f.Class == results.Uncertain) {
			out = append(out, Doubt{m.Runs.Key, f.Class, f.AtLeast, p.ReasonsOf(f)})
		}
	}
	return out
}

// cachedFigures are the figures of a run and the stamp of the files they were computed from.
type cachedFigures struct {
	stamp string
	run   results.Run
}

// outputStamp returns a string that changes whenever the client writes an output.
func outputStamp(logs string) string {
	var s strings.Builder
	dir := results.OutputDir(logs)
	for _, path := range []string{dir, results.RequestsPath(dir), filepath.Join(dir, results.ManifestFile)} {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&s, "%d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return s.String()
}

func (s *Store) cachedResults(ctx context.Context, ref Ref) (results.Run, error) {
	stamp := outputStamp(ref.Logs)
	s.mu.Lock()
	old, ok := s.cache[ref.Dir]
	s.mu.Unlock()
	if ok && old.stamp == stamp {
		return old.run, nil
	}
	run, err := s.Results(ctx, ref)
	if err != nil {
		return run, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache[ref.Dir] = cachedFigures{stamp, run}
	return run, nil
}

// fillExternal sets the state and the concurrency levels of an external run from its outputs.
func (s *Summary) fillExternal(ref Ref, run results.Run) {
	s.State, s.Since = ExternalState(ref, run)
	s.Levels = nil
	for _, p := range run.Phases {
		if p.Concurrency > 0 { // 0 is unknown
			s.Levels = append(s.Levels, p.Concurrency)
		}
	}
}

// ExternalState returns the state of an external run according to its outputs, and when the
// client last wrote a request row; zero if unknown.
func ExternalState(ref Ref, run results.Run) (state event.State, last time.Time) {
	state = event.Unknown
	if n := len(run.Phases); n > 0 && run.Phases[n-1].Statistics != nil { // the last phase has ended
		state = event.Done
	}
	return state, ref.lastRowTime()
}

// fillProgress sets the state of a run whose client writes no events from its figures.
// Otherwise the run would be shown as ready until it ends.
func (s *Summary) fillProgress(run results.Run) {
	if n := len(run.Phases); n > 0 && s.Ref.EventsLag(s.State) {
		s.State = event.Settling
		if w := run.Phases[n-1].Window; w != nil && w.End > w.Start {
			s.State = event.Measuring
		}
	}
}
