package replay

import (
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/mockserver"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Each injected fault is recorded as a failure of its kind; all other requests succeed.
func TestRunRecordsFailures(t *testing.T) {
	t.Parallel()
	faults := mockserver.Faults{HTTPError: 0.25, Abort: 0.25, EventError: 0.25}
	base := disaggregated(t, mockserver.Config{Model: "org/model", Timing: fastTiming(), Faults: faults})
	rows := conversations(12, 1, 60_000)
	cfg := testConfig(t, base, writeTrajectories(t, rows))
	cfg.Concurrencies, cfg.TrajectoriesPerUser, cfg.MinTotalTrajectories = []int{12}, 1, 12
	var log strings.Builder
	cfg.Log = &log
	if err := runConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	kinds := map[mockserver.Fault]errorKind{
		mockserver.FaultHTTPError: errorStatus, mockserver.FaultAbort: errorEarlyEnd, mockserver.FaultEventError: errorEvent,
	}
	got := map[string]errorKind{}
	for _, a := range readRows[analysisRow](t,
		filepath.Join(cfg.ResultsDir, "org_model__12u__phase0__dur20s__settle0s__traj1.jsonl")) {
		got[a.Conversation] = a.ErrorKind
		if failed := a.ErrorKind != ""; failed == a.Success ||
			failed && (a.TTFT != nil || a.Output != nil || a.End < a.Start) {
			t.Errorf("unexpected row %+v", a)
		}
	}
	seen := map[errorKind]bool{}
	for _, r := range rows {
		want := kinds[faults.For(promptOf(t, r).Key)]
		seen[want] = true
		if kind, ok := got[r.Conversation]; kind != want || !ok {
			t.Errorf("%s: got %q, want %q", r.Conversation, kind, want)
		}
	}
	if len(seen) != 4 {
		t.Errorf("the conversations have the faults %v, want all three kinds and some without", seen)
	}
	if n := strings.Count(log.String(), "first http_status failure: "); n != 1 {
		t.Errorf("the first http_status failure is logged %d times, want once:\n%s", n, log.String())
	}
}

const oneEvent = `data: {"choices":[{"delta":{"content":"x"}}]}` + "\n\n"

// writeNow writes and flushes text.
func writeNow(w http.ResponseWriter, text string) {
	_, _ = w.Write([]byte(text))
	_ = http.NewResponseController(w).Flush()
}

// waitForDisconnect waits until the client has disconnected. It reads the request first, because
// otherwise the server does not notice.
func waitForDisconnect(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func TestSendClassifiesFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    errorKind
	}{
		{
			name:    "no response",
			handler: func(_ http.ResponseWriter, r *http.Request) { waitForDisconnect(r) },
			want:    errorTimeout,
		},
		{
			name:    "stalls in the stream",
			handler: func(w http.ResponseWriter, r *http.Request) { writeNow(w, oneEvent); waitForDisconnect(r) },
			want:    errorTimeout,
		},
		{
			name:    "closes the connection",
			handler: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			want:    errorConnection,
		},
		{
			name:    "closes the connection in the stream",
			handler: func(w http.ResponseWriter, _ *http.Request) { writeNow(w, oneEvent); panic(http.ErrAbortHandler) },
			want:    errorEarlyEnd,
		},
		{
			name:    "status 429",
			handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
			want:    errorStatus,
		},
		{
			name:    "no stream",
			handler: func(w http.ResponseWriter, _ *http.Request) { writeNow(w, "{}") },
			want:    errorNoOutput,
		},
		{
			name: "status 202",
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusAccepted)
				writeNow(w, oneEvent+"data: [DONE]\n\n")
			},
		},
		{
			name: "stays open after [DONE]",
			handler: func(w http.ResponseWriter, r *http.Request) {
				writeNow(w, oneEvent+"data: [DONE]\n\n")
				waitForDisconnect(r)
			},
		},
		{
			name: "stays open after an error event",
			handler: func(w http.ResponseWriter, r *http.Request) {
				writeNow(w, oneEvent+"event: error\ndata: {}\n\n")
				waitForDisconnect(r)
			},
			want: errorEvent,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := Config{BaseURL: serveHandler(t, tt.handler), Concurrencies: []int{1}, RequestTimeout: 10 * time.Second}
			if tt.want == errorTimeout {
				cfg.RequestTimeout = 100 * time.Millisecond
			}
			x := newClient(cfg).send(t.Context(), time.Now(), []byte("{}"), nil)
			if x.kind != tt.want || x.end.Before(x.start) {
				t.Errorf("got %q (%s), want %q", x.kind, x.text, tt.want)
			}
		})
	}
}

// A refused connection is recorded as a failure, and the user waits before the next request.
func TestRunWithoutServer(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, "http://127.0.0.1:1/v1", writeTrajectories(t, conversations(2, 2, 0)))
	cfg.PhaseTimeout, cfg.MinTotalTrajectories = 300*time.Millisecond, 1000
	if err := runConfig(t.Context(), cfg); !errors.Is(err, errAllFailed) {
		t.Fatalf("got %v, want %v", err, errAllFailed)
	}
	rows := readRows[analysisRow](t,
		filepath.Join(cfg.ResultsDir, "org_model__1u__phase0__dur0.3s__settle0s__traj2.jsonl"))
	if len(rows) != 1 || rows[0].ErrorKind != errorConnection {
		t.Errorf("got %+v, want one connection failure: the next is due a second later", rows)
	}
}

func TestConfigReportsAllErrors(t *testing.T) {
	t.Parallel()
	err := runConfig(t.Context(), Config{BaseURL: "localhost:8000", Concurrencies: []int{0}, MaxStartingOffset: -1})
	for _, want := range []string{
		`base_url must be http://host:port/v1, got "localhost:8000"`,
		`model must be the served model's name, at most 180 bytes long, got ""`,
		"concurrency must be between 1 and 1048576, got 0",
		"phase_timeout_seconds must be more than 0, got 0s",
		"user_spawn_rate must be at least 0.001 users per second, got 0",
		"\ntimeout_seconds must be more than 0, got 0s",
		`trajectory_path must be the path of a JSONL file, got ""`,
		"trajectories_per_user must be between 1 and 1024 when user_assignments_path is not set, got 0",
		"max_starting_line_offset must be 0 or more, got -1",
		"max_tokens must be 1 or more, got 0",
		`results directory must be set, got ""`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}

// An invalid number in a workload is an error of the configuration, as any other bad setting.
func TestConfigOfInvalidNumber(t *testing.T) {
	t.Parallel()
	_, err := ConfigOf(&recipes.Workload{File: "w.yaml", PhaseTimeout: recipes.Quantity{Key: "phase_timeout_seconds"}},
		Options{})
	bad := (*ConfigError)(nil)
	if !errors.As(err, &bad) || problem.Of(err) != problem.ValueInvalid ||
		err.Error() != "replay: w.yaml: phase_timeout_seconds is not a valid number" {
		t.Errorf("got %v (%T)", err, err)
	}
}
