package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Options are the command line options of the client. They override the workload file.
type Options struct {
	Workload       string // path of the workload file
	BaseURL, Model string
	APIKey         string // default: the workload's
	Levels         []int  // concurrency levels; default: the workload's
	ResultsDir     string
	RequestLog     string // default: requests.jsonl in ResultsDir
	Seed           *int64 // default: the workload's
	DelayKey       string // see Config
	EventFile      string // path of the event log; if empty, none is written
	Log            io.Writer
	Version        string           // of this program
	Now            func() time.Time // for the event log
}

// DefaultDelayKey is the key of a turn's tool-call delay in the public datasets, in milliseconds.
const DefaultDelayKey = "simulated_tool_delay_ms_after"

// interruptGrace limits the drain after an interrupt. Slurm leaves a cancelled job little time.
const interruptGrace = 5 * time.Second

// Run replays a workload file. When ctx ends, it writes the files of the partial phase and
// returns [ErrInterrupted].
func Run(ctx context.Context, opt Options) error {
	w, found, err := recipes.LoadWorkload(opt.Workload)
	if err != nil {
		return &ConfigError{Err: fmt.Errorf("replay: %w", err)}
	}
	for _, d := range found {
		if d.Severity == recipes.Error {
			return &ConfigError{Err: problem.Errorf(problem.RecipeInvalid, "replay: %s", d)}
		}
	}
	cfg, err := ConfigOf(w, opt)
	if err != nil {
		return err
	}
	if opt.EventFile == "" {
		return runConfig(ctx, cfg)
	}
	log, err := event.OpenAppender(opt.EventFile, opt.Now)
	if err != nil {
		return err
	}
	var writeErr error // of the first event that could not be written
	cfg.onEvent = func(ev phaseEvent) {
		if err := appendPhase(log, ev); err != nil && writeErr == nil {
			writeErr = err
		}
	}
	return errors.Join(runConfig(ctx, cfg), writeErr, log.Close())
}

// ConfigOf returns the configuration of a workload with the options applied.
func ConfigOf(w *recipes.Workload, opt Options) (Config, error) {
	for _, q := range []recipes.Quantity{
		w.PhaseTimeout, w.Settling, w.SpawnRate, w.MinMeasurement, w.MinTotalTrajectories,
		w.MinTrajectoriesPerUser,
	} {
		if q.Value == nil {
			return Config{}, &ConfigError{
				problem.Errorf(problem.ValueInvalid, "replay: %s: %s is not a valid number", w.File, q.Key),
			}
		}
	}
	seconds := func(f float64) time.Duration { return time.Duration(math.Round(f * float64(time.Second))) }
	cfg := Config{
		BaseURL: opt.BaseURL, APIKey: w.APIKey, Model: opt.Model, ServerType: w.ServerType, Concurrencies: opt.Levels,
		PhaseTimeout: seconds(w.PhaseTimeout.Float()), SettlingTime: seconds(w.Settling.Float()),
		SpawnRate:      w.SpawnRate.Float(),
		MinMeasurement: seconds(w.MinMeasurement.Float()), MinTotalTrajectories: int(w.MinTotalTrajectories.Float()),
		MinTrajectoriesPerUser: int(w.MinTrajectoriesPerUser.Float()), RequestTimeout: seconds(w.RequestTimeoutSeconds),
		InterruptGrace: interruptGrace,
		TrajectoryPath: w.TrajectoryPath, AssignmentsPath: w.AssignmentsPath, TrajectoriesPerUser: w.TrajectoriesPerUser,
		DelayKey:          opt.DelayKey,
		MaxStartingOffset: w.MaxStartingOffset, Seed: w.Seed, MaxTokens: w.MaxTokens, ReasoningEffort: w.ReasoningEffort,
		RoutingHeaders: w.RoutingHeaders, DynamoHeaders: w.DynamoHeaders, ResultsDir: opt.ResultsDir,
		RequestLogPath: opt.RequestLog, Log: opt.Log, Version: opt.Version,
	}
	if len(cfg.Concurrencies) == 0 {
		cfg.Concurrencies = w.Levels
	}
	if opt.APIKey != "" {
		cfg.APIKey = opt.APIKey
	}
	if opt.Seed != nil {
		cfg.Seed = *opt.Seed
	}
	// In workload files of the harness, "none" means that no effort is sent.
	if strings.EqualFold(cfg.ReasoningEffort, "none") {
		cfg.ReasoningEffort = ""
	}
	if cfg.TrajectoriesPerUser == 0 {
		cfg.TrajectoriesPerUser = 1
	}
	return cfg, nil
}

// phaseStates maps the milestones of a phase to states of the run.
var phaseStates = map[eventKind]event.State{
	eventPhaseStart: event.Ramp, eventRampDone: event.Settling, eventSettlingDone: event.Measuring, eventStop: event.Post,
}

func appendPhase(log *event.Appender, ev phaseEvent) error {
	data := event.Data{
		Phase: &ev.Phase, Concurrency: ev.Concurrency, State: phaseStates[ev.Kind],
		Requests: ev.Counts.Successful + ev.Counts.Failed,
		Failures: ev.Counts.Failed, Active: ev.Counts.InFlight, Cut: ev.Counts.CutOff, Message: string(ev.Reason),
	}
	if data.State == "" {
		data.Message = strings.TrimSpace(string(ev.Kind) + " " + data.Message)
	}
	return log.Add(event.Phase, event.ClientStep, data)
}
