package slurm

import (
	"context"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Job is a job as squeue, sacct or scontrol reports it.
type Job struct {
	ID        string    `json:"id"`
	State     string    `json:"state"` // as in Slurm: PENDING, RUNNING, NODE_FAIL …
	Reason    string    `json:"reason,omitempty"`
	Submitted time.Time `json:"submitted"`
	Start     time.Time `json:"start"` // expected while pending; zero: unknown
	End       time.Time `json:"end"`   // by its time limit while it is running
	Nodes     string    `json:"nodes,omitempty"`
	Comment   string    `json:"comment,omitempty"`
	Preempted time.Time `json:"preempted"` // zero: not preempted; set by [Status] only
}

// maxClockSkew is the largest accepted difference between the clocks of this machine and the
// Slurm controller.
const maxClockSkew = 2 * time.Minute

// belongsTo reports whether j is the job of a run. A cluster reuses job ids, so the comment
// or, without one, the submission time must match too.
func (j Job) belongsTo(r rundir.Record) bool {
	if j.ID != r.ID {
		return false
	}
	if r.Comment != "" && strings.Contains(j.Comment, r.Comment) {
		return true
	}
	return j.Comment == "" && j.Submitted.Sub(r.Created).Abs() < maxClockSkew
}

// Ended reports whether the job is in a final state.
func (j Job) Ended() bool {
	switch j.State {
	case "PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "REQUEUED",
		"REQUEUE_FED", "REQUEUE_HOLD", "RESIZING", "RESV_DEL_HOLD", "SPECIAL_EXIT":
		return false
	}
	return true
}

// limitWarning is how long before its time limit a job may get SIGTERM: the 90 s of the batch
// script's --signal option, a minute because Slurm may be early, and a margin of 10 s.
const limitWarning = 90*time.Second + 70*time.Second

// NearTimeLimit reports whether a SIGTERM at the given time announces the job's time limit.
func (j Job) NearTimeLimit(now time.Time) bool {
	return !j.End.IsZero() && j.End.Sub(now) <= limitWarning
}

// WasPreempted reports whether Slurm ended, or is ending, the job in favor of another one.
func (j Job) WasPreempted() bool { return j.State == "PREEMPTED" || !j.Preempted.IsZero() }

// NodeLost reports whether Slurm ended, or is ending, the job because one of its nodes went
// down. The node may be up again by now.
func (j Job) NodeLost() bool { return j.State == "NODE_FAIL" || j.Reason == "NodeDown" }

// Status asks the controller for the current state of a run's job, bypassing the shared
// answer of [Queue].
func Status(ctx context.Context, r rundir.Record) (Job, error) {
	out, err := call(ctx, queryLimit, "scontrol", "--oneliner", "show", "job", r.ID)
	if err != nil {
		return Job{}, err
	}
	j := Job{
		ID: field(out, "JobId"), State: field(out, "JobState"), Reason: noneAsEmpty(field(out, "Reason")),
		Submitted: parseTime(field(out, "SubmitTime")), Start: parseTime(field(out, "StartTime")),
		End: parseTime(field(out, "EndTime")), Nodes: noneAsEmpty(field(out, "NodeList")),
		Comment: noneAsEmpty(field(out, "Comment")), Preempted: parseTime(field(out, "PreemptTime")),
	}
	if !j.belongsTo(r) {
		return j, problem.Errorf(problem.JobIDReused, "job %s: the id belongs to another job now (submitted %s, comment %q)",
			r.ID, j.Submitted.Local().Format(timeLayout), j.Comment)
	}
	return j, nil
}

// IsJobNotFound reports whether an error of [Status] means that the controller no longer has
// the job.
func IsJobNotFound(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Invalid job id")
}
