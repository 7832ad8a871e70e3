package supervise

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// newRunDir returns a run directory whose plan has no steps.
func newRunDir(t *testing.T, target plan.Target) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "7")
	if err := os.MkdirAll(rundir.Logs(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{
		rundir.RecordFile: rundir.Record{Version: 1, ID: "7", Name: "x", Launcher: string(target), Dir: dir},
		rundir.PlanFile:   plan.Plan{Name: "x", Target: target},
	} {
		if err := smallfile.WriteJSON(filepath.Join(dir, name), v, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A plan runs only once, and only in its own allocation.
func TestRunErrors(t *testing.T) {
	t.Parallel()
	started := newRunDir(t, plan.Local)
	if err := os.WriteFile(filepath.Join(started, rundir.BoundFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Supervisor{
		Registry: rundir.Registry{Dir: t.TempDir()}, Program: "/bin/true", Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"SLURM_JOB_ID": "8"}[name] },
	}
	for name, c := range map[string]struct{ dir, want string }{
		"no record":        {t.TempDir(), rundir.RecordFile},
		"other allocation": {newRunDir(t, plan.Slurm), `SLURM_JOB_ID is "8", not 7`},
		"started before":   {started, "has been started before"},
	} {
		code, err := s.Run(t.Context(), c.dir, io.Discard)
		if code != 1 || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: code %d, %v, want %q", name, code, err, c.want)
		}
	}
}
