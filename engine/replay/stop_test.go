package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/mockserver"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// After the timeout no request is sent, and the requests in flight finish.
func TestRunStopsAtTheTimeoutAndDrains(t *testing.T) {
	t.Parallel()
	timing := fastTiming()
	timing.PrefillBase, timing.Spread = 700*time.Millisecond, 0
	base := disaggregated(t, mockserver.Config{Model: "org/model", Timing: timing})
	cfg := testConfig(t, base, writeTrajectories(t, conversations(2, 3, 0)))
	cfg.Concurrencies, cfg.TrajectoriesPerUser = []int{2}, 1
	cfg.PhaseTimeout, cfg.MinTotalTrajectories = time.Second, 1000
	var stop phaseEvent
	cfg.onEvent = func(e phaseEvent) {
		if e.Kind == eventStop {
			stop = e
		}
	}
	if err := runConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	rows := readRows[requestRow](t, filepath.Join(cfg.ResultsDir, "requests.jsonl"))
	m := readRows[manifestRow](t, filepath.Join(cfg.ResultsDir, "phase_manifest.jsonl"))[0]
	last := stop.Time
	for _, r := range rows {
		last = max(last, r.End)
		if !r.Success {
			t.Errorf("row %+v failed", r)
		}
	}
	if stop.Reason != stopTimeout || m.StopReason != stopTimeout || m.End != last {
		t.Errorf("got reasons %q and %q and the end at %f, want %q and %f",
			stop.Reason, m.StopReason, m.End, stopTimeout, last)
	}
	if len(rows) != stop.Counts.InFlight+stop.Counts.Successful {
		t.Errorf("got %d rows, want those done at the stop and those in flight: %+v", len(rows), stop.Counts)
	}
}

// After an interrupt, the requests in flight have the grace time to finish and are then cut off.
// The files record the interruption.
func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		grace  time.Duration
		ok     int
		cutOff int
	}{
		{name: "within the grace time", grace: 10 * time.Second, ok: 2},
		{name: "cut off", grace: 0, cutOff: 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			release := make(chan struct{})
			cfg := testConfig(t, blockingServer(t, 2, cancel, release)+"/v1", writeTrajectories(t, conversations(2, 3, 0)))
			cfg.Concurrencies, cfg.InterruptGrace, cfg.MinTotalTrajectories = []int{2, 2}, tt.grace, 1000
			eventLog := filepath.Join(t.TempDir(), event.ClientFileName)
			log, err := event.OpenAppender(eventLog, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			cfg.onEvent = func(e phaseEvent) {
				if err := appendPhase(log, e); err != nil {
					t.Error(err)
				}
				if e.Kind == eventStop && tt.ok > 0 {
					close(release)
				}
			}
			if err := runConfig(ctx, cfg); !errors.Is(err, ErrInterrupted) || !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v, want %v", err, ErrInterrupted)
			}
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			checkCutOff(t, eventLog, tt.cutOff)
			m := readRows[manifestRow](t, filepath.Join(cfg.ResultsDir, "phase_manifest.jsonl"))
			var s statistics
			path := filepath.Join(cfg.ResultsDir, "org_model__2u__phase0__dur20s__settle0s__traj2.json")
			if err := json.Unmarshal([]byte(readText(t, path)), &s); err != nil {
				t.Fatal(err)
			}
			if len(m) != 1 || m[0].StopReason != stopInterrupted || s.StopReason != stopInterrupted {
				t.Errorf("got manifest %+v and reason %q, want one interrupted phase", m, s.StopReason)
			}
			rows := readRows[requestRow](t, filepath.Join(cfg.ResultsDir, "requests.jsonl"))
			if s.Requests.Total != tt.ok || len(rows) != tt.ok || s.CutOff != tt.cutOff {
				t.Errorf("got %+v, %d rows, %d cut off, want %d rows and %d cut off",
					s.Requests, len(rows), s.CutOff, tt.ok, tt.cutOff)
			}
		})
	}
}

// checkCutOff checks that an event log records the interruption of one phase and the requests cut off.
func checkCutOff(t *testing.T, eventLog string, want int) {
	t.Helper()
	events, err := event.ReadFile(eventLog)
	if err != nil {
		t.Fatal(err)
	}
	var status event.Status
	for _, e := range events {
		status.Apply(e)
	}
	if len(status.Phases) != 1 || status.Phases[0].Cut != want || status.Phases[0].Reason != string(stopInterrupted) {
		t.Errorf("status %+v, want %d requests cut off", status, want)
	}
}

// blockingServer starts a server that calls full when n requests wait, and responds to them
// after release.
func blockingServer(t *testing.T, n int32, full func(), release <-chan struct{}) string {
	t.Helper()
	mock, err := mockserver.New(mockserver.Config{Role: schema.Agg, Timing: fastTiming()})
	if err != nil {
		t.Fatal(err)
	}
	var arrived atomic.Int32
	return serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // otherwise the server does not notice that the client has disconnected
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if arrived.Add(1) == n {
			full()
		}
		select {
		case <-release:
			mock.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
}

// An error of the client itself ends the run.
func TestRunFailsWhenTheDatasetShrinks(t *testing.T) {
	t.Parallel()
	path := writeTrajectories(t, conversations(1, 2, 0))
	cfg := testConfig(t, disaggregated(t, mockserver.Config{Timing: fastTiming()}), path)
	cfg.MinTotalTrajectories = 1000
	cfg.onEvent = func(e phaseEvent) {
		if e.Kind == eventPhaseStart {
			if err := os.Truncate(path, 0); err != nil {
				t.Error(err)
			}
		}
	}
	err := runConfig(t.Context(), cfg)
	if !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), path+":1: ") {
		t.Errorf("got %v, want an end of file that names the line", err)
	}
	if left, err := filepath.Glob(filepath.Join(cfg.ResultsDir, "org_model*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}
