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

// built is the program and the stand-ins of an image, made once.
var built = sync.OnceValues(func() (string, error) {
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

// atOnce is how many tests run side by side: they wait, mostly, and the cluster has
// room for six runs of two nodes.
const atOnce = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := table.write(os.Getenv("AGENTPERF_FAULT_TABLE")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if dir, err := built(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// site is a user of the cluster with the ported sample at hand.
type site struct {
	t   *testing.T
	c   Cluster
	dir string
	env []string
}

func newSite(t *testing.T, leftOut string) *site {
	t.Helper()
	return newSiteOn(t, Start(t, leftOut))
}

func newSiteOn(t *testing.T, c Cluster) *site {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: a job that has just ended may still hold files in it.
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
	s.pathFirst(program + "/image")
	root := filepath.Dir(filepath.Dir(c.Source))
	sample := root + "/testdata/bm_agentperf_dsv4_5p1d/c1010"
	s.want(0, "port", sample, "--out", "r.yaml", "--workload-out", "w.yaml", "--dataset-root", sample+"/datasets",
		"--gpu-type", "gb300")
	data, err := os.ReadFile(dir + "/w.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// A level of 4 users, as short as the client's own files allow.
	text := strings.NewReplacer("phase_timeout_seconds: 2400.0", "phase_timeout_seconds: 8.0",
		"settling_time_seconds: 240.0", "settling_time_seconds: 2.0").Replace(string(data))
	text += "user_spawn_rate: 4.0\nmin_measurement_seconds: 2.0\n"
	s.workload(text)
	return s
}

func (s *site) workload(text string) {
	s.t.Helper()
	if err := os.WriteFile(s.dir+"/w.yaml", []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// longer gives the phase so many seconds, all but three of them to be measured.
func (s *site) longer(seconds int) {
	s.t.Helper()
	data, err := os.ReadFile(s.dir + "/w.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	text := strings.Replace(string(data), "phase_timeout_seconds: 8.0", "phase_timeout_seconds: "+strconv.Itoa(seconds), 1)
	text = strings.Replace(text, "min_measurement_seconds: 2.0", "min_measurement_seconds: "+strconv.Itoa(seconds-3), 1)
	s.workload(text)
}

// pathFirst puts a folder before the rest of PATH.
func (s *site) pathFirst(dir string) {
	for i, v := range s.env {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			s.env[i] = "PATH=" + dir + ":" + rest
		}
	}
}

// wrap puts a shell script before a Slurm command; $real in it is that command.
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
	s.pathFirst(dir)
}

func (s *site) command(ctx context.Context, args ...string) *exec.Cmd {
	program, err := built()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program+"/agentperf-tui", args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// run runs the program and gives its output and exit code.
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

func (s *site) want(code int, args ...string) string {
	s.t.Helper()
	out, errs, got := s.run(args...)
	if got != code {
		s.t.Fatalf("%v: exit %d, want %d\n%s%s", args, got, code, out, errs)
	}
	return out
}

// settings are the edits of every run here: the client's checkout and the workload
// of this site, and stand-ins where the image has its programs.
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

// small makes it a run of two nodes, so that several fit on the cluster.
func small(more ...string) []string {
	return append([]string{
		"--set", "roles.prefill.nodes=1", "--set", "roles.prefill.workers=1", "--set", "roles.decode.nodes=1",
		"--set", "roles.decode.args.tensor_parallel_size=4", "--set", "roles.decode.args.moe_expert_parallel_size=4",
	}, more...)
}

// submitted is the record that apply --json prints.
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

// status is what watch --json says of a run.
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

// trouble says whether a run is shown as one that does not go on.
func (st status) trouble() bool {
	for _, step := range st.Steps {
		if step.Message != "" {
			return true
		}
	}
	return slices.Contains([]string{"post", "failed", "cancelled", "timeout", "unknown"}, st.State)
}

// watch follows a run from the outside and calls see on each update until that
// says that it has seen enough; it returns the last status and the exit code.
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
	_ = cmd.Wait() // its exit code tells
	return last, cmd.ProcessState.ExitCode()
}

// until watches a run until it is in one of the states.
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
	s.t.Fatalf("run %s came to %+v, want %v", id, last, states)
	return last
}

// replaying waits until the client of a run has rows to show.
func (s *site) replaying(rec submitted) {
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

// slurm runs a command of the cluster's.
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

// ended waits until a job is over and says how Slurm calls its end; no process of
// it may be left.
func (s *site) ended(id string) string {
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
		if len(left) > 0 && !late { // Slurm's own leave a moment after the job
			continue
		}
		if len(left) > 0 {
			s.t.Errorf("job %s left processes: %v", id, left)
		}
		return state
	}
}

// processes of a job, by their environment, and by their cgroup where Slurm uses
// them: that names those too which have cleared their environment.
func (s *site) processes(id string) []string {
	var left []string
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, d := range dirs {
		env, err := os.ReadFile(d + "/environ")
		if err != nil {
			continue // gone, or not ours
		}
		cgroup, _ := os.ReadFile(d + "/cgroup") // gone meanwhile: not left either
		vars := "\x00" + string(env)
		if strings.Contains(vars, "\x00SLURM_JOB_ID="+id+"\x00") && strings.Contains(vars, "\x00SLURM_CONF="+s.c.Root+"/") ||
			s.c.cgroups() && strings.Contains(string(cgroup), "/job_"+id+"/") {
			cmdline, _ := os.ReadFile(d + "/cmdline")
			left = append(left, strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return left
}
