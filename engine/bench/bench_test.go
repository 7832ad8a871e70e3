package bench

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/identity"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/event"
)

func TestFirstRun(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.env(
		"SRT_FRONTEND_HOST=10.0.0.7", "SRT_FRONTEND_PORT=8333", "AGENTPERF_EXTRA_ARGS=--seed 100  --no-eval '$(x)'\n--lost",
		"PYTHONPATH=/elsewhere", "VIRTUAL_ENV=", "UV_CACHE_DIR=/elsewhere", "KEPT=a b",
	)
	w.expect(0, "")
	r, res := w.path("runtime"), w.path("logs/agentperf")
	want := [][]string{
		{"uv", "sync", "--frozen"},
		{"uv", "run", "--no-sync", "maturin", "develop", "--release", "-m", "rustcore/Cargo.toml"},
		{"uv", "run", "--no-sync", "python", "-c", "import agentperf_rustcore"},
		{"uv", "run", "--no-sync", "python", "-c", "import tiktoken; tiktoken.get_encoding('o200k_base')"},
		{
			"uv", "run", "--no-sync", "python", "agentperf/run.py", "--config", r + "/benchmark_config.yaml",
			"--base-url", "http://10.0.0.7:8333/v1",
			"--model", "org/model", "--concurrencies", "64,1010", "--request-log-path", res + "/requests.jsonl",
			"--results-dir", res,
			"--seed", "100", "--no-eval", "'$(x)'",
		},
	}
	if diff := cmp.Diff(want, w.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got, want := w.read("runtime/READY"), machine()+":2fd4e1c6\n"; got != want {
		t.Errorf("READY holds %q, want %q", got, want)
	}
	id, err := identity.Read("", w.path("logs"))
	if err != nil || id.Client.String() != "2fd4e1c6" || len(id.Datasets) != 2 ||
		id.Datasets[0].Path != w.path("in/traj.jsonl") || id.Datasets[0].SHA256 == "" || len(id.Tools) != 1 ||
		id.Tools[0].Version != "0.8.22" {
		t.Errorf("identity: %+v, %v", id, err)
	}
	env := variables(strings.Split(w.read("stand/env"), "\n"))
	for name, want := range map[string]string{
		"HOME": r + "/home", "CARGO_HOME": r + "/cargo", "RUSTUP_HOME": r + "/rustup", "CARGO_TARGET_DIR": r + "/target",
		"UV_PROJECT_ENVIRONMENT": r + "/venv", "UV_CACHE_DIR": r + "/uv-cache",
		"TIKTOKEN_CACHE_DIR": r + "/tiktoken", "KEPT": "a b",
		"PATH": r + "/home/.local/bin:" + r + "/cargo/bin:" + w.path("bin"), "PYTHONPATH": "", "AGENTPERF_RUNTIME": r,
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	for _, text := range []string{
		"removed from the client's environment: PYTHONPATH\n", "only the first line",
		"uv sync: done in ", "Running 2 phase(s)",
	} {
		if !strings.Contains(w.out.String(), text) {
			t.Errorf("%q is not in the log:\n%s", text, w.out)
		}
	}
	if got, want := w.read("logs/agentperf/requests.jsonl"), "{\"phase_idx\":0,\"success\":true}\n"; got != want {
		t.Errorf("requests.jsonl holds %q, want %q", got, want)
	}
	if _, err := os.Stat(w.path("runtime/.build-lock")); !os.IsNotExist(err) {
		t.Errorf("the build lock is still there: %v", err)
	}
}

func TestWorkloadNamesTheCopies(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.expect(0, "")
	text := w.read("runtime/benchmark_config.yaml")
	var got map[string]any
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"base_url": "http://placeholder:8000/v1", "api_key": "dummy", "model": "placeholder", "concurrencies": []any{1},
		"phase_timeout_seconds": 2400.0,
		"trajectory_path":       w.path("runtime/data/traj.jsonl"),
		"user_assignments_path": w.path("runtime/data/users.json"), "their_own_key": "kept",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("workload (-want +got):\n%s", diff)
	}
	info, err := os.Stat(w.path("runtime/benchmark_config.yaml"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v; want 0600, since it contains an API key", info.Mode(), err)
	}
	if got := w.read("runtime/data/traj.jsonl"); got != "{}\n" {
		t.Errorf("the copy holds %q", got)
	}
}

func TestStepsAreLogged(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.write("stand/fail-client", "3 no luck")
	w.expect(3, "")
	var got []string
	for _, e := range w.events() {
		if e.Kind != event.Info {
			t.Errorf("an event of kind %s", e.Kind)
		}
		if e.Data.Seconds > 0 {
			got = append(got, e.Step)
		}
	}
	want := []string{
		"uv sync", "maturin", "import check", "tokenizer cache", "stage traj.jsonl", "stage users.json", "client",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timed steps (-want +got):\n%s", diff)
	}
	last := w.events()[len(w.events())-1]
	if last.Data.ExitCode == nil || *last.Data.ExitCode != 3 {
		t.Errorf("the last event is %+v, want exit code 3", last)
	}
	if !strings.HasSuffix(w.out.String(), "\nno luck\n") {
		t.Errorf("the log does not end with the client's output:\n%s", w.out)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, word string
		code       int
	}{
		{"one", "1 x", 1},
		{"any", "42 x", 42},
		{"killed", "kill x", 137},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTestStep(t)
			w.write("stand/fail-client", c.word)
			w.expect(c.code, "")
		})
	}
}

