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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Job is one job as the queue or the accounting shows it.
type Job struct {
	ID        string    `json:"id"`
	State     string    `json:"state"` // Slurm's word: PENDING, RUNNING, NODE_FAIL …
	Reason    string    `json:"reason,omitempty"`
	Submitted time.Time `json:"submitted"`
	Start     time.Time `json:"start"` // expected while pending; zero: not known
	End       time.Time `json:"end"`   // by its time limit while it runs
	Nodes     string    `json:"nodes,omitempty"`
	Comment   string    `json:"comment,omitempty"`
	Preempted time.Time `json:"preempted"` // zero: it is not; only [Status] tells
}

// skew is how far the clock of this machine and the controller's may differ.
const skew = 2 * time.Minute

// isOf says whether the job is that of a run. A cluster uses ids again: the comment
// that it was submitted with tells, or else the time of the submit.
func (j Job) isOf(r rundir.Record) bool {
	if j.ID != r.ID {
		return false
	}
	if r.Comment != "" && strings.Contains(j.Comment, r.Comment) {
		return true
	}
	return j.Comment == "" && j.Submitted.Sub(r.Created).Abs() < skew
}

// Answer is what is known of a user's jobs.
type Answer struct {
	At      time.Time `json:"at"`              // when the jobs were as they stand here; zero: never asked
	Tried   time.Time `json:"tried"`           // the newest question
	Error   string    `json:"error,omitempty"` // why that one brought nothing; then At is older
	Cluster string    `json:"cluster,omitempty"`
	Jobs    []Job     `json:"jobs"`
	Missing bool      `json:"-"` // this machine has no Slurm to ask

	Ranks  map[string]Rank `json:"ranks,omitempty"` // of jobs that wait, by id
	Ranked time.Time       `json:"ranked"`          // the newest question for them
}

// Find looks for the job of a run.
func (a Answer) Find(r rundir.Record) (Job, bool) {
	for _, j := range a.Jobs {
		if j.isOf(r) {
			return j, true
		}
	}
	return Job{}, false
}

// DefaultEvery is the shortest time between two questions to the queue.
const DefaultEvery = 5 * time.Second

// Queue asks squeue for the user's jobs. All programs of a user on one host share
// one answer, which lies in Dir, and ask at most once in Every.
type Queue struct {
	Dir   string
	Every time.Duration
	Limit time.Duration // of one squeue; 0: 10 s
	Now   func() time.Time
}

func (q *Queue) limit() time.Duration { return cmp.Or(q.Limit, 10*time.Second) }

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
	waiting, cancel := context.WithTimeout(ctx, 2*q.limit())
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
	if q.Now().Sub(a.Tried) > sweepAfter { // the first question for a while
		q.sweep(path)
	}
	return q.renew(ctx, path, a)
}

const (
	sweepAfter = 10 * time.Minute // without a question
	sweepAge   = time.Hour        // no write takes that long
)

// sweep removes the temporary files of programs that were killed while they wrote an answer. They
// lie beside it or where such files go; what can't be removed is harmless.
func (q *Queue) sweep(path string) {
	for _, dir := range []string{q.Dir, os.TempDir()} {
		left, err := filepath.Glob(filepath.Join(dir, "."+filepath.Base(path)+"[0-9]*"))
		if err != nil {
			continue // a folder whose name is a bad pattern
		}
		for _, name := range left {
			if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && q.Now().Sub(info.ModTime()) > sweepAge {
				_ = os.Remove(name)
			}
		}
	}
}

func (q *Queue) fresh(a Answer) bool {
	age := q.Now().Sub(a.Tried)
	return age >= 0 && age < q.Every
}

func (q *Queue) renew(ctx context.Context, path string, a Answer) Answer {
	if a.wantRanks(q.Now(), 2*q.Every) { // in the place of the usual question: never two at once
		q.rank(ctx, &a)
		if err := smallfile.WriteJSON(path, a, 0o644); err != nil {
			a.Error = err.Error()
		}
		return a
	}
	out, err := call(ctx, q.limit(), "squeue", "--me", "--noheader", "--states=all", "--format="+queueForm)
	if errors.Is(err, ErrNotFound) || ctx.Err() != nil {
		a.Error, a.Missing = err.Error(), errors.Is(err, ErrNotFound) // of this shell or this moment: nothing for the others
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

// queueForm has the comment last: it is the one field that may hold the separator.
const queueForm = "%A|%T|%r|%V|%S|%e|%N|%k"

// parseQueue reads lines of squeue in queueForm; others are passed over.
func parseQueue(out string) []Job {
	jobs := []Job{}
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "|", 8)
		if len(f) < 8 {
			continue
		}
		jobs = append(jobs, Job{
			ID: f[0], State: f[1], Reason: word(f[2]), Submitted: instant(f[3]), Start: instant(f[4]),
			End: instant(f[5]), Nodes: f[6], Comment: word(f[7]),
		})
	}
	return jobs
}

