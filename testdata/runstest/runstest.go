// Package runstest creates run directories for tests, and a store of runs with a fixed clock.
package runstest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Host is the host name of a fixture.
const Host = "here"

// Noon is the time of a new fixture.
var Noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Fixture is a store of runs with temporary directories and a fixed clock.
type Fixture struct {
	*runs.Store
	Resolver *runs.Resolver
	Registry rundir.Registry
	Output   string    // parent of the run directories
	At       time.Time // current time
}

// New returns a fixture at [Noon].
func New(t *testing.T) *Fixture {
	t.Helper()
	state := t.TempDir()
	f := &Fixture{Registry: rundir.Registry{Dir: filepath.Join(state, "runs")}, Output: t.TempDir(), At: Noon}
	f.Resolver = runs.NewResolver(&slurm.Queue{Dir: state, Interval: time.Minute, Now: f.Now}, f.Now, Host)
	f.Store = runs.New(f.Registry, f.Resolver)
	return f
}

// Now returns the time of the fixture.
func (f *Fixture) Now() time.Time { return f.At }

// AddRun creates and records a local run of one concurrency level, created an hour ago, with an event
// log whose events are a minute old.
func (f *Fixture) AddRun(t *testing.T, id, name, host string, events ...event.Event) runs.Ref {
	t.Helper()
	rec := rundir.Record{
		Version: 1, ID: id, Name: name, Launcher: "local", Host: host, Created: f.At.Add(-time.Hour), Levels: []int{4},
		Dir: filepath.Join(f.Output, id),
	}
	if err := os.MkdirAll(rundir.Logs(rec.Dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, v := range map[string]any{
		rundir.RecordFile: rec,
		rundir.PhasesFile: []plan.Phase{{Concurrency: 4, TimeoutSeconds: 60}},
	} {
		if err := smallfile.WriteJSON(filepath.Join(rec.Dir, file), v, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Registry.Add(rec); err != nil {
		t.Fatal(err)
	}
	at := f.At.Add(-time.Minute)
	log, err := event.OpenAppender(filepath.Join(rundir.Logs(rec.Dir), event.FileName), func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if err := log.Add(ev.Kind, ev.Step, ev.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return runs.Ref{Dir: rec.Dir, Logs: rundir.Logs(rec.Dir), Record: rec}
}

// StateEvent returns an event with the state of a run.
func StateEvent(s event.State) event.Event {
	return event.Event{Kind: event.RunState, Data: event.Data{State: s}}
}
