package submit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// commands replaces commands of the cluster by scripts.
func commands(t *testing.T, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return dir
}

// bench returns a test bench for runs and a submitter that uses it.
func bench(t *testing.T) (*runstest.Fixture, *Submitter) {
	t.Helper()
	b := runstest.New(t)
	files := draft.New(draft.Options{
		Getenv: func(string) string { return "" }, Now: b.Now, Host: runstest.Host,
		State: t.TempDir(),
	})
	return b, New(Options{
		Registry: b.Registry, Files: files, State: filepath.Join(t.TempDir(), "[state"), Output: b.Output,
		StallSeconds: 300, Program: "/bin/true", Version: "test", Host: runstest.Host, Now: b.Now,
	})
}

// pairFor returns a pair to submit with srtctl, and its plan.
func pairFor(t *testing.T, s *Submitter) (*draft.Pair, *plan.Plan) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/r.yaml", []byte("name: x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := s.opt.Files.Load(t.Context(), draft.Files{Recipe: dir + "/r.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return p, &plan.Plan{Name: "x", Target: plan.Srtctl, OutputDir: s.opt.Output}
}

// The job of an interrupted srtctl may appear in the queue later. The next submission records it and
// submits no other job.
func TestInterruptedSrtctl(t *testing.T) {
	b, s := bench(t)
	dir := commands(t, map[string]string{
		"srtctl":   `echo x >>"$(dirname "$0")/called"; exec sleep 60`,
		"squeue":   `cat "$(dirname "$0")/queue" 2>/dev/null; exit 0`,
		"sacct":    `exit 1`,
		"scontrol": `exit 1`,
	})
	p, pl := pairFor(t, s)
	submit := func(ctx context.Context) (rundir.Record, error) {
		rec, err := s.newRecord(p, pl)
		if err != nil {
			t.Fatal(err)
		}
		return s.launcher(plan.Srtctl).submit(ctx, p, pl, rec)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ticks := time.Tick(time.Millisecond); !exists(dir+"/called") && t.Context().Err() == nil; {
			<-ticks
		}
	}()
	first, err := submit(ctx)
	if err == nil || !strings.Contains(err.Error(), "not known whether") {
		t.Fatalf("interrupted: %v", err)
	}
	if _, err := submit(t.Context()); err == nil || !strings.Contains(err.Error(), "may still be running") {
		t.Fatalf("while srtctl may still be running: %v", err)
	}
	if err := os.WriteFile(dir+"/queue", []byte("7|PENDING|None|2026-11-30T12:00:00|N/A|N/A||"+first.Comment+" mine\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := submit(t.Context()); err == nil || !strings.Contains(err.Error(), "finished an interrupted submission") {
		t.Fatalf("its job is in the queue: %v", err)
	}
	l, err := b.Find(t.Context(), "7")
	if err != nil || l.Record.Launcher != "srtctl" || l.Dir != filepath.Join(b.Output, "7") ||
		!exists(filepath.Join(l.Dir, rundir.RecipeFile)) {
		t.Errorf("%+v, %v", l, err)
	}
	for _, dir := range []string{filepath.Join(b.Output, ".staged"), s.attemptDir()} {
		if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
			t.Errorf("left behind: %v, %v", names, err)
		}
	}
	if called, err := os.ReadFile(dir + "/called"); err != nil || strings.Count(string(called), "x") != 1 {
		t.Errorf("srtctl ran %q times: %v", called, err)
	}
}

// An attempt without a job is discarded after a while.
func TestAttemptWithoutJob(t *testing.T) {
	b, s := bench(t)
	commands(t, map[string]string{"srtctl": "exec sleep 60", "squeue": "exit 0", "sacct": "exit 1", "scontrol": "exit 1"})
	p, pl := pairFor(t, s)
	rec, err := s.newRecord(p, pl)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := s.launcher(plan.Srtctl).submit(ctx, p, pl, rec); err == nil {
		t.Fatal("no error")
	}
	b.At = b.At.Add(time.Hour)
	if err := s.finishInterrupted(t.Context()); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir(s.attemptDir()); err != nil || len(names) > 0 {
		t.Errorf("attempts that were not discarded: %v, %v", names, err)
	}
	// If the attempts can't be listed, nothing is submitted: a job could be queued already.
	if err := errors.Join(os.Remove(s.attemptDir()), os.WriteFile(s.attemptDir(), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.finishInterrupted(t.Context()); problem.Of(err) != problem.NotADirectory {
		t.Errorf("a file in place of the directory of the attempts: %v", err)
	}
}
