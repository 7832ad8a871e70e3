package slurm

import (
	"context"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Over says whether a job in this state does nothing any more.
func (j Job) Over() bool {
	switch j.State {
	case "PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "REQUEUED",
		"REQUEUE_FED", "REQUEUE_HOLD", "RESIZING", "RESV_DEL_HOLD", "SPECIAL_EXIT":
		return false
	}
	return true
}

// Terminate asks the batch process of a running job alone to end, which then ends
// its steps in order. A plain cancel would signal every step at once.
func Terminate(ctx context.Context, id string) error {
	return scancel(ctx, "--batch", "--signal=TERM", id)
}

// Status asks the controller for the job of a run, without regard to the shared answer: for
// an action that needs to know now.
func Status(ctx context.Context, r rundir.Record) (Job, error) {
	out, err := call(ctx, askLimit, "scontrol", "--oneliner", "show", "job", r.ID)
	if err != nil {
		return Job{}, err
	}
	j := Job{
		ID: field(out, "JobId"), State: field(out, "JobState"), Reason: word(field(out, "Reason")),
		Submitted: instant(field(out, "SubmitTime")), Start: instant(field(out, "StartTime")),
		End: instant(field(out, "EndTime")), Nodes: word(field(out, "NodeList")), Comment: word(field(out, "Comment")),
		Preempted: instant(field(out, "PreemptTime")),
	}
	if !j.isOf(r) {
		return j, problem.Errorf(problem.JobIDReused, "job %s: the id belongs to another job now (submitted %s, comment %q)",
			r.ID, j.Submitted.Local().Format(timeForm), j.Comment)
	}
	return j, nil
}

// Gone says whether an error of [Status] means that the controller does not know the job any more.
func Gone(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Invalid job id")
}

// Warning is how long before its time limit a job is told, see [Request]'s
// --signal; Slurm may be a minute early.
const warning = 90*time.Second + 70*time.Second

// AtLimit says whether a TERM at this moment is the time limit's.
func (j Job) AtLimit(now time.Time) bool {
	return !j.End.IsZero() && j.End.Sub(now) <= warning
}

// WasPreempted says whether Slurm ends, or ended, the job to make room for another.
func (j Job) WasPreempted() bool { return j.State == "PREEMPTED" || !j.Preempted.IsZero() }

// NodeLost says whether Slurm ends the job because one of its nodes is, or was,
// down: the node itself may be up again by now.
func (j Job) NodeLost() bool { return j.State == "NODE_FAIL" || j.Reason == "NodeDown" }
