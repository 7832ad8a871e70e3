package job_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// The test binary also runs as the steps: real processes that listen, exit and hang.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "play" {
		play(os.Args[2:])
	}
	os.Exit(m.Run())
}

func play(args []string) {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	switch args[0] {
	case "serve": // ready until SIGTERM
		go func() {
			_ = http.ListenAndServe(args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w,
					`{"instances":[{"endpoint":"generate","component":"prefill"},{"endpoint":"generate","component":"tensorrt_llm"},`+
						`{"endpoint":"other","component":"prefill"}]}`)
			}))
		}()
		fmt.Println("serving", args[1])
		<-term
		os.Exit(0)
	case "exit": // prints a line and exits with a code
		fmt.Println("\x1b[31mout of memory\x1b[0m")
		var code int
		_, _ = fmt.Sscan(args[1], &code)
		os.Exit(code)
	case "hang": // never ready; ignores SIGTERM if asked to
		fmt.Println("hanging")
		if args[1] == "deaf" {
			signal.Ignore(syscall.SIGTERM)
			select {}
		}
		<-term
		os.Exit(0)
	case "until": // exits with a code once a file exists
		for {
			if _, err := os.Stat(args[1]); err == nil {
				os.Exit(7)
			}
			select {
			case <-term:
				os.Exit(0)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}

func self(args ...string) []string { return append([]string{os.Args[0], "play"}, args...) }

// harness is one run with its event log and log.
type harness struct {
	dir    string
	events []event.Event
	status event.Status
	log    string
	code   int
	pids   []int
}

func execute(ctx context.Context, t *testing.T, steps []plan.Step, onEvent func(string)) harness {
	t.Helper()
	dir := t.TempDir()
	runner := local.NewRunner()
	defer runner.Close()
	var log safeBuffer
	log.on = onEvent
	code, err := job.Run(ctx, job.Options{
		Plan: &plan.Plan{Name: "test", Steps: steps}, LogDir: dir, Runner: runner, Log: &log, Now: time.Now,
		Grace:      job.Grace{Client: 300 * time.Millisecond, Servers: 300 * time.Millisecond},
		Components: map[string]schema.Role{"prefill": schema.Prefill, "tensorrt_llm": schema.Decode},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := harness{dir: dir, code: code, log: log.String()}
	if h.events, err = event.ReadFile(filepath.Join(dir, event.FileName)); err != nil {
		t.Fatal(err)
	}
	for i, e := range h.events {
		if e.Seq != int64(i+1) {
			t.Errorf("event %d has seq %d", i+1, e.Seq)
		}
		h.status.Apply(e)
		if e.Kind == event.StepStart {
			h.pids = append(h.pids, e.Data.PID)
		}
	}
	for _, pid := range h.pids {
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("process %d was left behind", pid)
		}
	}
	return h
}

// safeBuffer holds the orchestrator's log and calls a function for each line.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
	on func(string)
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on != nil {
		s.on(string(p))
	}
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func port(t *testing.T) string {
	t.Helper()
	values, err := local.Bindings(&plan.Plan{Steps: []plan.Step{{Name: "x"}}}, "", "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return "127.0.0.1:" + values[plan.StepPort("x")]
}

func worker(t *testing.T, name string) plan.Step {
	addr := port(t)
	return plan.Step{
		Name: name, Stage: plan.Workers, Launch: self("serve", addr), Log: name + ".out",
		Ready: plan.Readiness{
			Probe: plan.ProbeHTTP, Target: "http://" + addr + "/health", TimeoutSeconds: 20,
			IntervalSeconds: 0.05,
		},
	}
}

func frontend(t *testing.T, prefill, decode int) plan.Step {
	s := worker(t, "frontend_0")
	s.Stage, s.Ready.Probe, s.Ready.Prefill, s.Ready.Decode = plan.FrontendStage, plan.ProbeHealth, prefill, decode
	return s
}

func client(args ...string) plan.Step {
	return plan.Step{Name: "client", Stage: plan.Client, Launch: self(args...), Log: "benchmark.out", EndsRun: true}
}

func TestSuccessfulRun(t *testing.T) {
	t.Parallel()
	h := execute(t.Context(), t,
		[]plan.Step{worker(t, "prefill_0"), worker(t, "decode_0"), frontend(t, 1, 1), client("exit", "0")}, nil)
	if h.code != 0 || h.status.State != event.Done || h.status.ExitCode == nil || *h.status.ExitCode != 0 ||
		*h.status.ClientExitCode != 0 {
		t.Errorf("code %d, status %+v\n%s", h.code, h.status, h.log)
	}
	var states []event.State
	for _, e := range h.events {
		if e.Kind == event.RunState {
			states = append(states, e.Data.State)
		}
	}
	if want := []event.State{event.Starting, event.Ready, event.Post, event.Done}; !slices.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
	if h.status.Have != (event.Count{Prefill: 1, Decode: 1}) {
		t.Errorf("health %+v: only generate endpoints count", h.status.Have)
	}
	// srt-slurm's monitor recognizes the stage by these messages.
	for _, words := range []string{
		"Sweep Orchestrator\n", "Starting backend workers", "Starting frontend", "Polling http://",
		"Server is healthy - starting benchmark", "Running AgentPerf benchmark", "[INFO] Cleanup",
		"Benchmark completed successfully",
	} {
		if !strings.Contains(h.log, words) {
			t.Errorf("the log lacks %q:\n%s", words, h.log)
		}
	}
	if to, err := os.Readlink(filepath.Join(h.dir, "client.log")); err != nil || to != "benchmark.out" {
		t.Errorf("client.log links to %q: %v", to, err)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	notReady := func(name string, launch []string) plan.Step {
		s := worker(t, name)
		s.Launch = launch
		return s
	}
	short := func(s plan.Step) plan.Step { s.Ready.TimeoutSeconds = 1; return s }
	for _, c := range []struct {
		name  string
		steps []plan.Step
		code  int
		want  []string
	}{
		{
			"worker exits before ready",
			[]plan.Step{notReady("prefill_0", self("exit", "3")), client("exit", "0")},
			1,
			[]string{"prefill_0 exited with code 3", "out of memory"},
		},
		{
			"worker exits with code 0",
			[]plan.Step{notReady("prefill_0", self("exit", "0")), client("exit", "0")},
			1,
			[]string{"prefill_0 exited with code 0 before the run's end"},
		},
		{
			"worker hangs",
			[]plan.Step{short(notReady("prefill_0", self("hang", ""))), client("exit", "0")},
			1,
			[]string{"not ready within 1 s", "connection refused"},
		},
		{
			"deaf worker hangs",
			[]plan.Step{short(notReady("prefill_0", self("hang", "deaf"))), client("exit", "0")},
			1,
			[]string{"not ready within 1 s"},
		},
		{
			"health never complete",
			[]plan.Step{worker(t, "prefill_0"), short(frontend(t, 2, 1)), client("exit", "0")},
			1,
			[]string{"1 of 2 prefill and 1 of 1 decode"},
		},
		{
			"client fails",
			[]plan.Step{worker(t, "prefill_0"), client("exit", "5")},
			5,
			[]string{"the client exited with code 5", "out of memory"},
		},
		{
			"program is not there",
			[]plan.Step{notReady("prefill_0", []string{"/no/such/program"}), client("exit", "0")},
			1,
			[]string{"prefill_0 did not start", "/no/such/program"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := execute(t.Context(), t, c.steps, nil)
			if h.code != c.code || h.status.State != event.Failed || h.status.ExitCode == nil || *h.status.ExitCode != c.code {
				t.Errorf("code %d, status %+v", h.code, h.status)
			}
			for _, s := range c.want {
				if !strings.Contains(h.status.Message, s) {
					t.Errorf("message %q lacks %q", h.status.Message, s)
				}
			}
		})
	}
}

// A worker that exits while the client is running ends the run at once.
func TestWorkerExitsMidRun(t *testing.T) {
	t.Parallel()
	sign := filepath.Join(t.TempDir(), "leave")
	w := plan.Step{Name: "decode_0", Stage: plan.Workers, Launch: self("until", sign), Log: "decode_0.out"}
	h := execute(t.Context(), t, []plan.Step{w, client("hang", "")}, func(line string) {
		if strings.Contains(line, "Running AgentPerf benchmark") {
			if err := os.WriteFile(sign, nil, 0o644); err != nil {
				t.Error(err)
			}
		}
	})
	if h.code != 1 || h.status.State != event.Failed ||
		!strings.Contains(h.status.Message, "decode_0 exited with code 7") {
		t.Errorf("code %d, status %+v", h.code, h.status)
	}
}

// A stop works while servers start and while the client is running. It sets the final state.
func TestStop(t *testing.T) {
	t.Parallel()
	hanging := worker(t, "prefill_0")
	hanging.Launch = self("hang", "")
	for _, c := range []struct {
		name, at string
		steps    []plan.Step
		state    event.State
	}{
		{"while a worker starts", "Starting backend workers", []plan.Step{hanging, client("exit", "0")}, event.Cancelled},
		{
			"while the client plays", "Running AgentPerf benchmark",
			[]plan.Step{worker(t, "prefill_0"), client("hang", "")},
			event.Timeout,
		},
		{"client ignores SIGTERM", "Running AgentPerf benchmark", []plan.Step{client("hang", "deaf")}, event.Cancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			h := execute(ctx, t, c.steps, func(line string) {
				if strings.Contains(line, c.at) {
					cancel(job.StopCause{State: c.state})
				}
			})
			if h.code != 1 || h.status.State != c.state {
				t.Errorf("code %d, status %+v", h.code, h.status)
			}
		})
	}
}

// event.ClientStep is the name of the client step in plans.
func TestClientStep(t *testing.T) {
	t.Parallel()
	if event.ClientStep != string(schema.Client) {
		t.Errorf("%s and %s", event.ClientStep, schema.Client)
	}
}

func TestUnboundPlanIsRefused(t *testing.T) {
	t.Parallel()
	_, err := job.Run(t.Context(), job.Options{Plan: &plan.Plan{Steps: []plan.Step{{Launch: []string{"{bin}"}}}}})
	if err == nil || !strings.Contains(err.Error(), "[bin]") {
		t.Errorf("got %v", err)
	}
}

// A step that prepares the nodes has to exit with code 0 before the next stage starts, and then the run goes on.
func TestStepThatExits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code  string
		state event.State
	}{{"0", event.Done}, {"3", event.Failed}} {
		prepare := plan.Step{
			Name: "stage_model", Stage: plan.Infra, Launch: self("exit", c.code), Log: "stage_model.out",
			Ready: plan.Readiness{Probe: plan.ProbeExit},
		}
		steps := []plan.Step{prepare, worker(t, "prefill_0"), frontend(t, 1, 1), client("exit", "0")}
		h := execute(t.Context(), t, steps, nil)
		if h.status.State != c.state {
			t.Errorf("exit code %s: %s: %s", c.code, h.status.State, h.log)
		}
		exited, started := -1, -1
		for i, e := range h.events {
			switch {
			case e.Step == "stage_model" && e.Kind == event.StepExit:
				exited = i
			case e.Step == "prefill_0" && e.Kind == event.StepStart:
				started = i
			}
		}
		if exited < 0 || c.code == "0" && started < exited || c.code != "0" && started >= 0 {
			t.Errorf("exit code %s: exit is event %d, start of the worker %d", c.code, exited, started)
		}
	}
}

// A fatal line in a log fails the run although the process of the worker keeps running.
func TestFatalLogLine(t *testing.T) {
	t.Parallel()
	w := plan.Step{
		Name: "decode_0", Stage: plan.Workers, Launch: self("hang", ""), Log: "decode_0.out",
		Fatal: []string{"^no such line$", "^hang.ng$"},
	}
	h := execute(t.Context(), t, []plan.Step{w, client("hang", "")}, nil)
	if h.code != 1 || h.status.State != event.Failed || !strings.Contains(h.status.Message, "decode_0 has failed") ||
		!strings.Contains(h.status.Message, "hanging") {
		t.Errorf("code %d, status %+v", h.code, h.status)
	}
}

// A cancellation by the scheduler stops the steps and the orchestrator at once, in any order.
func TestStopExplainsEarlierFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	dir := t.TempDir()
	var log safeBuffer
	log.on = func(line string) {
		if strings.Contains(line, "exited with code") {
			cancel(job.StopCause{State: event.Timeout, Reason: "time is up"})
		}
	}
	runner := local.NewRunner()
	defer runner.Close()
	code, err := job.Run(ctx, job.Options{
		Plan: &plan.Plan{
			Name: "test", Steps: []plan.Step{
				{Name: "w", Stage: plan.Workers, Launch: self("exit", "3"), Log: "w.out"},
				client("hang", ""),
			},
		},
		LogDir: dir, Runner: runner, Log: &log, Now: time.Now, StopWait: time.Minute,
	})
	if code != 1 || err != nil || !strings.Contains(log.String(), "time is up") {
		t.Errorf("code %d, %v\n%s", code, err, log.String())
	}
}
