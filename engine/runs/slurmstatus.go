package runs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/slurm"
)

// PollQueue sends answers of the queue until ctx is done. All watchers of a user share them
// (see [slurm.Queue]).
func (r *Resolver) PollQueue(ctx context.Context, to chan<- slurm.Answer) {
	for {
		select {
		case to <- r.queue.Ask(ctx):
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(r.queue.Interval):
		case <-ctx.Done():
			return
		}
	}
}

// ResolveJob resolves the current status of a Slurm run that has not ended from s, the status
// according to its events, and a, the answer of the queue.
func (r *Resolver) ResolveJob(ref Ref, s event.Status, a slurm.Answer) event.Status {
	if a.Tried.IsZero() && a.Error == "" { // no request yet
		if s.State == "" {
			s.State = event.Pending
		}
		return s
	}
	if a.NoSlurm {
		return r.resolveRemote(ref, s)
	}
	job, found := a.Find(ref.Record)
	s.Queue = &event.QueueEntry{At: a.At, Error: a.Error}
	if found {
		s.Queue.State, s.Queue.Reason, s.Queue.Nodes = job.State, job.Reason, job.Nodes
		if job.State == "PENDING" {
			s.Queue.Start = job.Start
			s.Queue.Position, s.Queue.Waiting = a.Ranks[job.ID].Position, a.Ranks[job.ID].Total
		}
	}
	switch {
	case a.Error != "":
		return r.statusDuringOutage(s, a)
	case a.Cluster != "" && ref.Record.Cluster != "" && a.Cluster != ref.Record.Cluster:
		s.State = event.Unknown
		s.Message = fmt.Sprintf("the job is on cluster %s, but this host belongs to cluster %s; use a host of %[1]s",
			ref.Record.Cluster, a.Cluster)
		return s
	case found:
		return statusFromJob(ref, s, job)
	case !a.At.After(ref.Record.Created):
		if s.State == "" {
			s.State = event.Pending // the answer is older than the submission
		}
		return s
	}
	return r.statusFromAccounting(ref, s)
}

// statusDuringOutage returns the status of a run while Slurm does not answer: unknown, never
// ended.
func (r *Resolver) statusDuringOutage(s event.Status, a slurm.Answer) event.Status {
	last := "no activity seen"
	if s.State != "" {
		last = fmt.Sprintf("last activity %s ago: %s", since(r.now(), s.Last), s.State)
	}
	asked := "Slurm has not answered yet"
	if !a.At.IsZero() {
		asked = fmt.Sprintf("Slurm last answered %s ago", since(r.now(), a.At))
	}
	s.State, s.Message = event.Unknown, fmt.Sprintf("%s (%s); %s", asked, a.Error, last)
	return s
}

func since(now, t time.Time) time.Duration { return now.Sub(t).Round(time.Second) }

// statusFromJob returns the status of a run whose job is in the queue.
func statusFromJob(ref Ref, s event.Status, j slurm.Job) event.Status {
	started := s.State != ""
	switch {
	case j.Ended():
		return statusFromEnd(ref, s, j)
	case j.State == "COMPLETING":
		s.State, s.Message = event.Post, "Slurm state COMPLETING"
	case j.State == "SUSPENDED" || j.State == "STOPPED":
		if s.Message = "Slurm state " + j.State; !started {
			s.State = event.Starting
		}
	case started && waitsInQueue(j.State) && s.Queue.At.After(s.Last):
		s.State = event.Pending
		s.Message = "Slurm requeued the job (" + j.State +
			"), but a run starts only once; cancel it and apply it again"
	case started: // the events are newer than any answer of the queue
	case j.State == "RUNNING" || j.State == "SIGNALING" || j.State == "STAGE_OUT":
		s.State = event.Starting
	default:
		s.State, s.Message = event.Pending, pendingMessage(j)
	}
	return s
}

// waitsInQueue reports whether a job in this state is pending. If the job had already started,
// it was requeued.
func waitsInQueue(state string) bool {
	switch state {
	case "PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT":
		return true
	}
	return false
}

