package slurm

import (
	"context"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/rundir"
)

// LookupAccounting finds the job of a run in the accounting database, after it has left the
// queue. The database lags some seconds behind the queue. A job of another submission with
// the same id does not match. On a site without accounting LookupAccounting returns an error.
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
