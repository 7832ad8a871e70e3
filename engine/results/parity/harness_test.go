package parity

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// Of the sample run.
const (
	sampleStem   = "hf-0c0ffee_orig__1010u__phase0__dur2400s__settle240s__traj3"
	sampleCommit = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"
)

// edit replaces a text in a file of a run directory.
func edit(t *testing.T, dir, name, old, replacement string) {
	t.Helper()
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s does not contain %q", name, old)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), old, replacement)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// addFile writes a file to a run directory.
func addFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// renameOutputs gives the client's outputs another stem.
func renameOutputs(t *testing.T, dir, old, replacement string) {
	t.Helper()
	out := filepath.Join(dir, harness.Results)
	names, err := harness.ListDir(out, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		to := filepath.Join(out, strings.Replace(name, old, replacement, 1))
		if err := os.Rename(filepath.Join(out, name), to); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHarnessDirectories compares a harness directory with one that differs in one artifact.
func TestHarnessDirectories(t *testing.T) {
	t.Parallel()
	const (
		commit = sampleCommit
		known  = "not checked because unknown for at least one side: model revision"
	)
	editing := func(name, old, replacement string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { t.Helper(); edit(t, dir, name, old, replacement) }
	}
	banner := func(old, replacement string) func(*testing.T, string) {
		return editing(harness.ClientLog, old, replacement)
	}
	config := func(text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { t.Helper(); addFile(t, dir, harness.ClientConfig, text) }
	}
	stem := func(old, replacement string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { t.Helper(); renameOutputs(t, dir, old, replacement) }
	}
	without := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name   string
		change func(*testing.T, string)
		reason string // the runs are not comparable
		note   string // they are
	}{
		{"nothing", func(*testing.T, string) {}, "", known},
		{"seed", banner("Seed: 42", "Seed: 43"), "seed differs: 42 vs. 43", ""},
		{
			"dataset", banner("coding-agent-scenario_v2_500traj", "other"),
			"dataset differs: /tmp/agentperf-570849/data/coding-agent-scenario_v2_500traj.jsonl vs. " +
				"/tmp/agentperf-570849/data/other.jsonl", "",
		},
		{
			"user assignments", banner("500-sample-user-trajectory-assignments-20k", "other"), "assignments differs: ", "",
		},
		{
			"no user assignments", banner("/tmp/agentperf-570849/data/500-sample-user-trajectory-assignments-20k.json", "None"),
			"assignments-20k.json vs. null", "",
		},
		{"staged elsewhere", banner("/tmp/agentperf-570849/", "/tmp/agentperf-7/"), "", known},
		{"max tokens", banner("Max tokens: 2000", "Max tokens: 4000"), "", "settings differ: max_tokens 2000 vs. 4000"},
		{
			"reasoning effort", banner("Reasoning effort: high", "Reasoning effort: None"), "",
			"settings differ: reasoning_effort high vs. null",
		},
		{
			"starting offset", banner("Max ISL offset: 10", "Max ISL offset: 0"), "",
			"settings differ: max_starting_line_offset 10 vs. 0",
		},
		{
			"routing headers", banner("Conversation routing headers: enabled", "Conversation routing headers: disabled"), "",
			"settings differ: send_conversation_routing_headers true vs. false",
		},
		{
			"tool-call delays", banner("Tool-call delays: enabled", "Tool-call delays: disabled"), "",
			"settings differ: tool_call_delays true vs. false",
		},
		{
			"client commit", editing(harness.ClientScript, commit, "a"+commit[1:]),
			"client commit differs: " + commit + " vs. a" + commit[1:], "",
		},
		{"abbreviated commit", editing(harness.ClientScript, commit, commit[:7]), "", known},
		{
			"too short for a commit", editing(harness.ClientScript, commit, commit[:6]), "",
			known + ", client commit",
		},
		{
			"client flags", editing(harness.ClientScript, "--concurrencies 1010", "--concurrencies 1010 --no-delays"), "",
			"settings differ: client_flags null vs. --no-delays",
		},
		{"timeout in the stem", stem("dur2400s", "dur1200s"), "", "phase_timeout_seconds 2400 vs. 1200"},
		{
			"timeout against the banner", stem("dur2400s", "dur1200s"), "", "candidate: phase_timeout_seconds is uncertain: " +
				"client.log:11 has 2400, but the name of the output has 1200",
		},
		{"settling in the stem", stem("settle240s", "settle60s"), "", "settings differ: settling_time_seconds 240 vs. 60"},
		{"trajectories in the stem", stem("traj3", "traj5"), "", "settings differ: trajectories_per_user 3 vs. 5"},
		{"model in the stem", stem("hf-0c0ffee_orig", "hf-other"), "model differs: hf-0c0ffee_orig vs. hf-other", ""},
		{
			"level in the stem", stem("1010u", "64u"), "concurrency of the candidate is uncertain: the rows have 1,010 users, " +
				"but the name of the output has 64", "",
		},
		{
			"level of the rows", editing("agentperf/requests.jsonl", `"concurrency":1010`, `"concurrency":64`),
			"concurrency differs: 1,010 vs. 64", "",
		},
		{
			"configuration with another seed", config("seed: 43\nmax_tokens: 2000\n"),
			"seed of the candidate is uncertain: benchmark_config.yaml:1 has 43, but client.log:22 shows 42", "",
		},
		{
			"configuration with another limit", config("seed: 42\nmax_tokens: 4000\n"), "",
			"candidate: max_tokens is uncertain: benchmark_config.yaml:2 has 4000, but client.log:14 shows 2000",
		},
		{
			"configuration of one side only", config("user_spawn_rate: 2.0\n"), "",
			"user_spawn_rate",
		},
		{"no client log", without(harness.ClientLog), "", known + ", seed, dataset, assignments"},
		{"no client command", without(harness.ClientScript), "", known + ", client commit"},
		{
			"two starts", func(t *testing.T, dir string) {
				t.Helper()
				data, err := os.ReadFile(filepath.Join(dir, harness.ClientLog))
				if err != nil {
					t.Fatal(err)
				}
				again := strings.ReplaceAll(string(data), "Seed: 42", "Seed: 7")
				addFile(t, dir, harness.ClientLog, string(data)+again)
			}, "seed differs: 42 vs. 7", "",
		},
		{
			"shortest window", config("seed: 42\nmin_measurement_seconds: 300\n"),
			"Output tok/s (server-reported) of the candidate is invalid: measuring window too short: 120.5 s, must be at " +
				"least 300.0 s", "",
		},
		{"short enough", config("seed: 42\nmin_measurement_seconds: 60\n"), "", known},
		{
			"statistics of another level",
			editing("agentperf/"+sampleStem+".json", `"concurrency": 1010`, `"concurrency": 64`), "",
			"candidate: " + sampleStem + ".json ignored: it contradicts its name: concurrency 64",
		},
		{
			"statistics of another phase", editing("agentperf/"+sampleStem+".json", `"phase": 0`, `"phase": 3`), "",
			"candidate: " + sampleStem + ".json ignored: it contradicts its name: phase 3",
		},
	}
	ref := load(t, runstest.Sample(t))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := runstest.Sample(t)
			tt.change(t, dir)
			cand := load(t, dir)
			cand.Requests = nil // intervals take long
			c := Compare(ref, cand, Options{})
			want := Within
			if tt.reason != "" {
				want = NotComparable
			}
			if c.Verdict != want || !strings.Contains(strings.Join(c.Reasons, "\n"), tt.reason) {
				t.Errorf("%s\nwant %s: %s", c.Summary(), want, tt.reason)
			}
			if tt.note != "" && !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, tt.note) }) {
				t.Errorf("notes %q, want %q", c.Notes, tt.note)
			}
			checkSurfaces(t, c, tt.reason, tt.note)
		})
	}
}

