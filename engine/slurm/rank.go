package slurm

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Rank is the position of a pending job, by priority, among all pending jobs of its
// partitions. Slurm may start a lower-ranked job first if it fits into a gap (backfill).
type Rank struct {
	Position int `json:"at"` // starts at 1
	Total    int `json:"of"`
}

// rankInterval is the shortest time between two requests for the pending jobs of all users,
// which may be many.
const rankInterval = time.Minute

// ranksDue reports whether the ranks should be requested now. The request takes the place of
// one for the user's jobs. It is therefore made only if Slurm answers, a job of the user is
// pending, and the list of jobs is younger than maxAge.
func (a Answer) ranksDue(now time.Time, maxAge time.Duration) bool {
	return a.Error == "" && now.Sub(a.At) < maxAge && now.Sub(a.Ranked) >= rankInterval &&
		slices.ContainsFunc(a.Jobs, func(j Job) bool { return j.State == "PENDING" })
}

// updateRanks requests the order of all pending jobs. There are no ranks after an error and
// on sites that hide the jobs of other users.
func (q *Queue) updateRanks(ctx context.Context, a *Answer) {
	a.Tried, a.Ranked, a.Ranks = q.Now(), q.Now(), nil
	out, err := call(ctx, q.timeout(), "squeue", "--noheader", "--states=PENDING", "--sort=-p,i", "--format=%A|%P")
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

// parseRanks returns the ranks of the jobs mine, by id. out lists all pending jobs and their
// partitions by descending priority.
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
			r.Total++
			if i <= at {
				r.Position++
			}
		}
		ranks[id] = r
	}
	return ranks
}
