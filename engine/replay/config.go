package replay

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// implementation is the name of this client in the banner and in all outputs.
const implementation = "agentperf-tui built-in replay"

// Config configures one replay. A field is required unless its comment says otherwise.
type Config struct {
	BaseURL    string // base URL of the API, usually ending in /v1
	APIKey     string // bearer token; if empty, none is sent
	Model      string // served model name
	ServerType string // only shown in the banner

	Concurrencies []int         // numbers of users, one phase each, in order
	PhaseTimeout  time.Duration // ends a phase, counted from the start of its ramp-up
	SettlingTime  time.Duration // from the start of the last user to the measuring window
	SpawnRate     float64       // ramp-up in users per second: user i starts after i/SpawnRate seconds
	// MinMeasurement, MinTotalTrajectories (completed by all users since the start of the
	// phase) and MinTrajectoriesPerUser are the stop criteria: a phase ends before its
	// timeout once all of them are met.
	MinMeasurement         time.Duration
	MinTotalTrajectories   int
	MinTrajectoriesPerUser int
	RequestTimeout         time.Duration // limits each request, and the drain after a stop
	InterruptGrace         time.Duration // limits the drain if the context ends

	TrajectoryPath string // JSONL file of recorded turns
	// AssignmentsPath is the JSON file of user assignments. If empty, each user is assigned
	// TrajectoriesPerUser conversations, chosen by Seed.
	AssignmentsPath     string
	TrajectoriesPerUser int
	DelayKey            string // key of a row's tool-call delay in milliseconds; if empty, there are no delays
	// MaxStartingOffset is the last turn at which a user's first trajectory may begin.
	// The turn is random, with Seed as the seed.
	MaxStartingOffset int
	Seed              int64

	MaxTokens       int    // limits the output of each request; a lower limit of the trajectory takes precedence
	ReasoningEffort string // if empty, none is sent
	// RoutingHeaders sends X-Session-ID and X-Correlation-ID, DynamoHeaders sends
	// X-Dynamo-Session-ID. Each pass through a trajectory has its own value.
	RoutingHeaders bool
	DynamoHeaders  bool

	ResultsDir string // directory of the output files; created if missing
	// RequestLogPath is the file that request rows are appended to while the replay runs;
	// default: requests.jsonl in ResultsDir.
	RequestLogPath string
	Version        string // of this program; part of the client's name in all outputs
	// Log receives the banner, the summaries and a line for the first failure of each kind.
	// It may be nil.
	Log io.Writer
	// onEvent, if set, is called for each milestone of a phase, one call at a time. The phase
	// waits until it returns.
	onEvent func(phaseEvent)
}

func (c Config) clientName() string {
	if c.Version == "" {
		return implementation
	}
	return implementation + " " + c.Version
}

func (c Config) maxConcurrency() int { return slices.Max(c.Concurrencies) }

// Limits far above what one machine can replay, but low enough to fit in its memory.
const (
	maxUsers   = 1 << 20
	maxPerUser = 1 << 10
	maxModel   = 180 // bytes; the model name is part of file names

	minSpawnRate = 0.001
)

// check returns all errors of the configuration, one per line.
func (c Config) check() error {
	var errs []error
	want := func(ok bool, name string, got any, wanted string) {
		if !ok {
			errs = append(errs, problem.Errorf(problem.ValueInvalid, "%s must be %s, got %v", name, wanted, got))
		}
	}
	u, err := url.Parse(c.BaseURL)
	want(err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "", "base_url",
		fmt.Sprintf("%q", c.BaseURL), "http://host:port/v1")
	want(c.Model != "" && len(c.Model) <= maxModel && strings.IndexFunc(c.Model, unicode.IsControl) < 0,
		"model", fmt.Sprintf("%q", c.Model), fmt.Sprintf("the served model's name, at most %d bytes long", maxModel))
	want(len(c.Concurrencies) > 0, "concurrencies", "an empty list", "at least one number of users")
	for _, n := range c.Concurrencies {
		want(n > 0 && n <= maxUsers, "concurrency", n, fmt.Sprintf("between 1 and %d", maxUsers))
	}
	want(c.PhaseTimeout > 0, "phase_timeout_seconds", c.PhaseTimeout, "more than 0")
	want(c.SettlingTime >= 0, "settling_time_seconds", c.SettlingTime, "0 or more")
	want(c.SpawnRate >= minSpawnRate, "user_spawn_rate", c.SpawnRate,
		fmt.Sprintf("at least %g users per second", minSpawnRate))
	want(c.MinMeasurement >= 0, "min_measurement_seconds", c.MinMeasurement, "0 or more")
	want(c.MinTotalTrajectories >= 0, "min_total_trajectories", c.MinTotalTrajectories, "0 or more")
	want(c.MinTrajectoriesPerUser >= 0, "min_trajectories_per_user", c.MinTrajectoriesPerUser, "0 or more")
	want(c.RequestTimeout > 0, "timeout_seconds", c.RequestTimeout, "more than 0")
	want(c.InterruptGrace >= 0, "grace time after an interrupt", c.InterruptGrace, "0 or more")
	want(c.TrajectoryPath != "", "trajectory_path", `""`, "the path of a JSONL file")
	want(c.AssignmentsPath != "" || c.TrajectoriesPerUser >= 1 && c.TrajectoriesPerUser <= maxPerUser,
		"trajectories_per_user", c.TrajectoriesPerUser,
		fmt.Sprintf("between 1 and %d when user_assignments_path is not set", maxPerUser))
	want(c.MaxStartingOffset >= 0, "max_starting_line_offset", c.MaxStartingOffset, "0 or more")
	want(c.MaxTokens >= 1, "max_tokens", c.MaxTokens, "1 or more")
	want(c.ResultsDir != "", "results directory", `""`, "set")
	if len(errs) > 0 {
		return &ConfigError{problem.Errorf(problem.ValueInvalid, "replay: invalid configuration:\n%w", errors.Join(errs...))}
	}
	return nil
}
