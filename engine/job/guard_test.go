package job_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/job"
	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/plan"
)

// A client without output is reported as stalled and continues. The stall ends with new output.
func TestStalledClient(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "go")
	steps := []plan.Step{{
		Name: "client", Stage: plan.Client, Launch: self("until", file), Log: "benchmark.out",
		EndsRun: true, StallSeconds: 0.2,
	}}
	dir := t.TempDir()
	runner := local.NewRunner()
	defer runner.Close()
	var log safeBuffer
	log.on = func(line string) {
		var err error
		switch {
		case strings.Contains(line, "no request completed"):
			err = os.WriteFile(filepath.Join(dir, "benchmark.out"), []byte("a line\n"), 0o644)
		case strings.Contains(line, "writes output again"):
			err = os.WriteFile(file, nil, 0o644)
		}
		if err != nil {
			t.Error(err)
		}
	}
	code, err := job.Run(t.Context(),
		job.Options{Plan: &plan.Plan{Name: "test", Steps: steps}, LogDir: dir, Runner: runner, Log: &log, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	events, err := event.ReadFile(filepath.Join(dir, event.FileName))
	if err != nil {
		t.Fatal(err)
	}
	var stalls []float64
	var status event.Status
	for _, e := range events {
		status.Apply(e)
		if e.Kind == event.Stall {
			stalls = append(stalls, e.Data.Seconds)
		}
	}
	if code != 7 || len(stalls) != 2 || stalls[0] < 0.2 || stalls[1] != 0 || !status.StalledSince.IsZero() {
		t.Errorf("exit %d, stalls %v, stalled since %v", code, stalls, status.StalledSince)
	}
}

// A run stops if its log directory is removed, and leaves no process.
func TestRemovedLogDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "logs")
	runner := local.NewRunner()
	defer runner.Close()
	var log safeBuffer
	log.on = func(line string) {
		if strings.Contains(line, "Running AgentPerf") {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		}
	}
	steps := []plan.Step{
		{Name: "client", Stage: plan.Client, Launch: self("hang", ""), Log: "../benchmark.out", EndsRun: true},
	}
	code, _ := job.Run(t.Context(), job.Options{ // the records are gone, so the error does not matter
		Plan: &plan.Plan{Name: "test", Steps: steps}, LogDir: dir, Runner: runner, Log: &log, Now: time.Now,
	})
	if code != 1 || !strings.Contains(log.String(), "directory was removed") {
		t.Errorf("exit %d\n%s", code, log.String())
	}
}