// TestInputsOfAnyPath checks that the directory of a run, its parts and its files have one identity.
func TestInputsOfAnyPath(t *testing.T) {
	t.Parallel()
	dir := runstest.Sample(t)
	rollup, _, err := results.WriteRollup(t.Context(), dir, results.RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		dir, filepath.Join(dir, harness.Results), rollup, filepath.Join(dir, harness.Results, sampleStem+".json"),
	} {
		a := load(t, path).About
		if a.Seed != "42" || a.ClientCommit != sampleCommit || a.Settings["max_tokens"] != "2000" ||
			a.Settings[identity.TrajectoriesKey] != "3" || a.Settings[identity.SettlingKey] != "240" {
			t.Errorf("%s: %+v", path, a)
		}
	}
}

// TestShortWindowOfStatistics checks that a statistics file has to do with the configuration of its run.
func TestShortWindowOfStatistics(t *testing.T) {
	t.Parallel()
	dir := runstest.Sample(t)
	addFile(t, dir, harness.ClientConfig, "min_measurement_seconds: 300\n")
	for _, path := range []string{
		dir, filepath.Join(dir, harness.Results), filepath.Join(dir, harness.Results, sampleStem+".json"),
	} {
		if p := load(t, path).Phase; !strings.Contains(strings.Join(p.Invalid, ""), "120.5 s, must be at least 300.0 s") {
			t.Errorf("%s: %q", path, p.Invalid)
		}
	}
}

