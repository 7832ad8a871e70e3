package runs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		elsewhere, held bool
		created         time.Duration // before now
		after           time.Duration // now, after the last event
		events          []event.Event
		want            event.State
		says            string
		log             string // of the job
	}{
		{
			name: "final event", events: []event.Event{runstest.StateEvent(event.Measuring), runstest.StateEvent(event.Done)},
			want: event.Done,
		},
		{name: "alive", held: true, events: []event.Event{runstest.StateEvent(event.Measuring)}, want: event.Measuring},
		{name: "alive, no event yet", held: true, want: event.Starting},
		{
			name: "dead without a final event", events: []event.Event{runstest.StateEvent(event.Measuring)}, want: event.Failed,
			says: "without a final event",
		},
		{name: "submitted a moment ago", created: time.Second, want: event.Pending},
		{name: "never started", created: time.Hour, want: event.Failed, says: "without a final event"},
		{
			name: "on another host, active", elsewhere: true, events: []event.Event{runstest.StateEvent(event.Measuring)},
			want: event.Measuring,
		},
		{
			name: "on another host, silent", elsewhere: true, after: time.Hour,
			events: []event.Event{runstest.StateEvent(event.Measuring)}, want: event.Unknown, says: "other",
		},
		{
			name: "dead after a full disk", log: "running\nagentperf-tui: append event: no space left on device\n",
			events: []event.Event{runstest.StateEvent(event.Measuring)}, want: event.Failed,
			says: "last line of its log: agentperf-tui: append event: no space left",
		},
		{
			name: "dead, no error in its log", log: "running\n", events: []event.Event{runstest.StateEvent(event.Measuring)},
			want: event.Failed, says: "without a final event",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := runstest.New(t)
			host := runstest.Host
			if c.elsewhere {
				host = "other"
			}
			l := b.AddRun(t, "L1", "a", host, c.events...)
			l.Record.Created = runstest.Noon.Add(-c.created)
			if err := os.WriteFile(filepath.Join(l.Logs, "sweep_L1.log"), []byte(c.log), 0o644); err != nil {
				t.Fatal(err)
			}
			b.At = runstest.Noon.Add(c.after)
			if c.held {
				lock := flock.New(filepath.Join(l.Dir, rundir.LockFile))
				if err := lock.Lock(); err != nil {
					t.Fatal(err)
				}
				defer lock.Close()
			}
			s, err := b.State(l)
			if err != nil || s.State != c.want || !strings.Contains(s.Message, c.says) {
				t.Errorf("%s %q, %v; want %s with %q", s.State, s.Message, err, c.want, c.says)
			}
		})
	}
}

// A run that ends after its events were read and before its lock is checked has not failed.
func TestResolveReadsTheFinalEvent(t *testing.T) {
	t.Parallel()
	b := runstest.New(t)
	l := b.AddRun(t, "L1", "a", runstest.Host, runstest.StateEvent(event.Measuring), runstest.StateEvent(event.Done))
	stale := event.Status{State: event.Measuring}
	if s := b.Resolver.Resolve(l, stale); s.State != event.Done {
		t.Errorf("resolved to %s", s.State)
	}
}
