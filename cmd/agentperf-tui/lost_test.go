package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Deletes the directory of a running run. The run must stop, and the list must show why.
func TestRunStopsWithoutItsDirectory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	s := newShell(t)
	id, dir := s.start("2", "60")
	cmd, lines := s.watch(id)
	until(lines, "ramp", "settling", "measuring")
	all := pids(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; <-time.After(100 * time.Millisecond) {
		o := s.want(0, "runs", "--json")
		if strings.Contains(o.stdout, "run directory not found") &&
			strings.Contains(o.stdout, "the supervisor stopped the run") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("runs:\n%s", o.stdout)
		}
	}
	waitForExit(t, all)
	if err := cmd.Process.Kill(); err != nil && !strings.Contains(err.Error(), "finished") {
		t.Error(err)
	}
	_ = cmd.Wait() // killed
}

func TestInvalidSettingsAreBadInput(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for _, listen := range []string{"nonsense", ":x", "127.0.0.1:99999", "no such host:80"} {
		if o := s.want(2, "mock-server", "--listen", listen); !strings.Contains(o.stderr, "--listen") {
			t.Errorf("%s: %s", listen, o.stderr)
		}
	}
	for text, want := range map[string]string{
		"queue_seconds: often\n": "`often` has the wrong type", "tiers: 3\n": "line 1",
		"colour: red\n": "unknown key colour", "band_percent: [1]\n": "wrong type",
		"stall_seconds: -1\n": "stall_seconds must be",
	} {
		if err := os.MkdirAll(s.dir+"/config/agentperf-tui", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.dir+"/config/agentperf-tui/config.yaml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		o := s.want(2, "runs")
		if !strings.Contains(o.stderr, want) || strings.Contains(o.stderr, "float64") ||
			strings.Contains(o.stderr, "engine.") || strings.Contains(o.stderr, "!!") {
			t.Errorf("%q: %s", text, o.stderr)
		}
	}
}
