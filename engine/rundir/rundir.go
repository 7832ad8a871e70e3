// Package rundir is the layout of a run's folder, the interface between submit, job and user: which
// file is called what, how a folder is staged and published, and the record by which a run is known
// again. It knows nothing of what the files mean.
package rundir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Names inside a run's folder.
const (
	RecordFile   = "run.json"
	PlanFile     = "plan.json"        // as shown; 0600, since it may hold secrets
	BoundFile    = "plan.bound.json"  // as run; 0600 too
	RecipeFile   = "config.yaml"      // byte copy of what was submitted
	WorkloadFile = "workload.yaml"    // likewise
	ClusterFile  = "srtslurm.yaml"    // the cluster file as it was at submit
	ScriptFile   = "sbatch_script.sh" // of a Slurm job, as submitted
	CancelFile   = "cancel.json"      // who asked for the run's end, and when
	PhasesFile   = "phases.json"      // what the plan says of the phases, for everyone to read
	LockFile     = "supervisor.lock"  // held while a local run's supervisor lives
	PIDFile      = "supervisor.pid"
	LogsDir      = "logs"
	BinDir       = "bin"
	stagingDir   = ".staged"
)

// Record says what a run is. It is written once, before the run starts.
type Record struct {
	Version  int       `json:"version"`
	ID       string    `json:"id"` // L<utc>-<hex>, or the scheduler's job id
	Name     string    `json:"name"`
	Launcher string    `json:"launcher"` // local, slurm, srtctl
	Host     string    `json:"host"`     // where it was submitted
	Created  time.Time `json:"created"`
	Model    string    `json:"model"`
	Levels   []int     `json:"levels"` // users, as played
	Recipe   string    `json:"recipe"` // where it came from
	Workload string    `json:"workload"`
	Dir      string    `json:"dir"` // of the run, absolute
	// Comment and Cluster tell a Slurm job from another one with the same id.
	Comment string `json:"comment,omitempty"`
	Cluster string `json:"cluster,omitempty"`
	// What else was asked for, so that the run can be submitted again.
	Smoke   bool    `json:"smoke,omitempty"`
	Users   int     `json:"users,omitempty"`   // of a local run, of its highest level
	Seconds float64 `json:"seconds,omitempty"` // of a local run's phase
	Again   string  `json:"again,omitempty"`   // the run of which this is another one
	// Lost is what the run's supervisor left in the list of runs when it stopped since
	// the run's folder had been removed.
	Lost  string `json:"lost,omitempty"`
	After string `json:"after,omitempty"` // the run for whose end this one waits
}

// Program is a program to stage: the file, and its name in the run's bin folder.
type Program struct{ Path, Name string }

// ReadPlan reads the plan of a run's folder into p: as bound if the run has started, else as shown.
func ReadPlan(dir string, p any) error {
	err := smallfile.ReadJSON(filepath.Join(dir, BoundFile), p)
	if errors.Is(err, fs.ErrNotExist) {
		err = smallfile.ReadJSON(filepath.Join(dir, PlanFile), p)
	}
	return err
}

// Logs is the log dir of a run's folder.
func Logs(dir string) string { return filepath.Join(dir, LogsDir) }

// NewLocalID makes the id of a local run: L, the time in UTC, four random hex digits.
func NewLocalID(now time.Time) (string, error) {
	var b [2]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make a run id: %w", err)
	}
	return "L" + now.UTC().Format("20060102T150405") + "-" + hex.EncodeToString(b[:]), nil
}

// File is one file to stage.
type File struct {
	Name string // relative to the run's folder
	Data []byte
	Mode fs.FileMode
}

// Stage writes everything of a run into a folder of its own below base, where
// nothing can find it half done, and returns that folder.
func Stage(base string, files []File, programs ...Program) (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("stage run: %w", err)
	}
	dir := filepath.Join(base, stagingDir, hex.EncodeToString(b[:]))
	if err := writeStaged(dir, files, programs); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

