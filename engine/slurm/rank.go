package slurm

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Rank is a waiting job's place among all that wait for its partitions, by priority.
// What is smaller or fits elsewhere may start before it all the same.
type Rank struct {
	Position int `json:"at"` // from 1
	Total    int `json:"of"`
}

// rankEvery is the shortest time between two looks at everybody's waiting jobs, which may be many.
const rankEvery = time.Minute

// ranksDue says whether it is time to look at all waiting jobs: never without one
// of the user's own among them, nor while the scheduler does not answer, nor when
// the jobs themselves are older than that: the question takes the place of theirs.
func (a Answer) ranksDue(now time.Time, most time.Duration) bool {
	return a.Error == "" && now.Sub(a.At) < most && now.Sub(a.Ranked) >= rankEvery &&
		slices.ContainsFunc(a.Jobs, func(j Job) bool { return j.State == "PENDING" })
}

// rank asks for the order of all waiting jobs. Sites that hide the others' jobs,
// and errors, give no ranks.
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
			r.Total++
			if i <= at {
				r.Position++
			}
		}
		ranks[id] = r
	}
	return ranks
}
