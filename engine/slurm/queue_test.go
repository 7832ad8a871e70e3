package slurm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/rundir"
)

// fake replaces a Slurm command by a script for this test.
func fake(t *testing.T, name, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for n, text := range map[string]string{"scontrol": `echo "ClusterName             = fake"`, name: script} {
		if err := os.WriteFile(filepath.Join(dir, n), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Setenv("SLURM_CONF", dir+"/none")
	return dir
}

// clock is a clock that a test sets.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// requests returns how often the fake command was called.
func requests(t *testing.T, dir string) int {
	t.Helper()
	data, err := os.ReadFile(dir + "/calls")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "x")
}

func TestQueueIsShared(t *testing.T) {
	dir := fake(t, "squeue",
		`printf x >>"$(dirname "$0")/calls"; echo "7|RUNNING|None|2026-11-30T04:00:00|N/A|N/A|n1|agentperf-tui:a"`)
	c := &clock{t: local("2026-11-30T04:00:00")}
	state := t.TempDir()
	ask := func() {
		var wg sync.WaitGroup
		for range 20 { // one queue each, like separate programs
			wg.Go(func() {
				q := &Queue{Dir: state, Interval: 5 * time.Second, Now: c.now}
				a := q.Ask(t.Context())
				if j, ok := a.Find(rundir.Record{ID: "7", Comment: "agentperf-tui:a"}); !ok || j.State != "RUNNING" ||
					a.Error != "" || a.Cluster != "fake" {
					t.Errorf("got %+v", a)
				}
			})
		}
		wg.Wait()
	}
	ask()
	if n := requests(t, dir); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	c.advance(4 * time.Second)
	ask()
	if n := requests(t, dir); n != 1 {
		t.Errorf("%d requests within 5 s, want 1", n)
	}
	c.advance(time.Second)
	ask()
	if n := requests(t, dir); n != 2 {
		t.Errorf("%d requests after 5 s, want 2", n)
	}
}

func TestOutageKeepsLastJobs(t *testing.T) {
	dir := fake(t, "squeue", `printf x >>"$(dirname "$0")/calls"
[ -e "$(dirname "$0")/away" ] && { echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1; }
echo "7|RUNNING|None|2026-11-30T04:00:00|N/A|N/A|n1|agentperf-tui:a"`)
	c := &clock{t: local("2026-11-30T04:00:00")}
	q := &Queue{Dir: t.TempDir(), Interval: 5 * time.Second, Now: c.now}
	first := q.Ask(t.Context())
	if err := os.WriteFile(dir+"/away", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c.advance(6 * time.Second)
	a := q.Ask(t.Context())
	if !strings.Contains(a.Error, "Unable to contact") || !a.At.Equal(first.At) || len(a.Jobs) != 1 || a.NoSlurm {
		t.Errorf("got %+v", a)
	}
	c.advance(time.Second)
	if a := q.Ask(t.Context()); requests(t, dir) != 2 || a.Error == "" {
		t.Errorf("%d requests, want 2: a failed one is not repeated at once; %+v", requests(t, dir), a)
	}
}

func TestHangingCommandIsKilled(t *testing.T) {
	fake(t, "squeue", `exec sleep 60`)
	c := &clock{t: local("2026-11-30T04:00:00")}
	q := &Queue{Dir: t.TempDir(), Interval: 5 * time.Second, Timeout: 50 * time.Millisecond, Now: c.now}
	if a := q.Ask(t.Context()); !strings.Contains(a.Error, "no answer within 50ms") || !a.At.IsZero() {
		t.Errorf("got %+v", a)
	}
}

func TestSlurmNotFound(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	c := &clock{t: local("2026-11-30T04:00:00")}
	q := &Queue{Dir: t.TempDir(), Interval: 5 * time.Second, Now: c.now}
	if a := q.Ask(t.Context()); !a.NoSlurm || !strings.Contains(a.Error, "Slurm not found: no squeue") {
		t.Errorf("got %+v", a)
	}
}

// The ranks of pending jobs are requested instead of the jobs, but not if the jobs are old.
func TestOldAnswerIsReplaced(t *testing.T) {
	fake(t, "squeue", `echo "7|PENDING|Resources|2026-11-30T04:00:00|N/A|N/A||agentperf-tui:a"`)
	c := &clock{t: local("2026-11-30T04:00:00")}
	q := &Queue{Dir: t.TempDir(), Interval: 5 * time.Second, Now: c.now}
	q.Ask(t.Context())
	c.advance(10 * time.Hour)
	if a := q.Ask(t.Context()); !a.At.Equal(c.now()) {
		t.Errorf("at %v: got an answer of %v", c.now(), a.At)
	}
}

// No job has the id that sbatch --test-only prints.
func TestTestOnlyRemovesJobID(t *testing.T) {
	fake(t, "sbatch",
		`echo "sbatch: Job 1 to start at 2026-11-30T14:40:00 using 288 processors on nodes n[01-04] in partition batch" >&2`)
	const want = "sbatch: to start at 2026-11-30T14:40:00 using 288 processors on nodes n[01-04] in partition batch"
	if msg, err := TestOnly(t.Context(), "x.sh"); err != nil || msg != want {
		t.Errorf("%q, %v", msg, err)
	}
}

func TestTruncatedAnswerIsReplaced(t *testing.T) {
	fake(t, "squeue", `echo "7|RUNNING|None|2026-11-30T04:00:00|N/A|N/A|n1|c"`)
	c := &clock{t: local("2026-11-30T04:00:00")}
	q := &Queue{Dir: filepath.Join(t.TempDir(), "[state"), Interval: 5 * time.Second, Now: c.now}
	path, err := q.path()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(q.Dir, 0o755), os.WriteFile(path, []byte(`{"at": "2026`), 0o644)); err != nil {
		t.Fatal(err)
	}
	old, recent := filepath.Join(q.Dir, "."+filepath.Base(path)+"123"), filepath.Join(q.Dir, "."+filepath.Base(path)+"456")
	for name, age := range map[string]time.Duration{old: 2 * time.Hour, recent: time.Minute} {
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, time.Time{}, c.now().Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if a := q.Ask(t.Context()); len(a.Jobs) != 1 || a.Error != "" {
		t.Errorf("got %+v", a)
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a stale temporary file is left: %v", err)
	}
	if _, err := os.Stat(recent); err != nil {
		t.Errorf("a recent temporary file: %v", err)
	}
}
