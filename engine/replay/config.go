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

// implementation is what the banner and every output call this client.
const implementation = "agentperf-tui built-in replay"

// Config is one replay: where to send, what, and where the results go. Fields
// without a remark are required; nothing has a hidden default.
type Config struct {
	BaseURL    string // the API's base, usually ending in /v1
	APIKey     string // sent as a bearer token; empty sends none
	Model      string // the served model's name
	ServerType string // recorded in the banner alone

	Concurrencies []int         // the numbers of users, a phase each, in order
	PhaseTimeout  time.Duration // ends a phase, counted from the start of its ramp-up
	SettlingTime  time.Duration // between the last user's start and the measurement
	SpawnRate     float64       // the ramp-up in users per second: user i starts at i/SpawnRate
	// MinMeasurement, MinTotalTrajectories (completed by all users together since
	// the phase began) and MinTrajectoriesPerUser (completed by each) are the stop
	// criteria: a phase ends before its timeout once all of them hold.
	MinMeasurement         time.Duration
	MinTotalTrajectories   int
	MinTrajectoriesPerUser int
	RequestTimeout         time.Duration // limits one request, and the drain after the stop
	InterruptGrace         time.Duration // limits the drain instead when the context ends

	TrajectoryPath string // the JSONL file of recorded turns
	// AssignmentsPath is the JSON file of user assignments. Without it (empty)
	// each user gets TrajectoriesPerUser conversations by a seeded choice.
	AssignmentsPath     string
	TrajectoriesPerUser int
	DelayKey            string // the key of a row's tool-call delay in milliseconds; empty plays without delays
	// MaxStartingOffset is the highest turn at which a user's first trajectory
	// may begin. It is drawn from Seed.
	MaxStartingOffset int
	Seed              int64

	MaxTokens       int    // limits every request's output; a trajectory's own limit holds too, where it is smaller
	ReasoningEffort string // sent when not empty
	// RoutingHeaders sends X-Session-ID and X-Correlation-ID, DynamoHeaders
	// X-Dynamo-Session-ID: one value for each pass through a trajectory.
	RoutingHeaders bool
	DynamoHeaders  bool

	ResultsDir string // takes the output files; it is created
	// RequestLogPath takes the live request rows; empty is requests.jsonl in
	// ResultsDir. Rows are appended.
	RequestLogPath string
	Version        string // this program's, for the client's name in all outputs
	// Log takes the banner, the summaries and one line for the first failure of
	// each kind. nil is no log.
	Log io.Writer
	// onEvent, if set, is told of a phase's progress, one call at a time. It
	// must return soon: the phase waits for it.
	onEvent func(phaseEvent)
}

func (c Config) clientName() string {
	if c.Version == "" {
		return implementation
	}
	return implementation + " " + c.Version
}

func (c Config) maxConcurrency() int { return slices.Max(c.Concurrencies) }

// Bounds far above what one machine can play, and far below what would exhaust its memory.
const (
	maxUsers   = 1 << 20
	maxPerUser = 1 << 10
	maxModel   = 180 // bytes; its name becomes part of file names

	minSpawnRate = 0.001
)

// check reports all that is wrong with the configuration, a line each.
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
