package engine

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/submit"
)

func TestDoctor(t *testing.T) {
	bin := t.TempDir()
	sbatch := []byte("#!/bin/sh\necho slurm 24.05\necho more\n")
	if err := os.WriteFile(filepath.Join(bin, "sbatch"), sbatch, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	dir := t.TempDir()
	cluster := filepath.Join(dir, "srtslurm.yaml")
	if err := os.WriteFile(cluster, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"TERM": "xterm", "NO_COLOR": "1", "TMUX": "/tmp/x", "SRTSLURM_CONFIG": cluster}
	here, away := "agentperf-tui-linux-amd64", "agentperf-tui-linux-arm64"
	if runtime.GOARCH == "arm64" {
		here, away = away, here
	}
	e := &Engine{
		Submitter: submit.New(submit.Options{Program: cluster}), // any existing file
		Paths:     Paths{Config: filepath.Join(dir, "none.yaml"), State: dir, Output: dir},
		opt:       Options{Version: "1", Program: cluster, Getenv: func(name string) string { return env[name] }},
	}
	facts := map[string]Fact{}
	for _, f := range e.Doctor(t.Context()) {
		facts[f.What] = f
	}
	for _, want := range []Fact{
		{"configuration", e.Paths.Config, "not found, using defaults"},
		{"cluster file", cluster, "in use"},
		{"sbatch", "slurm 24.05", filepath.Join(bin, "sbatch")},
		{"srtctl", "not found", "srt-slurm's own launcher"},
		{here, cluster, ""},
		{"terminal", "xterm", "colors disabled by NO_COLOR inside tmux"},
	} {
		if got := facts[want.What]; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if f := facts[away]; f.Found != "not found" || f.Note == "" {
		t.Errorf("a program that is missing: %+v", f)
	}
}
