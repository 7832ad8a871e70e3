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

// Answer is what is known of a user's jobs.
type Answer struct {
	At      time.Time `json:"at"`              // when the jobs were as they stand here; zero: never asked
	Tried   time.Time `json:"tried"`           // the newest question
	Error   string    `json:"error,omitempty"` // why that one brought nothing; then At is older
	Cluster string    `json:"cluster,omitempty"`
	Jobs    []Job     `json:"jobs"`
	NoSlurm bool      `json:"-"` // this machine has no Slurm to ask

	Ranks  map[string]Rank `json:"ranks,omitempty"` // of jobs that wait, by id
	Ranked time.Time       `json:"ranked"`          // the newest question for them
}

// Find looks for the job of a run.
func (a Answer) Find(r rundir.Record) (Job, bool) {
	for _, j := range a.Jobs {
		if j.belongsTo(r) {
			return j, true
		}
	}
	return Job{}, false
}

// DefaultInterval is the shortest time between two questions to the queue.
const DefaultInterval = 5 * time.Second

// Queue asks squeue for the user's jobs. All programs of a user on one host share
// one answer, which lies in Dir, and ask at most once in Every.
type Queue struct {
	Dir      string
	Interval time.Duration
	Timeout  time.Duration // of one squeue; 0: 10 s
	Now      func() time.Time
}

func (q *Queue) timeout() time.Duration { return cmp.Or(q.Timeout, 10*time.Second) }

// Ask gives the newest answer: the shared one, while it is younger than Every, else a new one. A
// scheduler that does not answer is an Error in it, beside what was known before.
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
	// Whoever holds the lock asks, within its time limit; the others wait for that.
	waiting, cancel := context.WithTimeout(ctx, 2*q.timeout())
	defer cancel()
	lock := flock.New(path + ".lock")
	if ok, err := lock.TryLockContext(waiting, 20*time.Millisecond); !ok {
		a.Error = fmt.Sprintf("wait for the squeue call of another program: %v", err)
		return a
	}
	defer func() { _ = lock.Unlock() }() // it goes with the process at the latest
	if a, err = readAnswer(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a = Answer{} // torn or foreign: asked anew
	}
	if q.fresh(a) {
		return a
	}
	if q.Now().Sub(a.Tried) > cleanupInterval { // the first question for a while
		q.removeStaleTemp(path)
	}
	return q.refresh(ctx, path, a)
}

const (
	cleanupInterval = 10 * time.Minute // without a question
	tempFileAge     = time.Hour        // no write takes that long
)

// sweep removes the temporary files of programs that were killed while they wrote an answer. They
// lie beside it or where such files go; what can't be removed is harmless.
func (q *Queue) removeStaleTemp(path string) {
	for _, dir := range []string{q.Dir, os.TempDir()} {
		left, err := filepath.Glob(filepath.Join(dir, "."+filepath.Base(path)+"[0-9]*"))
		if err != nil {
			continue // a folder whose name is a bad pattern
		}
		for _, name := range left {
			if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && q.Now().Sub(info.ModTime()) > tempFileAge {
				_ = os.Remove(name)
			}
		}
	}
}

func (q *Queue) fresh(a Answer) bool {
	age := q.Now().Sub(a.Tried)
	return age >= 0 && age < q.Interval
}

func (q *Queue) refresh(ctx context.Context, path string, a Answer) Answer {
	if a.ranksDue(q.Now(), 2*q.Interval) { // in the place of the usual question: never two at once
		q.updateRanks(ctx, &a)
		if err := smallfile.WriteJSON(path, a, 0o644); err != nil {
			a.Error = err.Error()
		}
		return a
	}
	out, err := call(ctx, q.timeout(), "squeue", "--me", "--noheader", "--states=all", "--format="+queueFormat)
	if errors.Is(err, ErrNotFound) || ctx.Err() != nil {
		a.Error, a.NoSlurm = err.Error(), errors.Is(err, ErrNotFound) // of this shell or this moment: nothing for the others
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

// path is the file of the shared answer: one a host, and one a configuration of
// Slurm, since a host may be a login node of two clusters.
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

// queueFormat has the comment last: it is the one field that may hold the separator.
const queueFormat = "%A|%T|%r|%V|%S|%e|%N|%k"

// parseQueue reads lines of squeue in queueFormat; others are passed over.
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
