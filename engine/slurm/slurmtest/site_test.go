package slurmtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// programs builds this program and the stand-ins for the programs of the image, once, and
// returns their directory.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "agentperf-slurm-test-")
	if err != nil {
		return "", err
	}
	for _, b := range [][2]string{{"agentperf-tui", "cmd/agentperf-tui"}, {"standin", "testdata/standins"}} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, b[0]), "../../../"+b[1])
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", b[1], err, out)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "image"), 0o755); err != nil {
		return "", err
	}
	for _, name := range []string{"etcd", "numactl", "trtllm-llmapi-launch", "python3"} {
		if err := os.Symlink("../standin", filepath.Join(dir, "image", name)); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// parallelTests is how many tests run in parallel. They mostly wait, and the cluster has enough
// nodes for six runs on two nodes.
const parallelTests = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallelTests); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := table.write(os.Getenv("AGENTPERF_FAULT_TABLE")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if dir, err := programs(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// site is a user of a cluster, with the ported sample in the directory dir.
type site struct {
	t   *testing.T
	c   Cluster
	dir string
	env []string
}

func newSite(t *testing.T, skipped string) *site {
	t.Helper()
	return newSiteOn(t, Start(t, skipped))
}

func newSiteOn(t *testing.T, c Cluster) *site {
	t.Helper()
	program, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	// t.TempDir would fail if a job that has just ended still had open files in it.
	dir, err := os.MkdirTemp("", "site-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	s := &site{t: t, c: c, dir: dir}
	s.env = append(slices.Clone(c.Env), "XDG_STATE_HOME="+dir+"/state", "XDG_CONFIG_HOME="+dir+"/config",
		"SRTSLURM_CONFIG=", "SLURM_ACCOUNT=", "SLURM_PARTITION=batch",
		"PYXIS_STUB_BIND=1", "STANDIN_PROGRAM="+program+"/agentperf-tui", "AGENTPERF_TUI_QUEUE_SECONDS=1",
		"AGENTPERF_RUNTIME="+dir+"/runtime")
	s.prependPath(program + "/image")
	root := filepath.Dir(filepath.Dir(c.Source))
	sample := root + "/testdata/bm_agentperf_dsv4_5p1d/c1010"
	s.want(0, "port", sample, "--out", "r.yaml", "--workload-out", "w.yaml", "--dataset-root", sample+"/datasets",
		"--gpu-type", "gb300")
	data, err := os.ReadFile(dir + "/w.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// A concurrency level of 4 users, as short as possible.
	text := strings.NewReplacer("phase_timeout_seconds: 2400.0", "phase_timeout_seconds: 8.0",
		"settling_time_seconds: 240.0", "settling_time_seconds: 2.0").Replace(string(data))
	text += "user_spawn_rate: 4.0\nmin_measurement_seconds: 2.0\n"
	s.writeWorkload(text)
	return s
}

// writeWorkload writes the workload file.
func (s *site) writeWorkload(text string) {
	s.t.Helper()
	if err := os.WriteFile(s.dir+"/w.yaml", []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// setPhaseSeconds sets the duration of the phase, of which all but 3 s are measured.
func (s *site) setPhaseSeconds(seconds int) {
	s.t.Helper()
	data, err := os.ReadFile(s.dir + "/w.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	text := strings.Replace(string(data), "phase_timeout_seconds: 8.0", "phase_timeout_seconds: "+strconv.Itoa(seconds), 1)
	text = strings.Replace(text, "min_measurement_seconds: 2.0", "min_measurement_seconds: "+strconv.Itoa(seconds-3), 1)
	s.writeWorkload(text)
}

// prependPath prepends a directory to PATH.
func (s *site) prependPath(dir string) {
	for i, v := range s.env {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			s.env[i] = "PATH=" + dir + ":" + rest
		}
	}
}

// wrap replaces a Slurm command by a shell script. $real in the script is the command.
func (s *site) wrap(name, script string) {
	s.t.Helper()
	dir := s.dir + "/wrap"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	text := "#!/bin/bash\nreal=" + s.c.Root + "/bin/" + name + "\n" + script + "\n"
	if err := os.WriteFile(dir+"/"+name, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.prependPath(dir)
}

func (s *site) command(ctx context.Context, args ...string) *exec.Cmd {
	program, err := programs()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program+"/agentperf-tui", args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// run runs this program and returns its output and exit code.
func (s *site) run(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer cancel()
	cmd := s.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("%v: %v", args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// want runs this program and fails the test if it ends with another exit code.
func (s *site) want(code int, args ...string) string {
	s.t.Helper()
	out, errs, got := s.run(args...)
	if got != code {
		s.t.Fatalf("%v: exit %d, want %d\n%s%s", args, got, code, out, errs)
	}
	return out
}

// settings are the flags for every run: the checkout of the client, the workload, and the
// stand-ins for the programs of the image.
func (s *site) settings() []string {
	standins := filepath.Join(filepath.Dir(s.c.Source), "standins")
	return []string{
		"--workload", "w.yaml", "--set", "benchmark.concurrency=4",
		"--set", "benchmark.agentperf_config=" + s.dir + "/w.yaml",
		"--set", "benchmark.agentperf_client_dir=" + standins + "/checkout",
		"--set", `extra_mount=["` + standins + `/client:/usr/local/bin"]`,
		"--set", "health_check.interval_seconds=1", "--output-dir", "out",
	}
}

// twoNodes returns flags for a run on two nodes, so that the cluster has room for several.
func twoNodes(more ...string) []string {
	return append([]string{
		"--set", "roles.prefill.nodes=1", "--set", "roles.prefill.workers=1", "--set", "roles.decode.nodes=1",
		"--set", "roles.decode.args.tensor_parallel_size=4", "--set", "roles.decode.args.moe_expert_parallel_size=4",
	}, more...)
}

// submitted is the output of apply --json.
type submitted struct{ ID, Dir, Comment string }

func (s *site) apply(more ...string) submitted {
	s.t.Helper()
	out := s.want(0, append(append([]string{"apply", "r.yaml", "--yes", "--json"}, s.settings()...), more...)...)
	var rec submitted
	if err := json.Unmarshal([]byte(out), &rec); err != nil || rec.ID == "" {
		s.t.Fatalf("%v in %s", err, out)
	}
	return rec
}

// status is the status in the output of watch --json.
type status struct {
	State    string
	Message  string
	ExitCode *int   `json:"exit_code"`
	Stalled  string `json:"stalled_since"`
	Queue    *struct {
		State, Reason, Error string
		At                   time.Time
	}
	Steps []struct{ Name, State, Message string }
}

// inTrouble reports whether a run is shown with an error.
func (st status) inTrouble() bool {
	for _, step := range st.Steps {
		if step.Message != "" {
			return true
		}
	}
	return slices.Contains([]string{"post", "failed", "cancelled", "timeout", "unknown"}, st.State)
}

// watch runs the command watch until the run ends or see, called on each update, returns true.
// It returns the last status and the exit code.
func (s *site) watch(id string, see func(status) bool) (status, int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := s.command(ctx, "watch", id, "--json", "--until-done", "--interval", "200ms")
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	var last status
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var u struct {
			Type   string
			Status status
		}
		if err := json.Unmarshal(sc.Bytes(), &u); err != nil {
			s.t.Errorf("%v in %s", err, sc.Bytes())
		}
		if u.Type != "update" {
			continue
		}
		last = u.Status
		if see != nil && see(last) {
			cancel()
			break
		}
	}
	_ = cmd.Wait() // the exit code is returned
	return last, cmd.ProcessState.ExitCode()
}

// until waits until a run is in one of the states.
func (s *site) until(id string, states ...string) status {
	s.t.Helper()
	last, _ := s.watch(id, func(st status) bool {
		for _, want := range states {
			if st.State == want {
				return true
			}
		}
		return false
	})
	for _, want := range states {
		if last.State == want {
			return last
		}
	}
	s.t.Fatalf("run %s is %+v, want %v", id, last, states)
	return last
}

// awaitReplay waits until the client of a run is running and has written request rows.
func (s *site) awaitReplay(rec submitted) {
	s.t.Helper()
	s.until(rec.ID, "ready", "ramp", "settling", "measuring")
	deadline := time.Now().Add(30 * time.Second)
	for path := rec.Dir + "/logs/agentperf/requests.jsonl"; ; <-time.After(50 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("no rows in %s", path)
		}
	}
}

// slurm runs a Slurm command of the cluster and returns its output.
func (s *site) slurm(name string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(s.c.Root+"/bin/"+name, args...)
	cmd.Env = s.c.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// awaitJobEnd waits until a job has ended and returns its Slurm state. The test fails if the job
// has left processes.
func (s *site) awaitJobEnd(id string) string {
	s.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for ; ; <-time.After(100 * time.Millisecond) {
		state := s.slurm("squeue", "-h", "-t", "all", "-j", id, "-o", "%T")
		late := time.Now().After(deadline)
		switch state {
		case "PENDING", "RUNNING", "COMPLETING":
			if late {
				s.t.Fatalf("job %s is still %s", id, state)
			}
			continue
		}
		left := s.processes(id)
		if len(left) > 0 && !late { // those of Slurm end a moment after the job
			continue
		}
		if len(left) > 0 {
			s.t.Errorf("job %s left processes: %v", id, left)
		}
		return state
	}
}

// processes returns the command lines of a job's processes. It finds them by their environment
// and, if Slurm uses cgroups, by their cgroup, in case they have cleared their environment.
func (s *site) processes(id string) []string {
	var left []string
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, d := range dirs {
		env, err := os.ReadFile(d + "/environ")
		if err != nil {
			continue // it has ended, or belongs to another user
		}
		cgroup, _ := os.ReadFile(d + "/cgroup") // an error means that it has ended
		vars := "\x00" + string(env)
		if strings.Contains(vars, "\x00SLURM_JOB_ID="+id+"\x00") && strings.Contains(vars, "\x00SLURM_CONF="+s.c.Root+"/") ||
			s.c.cgroups() && strings.Contains(string(cgroup), "/job_"+id+"/") {
			cmdline, _ := os.ReadFile(d + "/cmdline")
			left = append(left, strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return left
}
