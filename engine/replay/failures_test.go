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
)

// A server's every fault is a failed row of its kind, and the others succeed.
func TestRunRecordsFailures(t *testing.T) {
	t.Parallel()
	faults := mockserver.Faults{HTTPError: 0.25, Abort: 0.25, EventError: 0.25}
	base := disaggregated(t, mockserver.Config{Model: "org/model", Timing: fastTiming(), Faults: faults})
	rows := conversations(12, 1, 60_000)
	cfg := testConfig(t, base, writeTrajectories(t, rows))
	cfg.Concurrencies, cfg.TrajectoriesPerUser, cfg.MinTotalTrajectories = []int{12}, 1, 12
	var log strings.Builder
	cfg.Log = &log
	if err := play(t.Context(), cfg); err != nil {
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
		t.Errorf("the conversations meet %v: want all three faults and none", seen)
	}
	if n := strings.Count(log.String(), "first http_status failure: "); n != 1 {
		t.Errorf("the first refusal is reported %d times, want once:\n%s", n, log.String())
	}
}

const oneEvent = `data: {"choices":[{"delta":{"content":"x"}}]}` + "\n\n"

// say writes text at once.
func say(w http.ResponseWriter, text string) {
	_, _ = w.Write([]byte(text))
	_ = http.NewResponseController(w).Flush()
}

// waitForHangUp reads the request, without which the server does not notice that
// the client has gone, and waits for that.
func waitForHangUp(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func TestSendKindsOfFailure(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    errorKind
	}{
		{
			name:    "silence",
			handler: func(_ http.ResponseWriter, r *http.Request) { waitForHangUp(r) },
			want:    errorTimeout,
		},
		{
			name:    "stalls in the stream",
			handler: func(w http.ResponseWriter, r *http.Request) { say(w, oneEvent); waitForHangUp(r) },
			want:    errorTimeout,
		},
		{
			name:    "hangs up",
			handler: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			want:    errorConnection,
		},
		{
			name:    "hangs up in the stream",
			handler: func(w http.ResponseWriter, _ *http.Request) { say(w, oneEvent); panic(http.ErrAbortHandler) },
			want:    errorEarlyEnd,
		},
		{
			name:    "refuses",
			handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
			want:    errorStatus,
		},
		{
			name:    "no stream",
			handler: func(w http.ResponseWriter, _ *http.Request) { say(w, "{}") },
			want:    errorEarlyEnd,
		},
		{
			name: "any 2xx",
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusAccepted)
				say(w, oneEvent+"data: [DONE]\n\n")
			},
		},
		{
			name: "stays open after the end mark",
			handler: func(w http.ResponseWriter, r *http.Request) {
				say(w, oneEvent+"data: [DONE]\n\n")
				waitForHangUp(r)
			},
		},
		{
			name: "stays open after an error event",
			handler: func(w http.ResponseWriter, r *http.Request) {
				say(w, oneEvent+"event: error\ndata: {}\n\n")
				waitForHangUp(r)
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

// A refused connection is a failure like another, but the user slows down.
func TestRunAgainstNothing(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, "http://127.0.0.1:1/v1", writeTrajectories(t, conversations(2, 2, 0)))
	cfg.PhaseTimeout, cfg.MinTotalTrajectories = 300*time.Millisecond, 1000
	if err := play(t.Context(), cfg); !errors.Is(err, errNothingSucceeded) {
		t.Fatalf("got %v: a run of failures is no good run", err)
	}
	rows := readRows[analysisRow](t,
		filepath.Join(cfg.ResultsDir, "org_model__1u__phase0__dur0.3s__settle0s__traj2.jsonl"))
	if len(rows) != 1 || rows[0].ErrorKind != errorConnection {
		t.Errorf("got %+v, want one connection failure: the next is due a second later", rows)
	}
}

func TestConfigErrorsComeTogether(t *testing.T) {
	t.Parallel()
	err := play(t.Context(), Config{BaseURL: "localhost:8000", Concurrencies: []int{0}, MaxStartingOffset: -1})
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
