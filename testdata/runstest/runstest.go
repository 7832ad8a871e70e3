// Package runstest makes run folders for tests, and a store that knows them at a
// time that stands still.
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

// Host is the machine of a bench.
const Host = "here"

// Noon is when a bench begins.
var Noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Bench is a store with folders of its own.
type Bench struct {
	*runs.Store
	Resolver *runs.Resolver
	Registry rundir.Registry
	Output   string    // base of its run folders
	At       time.Time // its time
}

// New makes a bench at [Noon].
func New(t *testing.T) *Bench {
	t.Helper()
	state := t.TempDir()
	b := &Bench{Registry: rundir.Registry{Dir: filepath.Join(state, "runs")}, Output: t.TempDir(), At: Noon}
	b.Resolver = runs.NewResolver(&slurm.Queue{Dir: state, Interval: time.Minute, Now: b.Now}, b.Now, Host)
	b.Store = runs.New(b.Registry, b.Resolver)
	return b
}

// Now is the time of the bench.
func (b *Bench) Now() time.Time { return b.At }

// Run makes the folder of a local run of one level, an hour old, with a record,
// phases and an event log, whose events are a minute old.
func (b *Bench) Run(t *testing.T, id, name, host string, events ...event.Event) runs.Ref {
	t.Helper()
	rec := rundir.Record{
		Version: 1, ID: id, Name: name, Launcher: "local", Host: host, Created: b.At.Add(-time.Hour), Levels: []int{4},
		Dir: filepath.Join(b.Output, id),
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
	if err := b.Registry.Add(rec); err != nil {
		t.Fatal(err)
	}
	at := b.At.Add(-time.Minute)
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

// Said is the event of a run that tells its state.
func Said(s event.State) event.Event {
	return event.Event{Kind: event.RunState, Data: event.Data{State: s}}
}
