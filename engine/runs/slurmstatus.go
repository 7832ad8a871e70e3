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

// PollQueue sends the queue's answers for as long as ctx lasts. They are shared:
// any number of watchers of a user make one question of them.
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

// ResolveJob turns what the events of a run that has not ended add up to, and what
// the queue says, into what can be said of the run now.
func (r *Resolver) ResolveJob(ref Ref, s event.Status, a slurm.Answer) event.Status {
	if a.Tried.IsZero() && a.Error == "" { // nobody has been asked yet
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
		s.Message = fmt.Sprintf("its job is on the cluster %s, and the Slurm of this machine is %s; look there",
			ref.Record.Cluster, a.Cluster)
		return s
	case found:
		return statusFromJob(ref, s, job)
	case !a.At.After(ref.Record.Created):
		if s.State == "" {
			s.State = event.Pending // the answer is older than the submit
		}
		return s
	}
	return r.statusFromAccounting(ref, s)
}

// outage is a run whose scheduler does not answer: unknown, never ended.
func (r *Resolver) statusDuringOutage(s event.Status, a slurm.Answer) event.Status {
	last := "never seen"
	if s.State != "" {
		last = fmt.Sprintf("last heard %s ago: %s", since(r.now(), s.Last), s.State)
	}
	asked := "the queue has not answered yet"
	if !a.At.IsZero() {
		asked = fmt.Sprintf("the queue last answered %s ago", since(r.now(), a.At))
	}
	s.State, s.Message = event.Unknown, fmt.Sprintf("%s (%s); %s", asked, a.Error, last)
	return s
}

func since(now, t time.Time) time.Duration { return now.Sub(t).Round(time.Second) }

// statusFromJob is the status of a run whose job the scheduler knows.
func statusFromJob(ref Ref, s event.Status, j slurm.Job) event.Status {
	started := s.State != ""
	switch {
	case j.Ended():
		return statusFromEnd(ref, s, j)
	case j.State == "COMPLETING":
		s.State, s.Message = event.Post, "Slurm says COMPLETING"
	case j.State == "SUSPENDED" || j.State == "STOPPED":
		if s.Message = "Slurm says " + j.State; !started {
			s.State = event.Starting
		}
	case started && waitsInQueue(j.State) && s.Queue.At.After(s.Last):
		s.State = event.Pending
		s.Message = "Slurm has put its job back into the queue (" + j.State +
			"); a run starts only once: cancel it, and apply it again"
	case started: // its own events are newer than any answer of the queue
	case j.State == "RUNNING" || j.State == "SIGNALING" || j.State == "STAGE_OUT":
		s.State = event.Starting
	default:
		s.State, s.Message = event.Pending, pendingMessage(j)
	}
	return s
}

// back says whether a job in this state waits; one that has started before was requeued then.
func waitsInQueue(state string) bool {
	switch state {
	case "PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT":
		return true
	}
	return false
}

// ends is what the scheduler's words for an end mean.
var endStates = map[string]event.State{
	"COMPLETED": event.Done,
	"CANCELLED": event.Cancelled, "REVOKED": event.Cancelled, "PREEMPTED": event.Cancelled,
	"TIMEOUT": event.Timeout, "DEADLINE": event.Timeout,
	"FAILED": event.Failed, "NODE_FAIL": event.Failed, "BOOT_FAIL": event.Failed, "OUT_OF_MEMORY": event.Failed,
	"LAUNCH_FAILED": event.Failed, "RECONFIG_FAIL": event.Failed,
}

// statusFromEnd is the status of a run whose job has ended.
func statusFromEnd(ref Ref, s event.Status, j slurm.Job) event.Status {
	// It may have ended between the two looks: its last word counts.
	if again, err := ReadStatus(ref.Logs); err == nil && again.State.Final() {
		again.Queue = s.Queue
		return again
	}
	state, ok := endStates[j.State]
	if !ok {
		s.State, s.Message = event.Unknown, "Slurm says "+j.State+", which is no state known here"
		return s
	}
	code := 1
	why := s.Message // of an end that was under way
	s.Message = strings.TrimSpace(fmt.Sprintf("Slurm says %s %s", j.State, j.Reason))
	if s.State == "" && (j.Nodes == "" || j.Nodes == "None assigned") {
		s.Message = "it had not started: " + s.Message
	} else {
		s.Message += "; the run's own records have no end: see the log of its job"
	}
	by := rundir.CancelledBy(ref.Dir)
	switch {
	case state == event.Cancelled && by != "":
		s.Message = by
	case j.WasPreempted():
		s.Message = "preempted: Slurm gave its nodes to a job of higher priority"
	case why != "":
		s.Message = why + "; " + s.Message
	}
	if state == event.Done {
		code, s.Message = 0, ""
	}
	s.State, s.ExitCode = state, new(code)
	return s
}

// waiting is why a job waits, and for how long.
func pendingMessage(j slurm.Job) string {
	msg := j.Reason
	if j.Reason == "JobHeldUser" {
		msg = "held: its submit did not come to an end; apply anything to finish it, or scontrol release " + j.ID
	}
	if !j.Start.IsZero() {
		msg += fmt.Sprintf(", expected to start %s", j.Start.Local().Format("2006-01-02 15:04"))
	}
	return msg
}

// accountingAnswer is what the accounting said of a run that the queue has forgotten.
type accountingAnswer struct {
	asked time.Time
	job   slurm.Job
	found bool
	err   error
}

// Times of a run that the queue has forgotten: between two questions to the
// accounting, and from its last activity until it counts as ended.
const (
	accountingInterval = 15 * time.Second
	accountingDeadline = 10 * time.Minute
)

// statusFromAccounting is the status of a run whose job the queue does not know any more.
func (r *Resolver) statusFromAccounting(ref Ref, s event.Status) event.Status {
	if again, err := ReadStatus(ref.Logs); err == nil && again.State.Final() {
		return again
	}
	p := r.queryAccounting(ref)
	if p.found && p.job.Ended() {
		s.Queue.State, s.Queue.Reason = p.job.State, p.job.Reason
		return statusFromEnd(ref, s, p.job)
	}
	last := s.Last
	if last.Before(ref.Record.Created) {
		last = ref.Record.Created
	}
	if p.err == nil && r.now().Sub(last) < accountingDeadline {
		s.State, s.Message = event.Unknown, "the queue has forgotten its job, and the accounting does not tell its end yet"
		return s
	}
	s.State, s.ExitCode = event.Failed, new(1)
	s.Message = "the queue has forgotten its job, which left no last word"
	if p.err != nil {
		s.Message += fmt.Sprintf(", and no accounting tells more (%v)", p.err)
	}
	return s
}

func (r *Resolver) queryAccounting(ref Ref) accountingAnswer {
	r.mu.Lock()
	p, ok := r.accounting[ref.Dir]
	r.mu.Unlock()
	if ok && (p.found && p.job.Ended() || r.now().Sub(p.asked) < accountingInterval) {
		return p
	}
	p = accountingAnswer{asked: r.now()}
	p.job, p.found, p.err = slurm.LookupAccounting(context.Background(), ref.Record) // has a time limit of its own
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accounting[ref.Dir] = p
	return p
}
