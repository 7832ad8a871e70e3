package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// clientUV replaces uv. Its client reports each step to the FIFO "status"; after SIGTERM
// it waits for a line from the FIFO "go" before it exits with code 9.
const clientUV = `#!/bin/sh
case "$*" in *run.py*) ;; *) exit 0 ;; esac
trap 'echo terminating > status; read -r _ < go; exit 9' TERM
echo running > status
/bin/sleep 1000 & wait $!
`

func (s *shell) makeFIFO(name string) {
	s.t.Helper()
	if err := syscall.Mkfifo(s.path(name), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shell) writeProgram(name, text string) {
	s.t.Helper()
	syscall.ForkLock.RLock() // a file that a forked child holds open for writing can't be executed
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(s.path(name), []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// The client step of a plan must be a valid command line of job bench.
func TestBenchAcceptsArgumentsOfPlan(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.port()
	var pl struct {
		Steps []struct {
			Name string
			Argv []string
		}
	}
	if err := json.Unmarshal([]byte(s.want(0, "dry-run", "r.yaml", "--workload", "w.yaml", "--json").stdout),
		&pl); err != nil {
		t.Fatal(err)
	}
	for _, step := range pl.Steps {
		if step.Name != "client" {
			continue
		}
		argv := append(step.Argv[1:], "--results-dir", s.path("agentperf"))
		for i, a := range argv {
			argv[i] = strings.ReplaceAll(a, "{ip:0}", "10.0.0.7")
		}
		s.env = append(s.env, "SLURM_JOB_ID=1")
		if o := s.want(1, argv...); !strings.Contains(o.stderr, "client checkout: stat ") {
			t.Errorf("stderr\n%s", o.stderr)
		}
		return
	}
	t.Fatal("the plan has no client step")
}

func TestBenchWaitsForClientAfterSIGTERM(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for _, d := range []string{"bin", "checkout/agentperf", "logs"} {
		if err := os.MkdirAll(s.path(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.writeProgram("bin/uv", clientUV)
	s.writeProgram("bin/cargo", "#!/bin/sh\n")
	s.write("checkout/agentperf/run.py", "")
	s.write("traj.jsonl", "{}\n")
	s.write("w.yaml", "trajectory_path: "+s.path("traj.jsonl")+"\n")
	s.makeFIFO("checkout/status")
	s.makeFIFO("checkout/go")
	s.env = append(s.env, "AGENTPERF_RUNTIME="+s.path("runtime"))
	cmd := s.command("job", "bench", "--endpoint", "http://127.0.0.1:8000", "--model", "m",
		"--client-dir", s.path("checkout"), "--config", s.path("w.yaml"),
		"--concurrencies", "1", "--results-dir", s.path("logs/agentperf"), "--system-path", s.path("bin"))
	log, err := os.Create(s.path("logs/benchmark.out"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"running\n", "terminating\n"} {
		status, err := os.ReadFile(s.path("checkout/status"))
		if err != nil || string(status) != want {
			t.Fatalf("status of the client %q, %v; want %q", status, err, want)
		}
		// The second SIGTERM must not end the step before its client.
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	s.write("checkout/go", "\n")
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 9 {
		t.Errorf("step ended with %v, want exit code 9 of the client\n%s", err, s.read("logs/benchmark.out"))
	}
}

func TestBenchUsage(t *testing.T) {
	t.Parallel()
	full := []string{
		"job", "bench", "--endpoint", "http://h:1", "--model", "m", "--client-dir", "d", "--config", "c",
		"--concurrencies", "1,2",
	}
	for _, c := range []struct {
		name string
		edit func(args []string) []string
		want string
	}{
		{"no flags", func(a []string) []string { return a[:2] }, "--endpoint is required"},
		{"no levels", func(a []string) []string { return a[:10] }, "--concurrencies is required"},
		{
			"invalid level", func(a []string) []string { return append(a[:11:11], "1,x") },
			`--concurrencies "1,x": "x" is not a whole number above 0`,
		},
		{"extra argument", func(a []string) []string { return append(a, "more") }, "job bench --help"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var errs strings.Builder
			if code := execute(t.Context(), c.edit(full[:len(full):len(full)]), io.Discard, &errs); code != 2 ||
				!strings.Contains(errs.String(), c.want) {
				t.Error(fmt.Sprint(code), errs.String())
			}
		})
	}
}
