package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestStageAndPublish(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	staged, err := Stage(base, []File{
		{Name: PlanFile, Data: []byte("{}"), Mode: 0o600},
		{Name: RecordFile, Data: []byte(`{"id":"L1","dir":"/elsewhere"}`), Mode: 0o644},
	}, Program{program, "agentperf-tui"})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := Publish(staged, base, "L1")
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{PlanFile: 0o600, RecordFile: 0o644, BinDir + "/agentperf-tui": 0o755} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if r, err := ReadRecord(dir); err != nil || r.ID != "L1" || r.Dir != dir {
		t.Errorf("record %+v, %v, want dir %s", r, err, dir)
	}
	if staged, err = Stage(base, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Publish(staged, base, "L1"); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("publish an id twice: %v", err)
	}
}

func TestStageRemovesItsFilesOnError(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	if _, err := Stage(base, nil,
		Program{filepath.Join(base, "no such program"), "agentperf-tui"}); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	left, err := os.ReadDir(filepath.Join(base, StagingDir))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Concurrent submissions into one output directory do not disturb each other.
func TestConcurrentSubmits(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				id, err := NewLocalID(time.Now())
				if err != nil {
					t.Error(err)
					return
				}
				staged, err := Stage(base, []File{{Name: RecordFile, Data: []byte("{}"), Mode: 0o644}})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := Publish(staged, base, id); err != nil && !strings.Contains(err.Error(), "already exists") {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	g := Registry{Dir: filepath.Join(t.TempDir(), "runs")}
	if rs, err := g.List(); err != nil || rs != nil {
		t.Errorf("empty registry: %v, %v", rs, err)
	}
	for _, id := range []string{"L1", "L2"} {
		if err := g.Add(Record{ID: id, Dir: "/gone/" + id}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(g.Dir, "torn.json"), []byte(`{"id":`), 0o644); err != nil {
		t.Fatal(err)
	}
	rs, err := g.List()
	if len(rs) != 2 || err == nil || !strings.Contains(err.Error(), "torn.json") {
		t.Errorf("got %v, %v: want both runs, and an error for torn.json", rs, err)
	}
}

func TestWriteNewDoesNotOverwrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), BoundFile)
	if err := WriteNew(path, 1, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(path, 2, 0o600); err == nil {
		t.Error("an existing file was overwritten")
	}
}

// Programs of other versions read the run directory, and users know the names.
func TestNamesOnDisk(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		RecordFile: "run.json", PlanFile: "plan.json", BoundFile: "plan.bound.json", RecipeFile: "config.yaml",
		WorkloadFile: "workload.yaml", ClusterFile: "srtslurm.yaml", ScriptFile: "sbatch_script.sh",
		CancelFile: "cancel.json", PhasesFile: "phases.json", LockFile: "supervisor.lock", PIDFile: "supervisor.pid",
		LogsDir: "logs", BinDir: "bin", StagingDir: ".staged",
	} {
		if got != want {
			t.Errorf("name %q, want %q", got, want)
		}
	}
	base := t.TempDir()
	g := Registry{Dir: filepath.Join(base, "runs")}
	if err := errors.Join(g.Add(Record{ID: "L1"}), WriteCancel(base, "login1", time.Unix(0, 0))); err != nil {
		t.Fatal(err)
	}
	staged, err := Stage(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rel, err := filepath.Rel(base, staged); err != nil || filepath.Dir(rel) != ".staged" {
		t.Errorf("staged in %s, %v", rel, err)
	}
	for _, name := range []string{"runs/L1.json", "cancel.json"} {
		if _, err := os.Stat(filepath.Join(base, name)); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(base, "cancel.json"))
	if err != nil || !strings.Contains(string(text), `"host": "login1"`) ||
		!strings.Contains(string(text), `"t": "1970-01-01T00:00:00Z"`) {
		t.Errorf("cancel.json: %s, %v", text, err)
	}
}
