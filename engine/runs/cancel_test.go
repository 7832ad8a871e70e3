package runs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// The job of a run without its run directory can be cancelled.
func TestCancelWithoutRunDirectory(t *testing.T) {
	b := runstest.New(t)
	bin := t.TempDir()
	for name, text := range map[string]string{
		"scontrol": `test -e ` + bin + `/ended && state=CANCELLED || state=RUNNING
case "$*" in
*job*) echo "JobId=7 JobState=$state Reason=None SubmitTime=2026-11-30T11:00:00 Comment=agentperf-tui:a";;
*) echo "ClusterName = c";;
esac`,
		"scancel": `test "$*" = 7 && touch ` + bin + `/ended`,
		"squeue":  `echo "squeue: error: Unable to contact slurm controller" >&2; exit 1`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	rec := rundir.Record{
		Version: 1, ID: "7", Name: "x", Launcher: "slurm", Comment: "agentperf-tui:a",
		Created: runstest.Noon.Add(-time.Hour), Dir: filepath.Join(t.TempDir(), "7"),
	}
	if err := b.Registry.Add(rec); err != nil {
		t.Fatal(err)
	}
	l, err := b.Find(t.Context(), "7")
	if err != nil {
		t.Fatal(err)
	}
	if l.Record.ID != "7" || l.Dir != rec.Dir {
		t.Fatalf("found %+v", l)
	}
	if s, err := b.State(l); err != nil || !strings.Contains(s.Message, "run directory not found") {
		t.Errorf("state %+v, %v", s, err)
	}
	if err := b.Cancel(t.Context(), l); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "ended")); err != nil {
		t.Errorf("its job was not cancelled: %v", err)
	}
}

// A local run without its run directory can't be cancelled.
func TestCancelLocalWithoutRunDirectory(t *testing.T) {
	t.Parallel()
	b := runstest.New(t)
	l := b.AddRun(t, "L1", "x", runstest.Host)
	if err := os.RemoveAll(l.Dir); err != nil {
		t.Fatal(err)
	}
	if err := b.Cancel(t.Context(), l); err == nil || !strings.Contains(err.Error(), "run directory not found") {
		t.Errorf("cancel: %v", err)
	}
}