// endStates are the run states for the final states of Slurm jobs.
var endStates = map[string]event.State{
	"COMPLETED": event.Done,
	"CANCELLED": event.Cancelled, "REVOKED": event.Cancelled, "PREEMPTED": event.Cancelled,
	"TIMEOUT": event.Timeout, "DEADLINE": event.Timeout,
	"FAILED": event.Failed, "NODE_FAIL": event.Failed, "BOOT_FAIL": event.Failed, "OUT_OF_MEMORY": event.Failed,
	"LAUNCH_FAILED": event.Failed, "RECONFIG_FAIL": event.Failed,
}

// statusFromEnd returns the status of a run whose job has ended.
func statusFromEnd(ref Ref, s event.Status, j slurm.Job) event.Status {
	// The run may have written its final event since s was read. That event takes precedence.
	if again, err := ReadStatus(ref.Logs); err == nil && again.State.Final() {
		again.Queue = s.Queue
		return again
	}
	state, ok := endStates[j.State]
	if !ok {
		s.State, s.Message = event.Unknown, "unknown Slurm state "+j.State
		return s
	}
	code := 1
	reason := s.Message // why the run was being stopped, if it was
	s.Message = strings.TrimSpace(fmt.Sprintf("Slurm state %s %s", j.State, j.Reason))
	if s.State == "" && (j.Nodes == "" || j.Nodes == "None assigned") {
		s.Message = "not started: " + s.Message
	} else {
		s.Message += "; the event log has no final event; see the log of the job"
	}
	by := rundir.CancelledBy(ref.Dir)
	switch {
	case state == event.Cancelled && by != "":
		s.Message = by
	case j.WasPreempted():
		s.Message = "preempted: the nodes were given to a job of higher priority"
	case reason != "":
		s.Message = reason + "; " + s.Message
	}
	if state == event.Done {
		code, s.Message = 0, ""
	}
	s.State, s.ExitCode = state, new(code)
	return s
}

// pendingMessage returns why a job is pending and when it is expected to start.
func pendingMessage(j slurm.Job) string {
	msg := j.Reason
	if j.Reason == "JobHeldUser" {
		msg = "on hold: the submission was interrupted; the next apply completes it, or run scontrol release " + j.ID
	}
	if !j.Start.IsZero() {
		msg += fmt.Sprintf(", expected to start %s", j.Start.Local().Format("2006-01-02 15:04"))
	}
	return msg
}

// accountingAnswer is the answer of the accounting database about a run whose job has left the
// queue.
type accountingAnswer struct {
	asked time.Time
	job   slurm.Job
	found bool
	err   error
}

const (
	// accountingInterval is the shortest time between two requests to the accounting database.
	accountingInterval = 15 * time.Second
	// accountingDeadline limits the wait for the accounting database after a job has left the
	// queue. If the run shows no activity for this time, it counts as failed.
	accountingDeadline = 10 * time.Minute
)

// statusFromAccounting returns the status of a run whose job has left the queue.
func (r *Resolver) statusFromAccounting(ref Ref, s event.Status) event.Status {
	if again, err := ReadStatus(ref.Logs); err == nil && again.State.Final() {
		return again
	}
	answer := r.queryAccounting(ref)
	if answer.found && answer.job.Ended() {
		s.Queue.State, s.Queue.Reason = answer.job.State, answer.job.Reason
		return statusFromEnd(ref, s, answer.job)
	}
	last := s.Last
	if last.Before(ref.Record.Created) {
		last = ref.Record.Created
	}
	if answer.err == nil && r.now().Sub(last) < accountingDeadline {
		s.State, s.Message = event.Unknown, "the job has left the queue, but accounting does not show its end yet"
		return s
	}
	s.State, s.ExitCode = event.Failed, new(1)
	s.Message = "the job has left the queue, and the run wrote no final event"
	if answer.err != nil {
		s.Message += fmt.Sprintf("; accounting not available (%v)", answer.err)
	}
	return s
}

// queryAccounting returns the latest answer of the accounting database.
func (r *Resolver) queryAccounting(ref Ref) accountingAnswer {
	r.mu.Lock()
	answer, ok := r.accounting[ref.Dir]
	r.mu.Unlock()
	if ok && (answer.found && answer.job.Ended() || r.now().Sub(answer.asked) < accountingInterval) {
		return answer
	}
	answer = accountingAnswer{asked: r.now()}
	// LookupAccounting has its own time limit.
	answer.job, answer.found, answer.err = slurm.LookupAccounting(context.Background(), ref.Record)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accounting[ref.Dir] = answer
	return answer
}
