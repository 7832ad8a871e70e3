package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentperf/agentperf-tui/testdata/golden"
)

const sampleRun = "../../testdata/bm_agentperf_dsv4_5p1d/c1010"

// program is the path of the binary, which TestMain builds.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "agentperf-tui-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "agentperf-tui")
	build := exec.Command("go", "build", "-ldflags", "-X main.version=test", "-o", program, ".")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// shell runs the program as a user would: in its own working, state and configuration directories.
type shell struct {
	t   *testing.T
	dir string
	env []string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	dir := t.TempDir()
	return &shell{
		t: t, dir: dir, env: append(os.Environ(), "XDG_STATE_HOME="+dir+"/state", "XDG_CONFIG_HOME="+dir+"/config",
			"SRTSLURM_CONFIG=", "SLURM_ACCOUNT=", "SLURM_PARTITION="),
	}
}

func (s *shell) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), program, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// outcome is the result of a command.
type outcome struct {
	stdout, stderr string
	code           int
}

func (s *shell) run(args ...string) outcome {
	s.t.Helper()
	cmd := s.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("%v: %v", args, err)
	}
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// want runs a command and fails the test unless it ends with the exit code.
func (s *shell) want(code int, args ...string) outcome {
	s.t.Helper()
	o := s.run(args...)
	if o.code != code {
		s.t.Fatalf("%v: exit %d, want %d\n%s%s", args, o.code, code, o.stdout, o.stderr)
	}
	return o
}

func (s *shell) path(name string) string { return filepath.Join(s.dir, name) }

func (s *shell) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// port ports the sample to r.yaml and w.yaml.
func (s *shell) port(more ...string) outcome {
	s.t.Helper()
	run, err := filepath.Abs(sampleRun)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.want(0, append([]string{
		"port", run, "--out", "r.yaml", "--workload-out", "w.yaml", "--dataset-root", run + "/datasets",
	}, more...)...)
}

