// Package replay is the built-in client: it plays recorded agent conversations against an
// OpenAI-compatible server, one request in flight a user, and leaves the same files as the external
// AgentPerf client does. Those files, the banner and the summary name this implementation, so that
// nobody takes its figures for the external client's.
//
// What each user sends, and in which order, is a pure function of the dataset and the seed
// ([Script]); only the times are measured. [Run] reads the workload file, the rest knows only a
// [Config]. The package knows nothing of schedulers or screens.
package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// ConfigError says that a replay can't start with what was given for it.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap is what is wrong with it.
func (e *ConfigError) Unwrap() error { return e.Err }

// ErrInterrupted is what [Run] returns (wrapped) when its context ended before the last phase had.
// The files of the phase that was cut short are written, and say so.
var ErrInterrupted = problem.New(problem.Interrupted, "replay interrupted")

// errNothingSucceeded is what Run returns (wrapped) when not one request of a
// phase did: the files are written, and later phases are not played.
var errNothingSucceeded = problem.New(problem.AllRequestsFailed, "no request succeeded")

// play plays all phases of cfg and writes their files. Everything that can be checked beforehand
// is, so that a bad configuration or dataset leaves the results folder as it was. Failed requests
// are results, not an error of play, unless all of a phase fail.
//
// When ctx ends, no new request is sent, those in flight get cfg.InterruptGrace, the phase's files
// are written with what was measured, and play returns [ErrInterrupted].
func play(ctx context.Context, cfg Config) error {
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
		if err := r.phase(ctx, i, users); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w in phase %d: %w", ErrInterrupted, i, context.Cause(ctx))
		}
	}
	return nil
}

// run is what the phases of one replay share.
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

// prepareFiles opens the request log and empties the manifest of an earlier
// start, whose phases are not this one's.
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

// clock turns moments into Unix seconds. It reads the wall clock once, so that a
// step of it does not reach into the rows.
type clock struct {
	zero time.Time
	unix float64
}

func newClock() clock {
	now := time.Now()
	return clock{zero: now, unix: float64(now.UnixNano()) / 1e9}
}

func (c clock) seconds(t time.Time) float64 { return c.unix + t.Sub(c.zero).Seconds() }

// stem is the name of a phase's files without suffix.
func (r *run) stem(index, users int) string {
	return fmt.Sprintf("%s__%du__phase%d__dur%ss__settle%ss__traj%d",
		strings.ReplaceAll(r.cfg.Model, "/", "_"), users, index,
		shortSeconds(r.cfg.PhaseTimeout), shortSeconds(r.cfg.SettlingTime), r.data.perUser)
}

// seconds makes a duration of seconds, for times that are configured as such.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// logger writes whole pieces of text for people. A log that can't be written is
// no reason to end a measurement, so its errors are dropped.
type logger struct {
	mu sync.Mutex
	w  interface{ Write([]byte) (int, error) }
}

func (l *logger) print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w != nil {
		_, _ = l.w.Write([]byte(text))
	}
}

// eventKind is a step of a phase.
type eventKind string

// The steps of a phase, in this order. Some are left out when a phase stops
// before it has reached them.
const (
	eventPhaseStart   eventKind = "phase_start"   // the ramp-up begins
	eventRampDone     eventKind = "ramp_done"     // the last user has started, settling begins
	eventSettlingDone eventKind = "settling_done" // the measurement begins
	eventStop         eventKind = "stop"          // no new request from here on; Reason says why
	eventDrained      eventKind = "drained"       // nothing is in flight any more
	eventPhaseEnd     eventKind = "phase_end"     // the phase's files are written
)

// stopReason says why a phase stopped.
type stopReason string

// The reasons to stop.
const (
	stopTimeout     stopReason = "timeout"     // the phase's time was up
	stopCriteria    stopReason = "criteria"    // all stop criteria held
	stopInterrupted stopReason = "interrupted" // the context ended
	stopFailed      stopReason = "failed"      // this client can't go on, for instance on a full disk
)

// phaseEvent is a phase's progress, plain data to be written to a file.
type phaseEvent struct {
	Kind        eventKind   `json:"kind"`
	Time        float64     `json:"time"` // the moment it was due or happened, Unix seconds
	Phase       int         `json:"phase_idx"`
	Concurrency int         `json:"concurrency"`
	Reason      stopReason  `json:"reason,omitempty"` // set from the stop on
	Counts      phaseCounts `json:"counts"`           // of this phase so far
	Stem        string      `json:"stem"`             // the name of the phase's files without suffix
}

// phaseCounts are requests and trajectories of a phase.
type phaseCounts struct {
	Successful   int `json:"successful"`
	Failed       int `json:"failed"`
	InFlight     int `json:"in_flight"`
	CutOff       int `json:"cut_off"` // in flight when the drain's time was up; they have no row
	Trajectories int `json:"trajectories"`
}
