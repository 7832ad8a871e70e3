package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// watchLine is a line of watch --json: an event or an update.
type watchLine struct {
	Type   string
	Kind   string
	Done   bool
	Data   struct{ PID int }
	Status struct {
		State   string
		Message string
		Client  *int `json:"client_exit_code"`
		Steps   []struct{ Name, State string }
	}
	Results json.RawMessage
}

// start ports the sample, submits it as a local run, and returns its id and directory.
func (s *shell) start(users, seconds string) (id, dir string) {
	s.t.Helper()
	s.port("--gpu-type", "gb300")
	o := s.want(0, "apply", "r.yaml", "--launcher", "local", "--yes", "--users", users, "--seconds", seconds,
		"--output-dir", "out", "--json")
	var rec struct{ ID, Dir string }
	if err := json.Unmarshal([]byte(o.stdout), &rec); err != nil {
		s.t.Fatalf("%v in %s", err, o.stdout)
	}
	return rec.ID, rec.Dir
}

// watch starts watch --json and returns the process and its lines.
func (s *shell) watch(run string) (*exec.Cmd, <-chan watchLine) {
	s.t.Helper()
	cmd := s.command("watch", run, "--json", "--until-done", "--interval", "100ms")
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := make(chan watchLine)
	go func() {
		defer close(lines)
		sc := bufio.NewScanner(out)
		sc.Buffer(nil, 16<<20)
		for sc.Scan() {
			var u watchLine
			if err := json.Unmarshal(sc.Bytes(), &u); err != nil {
				s.t.Errorf("%v in %s", err, sc.Bytes())
				return
			}
			select {
			case lines <- u:
			case <-s.t.Context().Done():
				return
			}
		}
	}()
	return cmd, lines
}

// until reads lines until the run is in one of the states, or to the end. It returns the last
// update.
func until(lines <-chan watchLine, states ...string) (last watchLine) {
	for u := range lines {
		if u.Type == "update" {
			last = u
		}
		if slices.Contains(states, last.Status.State) {
			return last
		}
	}
	return last
}

// indent formats figures for a comparison, without the directory that they were read from.
func indent(t *testing.T, raw []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	if doc, ok := v.(map[string]any); ok {
		delete(doc, "log_dir")
	}
	out, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// withoutIdentity removes the identity from the JSON of results.
func withoutIdentity(t *testing.T, results string) []byte {
	t.Helper()
	var doc map[string]json.RawMessage
	if err := json.Unmarshal([]byte(results), &doc); err != nil || doc["identity"] == nil {
		t.Fatalf("%v in %s", err, results)
	}
	delete(doc, "identity")
	figures, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return figures
}

func TestLocalRunWithSeveralWatchers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 12 s")
	}
	s := newShell(t)
	id, dir := s.start("4", "10")

	// Kill the first watcher during the run.
	first, lines := s.watch(id)
	if u := until(lines, "ramp", "settling"); u.Status.State == "" || u.Done {
		t.Fatalf("the run did not ramp up: %+v", u.Status)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range lines {
		continue
	}
	if err := first.Wait(); err == nil {
		t.Error("exit code 0 of a killed watcher")
	}

	// Attach the second watcher in the middle and keep it to the end.
	second, lines := s.watch(id)
	middle := until(lines, "done", "failed")
	for u := range lines {
		if u.Type == "update" {
			middle = u
		}
	}
	if err := second.Wait(); err != nil || !middle.Done || middle.Status.State != "done" || middle.Status.Client == nil ||
		*middle.Status.Client != 0 {
		t.Fatalf("watch: %v, %+v", err, middle.Status)
	}

	// Attach the third one after the end. All must show exactly the same figures.
	third, lines := s.watch(dir)
	after := until(lines)
	if err := third.Wait(); err != nil {
		t.Fatal(err)
	}
	results := s.want(0, "results", id, "--json").stdout
	s.want(0, "rollup", id)
	var rollup struct {
		Phases       []struct{ Stats json.RawMessage }
		AgentperfTUI json.RawMessage `json:"agentperf_tui"`
	}
	if err := json.Unmarshal([]byte(s.read(filepath.Join("out", id, "logs", "benchmark-rollup.json"))),
		&rollup); err != nil {
		t.Fatal(err)
	}
	want := indent(t, withoutIdentity(t, results))
	for name, got := range map[string]json.RawMessage{
		"watch from the middle": middle.Results, "watch afterwards": after.Results, "roll-up": rollup.AgentperfTUI,
	} {
		if diff := cmp.Diff(want, indent(t, got)); diff != "" {
			t.Errorf("%s differs from results (-results +it):\n%s", name, diff)
		}
	}
	s.requireEqualParity(id, dir+"/logs/benchmark-rollup.json")
	requireMeasuredRequests(t, dir, results)
	requireOutputFiles(t, dir)
}