func TestInvalidInputs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(w *testStep)
		want string
	}{
		{"no checkout", func(w *testStep) { w.opt.ClientDir = w.path("gone") }, "mount it into the container"},
		{"checkout is a file", func(w *testStep) { w.opt.ClientDir = w.opt.Config }, "is not a directory"},
		{"not the client", func(w *testStep) { w.opt.ClientDir = w.path("in") }, "is not a checkout of the client"},
		{"no workload", func(w *testStep) { w.opt.Config = w.path("gone.yaml") }, "correct benchmark.agentperf_config"},
		{"broken workload", func(w *testStep) { w.write("workload.yaml", "a: [") }, "workload.yaml:1"},
		{"no trajectories", func(w *testStep) { w.write("workload.yaml", "model: m\n") }, "trajectory_path is not set"},
		{"no levels", func(w *testStep) { w.opt.Levels = nil }, "concurrency levels: none given"},
		{"level 0", func(w *testStep) { w.opt.Levels = []int{1, 0} }, "concurrency level must be at least 1, got 0"},
		{"endpoint", func(w *testStep) { w.opt.Endpoint = "127.0.0.1:8000" }, "endpoint must be http://host:port"},
		{"relative runtime", func(w *testStep) { w.env("AGENTPERF_RUNTIME=r") }, "must be an absolute path"},
		{"no job", func(w *testStep) { w.env("AGENTPERF_RUNTIME=") }, "set AGENTPERF_RUNTIME"},
		{"odd job", func(w *testStep) { w.env("AGENTPERF_RUNTIME=", "SLURM_JOB_ID=../x") }, "set AGENTPERF_RUNTIME"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTestStep(t)
			c.make(w)
			w.expect(1, c.want)
			if n := len(w.calls()); n != 0 {
				t.Errorf("%d programs were started", n)
			}
		})
	}
}

func TestResultsDirIsLocked(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.block("client")
	first := w.background(t.Context(), w.opt)
	w.awaitBlocked("client")
	w.expect(1, "another run writes to "+w.path("logs/agentperf"))
	w.unblock("client")
	r := <-first
	w.check(r.code, r.err, 0, "")
	w.expect(0, "") // the lock was released
}

