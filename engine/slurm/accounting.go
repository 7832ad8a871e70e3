package slurm

import (
	"context"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/rundir"
)

// Ended asks the accounting for the job of a run that the queue does not know any more. Ids
// are used again: a job of another submit is not taken for it. It lags some
// seconds behind the queue, and sites without accounting give an error.
func LookupAccounting(ctx context.Context, r rundir.Record) (Job, bool, error) {
	since := r.Created.Add(-time.Hour).Local().Format(timeLayout)
	out, err := call(ctx, 15*time.Second, "sacct", "--allocations", "--noheader", "--parsable2", "--duplicates",
		"--jobs="+r.ID, "--starttime="+since, "--format="+accountingFormat)
	if err != nil {
		return Job{}, false, err
	}
	for _, j := range parseAccounting(out) {
		if j.belongsTo(r) {
			return j, true, nil
		}
	}
	return Job{}, false, nil
}

const accountingFormat = "JobIDRaw,State,Submit,Start,End,NodeList,Comment"

func parseAccounting(out string) []Job {
	var jobs []Job
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "|", 7)
		if len(f) < 7 {
			continue
		}
		state, by, _ := strings.Cut(f[1], " ") // CANCELLED by 1000
		jobs = append(jobs, Job{
			ID: f[0], State: state, Reason: by, Submitted: parseTime(f[2]), Start: parseTime(f[3]),
			End: parseTime(f[4]), Nodes: f[5], Comment: noneAsEmpty(f[6]),
		})
	}
	return jobs
}
