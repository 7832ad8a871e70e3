// Package rundir defines the layout of a run directory, the interface between submission, job and
// user: the names of its files, how it is staged and published, and the record that identifies a
// run. It does not interpret the files.
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

// Names inside a run directory.
const (
	RecordFile   = "run.json"
	PlanFile     = "plan.json"        // the plan with placeholders; mode 0600: it may hold secrets
	BoundFile    = "plan.bound.json"  // the plan with the job's nodes and addresses; mode 0600
	RecipeFile   = "config.yaml"      // the recipe as submitted, byte for byte
	WorkloadFile = "workload.yaml"    // the workload as submitted, byte for byte
	ClusterFile  = "srtslurm.yaml"    // the cluster file as submitted
	ScriptFile   = "sbatch_script.sh" // the batch script of a Slurm job, as submitted
	CancelFile   = "cancel.json"      // who cancelled the run, where and when
	PhasesFile   = "phases.json"      // the planned phases; readable by all users
	LockFile     = "supervisor.lock"  // locked while the supervisor of a local run is running
	PIDFile      = "supervisor.pid"
	LogsDir      = "logs"
	BinDir       = "bin"
	StagingDir   = ".staged"
)

// Record identifies and describes a run. It is written once, before the run starts.
type Record struct {
	Version  int       `json:"version"`
	ID       string    `json:"id"` // L<utc>-<hex>, or the Slurm job id
	Name     string    `json:"name"`
	Launcher string    `json:"launcher"` // local, slurm, srtctl
	Host     string    `json:"host"`     // the host that submitted it
	Created  time.Time `json:"created"`
	Model    string    `json:"model"`
	Levels   []int     `json:"levels"` // concurrency levels, as replayed
	Recipe   string    `json:"recipe"` // path of the original
	Workload string    `json:"workload"`
	Dir      string    `json:"dir"` // absolute path of the run directory
	// Comment and Cluster distinguish a Slurm job from another one with the same id.
	Comment string `json:"comment,omitempty"`
	Cluster string `json:"cluster,omitempty"`
	// Options of the submission, so that the run can be submitted again.
	Smoke   bool    `json:"smoke,omitempty"`
	Users   int     `json:"users,omitempty"`   // local run: users of the highest level
	Seconds float64 `json:"seconds,omitempty"` // local run: duration of a phase
	Again   string  `json:"again,omitempty"`   // id of the run that this one repeats
	// Lost is the message of a supervisor that stopped because the run directory
	// had been removed.
	Lost  string `json:"lost,omitempty"`
	After string `json:"after,omitempty"` // id of the run that must end before this one starts
}

// Program is an executable to stage: its path, and its name in the run's bin directory.
type Program struct{ Path, Name string }

// ReadPlan reads the plan of a run into p: the bound plan if the run has started, else the
// plan with placeholders.
func ReadPlan(dir string, p any) error {
	err := smallfile.ReadJSON(filepath.Join(dir, BoundFile), p)
	if errors.Is(err, fs.ErrNotExist) {
		err = smallfile.ReadJSON(filepath.Join(dir, PlanFile), p)
	}
	return err
}

// Logs returns the log directory of a run directory.
func Logs(dir string) string { return filepath.Join(dir, LogsDir) }

// NewLocalID returns a new id for a local run: L, the time in UTC, and four random hex digits.
func NewLocalID(now time.Time) (string, error) {
	var b [2]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make a run id: %w", err)
	}
	return "L" + now.UTC().Format("20060102T150405") + "-" + hex.EncodeToString(b[:]), nil
}

// File is a file to stage.
type File struct {
	Name string // relative to the run directory
	Data []byte
	Mode fs.FileMode
}

// Stage writes the files of a run into a new hidden directory below base and returns
// its path. [Publish] makes the complete directory visible.
func Stage(base string, files []File, programs ...Program) (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("stage run: %w", err)
	}
	dir := filepath.Join(base, StagingDir, hex.EncodeToString(b[:]))
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

// Publish renames a staged directory to base/id, which must not exist.
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

// WriteNew writes v as JSON to a file that must not exist.
func WriteNew(path string, v any, mode fs.FileMode) error {
	if _, err := os.Lstat(path); err == nil {
		return problem.Errorf(problem.RunExists, "write %s: file already exists; the run has been started before", path)
	}
	return smallfile.WriteJSON(path, v, mode)
}

// ReadRecord reads the record in a run directory. It sets Dir to dir, since the directory
// may have been moved.
func ReadRecord(dir string) (Record, error) {
	var r Record
	if err := smallfile.ReadJSON(filepath.Join(dir, RecordFile), &r); err != nil {
		return Record{}, err
	}
	r.Dir = dir
	return r, nil
}

// cancelRequest records who cancelled a run.
type cancelRequest struct {
	User string    `json:"user"`
	Host string    `json:"host"`
	At   time.Time `json:"t"`
}

// WriteCancel records in a run directory that the current user cancels the run from
// host at the given time.
func WriteCancel(dir, host string, at time.Time) error {
	by := cancelRequest{Host: host, At: at.UTC()}
	if u, err := user.Current(); err == nil { // without a name the request is still valid
		by.User = u.Username
	}
	return smallfile.WriteJSON(filepath.Join(dir, CancelFile), by, 0o644)
}

// CancelledBy returns a message that names who cancelled a run and from which host.
// It is empty if the run was not cancelled with this program.
func CancelledBy(dir string) string {
	var by cancelRequest
	if err := smallfile.ReadJSON(filepath.Join(dir, CancelFile), &by); err != nil {
		return ""
	}
	return "cancelled by " + by.User + " on " + by.Host
}

// Registry is the list of a user's recorded runs: one small file per run in the state
// directory. The run directories are elsewhere.
type Registry struct{ Dir string }

// Add records a run.
func (g Registry) Add(r Record) error {
	if err := os.MkdirAll(g.Dir, 0o755); err != nil {
		return fmt.Errorf("record run %s: %w", r.ID, err)
	}
	return smallfile.WriteJSON(filepath.Join(g.Dir, r.ID+".json"), r, 0o644)
}

// MarkLost adds a reason to the record of a run that stopped because its directory was removed.
func (g Registry) MarkLost(id, reason string) error {
	path := filepath.Join(g.Dir, id+".json")
	var r Record
	if err := smallfile.ReadJSON(path, &r); err != nil {
		return fmt.Errorf("mark run %s as lost: %w", id, err)
	}
	r.Lost = reason
	return smallfile.WriteJSON(path, r, 0o644)
}

// List returns all recorded runs. It returns the records it could read together with an
// error for those it could not. The directory of a recorded run may no longer exist.
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