func TestRuntimeIsLockedForOneWorkload(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.block("client")
	first := w.background(t.Context(), w.opt)
	w.awaitBlocked("client")
	other := w.opt
	other.ResultsDir, other.EventFile, other.Config = w.path("other/agentperf"), "", w.path("other.yaml")
	w.write("other.yaml", "trajectory_path: "+w.path("in/traj.jsonl")+"\n")
	before := w.read("runtime/benchmark_config.yaml")
	code, err := runWithLimits(t.Context(), other, w.lim)
	w.check(code, err, 1, "a client with another workload or dataset is running in ")
	if got := w.read("runtime/benchmark_config.yaml"); got != before {
		t.Errorf("the running client's workload became\n%s", got)
	}
	w.unblock("client")
	r := <-first
	w.check(r.code, r.err, 0, "")
	code, err = runWithLimits(t.Context(), other, w.lim)
	w.check(code, err, 0, "")
}

// A shell prints the limit, because a Go program would raise its own.
func TestOpenFileLimit(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.program(w.path("bin/uv"), "#!/bin/sh\ncase \"$*\" in *run.py*) echo \"limit $(ulimit -Sn) $(ulimit -Hn)\" ;; esac\n")
	cmd := w.process()
	cmd.Args = append([]string{"sh", "-c", `ulimit -S -n 100 && exec "$0"`}, cmd.Path)
	cmd.Path = "/bin/sh"
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, limits, _ := strings.Cut(string(out), "\nlimit ")
	soft, hard, _ := strings.Cut(strings.TrimSpace(limits), " ")
	if soft != hard || soft == "100" || soft == "" {
		t.Errorf("the client's limits are %q and %q, want equal ones\n%s", soft, hard, out)
	}
}

// process returns a command that runs the step in its own process.
func (w *testStep) process() *exec.Cmd {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	o := w.opt
	text, err := json.Marshal(process{o.Endpoint, o.Model, o.ClientDir, o.Config, o.ResultsDir, o.SystemPath, o.Levels})
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.CommandContext(w.t.Context(), self)
	cmd.Env = append(w.opt.Environ, "BENCH_TEST_OPTIONS="+string(text))
	return cmd
}

func TestKilledStepLeavesNoClient(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.block("client")
	cmd := w.process()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	alive := w.awaitBlocked("client")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	w.within("the end of the killed step's child", func() { _, _ = io.ReadAll(alive) })
	_ = cmd.Wait() // it was killed
}

func TestDefaultRuntime(t *testing.T) {
	t.Parallel()
	var s settings
	if err := s.chooseRuntime(environ{"SLURM_JOB_ID": "4711"}); err != nil || s.runtime != "/tmp/agentperf-4711" {
		t.Errorf("runtime %q, %v", s.runtime, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	for foreign, want := range map[bool]bool{true: true, false: false} {
		s := settings{runtime: link, runtimeGiven: foreign}
		if err := s.makeRuntime(); (err == nil) != want {
			t.Errorf("a link as runtime, named by the user %v: %v", foreign, err)
		}
	}
}

func TestTerminate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, trap, step string
		code             int
		err              string
	}{
		{"the client handles SIGTERM", "exit", "client", 7, ""},
		{"SIGTERM ends the client", "", "client", 128 + int(syscall.SIGTERM), ""},
		{"the client ignores SIGTERM", "ignore", "client", 128 + int(syscall.SIGKILL), ""},
		{"during the build", "", "maturin", interrupted, "stopped before the client started"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTestStep(t)
			w.block(c.step)
			if c.trap != "" {
				w.write("stand/trap", c.trap+"\n")
			}
			if c.trap == "ignore" {
				w.lim.grace = 1
			}
			ctx, term := context.WithCancel(t.Context())
			done := w.background(ctx, w.opt)
			w.awaitBlocked(c.step)
			term()
			r := <-done
			w.check(r.code, r.err, c.code, c.err)
			if c.trap == "exit" && !strings.Contains(w.out.String(), "partial results") {
				t.Errorf("the client had no time to handle SIGTERM:\n%s", w.out)
			}
			if _, err := os.Stat(w.path("runtime/.build-lock")); !os.IsNotExist(err) {
				t.Errorf("the build lock is still there: %v", err)
			}
		})
	}
}