// requireEqualParity fails the test if two sources of the same figures differ.
func (s *shell) requireEqualParity(ref, cand string) {
	s.t.Helper()
	o := s.want(0, "parity", ref, cand, "--json")
	var parity struct {
		Verdict string
		Rows    []struct{ Metric, Delta string }
	}
	if err := json.Unmarshal([]byte(o.stdout), &parity); err != nil {
		s.t.Fatal(err)
	}
	for _, r := range parity.Rows {
		if strings.Trim(r.Delta, "=-/ ") != "" {
			s.t.Errorf("parity of a run with its roll-up: %s %s", r.Metric, r.Delta)
		}
	}
}

// requireMeasuredRequests counts the request rows in the measuring window of the phase
// manifest, settling_end ≤ start < actual_phase_end, and compares the results with them.
func requireMeasuredRequests(t *testing.T, dir, results string) {
	t.Helper()
	var manifest struct {
		From float64 `json:"settling_end"`
		To   float64 `json:"actual_phase_end"`
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, "logs", "agentperf", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if err := json.Unmarshal([]byte(read("phase_manifest.jsonl")), &manifest); err != nil {
		t.Fatal(err)
	}
	total, measured := 0, 0
	for line := range strings.Lines(read("requests.jsonl")) {
		var row struct {
			Start float64 `json:"start_time"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		total++
		if manifest.From <= row.Start && row.Start < manifest.To {
			measured++
		}
	}
	var got struct {
		Phases []struct {
			Total    int `json:"total_requests"`
			Requests struct{ Measured, Failed int }
		}
	}
	if err := json.Unmarshal([]byte(results), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Phases) != 1 || got.Phases[0].Total != total || got.Phases[0].Requests.Measured != measured ||
		measured == 0 || got.Phases[0].Requests.Failed != 0 {
		t.Errorf("results %+v, want %d requests, %d measured", got, total, measured)
	}
}

func requireOutputFiles(t *testing.T, dir string) {
	t.Helper()
	stem := "hf-0c0ffee_orig__4u__phase0__dur10s__settle1s__traj3"
	for _, name := range []string{
		"logs/agentperf/requests.jsonl", "logs/agentperf/phase_manifest.jsonl", "logs/agentperf/" + stem + ".jsonl",
		"logs/agentperf/" + stem + ".json",
		"logs/agentperf/" + stem + ".txt", "logs/client.log", "logs/benchmark.out", "logs/events.jsonl",
		"logs/events.client.jsonl",
		"logs/localhost_prefill_w4.out", "logs/localhost_decode_w0.out", "logs/localhost_frontend_0.out", "config.yaml",
		"plan.bound.json", "benchmark_config.yaml",
	} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "plan.bound.json")); err == nil && info.Mode().Perm() != 0o600 {
		t.Errorf("plan.bound.json has mode %v: it may hold secrets", info.Mode())
	}
	banner, err := os.ReadFile(filepath.Join(dir, "logs", "client.log"))
	if err != nil || !strings.Contains(string(banner), "built-in replay") {
		t.Errorf("client.log does not name the built-in client: %v\n%s", err, banner)
	}
}

// pids returns the process ids of a run, the supervisor first.
func pids(t *testing.T, dir string) []int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "supervisor.pid"))
	if err != nil {
		t.Fatal(err)
	}
	super, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := []int{super}
	events, err := os.ReadFile(filepath.Join(dir, "logs", "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(events)) {
		var e watchLine
		if err := json.Unmarshal([]byte(line), &e); err == nil && e.Kind == "step_start" {
			out = append(out, e.Data.PID)
		}
	}
	return out
}

// waitForExit waits until all processes have ended, because the kernel kills them asynchronously.
func waitForExit(t *testing.T, pids []int) {
	t.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		left := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return !running(pid) })
		if len(left) == 0 {
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("processes left behind: %v", left)
		case <-tick.C:
		}
	}
}

// running reports whether a process is running. A zombie is not.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestServersEndWithKilledSupervisor(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	s := newShell(t)
	id, dir := s.start("2", "60")
	cmd, lines := s.watch(id)
	if u := until(lines, "ramp", "settling", "measuring"); u.Done {
		t.Fatalf("the run ended early: %+v", u.Status)
	}
	all := pids(t, dir)
	if len(all) < 9 { // supervisor, 6 workers, frontend, client
		t.Fatalf("processes %v", all)
	}
	if err := syscall.Kill(all[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	last := until(lines)
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 || last.Status.State != "failed" ||
		!strings.Contains(last.Status.Message, "supervisor") {
		t.Errorf("watch: %v, %+v", err, last.Status)
	}
	waitForExit(t, all)
	if o := s.want(0, "runs"); !strings.Contains(o.stdout, "failed") {
		t.Errorf("runs:\n%s", o.stdout)
	}
	s.want(1, "job", "run", "--run-dir", dir) // a run can't be started twice
}

func TestLogs(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	o := s.want(0, "logs", mustAbs(t, sampleRun), "--grep", "Phase Timeout")
	if o.stdout != "0:   Phase Timeout: 2400.0s\n" {
		t.Errorf("got %q", o.stdout)
	}
	lastMatch := s.want(0, "logs", mustAbs(t, sampleRun), "--grep", "phase timeout|concurrencies", "-n", "1")
	if strings.Count(lastMatch.stdout, "\n") != 1 {
		t.Errorf("last matching line: %q", lastMatch.stdout)
	}
	if o := s.want(0, "logs", mustAbs(t, sampleRun), "--errors", "job"); strings.Contains(o.stdout, "srun") {
		t.Errorf("errors: %q", o.stdout)
	}
	all := s.want(0, "logs", mustAbs(t, sampleRun), "--merge").stdout
	for _, f := range []string{"client", "CTX_0", "frontend", "job"} {
		one := s.want(0, "logs", mustAbs(t, sampleRun), f).stdout
		if got := strings.Count("\n"+all, "\n"+fmt.Sprintf("%-13s", f)); got != strings.Count(one, "\n") {
			t.Errorf("merged logs have %d lines of %s, want %d", got, f, strings.Count(one, "\n"))
		}
	}
	var line struct{ Step, Line string }
	merged := s.want(0, "logs", mustAbs(t, sampleRun), "client", "job", "--merge", "-n", "1", "--json")
	if json.Unmarshal([]byte(merged.stdout), &line) != nil || line.Step == "" || line.Line == "" {
		t.Errorf("%q", o.stdout)
	}
	for _, args := range [][]string{{"client", "job"}, {"--merge", "-f"}, {"--grep", "("}, {"-n", "-1"}} {
		if o := s.run(append([]string{"logs", mustAbs(t, sampleRun)}, args...)...); o.code != 2 {
			t.Errorf("%v: exit %d %s", args, o.code, o.stderr)
		}
	}
	plain := t.TempDir()
	for _, name := range []string{"a\x1b[31m.out", "b.out"} { // a step is named after its file
		if err := os.WriteFile(plain+"/"+name, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if o := s.want(0, "runs", "show", plain); !strings.Contains(o.stdout, "state unknown\n") {
		t.Errorf("state of a plain directory: %q", o.stdout)
	}
	if err := os.WriteFile(plain+"/job_params.env", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if o := s.want(0, "runs", plain); strings.Contains(o.stdout, " d ") || !strings.Contains(o.stdout, " - ") {
		t.Errorf("age of a run without output: %q", o.stdout)
	}
	if o := s.want(0, "logs", plain, "--merge"); strings.Contains(o.stdout, "\x1b") {
		t.Errorf("terminal escape in a step name: %q", o.stdout)
	}
	if o := s.run("logs", mustAbs(t, sampleRun), "nope"); o.code != 2 || !strings.Contains(o.stderr, "CTX_0") {
		t.Errorf("unknown step: exit %d %s", o.code, o.stderr)
	}
}

func TestApplyRefusals(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.port()
	s.replace("w.yaml", "phase_timeout_seconds: 2400.0", "phase_timeout_seconds: 10")
	if o := s.run("apply", "r.yaml", "--launcher", "local", "--yes"); o.code != 1 ||
		!strings.Contains(o.stdout, "short by") {
		t.Errorf("workload with an error: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	s.replace("w.yaml", "phase_timeout_seconds: 10", "phase_timeout_seconds: 2400")
	if o := s.run("apply", "r.yaml", "--launcher", "local"); o.code != 2 || !strings.Contains(o.stderr, "--yes") {
		t.Errorf("no terminal and no --yes: exit %d %s", o.code, o.stderr)
	}
	s.env = append(s.env, "PATH="+s.dir)
	if o := s.run("apply", "r.yaml", "--yes"); o.code != 1 || !strings.Contains(o.stderr, "--launcher local") {
		t.Errorf("Slurm not found: exit %d %s", o.code, o.stderr)
	}
	s.replace("w.yaml", "trajectory_path: ", "trajectory_path: /TODO")
	if o := s.run("apply", "r.yaml", "--launcher", "local", "--yes"); o.code != 1 ||
		!strings.Contains(o.stderr, "--allow-todo") {
		t.Errorf("open placeholder: exit %d %s", o.code, o.stderr)
	}
	if entries, err := os.ReadDir(s.path("outputs")); err == nil && len(entries) > 0 {
		t.Errorf("refused submissions left files: %v", entries)
	}
}
