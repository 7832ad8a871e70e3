package identity

import (
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

func TestSameCommit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"abcdef1", "abcdef1234567", true},
		{"abcdef1234567", "ABCDEF1", true},
		{"abcdef", "abcdef1234567", false}, // too short to be unambiguous
		{"abcdef1", "abcdef2234567", false},
		{"built-in", "built-in", true},
		{"built-in", "built-in2", false},
		{"abcdef1-dirty-12", "abcdef1234567-dirty-12", true},
		{"abcdef1-dirty-12", "abcdef1234567-dirty-13", false},
		{"abcdef1", "abcdef1234567-dirty-12", false},
	} {
		if got := SameCommit(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: %t", tt.a, tt.b, got)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key, a, b string
		want      bool
	}{
		{SettlingKey, "240", "240.0s", true},
		{SettlingKey, "240", "240.5", false},
		{SeedKey, "9007199254740993", "9007199254740992", false}, // equal as floating-point numbers
		{"reasoning_effort", "None", "null", true},
		{"reasoning_effort", "none", "high", false},
		{"send_conversation_routing_headers", "enabled", "true", true},
		{"send_conversation_routing_headers", "enabled", "disabled", false},
		{DatasetKey, "/tmp/agentperf-1/data/x.jsonl", "/scratch/x.jsonl", true},
		{AssignmentsKey, "/a/x.json", "null", false},
		{ModelKey, "/models/org/name", "org_name", true},
		{"user_spawn_rate", "1e1", "10", true},
	} {
		if got := Same(tt.key, tt.a, tt.b); got != tt.want {
			t.Errorf("%s: %s and %s: %t", tt.key, tt.a, tt.b, got)
		}
	}
}

// TestReadInputs reads a run of this program: the client read a changed copy of the workload.
func TestReadInputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/workload.yaml",
		"base_url: http://h/v1\nmodel: placeholder\nconcurrencies: [1]\nseed: 1\nnew:\n  key: [1, 2]\n")
	in, err := ReadInputs(t.Context(), dir, dir+"/logs")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]Setting{
		SeedKey: {"1", "workload.yaml:4"}, "new.key": {"[1, 2]", "workload.yaml:6"}, "max_tokens": {"16384", ""},
		AssignmentsKey: {"null", ""}, ModelKey: {}, "base_url": {}, "api_key": {},
	} {
		if got := in.Settings[key]; got != want {
			t.Errorf("%s: %+v, want %+v", key, got, want)
		}
	}
	write(t, dir+"/"+harness.ClientConfig, "seed: 2\nsettling_time_seconds: 10\n")
	if in, err = ReadInputs(t.Context(), dir, dir+"/logs"); err != nil || in.Settings[SeedKey].Value != "2" {
		t.Errorf("%+v, %v", in.Settings, err)
	}
	in.AddStem(harness.Stem{Settling: 20, Timeout: 100.5, Trajectories: 3})
	if in.Settings[SettlingKey].Value != "20" || in.Settings[PhaseTimeoutKey].Value != "100.5" || len(in.Conflicts) != 1 ||
		in.Conflicts[SettlingKey] != "benchmark_config.yaml:2 has 10, but the name of the output has 20" {
		t.Errorf("%+v, %q", in.Settings, in.Conflicts)
	}
	if in, err = ReadInputs(t.Context(), t.TempDir(), dir); err != nil || len(in.Settings) != 0 || in.Commit.Value != "" {
		t.Errorf("an empty directory: %+v, %v", in, err)
	}
}

func TestHardwareMetrics(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		launcher, file string
		want           Collected
	}{
		{"slurm", "", CollectedNo},
		{"local", "", CollectedNo},
		{"srtctl", "", ""}, // unless a recipe opts out, another directory may have them
		{"srtctl", "logs/tachometer/x.parquet", CollectedYes},
		{"", "logs/tachometer/x.parquet", CollectedYes},
		{"", "logs/x", ""},
	} {
		dir := t.TempDir()
		if c.launcher != "" {
			write(t, dir+"/run.json", `{"version": 1, "id": "7", "launcher": "`+c.launcher+`", "dir": "`+dir+`"}`)
		}
		if c.file != "" {
			write(t, dir+"/"+c.file, "x")
		}
		in, err := ReadInputs(t.Context(), dir, dir+"/logs")
		if err != nil || in.HardwareMetrics != c.want {
			t.Errorf("%+v: %q, %v", c, in.HardwareMetrics, err)
		}
	}
}