// TestIdentityFile checks a run directory that was copied to a machine without a record of the run.
func TestIdentityFile(t *testing.T) {
	t.Parallel()
	write := func(commit, dataset string) Side {
		dir := runstest.Sample(t)
		id := identity.Identity{
			Client:   &identity.Checkout{Commit: commit},
			Datasets: []identity.File{{Key: identity.DatasetKey, SHA256: dataset}},
			Model:    &identity.Model{Path: "/m", Revision: "0123456789abcdef"},
		}
		if err := identity.Write(filepath.Join(dir, identity.FileName), id); err != nil {
			t.Fatal(err)
		}
		edit(t, dir, harness.ClientScript, sampleCommit, "client")
		side := load(t, dir)
		side.Requests = nil
		return side
	}
	a := write("abcdef1234567", "01")
	const revision = "0123456789abcdef"
	if got := a.About; got.ClientCommit != "abcdef1234567" || got.DatasetHash == "" || got.ModelRevision != revision {
		t.Errorf("%+v", got)
	}
	b := write("abcdef1", "01")
	if c := Compare(a, b, Options{}); c.Verdict != Within {
		t.Error(c.Summary())
	}
	b.About.Dataset = "/renamed.jsonl" // with the same contents
	if c := Compare(a, b, Options{}); c.Verdict != Within {
		t.Error(c.Summary())
	}
	if c := Compare(a, write("abcdef1234567", "02"), Options{}); !slices.Contains(c.Reasons, "dataset contents differ") {
		t.Error(c.Summary())
	}
}

// TestStatisticsFileContradictsItsName compares a statistics file alone.
func TestStatisticsFileContradictsItsName(t *testing.T) {
	t.Parallel()
	ref := load(t, write(t, sampleStem+".json", `{"phase":0,"concurrency":1010,"throughput":{"output_server_tok_s":100}}`))
	for text, want := range map[string]string{
		`"phase":0,"concurrency":1010`: "",
		`"phase":1,"concurrency":1010`: "it contradicts its name: phase 1",
		`"phase":0,"concurrency":64`:   "it contradicts its name: concurrency 64",
	} {
		cand := load(t, write(t, sampleStem+".json", `{`+text+`,"throughput":{"output_server_tok_s":100}}`))
		c := Compare(ref, cand, Options{})
		if (c.Verdict == NotComparable) != (want != "") || !strings.Contains(c.Summary(), want) {
			t.Errorf("%s: %s, want %q", text, c.Summary(), want)
		}
	}
}
