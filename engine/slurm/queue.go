package slurm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Answer is the latest information about a user's jobs.
type Answer struct {
	At      time.Time `json:"at"`              // time of Jobs; zero: Slurm has never answered
	Tried   time.Time `json:"tried"`           // time of the latest request
	Error   string    `json:"error,omitempty"` // why the latest request failed; At is then older than Tried
	Cluster string    `json:"cluster,omitempty"`
	Jobs    []Job     `json:"jobs"`
	NoSlurm bool      `json:"-"` // Slurm commands not found

	Ranks  map[string]Rank `json:"ranks,omitempty"` // ranks of pending jobs, by job id
	Ranked time.Time       `json:"ranked"`          // time of the latest request for Ranks
}

// Find returns the job of a run.
func (a Answer) Find(r rundir.Record) (Job, bool) {
	for _, j := range a.Jobs {
		if j.belongsTo(r) {
			return j, true
		}
	}
	return Job{}, false
}

// DefaultInterval is the Interval of a [Queue] unless the user or the site configures another one.
const DefaultInterval = 5 * time.Second

// Queue requests the user's jobs from squeue. All programs of a user on one host share the
// answer in a file in Dir and call squeue at most once per Interval.
type Queue struct {
	Dir      string
	Interval time.Duration
	Timeout  time.Duration // of a call of squeue; 0: 10 s
	Now      func() time.Time
}

func (q *Queue) timeout() time.Duration { return cmp.Or(q.Timeout, 10*time.Second) }

// Ask returns the shared answer if it is younger than Interval, else a new one. If Slurm does
// not answer, Error says why and the jobs are those of the last answer.
func (q *Queue) Ask(ctx context.Context) Answer {
	path, err := q.path()
	if err != nil {
		return Answer{Tried: q.Now(), Error: err.Error()}
	}
	a, err := readAnswer(path)
	if err == nil && q.fresh(a) {
		return a
	}
	if err := os.MkdirAll(q.Dir, 0o755); err != nil {
		return Answer{Tried: q.Now(), Error: fmt.Sprintf("share the answer of squeue: %v", err)}
	}
	// The holder of the lock calls squeue; the other programs wait for its answer.
	waiting, cancel := context.WithTimeout(ctx, 2*q.timeout())
	defer cancel()
	lock := flock.New(path + ".lock")
	if ok, err := lock.TryLockContext(waiting, 20*time.Millisecond); !ok {
		a.Error = fmt.Sprintf("wait for the squeue call of another program: %v", err)
		return a
	}
	defer func() { _ = lock.Unlock() }() // released at the latest when the process ends
	if a, err = readAnswer(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a = Answer{} // an invalid file is replaced
	}
	if q.fresh(a) {
		return a
	}
	if q.Now().Sub(a.Tried) > cleanupInterval { // the first request for a while
		q.removeStaleTemp(path)
	}
	return q.refresh(ctx, path, a)
}

const (
	cleanupInterval = 10 * time.Minute // time without a request after which removeStaleTemp runs
	tempFileAge     = time.Hour        // older temporary files are not in use
)

// removeStaleTemp removes the temporary files of programs that were killed while they wrote an
// answer, beside the answer and in the system's temporary directory.
func (q *Queue) removeStaleTemp(path string) {
	for _, dir := range []string{q.Dir, os.TempDir()} {
		left, err := os.ReadDir(dir)
		if err != nil {
			continue // such a file is only a waste of space
		}
		for _, e := range left {
			number, ok := strings.CutPrefix(e.Name(), "."+filepath.Base(path))
			if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
				continue
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && q.Now().Sub(info.ModTime()) > tempFileAge {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

func (q *Queue) fresh(a Answer) bool {
	age := q.Now().Sub(a.Tried)
	return age >= 0 && age < q.Interval
}

func (q *Queue) refresh(ctx context.Context, path string, a Answer) Answer {
	if a.ranksDue(q.Now(), 2*q.Interval) { // instead of the request for the jobs, not in addition
		q.updateRanks(ctx, &a)
		if err := smallfile.WriteJSON(path, a, 0o644); err != nil {
			a.Error = err.Error()
		}
		return a
	}
	out, err := call(ctx, q.timeout(), "squeue", "--me", "--noheader", "--states=all", "--format="+queueFormat)
	if errors.Is(err, ErrNotFound) || ctx.Err() != nil {
		// Not written: the error is due to this process's environment or cancellation.
		a.Error, a.NoSlurm = err.Error(), errors.Is(err, ErrNotFound)
		return a
	}
	a.Tried, a.Error = q.Now(), ""
	if err != nil {
		a.Error = err.Error()
	} else {
		a.At, a.Jobs = a.Tried, parseQueue(out)
	}
	if a.Cluster == "" && err == nil {
		a.Cluster = ClusterName(ctx)
	}
	if werr := smallfile.WriteJSON(path, a, 0o644); werr != nil {
		a.Error = strings.TrimPrefix(a.Error+"; "+werr.Error(), "; ")
	}
	return a
}

// path returns the path of the shared answer. There is one file per host and per Slurm
// configuration, since a host may be a login node of two clusters.
func (q *Queue) path() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("share the answer of squeue: %w", err)
	}
	sum := sha256.Sum256([]byte(os.Getenv("SLURM_CONF")))
	return filepath.Join(q.Dir, "squeue-"+host+"-"+hex.EncodeToString(sum[:4])+".json"), nil
}

func readAnswer(path string) (Answer, error) {
	var a Answer
	err := smallfile.ReadJSON(path, &a)
	return a, err
}

// queueFormat ends with the comment, the only field that may contain the separator.
const queueFormat = "%A|%T|%r|%V|%S|%e|%N|%k"

// parseQueue parses the output of squeue in queueFormat. It skips other lines.
func parseQueue(out string) []Job {
	jobs := []Job{}
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "|", 8)
		if len(f) < 8 {
			continue
		}
		jobs = append(jobs, Job{
			ID: f[0], State: f[1], Reason: noneAsEmpty(f[2]), Submitted: parseTime(f[3]), Start: parseTime(f[4]),
			End: parseTime(f[5]), Nodes: f[6], Comment: noneAsEmpty(f[7]),
		})
	}
	return jobs
}
