package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes/examples"
)

func (s *shell) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// writeExample writes recipe and workload of an example to r.yaml and w.yaml.
func (s *shell) writeExample(name string) {
	s.t.Helper()
	r, w, err := examples.Read(name)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("r.yaml", string(r))
	s.write("w.yaml", string(w))
}

// contains fails the test unless stdout or stderr contains each text.
func (o outcome) contains(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(o.stdout+o.stderr, text) {
			t.Errorf("%q is not in\n%s%s", text, o.stdout, o.stderr)
		}
	}
}

func TestSetAndUnsetDontChangeFiles(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.writeExample("c1010")
	before := s.read("r.yaml") + s.read("w.yaml")
	s.want(0, "check", "r.yaml", "--workload", "w.yaml").contains(t, "= 1549 ≤ 2400, slack 851 s", "at most 1h45m",
		"22.8 node-hours", "no cluster file", "0 errors, 0 warnings")
	s.want(1, "check", "r.yaml", "--workload", "w.yaml", "--set", "phase_timeout_seconds=1548").contains(t, "short by 1 s",
		"user_spawn_rate ≥ 1.001")
	s.want(0, "check", "r.yaml", "--workload", "w.yaml", "--set", "benchmark.concurrency=64",
		"--set", "environment.A=1").contains(t, "level 64:", "0 errors")
	s.want(0, "check", "r.yaml", "--workload", "w.yaml", "--unset", "slurm.time_limit").contains(t, "may take 6300 s")
	s.want(0, "dry-run", "r.yaml", "--workload", "w.yaml", "--set", "benchmark.concurrency=64",
		"--set", "environment.NEW=7").contains(t, "64 users", "NEW=7")
	s.want(2, "check", "r.yaml", "--workload", "w.yaml", "--set", "a").contains(t, "must be path=value")
	s.want(2, "check", "r.yaml", "--workload", "w.yaml", "--unset", "roles.prefill.nope").contains(t, "no such entry")
	if s.read("r.yaml")+s.read("w.yaml") != before {
		t.Error("check changed the files")
	}
}

