package slurm

import (
	"context"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/problem"
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

// maxClockSkew is how far the clock of this machine and the controller's may differ.
const maxClockSkew = 2 * time.Minute

// belongsTo says whether the job is that of a run. A cluster uses ids again: the comment
// that it was submitted with tells, or else the time of the submit.
func (j Job) belongsTo(r rundir.Record) bool {
	if j.ID != r.ID {
		return false
	}
	if r.Comment != "" && strings.Contains(j.Comment, r.Comment) {
		return true
	}
	return j.Comment == "" && j.Submitted.Sub(r.Created).Abs() < maxClockSkew
}

// Over says whether a job in this state does nothing any more.
func (j Job) Ended() bool {
	switch j.State {
	case "PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "REQUEUED",
		"REQUEUE_FED", "REQUEUE_HOLD", "RESIZING", "RESV_DEL_HOLD", "SPECIAL_EXIT":
		return false
	}
	return true
}

// Warning is how long before its time limit a job is told, see [Request]'s
// --signal; Slurm may be a minute early.
const limitWarning = 90*time.Second + 70*time.Second

// AtLimit says whether a TERM at this moment is the time limit's.
func (j Job) NearTimeLimit(now time.Time) bool {
	return !j.End.IsZero() && j.End.Sub(now) <= limitWarning
}

// WasPreempted says whether Slurm ends, or ended, the job to make room for another.
func (j Job) WasPreempted() bool { return j.State == "PREEMPTED" || !j.Preempted.IsZero() }

// NodeLost says whether Slurm ends the job because one of its nodes is, or was,
// down: the node itself may be up again by now.
func (j Job) NodeLost() bool { return j.State == "NODE_FAIL" || j.Reason == "NodeDown" }

// Status asks the controller for the job of a run, without regard to the shared answer: for
// an action that needs to know now.
func Status(ctx context.Context, r rundir.Record) (Job, error) {
	out, err := call(ctx, queryLimit, "scontrol", "--oneliner", "show", "job", r.ID)
	if err != nil {
		return Job{}, err
	}
	j := Job{
		ID: field(out, "JobId"), State: field(out, "JobState"), Reason: noneAsEmpty(field(out, "Reason")),
		Submitted: parseTime(field(out, "SubmitTime")), Start: parseTime(field(out, "StartTime")),
		End: parseTime(field(out, "EndTime")), Nodes: noneAsEmpty(field(out, "NodeList")), Comment: noneAsEmpty(field(out, "Comment")),
		Preempted: parseTime(field(out, "PreemptTime")),
	}
	if !j.belongsTo(r) {
		return j, problem.Errorf(problem.JobIDReused, "job %s: the id belongs to another job now (submitted %s, comment %q)",
			r.ID, j.Submitted.Local().Format(timeLayout), j.Comment)
	}
	return j, nil
}

// IsJobNotFound says whether an error of [Status] means that the controller does not know the job any more.
func IsJobNotFound(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Invalid job id")
}
