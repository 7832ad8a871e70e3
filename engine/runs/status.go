package runs

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/logline"
	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/engine/slurm"
)

// Resolver resolves the state of a run from its events, its files, its supervisor and its job.
// Use [NewResolver] to create one.
type Resolver struct {
	queue *slurm.Queue
	now   func() time.Time
	host  string // name of this host

	mu         sync.Mutex
	accounting map[string]accountingAnswer // by run directory
}

// NewResolver returns a Resolver for programs on the given host.
func NewResolver(queue *slurm.Queue, now func() time.Time, host string) *Resolver {
	return &Resolver{queue: queue, now: now, host: host, accounting: map[string]accountingAnswer{}}
}

// State returns the current status of a run from its files and its job.
func (r *Resolver) State(ref Ref) (event.Status, error) {
	s, err := ReadStatus(ref.Logs)
	if err != nil {
		return s, err
	}
	return r.Resolve(ref, s), nil
}

// Resolve resolves the current status of a run from s, the status according to its events. A
// local run whose supervisor has ended without a final event has failed. The state of
// a local run on another host becomes unknown if the run shows no activity.
func (r *Resolver) Resolve(ref Ref, s event.Status) event.Status {
	if s.State.Final() || ref.Record.ID == "" {
		return s
	}
	dirErr := ref.checkDir()
	if ref.OnSlurm() {
		s = r.ResolveJob(ref, s, r.queue.Ask(context.Background())) // has its own time limits
		if dirErr != nil {
			s.Message = strings.TrimSuffix(dirErr.Error()+"; "+s.Message, "; ")
		}
		return s
	}
	if dirErr != nil {
		s.State, s.Message = event.Unknown, dirErr.Error()
		return s
	}
	if ref.Record.Host != r.host {
		return r.resolveRemote(ref, s)
	}
	alive, err := local.Alive(ref.Dir)
	if err == nil && !alive {
		// The run may have written its final event since s was read. That event takes precedence.
		if again, rerr := ReadStatus(ref.Logs); rerr == nil && again.State.Final() {
			return again
		}
	}
	switch {
	case err != nil:
		s.State, s.Message = event.Unknown, err.Error()
	case alive && s.State == "":
		s.State = event.Starting
	case !alive && r.now().Sub(ref.Record.Created) < local.StartTimeout && s.State == "":
		s.State = event.Pending
	case !alive:
		s.State, s.ExitCode = event.Failed, new(1)
		s.Message = "the supervisor of the run ended without a final event (killed?); its servers have ended too"
		if last := lastError(filepath.Join(ref.Logs, "sweep_"+ref.Record.ID+".log")); last != "" {
			s.Message = "the supervisor of the run ended; its servers have ended too; last line of its log: " + last
		}
	}
	return s
}

// lastError returns the last line of the job's log if it is an error. If the disk was full, this
// line is the only record of the cause, because no event could be written.
func lastError(path string) string {
	v := logview.NewView(time.Local, path)
	defer v.Close()
	at, err := v.End()
	if err != nil {
		return ""
	}
	got, err := v.Step(context.Background(), logview.Query{From: at, Back: true, Lines: 1})
	if err != nil || len(got.Lines) == 0 {
		return ""
	}
	if l := got.Lines[0]; l.Severity() == logline.Error || strings.Contains(l.Text, logline.DiskFull) {
		return strings.ToValidUTF8(l.Text[:min(len(l.Text), 300)], "")
	}
	return ""
}

// remoteSilence is how long a run on another host may show no activity before its state is
// unknown. Its lock is not visible on this host.
const remoteSilence = 2 * time.Minute

// resolveRemote resolves the status of a run whose supervisor or queue this host can't see.
func (r *Resolver) resolveRemote(ref Ref, s event.Status) event.Status {
	last := s.Last
	if wrote := ref.lastRowTime(); wrote.After(last) {
		last = wrote
	}
	if r.now().Sub(last) > remoteSilence {
		s.State, s.Message = event.Unknown, "no recent activity; check the run on its host "+ref.Record.Host
	}
	return s
}

// Ended reports whether a run has stopped writing, according to its resolved status. With
// untilDone a run in an unknown state has not ended.
func (r *Resolver) Ended(ref Ref, s event.Status, untilDone bool) bool {
	if s.State == event.Unknown && s.Queue != nil && s.Queue.Error != "" {
		return false // Slurm may answer again
	}
	if ref.Record.ID != "" {
		return s.State.Final() || s.State == event.Unknown && !untilDone
	}
	wrote := ref.lastRowTime()
	if wrote.IsZero() {
		return !untilDone
	}
	limit := QuietPeriod
	if untilDone && !s.State.Final() {
		limit = externalStallLimit // it may be stalled
	}
	return r.now().Sub(wrote) > limit
}

// QuietPeriod is how long the outputs of an external run must be unchanged for the run to count
// as ended.
const QuietPeriod = time.Minute

// externalStallLimit replaces QuietPeriod while the statistics of the last phase are missing.
const externalStallLimit = 10 * time.Minute

// ReadStatus returns the status according to the events in a log directory; zero without
// events.
func ReadStatus(logs string) (event.Status, error) {
	var s event.Status
	all, err := event.ReadLogs(logs)
	for _, ev := range all {
		s.Apply(ev)
	}
	return s, err
}
