package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/smallfile"
)

// A run of Slurm whose folder is gone still has a job, which a cancel ends.
func TestARunWithoutItsFolderIsCancelled(t *testing.T) {
	e := bench(t)
	bin := t.TempDir()
	for name, text := range map[string]string{
		"scontrol": `test -e ` + bin + `/ended && state=CANCELLED || state=RUNNING
case "$*" in *job*) echo "JobId=7 JobState=$state Reason=None SubmitTime=2026-11-30T11:00:00 Comment=agentperf-tui:a";; *) echo "ClusterName = c";; esac`,
		"scancel": `test "$*" = 7 && touch ` + bin + `/ended`,
		"squeue":  `echo "squeue: error: Unable to contact slurm controller" >&2; exit 1`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	rec := rundir.Record{Version: 1, ID: "7", Name: "x", Launcher: "slurm", Comment: "agentperf-tui:a", Created: noon.Add(-time.Hour), Dir: filepath.Join(t.TempDir(), "7")}
	if err := e.registry.Add(rec); err != nil {
		t.Fatal(err)
	}
	l, err := e.Find(t.Context(), "7")
	if err != nil {
		t.Fatal(err)
	}
	if l.Record.ID != "7" || l.Dir != rec.Dir {
		t.Fatalf("found %+v", l)
	}
	if _, err := e.Watch(t.Context(), l, WatchOptions{}); err == nil || !strings.Contains(err.Error(), "its folder is gone") {
		t.Errorf("watch: %v", err)
	}
	if s, err := e.State(l); err != nil || !strings.Contains(s.Message, "its folder is gone") {
		t.Errorf("state %+v, %v", s, err)
	}
	if err := e.Cancel(t.Context(), l); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "ended")); err != nil {
		t.Errorf("its job was not cancelled: %v", err)
	}
}

// A local run without its folder has nothing that could be told.
func TestALocalRunWithoutItsFolder(t *testing.T) {
	t.Parallel()
	e := bench(t)
	l := e.run(t, "L1", "x", e.host)
	if err := os.RemoveAll(l.Dir); err != nil {
		t.Fatal(err)
	}
	if err := e.Cancel(t.Context(), l); err == nil || !strings.Contains(err.Error(), "its folder is gone") {
		t.Errorf("cancel: %v", err)
	}
}

// A plan is a file like any other: one that names nodes it has not is told of. And
// beside the steps of a run that has ended no shell can be opened.
func TestShells(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		nodes []int
		last  event.State
		n     int
		says  string
	}{
		"one":         {[]int{0}, event.Unknown, 1, ""},
		"ended":       {[]int{0}, event.Done, 0, ""},
		"beyond":      {[]int{7}, event.Unknown, 0, "node that it does not have"},
		"before":      {[]int{-1}, event.Unknown, 0, "node that it does not have"},
		"none at all": {nil, event.Unknown, 0, "node that it does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := bench(t)
			l := e.run(t, "L1", "x", "elsewhere", said(c.last))
			p := plan.Plan{Nodes: []plan.Node{{Name: "n1"}}, Steps: []plan.Step{{Name: "decode_0", Nodes: c.nodes, Shell: []string{"bash"}}}}
			if err := smallfile.WriteJSON(filepath.Join(l.Dir, rundir.BoundFile), p, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := e.Shells(l)
			if len(got) != c.n || c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// A statistics file of no sensible size is not read into the memory.
func TestPlaybackLeavesOutWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "c")
	if err := os.CopyFS(dir, os.DirFS(harnessRun)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "agentperf", "*__phase*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("statistics %v, %v", names, err)
	}
	for _, name := range names {
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, 32<<20); err != nil {
			t.Fatal(err)
		}
	}
	if p := playback(t, dir); len(p.stats) != 0 {
		t.Errorf("%d statistics were read", len(p.stats))
	}
	run, err := results.Load(t.Context(), dir, results.RunContext{})
	if err != nil || !strings.Contains(fmt.Sprint(run.Warnings), "larger than") {
		t.Errorf("%v: %v", err, run.Warnings)
	}
}

// A folder of the client's sources is no run, one with outputs of the client is.
func TestFindRuns(t *testing.T) {
	t.Parallel()
	got, err := findRuns(t.Context(), "../testdata")
	if err != nil || len(got) == 0 {
		t.Fatalf("got %v, %v", got, err)
	}
	for _, dir := range got {
		if filepath.Base(dir) == "checkout" {
			t.Errorf("%s is taken for a run", dir)
		}
	}
}

// The recent figures of a run that has ended are those of its end, from the first
// update on.
func TestWatchOfAnEndedRun(t *testing.T) {
	t.Parallel()
	e := bench(t)
	dir := filepath.Join(t.TempDir(), "c")
	if err := os.CopyFS(dir, os.DirFS(harnessRun)); err != nil {
		t.Fatal(err)
	}
	old := noon.Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "agentperf", results.RequestsFile), old, old); err != nil {
		t.Fatal(err)
	}
	l, err := e.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	updates, err := e.Watch(t.Context(), l, WatchOptions{Interval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for u := range updates {
		if r := u.Recent; r != nil && (r.N == 0 || r.Until.Equal(noon)) {
			t.Errorf("recent: %d requests until %v", r.N, r.Until)
		}
	}
}
