// Package replay is the built-in client. It replays recorded agent conversations against an
// OpenAI-compatible server, with at most one request in flight per user, and writes the same files
// as the external AgentPerf client. Those files, the banner and the summary name this
// implementation, so that its figures can't be mistaken for those of the external client.
//
// The requests of each user and their order depend only on the dataset and the seed (see [Script]);
// only times are measured. [Run] reads a workload file; everything else works on a [Config].
package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// ConfigError is returned if a replay did not start because its workload file or options are
// invalid.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns the underlying error.
func (e *ConfigError) Unwrap() error { return e.Err }

// ErrInterrupted is returned (wrapped) by [Run] when its context ends before the last phase does.
// The files of the interrupted phase are written and record the interruption.
var ErrInterrupted = problem.New(problem.Interrupted, "replay interrupted")

// errAllFailed is returned (wrapped) by Run when all requests of a phase failed.
// The files of that phase are written; later phases are skipped.
var errAllFailed = problem.New(problem.AllRequestsFailed, "all requests failed")

// runConfig runs all phases of cfg and writes their files. It checks the configuration and the
// dataset first; if they are invalid, the results directory is not touched. Failed requests are
// results, not errors, unless all requests of a phase fail.
//
// When ctx ends, runConfig sends no new requests and gives those in flight cfg.InterruptGrace to
// finish. It then writes the phase's files and returns [ErrInterrupted].
func runConfig(ctx context.Context, cfg Config) error {
	if err := cfg.check(); err != nil {
		return err
	}
	if cfg.RequestLogPath == "" {
		cfg.RequestLogPath = filepath.Join(cfg.ResultsDir, "requests.jsonl")
	}
	log := &logger{w: cfg.Log}
	log.print(banner(cfg))
	log.print(fmt.Sprintf("Loading trajectories from %s...\n", cfg.TrajectoryPath))
	data, err := OpenDataset(ctx, cfg)
	if err != nil {
		return err
	}
	log.print(datasetLines(cfg, data))
	return errors.Join(runPhases(ctx, cfg, log, data), data.Close())
}

func runPhases(ctx context.Context, cfg Config, log *logger, data *Dataset) (err error) {
	r := &run{cfg: cfg, log: log, data: data, client: newClient(cfg), clock: newClock()}
	defer r.client.http.CloseIdleConnections()
	if err := r.prepareFiles(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.requests.file.Close()) }()
	for i, users := range cfg.Concurrencies {
		if err := r.runPhase(ctx, i, users); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w in phase %d: %w", ErrInterrupted, i, context.Cause(ctx))
		}
	}
	return nil
}

// run is the state that the phases of one replay share.
type run struct {
	cfg      Config
	log      *logger
	data     *Dataset
	client   *client
	clock    clock
	requests *requestLog
}

func (r *run) manifestPath() string {
	return filepath.Join(r.cfg.ResultsDir, "phase_manifest.jsonl")
}

// prepareFiles opens the request log and empties the phase manifest, which may list
// phases of an earlier replay into the same directory.
func (r *run) prepareFiles() error {
	for _, dir := range []string{r.cfg.ResultsDir, filepath.Dir(r.cfg.RequestLogPath)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("create the results directory: %w", err)
		}
	}
	if err := os.WriteFile(r.manifestPath(), nil, 0o644); err != nil {
		return fmt.Errorf("reset the phase manifest: %w", err)
	}
	var err error
	r.requests, err = openRequestLog(r.cfg.RequestLogPath)
	return err
}

// clock converts times to Unix seconds. It reads the wall clock once and then uses the
// monotonic clock, so that changes to the system time don't affect the rows.
type clock struct {
	zero time.Time
	unix float64
}

func newClock() clock {
	now := time.Now()
	return clock{zero: now, unix: float64(now.UnixNano()) / 1e9}
}

func (c clock) seconds(t time.Time) float64 { return c.unix + t.Sub(c.zero).Seconds() }

// stem returns the name of a phase's files without suffix.
func (r *run) stem(index, users int) string {
	return fmt.Sprintf("%s__%du__phase%d__dur%ss__settle%ss__traj%d",
		strings.ReplaceAll(r.cfg.Model, "/", "_"), users, index,
		shortSeconds(r.cfg.PhaseTimeout), shortSeconds(r.cfg.SettlingTime), r.data.perUser)
}

// seconds converts seconds to a duration.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// logger writes the human-readable log. It ignores write errors, which must not end a measurement.
type logger struct {
	mu sync.Mutex
	w  io.Writer // may be nil
}

func (l *logger) print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w != nil {
		_, _ = l.w.Write([]byte(text))
	}
}

// eventKind names a milestone of a phase.
type eventKind string

// The milestones of a phase, in order. A phase that stops early skips some of them.
const (
	eventPhaseStart   eventKind = "phase_start"   // the ramp-up begins
	eventRampDone     eventKind = "ramp_done"     // the last user has started, settling begins
	eventSettlingDone eventKind = "settling_done" // the measuring window begins
	eventStop         eventKind = "stop"          // no more requests are sent; Reason is set
	eventDrained      eventKind = "drained"       // no request is in flight
	eventPhaseEnd     eventKind = "phase_end"     // the phase's files are written
)

// stopReason is the reason why a phase stopped.
type stopReason string

// The reasons to stop.
const (
	stopTimeout     stopReason = "timeout"     // the phase reached its timeout
	stopCriteria    stopReason = "criteria"    // all stop criteria were met
	stopInterrupted stopReason = "interrupted" // the context ended
	stopFailed      stopReason = "failed"      // the client itself failed, for instance on a full disk
)

// phaseEvent reports the progress of a phase.
type phaseEvent struct {
	Kind        eventKind   `json:"kind"`
	Time        float64     `json:"time"` // when it was due or happened, Unix seconds
	Phase       int         `json:"phase_idx"`
	Concurrency int         `json:"concurrency"`
	Reason      stopReason  `json:"reason,omitempty"` // set from eventStop on
	Counts      phaseCounts `json:"counts"`           // of this phase so far
	Stem        string      `json:"stem"`             // the name of the phase's files without suffix
}

// phaseCounts counts the requests and trajectories of a phase.
type phaseCounts struct {
	Successful   int `json:"successful"`
	Failed       int `json:"failed"`
	InFlight     int `json:"in_flight"`
	CutOff       int `json:"cut_off"` // cancelled at the end of the drain; they have no row
	Trajectories int `json:"trajectories"`
}
