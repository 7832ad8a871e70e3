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

// Resolver says what the state of a run is by all the evidence: its events, its
// files, its supervisor, its job. Make it with [NewResolver].
type Resolver struct {
	queue *slurm.Queue
	now   func() time.Time
	host  string // this machine

	mu         sync.Mutex
	accounting map[string]accountingAnswer // by the folder of the run
}

// NewResolver makes a resolver that asks a queue, on the machine host.
func NewResolver(queue *slurm.Queue, now func() time.Time, host string) *Resolver {
	return &Resolver{queue: queue, now: now, host: host, accounting: map[string]accountingAnswer{}}
}

// State is what can be said of a run now, from its own files and its job.
func (r *Resolver) State(ref Ref) (event.Status, error) {
	s, err := ReadStatus(ref.Logs)
	if err != nil {
		return s, err
	}
	return r.Resolve(ref, s), nil
}

// Resolve turns what the events add up to into what can be said of the run now: a run whose
// supervisor is gone without a final word has failed, and one on another machine
// whose end is not known is unknown.
func (r *Resolver) Resolve(ref Ref, s event.Status) event.Status {
	if s.State.Final() || ref.Record.ID == "" {
		return s
	}
	gone := ref.checkDir()
	if ref.OnSlurm() {
		s = r.ResolveJob(ref, s, r.queue.Ask(context.Background())) // has time limits of its own
		if gone != nil {
			s.Message = strings.TrimSuffix(gone.Error()+"; "+s.Message, "; ")
		}
		return s
	}
	if gone != nil {
		s.State, s.Message = event.Unknown, gone.Error()
		return s
	}
	if ref.Record.Host != r.host {
		return r.resolveRemote(ref, s)
	}
	alive, err := local.Alive(ref.Dir)
	if err == nil && !alive {
		// It may have ended between the two looks: its last word counts.
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
		s.Message = "the run's supervisor ended without a word (killed?); its servers went with it"
		if last := lastError(filepath.Join(ref.Logs, "sweep_"+ref.Record.ID+".log")); last != "" {
			s.Message = "the run's supervisor ended, and its servers with it; its log says: " + last
		}
	}
	return s
}

// lastError is the last line of the job's log, if it tells of an error: of a full disk
// it is the only trace, for the events could not be written then.
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

// remoteSilence is how long a run on another machine may say nothing until its state is
// not known any more: its lock is not seen from here.
const remoteSilence = 2 * time.Minute

func (r *Resolver) resolveRemote(ref Ref, s event.Status) event.Status {
	last := s.Last
	if wrote := ref.lastRowTime(); wrote.After(last) {
		last = wrote
	}
	if r.now().Sub(last) > remoteSilence {
		s.State, s.Message = event.Unknown, "runs on "+ref.Record.Host+", which has said nothing for a while; look there"
	}
	return s
}

// Ended says whether a run writes no more, by its status as resolved. UntilDone waits
// out a state that is not known.
func (r *Resolver) Ended(ref Ref, s event.Status, untilDone bool) bool {
	if s.State == event.Unknown && s.Queue != nil && s.Queue.Error != "" {
		return false // an outage passes
	}
	if ref.Record.ID != "" {
		return s.State.Final() || s.State == event.Unknown && !untilDone
	}
	wrote := ref.lastRowTime()
	if wrote.IsZero() {
		return !untilDone
	}
	most := QuietPeriod
	if untilDone && !s.State.Final() {
		most = externalStallLimit // it may be a stall
	}
	return r.now().Sub(wrote) > most
}

// QuietPeriod is how long another tool's outputs must have been still to count as ended.
const QuietPeriod = time.Minute

// externalStallLimit is how long they must have been still where no phase's statistics say that it has ended.
const externalStallLimit = 10 * time.Minute

// ReadStatus folds the events of a log dir. Without event files it is the zero status.
func ReadStatus(logs string) (event.Status, error) {
	var s event.Status
	all, err := event.ReadLogs(logs)
	for _, ev := range all {
		s.Apply(ev)
	}
	return s, err
}
