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

// Summary is one line of the list of runs.
type Summary struct {
	Ref     Ref
	ID      string // empty for external runs
	Name    string
	Dir     string
	Source  string // the launcher; harness for external runs
	State   event.State
	Message string
	Since   time.Time // last activity
	Levels  []int
	Figures results.Figures // of the highest level; nil without data
	Errors  int             // failed requests of all phases
	Status  event.Status
	Plan    []plan.Phase // none for external runs
}

// MarshalJSON writes what the list tells, with the figures of it under keys of their
// own; null for those that are not known.
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
	out.Add("errors", s.Errors)
	return out.MarshalJSON()
}

// Runs lists the runs known here and, below the given roots, the folders of other
// tools; newest first. What could not be read is the error beside the rest.
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
			sum, err = s.summarize(ctx, ref) // what can't be read of it is told beside it
			out = append(out, sum)
		}
		problems = append(problems, err)
	}
	for _, r := range records {
		if ref := (Ref{Dir: r.Dir, Logs: rundir.Logs(r.Dir), Record: r}); ref.checkDir() != nil {
			now := s.status.Resolve(ref, event.Status{})
			out = append(out, Summary{
				Ref: ref, ID: r.ID, Name: r.Name, Dir: r.Dir, Source: r.Launcher, Levels: r.Levels, Since: r.Created,
				State: now.State, Message: now.Message, Status: now,
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

// maxLiveSize is the size of the request log up to which a list shows the figures
// of a run that is still writing: they are computed anew each time.
const maxLiveSize = 16 << 20

// figures fills in the figures of the highest level. They are computed once for
// outputs that no longer change.
func (s *Store) fillFigures(ctx context.Context, ref Ref, sum *Summary) error {
	info, err := os.Stat(filepath.Join(ref.Logs, "agentperf", results.RequestsFile))
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
		sum.Figures = run.Phases[best].Figures
	}
	return nil
}

// seen is a run's figures and the state of the files that they are of.
type cachedFigures struct {
	stamp string
	run   results.Run
}

// stamp changes whenever the client writes something.
func outputStamp(logs string) string {
	var s strings.Builder
	for _, name := range []string{".", results.RequestsFile, results.ManifestFile} {
		if info, err := os.Stat(filepath.Join(logs, "agentperf", name)); err == nil {
			fmt.Fprintf(&s, "%d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return s.String()
}

func (s *Store) cachedResults(ctx context.Context, ref Ref) (results.Run, error) {
	now := outputStamp(ref.Logs)
	s.mu.Lock()
	old, ok := s.cache[ref.Dir]
	s.mu.Unlock()
	if ok && old.stamp == now {
		return old.run, nil
	}
	run, err := s.Results(ctx, ref)
	if err != nil {
		return run, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache[ref.Dir] = cachedFigures{now, run}
	return run, nil
}

// external fills in what the outputs alone tell of another tool's run.
func (s *Summary) fillExternal(ref Ref, run results.Run) {
	s.State, s.Since = ExternalState(ref, run)
	s.Levels = nil
	for _, p := range run.Phases {
		s.Levels = append(s.Levels, p.Concurrency)
	}
}

// ExternalState is what the outputs alone tell of the state of another tool's run, and
// when the last of them was written; zero: not known.
func ExternalState(ref Ref, run results.Run) (state event.State, last time.Time) {
	state = event.Unknown
	if n := len(run.Phases); n > 0 && run.Phases[n-1].Statistics != nil { // an earlier phase's end says nothing
		state = event.Done
	}
	return state, ref.lastRowTime()
}

// progress tells the phase of a client that writes no events, by the figures so far:
// its run would be ready until it ends.
func (s *Summary) fillProgress(run results.Run) {
	if n := len(run.Phases); n > 0 && s.Ref.EventsLag(s.State) {
		s.State = event.Settling
		if w := run.Phases[n-1].Window; w != nil && w.End > w.Start {
			s.State = event.Measuring
		}
	}
}