func (s *shell) replace(name, old, new string) {
	s.t.Helper()
	text := s.read(name)
	if !strings.Contains(text, old) {
		s.t.Fatalf("%s does not contain %q", name, old)
	}
	if err := os.WriteFile(s.path(name), []byte(strings.Replace(text, old, new, 1)), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func TestPortSample(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	o := s.port("--schema", "1")
	recipe := s.read("r.yaml")
	for _, want := range []string{
		"prefill_workers: 5", "prefill_nodes: 5", "decode_workers: 1", "decode_nodes: 8", "gpus_per_node: 4",
		`DYN_TRTLLM_KV_BLOCK_SIZE: "128"`,
		`UCX_TLS: "cuda_ipc,cuda_copy,sm,self,tcp"`, "path: /scratch/", `DYN_ROUTER_QUEUE_THRESHOLD: "None"`,
		`extra_mount: ["/scratch:/scratch"]`,
	} {
		if !strings.Contains(recipe, want) {
			t.Errorf("the recipe does not contain %s", want)
		}
	}
	if strings.Contains(recipe, "/lustre/") {
		t.Error("the recipe still contains a /lustre/ path")
	}
	var prov struct {
		Fields []struct{ File, Path, Class string }
	}
	if err := json.Unmarshal([]byte(s.read("r.provenance.json")), &prov); err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, f := range prov.Fields {
		rows[f.File]++
		if f.Class == "" {
			t.Errorf("%s has no class", f.Path)
		}
	}
	if rows["workload"] != 19 {
		t.Errorf("%d workload fields, want 19", rows["workload"])
	}
	if !strings.Contains(o.stdout, "wrote r.yaml, w.yaml, r.provenance.json") {
		t.Errorf("report:\n%s", o.stdout)
	}
	// Existing files are not replaced without --force.
	if o := s.run("port", sampleRun, "--out", "r.yaml", "--workload-out", "w.yaml"); o.code != 2 {
		t.Errorf("second port without --force: exit %d\n%s", o.code, o.stderr)
	}
}

func TestBothLayoutsOfSampleAreEqual(t *testing.T) {
	t.Parallel()
	a, b := newShell(t), newShell(t)
	a.port("--schema", "1")
	b.port("--schema", "2")
	// The two recipes name their workloads by different paths.
	b.replace("r.yaml", b.path("w.yaml"), a.path("w.yaml"))
	o := a.want(0, "diff", "r.yaml", b.path("r.yaml"))
	if !strings.Contains(o.stdout, "fields identical") {
		t.Errorf("got %s", o.stdout)
	}
}

func TestCheckAtTimeoutBoundary(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.port("--gpu-type", "gb300")
	o := s.want(0, "check", "r.yaml", "--workload", "w.yaml")
	if !strings.Contains(o.stdout, "(1010 − 1) / 1 + 240 + 300 = 1549 ≤ 2400, slack 851 s") ||
		!strings.Contains(o.stdout, "assumed, not in the file: user_spawn_rate, min_measurement_seconds") {
		t.Errorf("check printed\n%s", o.stdout)
	}
	s.replace("w.yaml", "phase_timeout_seconds: 2400.0", "phase_timeout_seconds: 1548.0")
	o = s.want(1, "check", "r.yaml", "--workload", "w.yaml")
	for _, want := range []string{
		"w.yaml:7:24: error: phase_timeout_seconds:", "short by 1 s", "phase_timeout_seconds ≥ 1549",
		"user_spawn_rate ≥ 1.001", "settling_time_seconds ≤ 239",
		"min_measurement_seconds ≤ 299", "concurrency ≤ 1009",
	} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("check with a timeout of 1548 s does not print %q:\n%s", want, o.stdout)
		}
	}
	s.replace("w.yaml", "1548.0", "1549")
	s.want(0, "check", "-f", "r.yaml", "--workload", "w.yaml")
	var doc struct {
		OK       bool
		Timeouts []struct {
			Slack   float64 `json:"slack_seconds"`
			Assumed []string
		}
	}
	if err := json.Unmarshal([]byte(s.want(0, "check", "r.yaml", "--json").stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if !doc.OK || len(doc.Timeouts) != 1 || doc.Timeouts[0].Slack != 0 || len(doc.Timeouts[0].Assumed) != 2 {
		t.Errorf("JSON: %+v", doc)
	}
}

func TestDryRunOfSample(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.port("--gpu-type", "gb300")
	stable := strings.NewReplacer(s.dir, "/home/u", mustAbs(t, sampleRun), "/runs/c1010").Replace
	golden.Equal(t, "testdata/dry-run.slurm.txt", stable(s.want(0, "dry-run", "r.yaml", "--output-dir", "/out").stdout))
	golden.Equal(t, "testdata/dry-run.local.txt",
		stable(s.want(0, "dry-run", "r.yaml", "--launcher", "local", "--output-dir", "/out").stdout))
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

func TestResultsOfSample(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	golden.Equal(t, "testdata/results.sample.txt", s.want(0, "results", mustAbs(t, sampleRun)).stdout)
	runs := s.want(0, "runs", filepath.Dir(mustAbs(t, sampleRun)))
	if !strings.Contains(runs.stdout, "bm_agentperf_dsv4_5p1d/c1010") || !strings.Contains(runs.stdout, "762.1") {
		t.Errorf("runs:\n%s", runs.stdout)
	}
}

func TestParityOfPublishedFigures(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	dir := mustAbs(t, "../../engine/results/parity/testdata")
	o := s.want(0, "parity", dir+"/script-harness.yaml", dir+"/srt-slurm.yaml", "--format", "markdown")
	for _, want := range []string{
		"| 60,822.2 | 60,573.2 | −0.41% |", "| 4.158 s | 3.759 s | −9.6% |", "| 96.7% | 96.7% | = |",
		"| 230,509 (0) | 216,835 (0) | - |",
	} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("the table does not contain %s:\n%s", want, o.stdout)
		}
	}
	if o := s.run("parity", dir+"/script-harness.yaml", dir+"/srt-slurm.yaml", "--band", "0.1%"); o.code != 1 {
		t.Errorf("outside the band: exit %d", o.code)
	}
}

// fullDevice is a writer without space.
type fullDevice struct{}

func (fullDevice) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestBadInput(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	if err := os.WriteFile(s.path("broken.yaml"), []byte("name: [\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		want string // in stderr
		args []string
	}{
		{2, "no recipe was given", []string{"check"}},
		{2, "no such file", []string{"check", "nowhere.yaml"}},
		{1, "", []string{"check", "broken.yaml"}},
		{2, "unknown flag", []string{"check", "--nope"}},
		{2, "unknown command", []string{"frobnicate"}},
		{2, "no match among 0 recorded runs", []string{"watch", "nowhere"}},
		{2, "is not a directory; give a run directory", []string{"results", "broken.yaml"}},
		{2, "--out and --workload-out", []string{"port", "."}},
		{2, "no such directory", []string{"port", "nowhere", "--out", "a", "--workload-out", "b"}},
		{2, "launcher", []string{"dry-run", "broken.yaml", "--launcher", "nosuch"}},
		{2, "--band", []string{"parity", "a", "b", "--band", "x"}},
		{2, "reference", []string{"parity", "a", "b"}},
		{2, "required", []string{"replay"}},
		{2, "--users: only valid with --launcher local", []string{"dry-run", "broken.yaml", "--users", "3"}},
		{2, "--seconds: only valid with --launcher local", []string{"apply", "broken.yaml", "--seconds", "3", "--yes"}},
		{2, "--gpus: must be the number of GPUs of all workers, got -3", []string{
			"export", sampleRun, "--table", "curve", "--gpus", "-3",
		}},
		{2, "--bucket: must be a number of seconds, not negative, got -1", []string{
			"export", sampleRun, "--table", "series", "--bucket", "-1",
		}},
		{2, "--interval: must not be negative, got -1s", []string{"watch", sampleRun, "--interval", "-1s"}},
		{2, "broken.yaml: is not a directory", []string{"runs", "broken.yaml"}},
		{2, "accepts 2 arg", []string{"diff", "a"}},
	} {
		o := s.run(c.args...)
		if o.code != c.code || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%v: exit %d, want %d with %q\n%s", c.args, o.code, c.code, c.want, o.stderr)
		}
	}
	var stderr strings.Builder
	if code := execute(t.Context(), []string{"watch", "--help"}, fullDevice{}, &stderr); code != 1 ||
		!strings.Contains(stderr.String(), "no space left") {
		t.Errorf("help that can't be written: exit %d, %q", code, stderr.String())
	}
	if o := s.run(); o.code != 2 || !strings.Contains(o.stdout, "Available Commands") {
		t.Errorf("no arguments and stdout is a pipe: exit %d\n%s", o.code, o.stdout)
	}
}

func TestDoctorListsFileLocations(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	o := s.want(0, "doctor")
	for _, want := range []string{
		s.dir + "/config/agentperf-tui/config.yaml", s.dir + "/state/agentperf-tui",
		s.dir + "/outputs",
	} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("doctor does not list %s:\n%s", want, o.stdout)
		}
	}
}

// Even with --force, port must not overwrite an artifact that it reads.
func TestPortRefusesToOverwriteArtifact(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	run := s.path("h/c1010")
	if err := os.CopyFS(run, os.DirFS(mustAbs(t, sampleRun))); err != nil {
		t.Fatal(err)
	}
	o := s.want(2, "port", run, "--out", run+"/job.log", "--workload-out", "w.yaml", "--force")
	if !strings.Contains(o.stderr, "artifact") {
		t.Errorf("got %s", o.stderr)
	}
}

func TestDiffOfPortReports(t *testing.T) {
	t.Parallel()
	a, b := newShell(t), newShell(t)
	a.port("--gpu-type", "gb300")
	b.port("--gpu-type", "gb200")
	a.want(0, "diff", "r.provenance.json", "r.provenance.json")
	if o := a.want(1, "diff", "r.provenance.json", b.path("r.provenance.json")); !strings.Contains(
		o.stdout,
		"gpu_type",
	) {
		t.Errorf("got %s", o.stdout)
	}
}