// Ended asks the accounting for the job of a run that the queue does not know any more. Ids
// are used again: a job of another submit is not taken for it. It lags some
// seconds behind the queue, and sites without accounting give an error.
func Ended(ctx context.Context, r rundir.Record) (Job, bool, error) {
	since := r.Created.Add(-time.Hour).Local().Format(timeForm)
	out, err := call(ctx, 15*time.Second, "sacct", "--allocations", "--noheader", "--parsable2", "--duplicates",
		"--jobs="+r.ID, "--starttime="+since, "--format="+accountForm)
	if err != nil {
		return Job{}, false, err
	}
	for _, j := range parseAccounting(out) {
		if j.isOf(r) {
			return j, true, nil
		}
	}
	return Job{}, false, nil
}

const accountForm = "JobIDRaw,State,Submit,Start,End,NodeList,Comment"

func parseAccounting(out string) []Job {
	var jobs []Job
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "|", 7)
		if len(f) < 7 {
			continue
		}
		state, by, _ := strings.Cut(f[1], " ") // CANCELLED by 1000
		jobs = append(jobs, Job{
			ID: f[0], State: state, Reason: by, Submitted: instant(f[2]), Start: instant(f[3]),
			End: instant(f[4]), Nodes: f[5], Comment: word(f[6]),
		})
	}
	return jobs
}

// word is a field without Slurm's ways to say that there is nothing.
func word(s string) string {
	switch s {
	case "None", "(null)", "N/A":
		return ""
	}
	return s
}

// KillWait is the time that this cluster gives a job from TERM to KILL; Slurm's own
// default where it does not say.
func KillWait(ctx context.Context) time.Duration {
	text, _, _ := strings.Cut(setting(ctx, "KillWait"), " ") // 30 sec
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 1 {
		return 30 * time.Second
	}
	return time.Duration(seconds) * time.Second
}

// Version is Slurm's, as its commands tell; empty where there are none.
func Version(ctx context.Context) string {
	out, err := call(ctx, askLimit, "scontrol", "--version")
	if err != nil {
		return ""
	}
	words := strings.Fields(out) // slurm 24.11.5, slurm-wlm 22.05.8
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// ClusterName is the name of the cluster that the commands speak to; empty when it does not say.
func ClusterName(ctx context.Context) string { return setting(ctx, "ClusterName") }

// setting is a value of the cluster's configuration; empty when it does not say.
func setting(ctx context.Context, key string) string {
	out, err := call(ctx, 10*time.Second, "scontrol", "show", "config")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(out) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Rank is a waiting job's place among all that wait for its partitions, by priority.
// What is smaller or fits elsewhere may start before it all the same.
type Rank struct {
	At int `json:"at"` // from 1
	Of int `json:"of"`
}

// rankEvery is the shortest time between two looks at everybody's waiting jobs, which may be many.
const rankEvery = time.Minute

// wantRanks says whether it is time to look at all waiting jobs: never without one
// of the user's own among them, nor while the scheduler does not answer, nor when
// the jobs themselves are older than that: the question takes the place of theirs.
func (a Answer) wantRanks(now time.Time, most time.Duration) bool {
	return a.Error == "" && now.Sub(a.At) < most && now.Sub(a.Ranked) >= rankEvery &&
		slices.ContainsFunc(a.Jobs, func(j Job) bool { return j.State == "PENDING" })
}

// rank asks for the order of all waiting jobs. Sites that hide the others' jobs,
// and errors, give no ranks.
func (q *Queue) rank(ctx context.Context, a *Answer) {
	a.Tried, a.Ranked, a.Ranks = q.Now(), q.Now(), nil
	out, err := call(ctx, q.limit(), "squeue", "--noheader", "--states=PENDING", "--sort=-p,i", "--format=%A|%P")
	if err != nil {
		return
	}
	var mine []string
	for _, j := range a.Jobs {
		if j.State == "PENDING" {
			mine = append(mine, j.ID)
		}
	}
	a.Ranks = parseRanks(out, mine)
}

// parseRanks reads waiting jobs and their partitions, the next one first.
func parseRanks(out string, mine []string) map[string]Rank {
	type job struct {
		id         string
		partitions []string
	}
	var all []job
	for line := range strings.Lines(out) {
		if id, list, ok := strings.Cut(strings.TrimSpace(line), "|"); ok {
			all = append(all, job{id, strings.Split(list, ",")})
		}
	}
	ranks := map[string]Rank{}
	for _, id := range mine {
		at := slices.IndexFunc(all, func(j job) bool { return j.id == id })
		if at < 0 {
			continue
		}
		r := Rank{}
		for i, j := range all {
			if !slices.ContainsFunc(j.partitions, func(p string) bool { return slices.Contains(all[at].partitions, p) }) {
				continue
			}
			r.Of++
			if i <= at {
				r.At++
			}
		}
		ranks[id] = r
	}
	return ranks
}