func TestCheckFix(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.writeExample("aggregated")
	s.replace("r.yaml", "gpu_type: gb200", "gpu_type: GB200  # kept")
	s.replace("r.yaml", "DYN_LOG: info", "DYN_LOG: 1\n      AT: 12:30")
	s.replace("r.yaml", "concurrency: 32", `concurrencies: "16,32"`)
	s.replace("r.yaml", "frontend:\n", "observability: {enabled: true, nsys: {enabled: false}}\nfrontend:\n")
	s.want(1, "check", "r.yaml", "--workload", "w.yaml")
	want := strings.NewReplacer("GB200  # kept", "gb200  # kept", "DYN_LOG: 1\n", "DYN_LOG: \"1\"\n", "AT: 12:30",
		"AT: \"12:30\"", `"16,32"`, "[16, 32]", "name: agentperf-aggregated", "name: new").Replace(s.read("r.yaml"))
	s.want(0, "check", "r.yaml", "--workload", "w.yaml", "--fix", "--set", "name=new", "--set", "seed=7").contains(t,
		"set resources.gpu_type gb200", "0 errors, 2 warnings", "observability.enabled")
	if got := s.read("r.yaml"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := s.read("w.yaml"); !strings.HasSuffix(got, "\nseed: 7\n") {
		t.Errorf("the seed was not written to the workload:\n%s", got)
	}
	s.want(0, "check", "r.yaml", "--workload", "w.yaml", "--fix")
	if got := s.read("r.yaml"); got != want {
		t.Errorf("a second fix changed the file:\n%s", got)
	}
}

func TestCheckShowsClusterFile(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.writeExample("aggregated")
	s.write("srtslurm.yaml", "default_account: perf\nmodel_paths: {/scratch/models/my-model-fp8: /real}\n")
	s.want(0, "check", "r.yaml", "--workload", "w.yaml").contains(t, "/srtslurm.yaml\n", `slurm.account: "" → "perf"`,
		`model.path: "/scratch/models/my-model-fp8" → "/real"`)
	s.write("srtslurm.yaml", "default_container: x\n")
	s.want(1, "check", "r.yaml", "--workload", "w.yaml").contains(t,
		"/srtslurm.yaml:1:1: error: default_container: unknown to this version")
	s.env = append(s.env, "SRTSLURM_CONFIG=/nowhere.yaml")
	s.want(2, "check", "r.yaml", "--workload", "w.yaml").contains(t, "correct or unset the variable")
}

func TestFileWithSeveralRecipes(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	data, err := os.ReadFile("../../recipes/edit/testdata/overrides.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s.write("o.yaml", string(data))
	_, w, err := examples.Read("aggregated")
	if err != nil {
		t.Fatal(err)
	}
	s.write("w.yaml", string(w))
	o := s.want(0, "check", "o.yaml", "--workload", "w.yaml", "--json")
	var doc struct {
		OK      bool
		Recipes []struct{ Recipe string }
	}
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil || !doc.OK || len(doc.Recipes) != 4 ||
		doc.Recipes[0].Recipe != "o.yaml:override_big" {
		t.Errorf("%v: %+v", err, doc)
	}
	s.want(1, "dry-run", "o.yaml", "--workload", "w.yaml").contains(t, "contains 4 recipes", "o.yaml:override_big")
	s.want(0, "dry-run", "o.yaml:override_big", "--workload", "w.yaml").contains(t,
		"plan family_big", "64 users", "128 users")
}

func TestExplain(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.want(0, "explain", "benchmark.agentperf_config").contains(t, "container path of the workload file", "pitfall")
	s.want(0, "explain", "health_check").contains(t, "health_check.interval_seconds")
	s.want(0, "explain", "parser-flag").contains(t, "DYN_TOOL_CALL_PARSER")
	s.want(2, "explain", "benchmark.agentperf_confg").contains(t, "did you mean benchmark.agentperf_config?")
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.port("--schema", "1", "--gpu-type", "gb300")
	s.want(0, "migrate", "r.yaml", "--out", "r2.yaml").contains(t, "wrote r2.yaml")
	s.want(0, "diff", "r.yaml", "r2.yaml")
	s.want(2, "migrate", "r.yaml", "--out", "r2.yaml").contains(t, "file exists")
	s.want(2, "migrate", "r2.yaml").contains(t, "already in layout 2")
	s.want(2, "migrate", "r.yaml", "--out", "nodir/x").contains(t, "directory not found: nodir; create it first")
	var got struct {
		Text  string
		Notes []string
	}
	if o := s.want(0, "migrate", "r.yaml", "--json"); json.Unmarshal([]byte(o.stdout), &got) != nil ||
		got.Text != s.read("r2.yaml") || got.Notes == nil {
		t.Errorf("JSON: %s", o.stdout)
	}
	if o := s.want(0, "migrate", "r.yaml"); o.stdout != s.read("r2.yaml") {
		t.Error("the printed recipe differs from the written one")
	}
}

// The local example must work as its comment describes: started from the checkout.
func TestLocalExampleFromCheckout(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s.dir = top
	s.want(0, "dry-run", "recipes/examples/local-mock.yaml", "--workload", "recipes/examples/local-mock.workload.yaml",
		"--launcher", "local").contains(t, "target local", "mock")
}

// If a workload is given instead of a recipe, one message must say so, instead of an unknown
// field for each key.
func TestWorkloadGivenAsRecipe(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.writeExample("local-mock")
	for _, name := range []string{"check", "dry-run"} {
		o := s.want(1, name, "w.yaml")
		o.contains(t, "w.yaml is a workload file, not a recipe")
		if strings.Contains(o.stdout+o.stderr, "unknown field") {
			t.Errorf("%s: %s", name, o.stdout)
		}
	}
	s.want(2, "migrate", "w.yaml").contains(t, "w.yaml is a workload file, not a recipe")
}

// An unusable workload or URL is bad input, exit code 2, not a failure of the replay.
func TestReplayOfBadInput(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.writeExample("local-mock")
	for _, c := range []struct{ config, url, want string }{
		{"nosuch", "http://x/v1", "nosuch"},
		{"r.yaml", "http://x/v1", "r.yaml:"},
		{"w.yaml", "nonsense", `base_url must be http://host:port/v1, got "nonsense"`},
	} {
		s.want(2, "replay", "--config", c.config, "--base-url", c.url, "--model", "m", "--results-dir", "out").
			contains(t, c.want)
	}
}

// A missing tree has no summary. An unreadable run directory in a tree has a row with the error.
func TestUnreadableTree(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	if o := s.want(2, "port", "--tree", "none", "--out-dir", "out"); strings.Contains(o.stdout+o.stderr, "0 runs") {
		t.Errorf("printed %s%s", o.stdout, o.stderr)
	}
	if os.Geteuid() == 0 {
		return // root can read every directory
	}
	if err := os.MkdirAll(s.path("tree/c1010"), 0); err != nil {
		t.Fatal(err)
	}
	s.want(1, "port", "--tree", "tree", "--out-dir", "out").contains(t, "check its permissions")
}