func writeStaged(dir string, files []File, programs []Program) error {
	for _, d := range []string{filepath.Join(dir, LogsDir), filepath.Join(dir, BinDir)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return fmt.Errorf("stage run: %w; choose another directory with --output-dir", err)
		}
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, f.Data, f.Mode); err != nil {
			return fmt.Errorf("stage run: %w", err)
		}
	}
	for _, p := range programs {
		if err := copyFile(p.Path, filepath.Join(dir, BinDir, p.Name)); err != nil {
			return fmt.Errorf("stage run: copy the program: %w", err)
		}
	}
	return nil
}

// Publish moves a staged folder to its final name, which must be free.
func Publish(staged, base, id string) (string, error) {
	dir := filepath.Join(base, id)
	if _, err := os.Lstat(dir); err == nil {
		return "", problem.Errorf(problem.RunExists, "publish run %s: %s already exists", id, dir)
	}
	if err := os.Rename(staged, dir); err != nil {
		return "", fmt.Errorf("publish run %s: %w", id, err)
	}
	return dir, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// WriteNew writes a JSON file that must not be there yet.
func WriteNew(path string, v any, mode fs.FileMode) error {
	if _, err := os.Lstat(path); err == nil {
		return problem.Errorf(problem.RunExists, "write %s: file already exists; the run has been started before", path)
	}
	return smallfile.WriteJSON(path, v, mode)
}

// ReadRecord reads the record of a run's folder; the folder may have been moved
// since, so Dir is where it was found.
func ReadRecord(dir string) (Record, error) {
	var r Record
	if err := smallfile.ReadJSON(filepath.Join(dir, RecordFile), &r); err != nil {
		return Record{}, err
	}
	r.Dir = dir
	return r, nil
}

// cancelRequest is who asked for the end of a run.
type cancelRequest struct {
	User string    `json:"user"`
	Host string    `json:"host"`
	At   time.Time `json:"t"`
}

// WriteCancel records in a run's folder that the user of this process asks for the
// run's end, on a host at a time.
func WriteCancel(dir, host string, at time.Time) error {
	by := cancelRequest{Host: host, At: at.UTC()}
	if u, err := user.Current(); err == nil { // its name is for people only
		by.User = u.Username
	}
	return smallfile.WriteJSON(filepath.Join(dir, CancelFile), by, 0o644)
}

// CancelledBy tells who asked for a run's end and where; empty: nobody did.
func CancelledBy(dir string) string {
	var by cancelRequest
	if err := smallfile.ReadJSON(filepath.Join(dir, CancelFile), &by); err != nil {
		return ""
	}
	return "cancelled by " + by.User + " on " + by.Host
}

// Registry is the list of runs known to a user: one small file a run, in the
// user's state folder. The runs' folders stay where the user put them.
type Registry struct{ Dir string }

// Add records a run.
func (g Registry) Add(r Record) error {
	if err := os.MkdirAll(g.Dir, 0o755); err != nil {
		return fmt.Errorf("record run %s: %w", r.ID, err)
	}
	return smallfile.WriteJSON(filepath.Join(g.Dir, r.ID+".json"), r, 0o644)
}

// MarkLost notes what became of a listed run whose folder is gone.
func (g Registry) MarkLost(id, why string) error {
	path := filepath.Join(g.Dir, id+".json")
	var r Record
	if err := smallfile.ReadJSON(path, &r); err != nil {
		return fmt.Errorf("record the loss of run %s: %w", id, err)
	}
	r.Lost = why
	return smallfile.WriteJSON(path, r, 0o644)
}

// List reads all recorded runs. Entries that can't be read come back as errors
// beside the ones that can. A run's folder may be gone, for a while or for good.
func (g Registry) List() ([]Record, error) {
	entries, err := os.ReadDir(g.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var out []Record
	var bad []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		var r Record
		if err := smallfile.ReadJSON(filepath.Join(g.Dir, e.Name()), &r); err != nil {
			bad = append(bad, err)
			continue
		}
		out = append(out, r)
	}
	return out, errors.Join(bad...)
}
