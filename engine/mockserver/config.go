// Package mockserver is an OpenAI-compatible server that answers from arithmetic instead of a
// model: it counts prompt tokens, keeps a prefix cache as the serving engines do, and streams
// tokens at times that follow from the request alone. It plays one process of a deployment at a
// time: an aggregated worker, a prefill or decode worker, or the frontend that routes between them.
//
// Everything it will answer can be computed beforehand with the exported pure
// functions ([ParsePrompt], [Timing], [Faults]), which is what makes it a
// reference. It knows nothing of recipes, clients or schedulers.
package mockserver

import (
	"net/http"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

const (
	defaultBlockTokens     = 128
	defaultCacheBlocks     = 1 << 16
	defaultMaxOutputTokens = 256
)

// Config describes one mock process. Zero values take the defaults named here.
type Config struct {
	// Role is the part that the process plays: that of a worker, or the frontend,
	// which needs the addresses of workers.
	Role schema.Role
	// Model is the served name. A request for another model is refused with
	// status 404; with an empty Model any name is served.
	Model  string
	Timing Timing
	Faults Faults
	// BlockTokens is the size of a prefix-cache block in tokens; 0 means 128.
	// All processes of one deployment must agree.
	BlockTokens int
	CacheBlocks int // the prefix cache's capacity; 0 means 65536 blocks
	// MaxOutputTokens caps every answer, and is the length of one whose request
	// states no limit; 0 means 256.
	MaxOutputTokens int
	// ToolCalls is the fraction (0 to 1) of requests with tools that are
	// answered by a tool call alone, without text; drawn from the request's key.
	ToolCalls float64
	// Reasoning streams the first third of an answer as reasoning when the
	// request names a reasoning effort.
	Reasoning bool

	// AggURLs, PrefillURLs and DecodeURLs are the frontend's workers, as
	// http://host:port. Either the first alone, or both of the others.
	AggURLs, PrefillURLs, DecodeURLs []string
}

func (c Config) withDefaults() Config {
	if c.BlockTokens <= 0 {
		c.BlockTokens = defaultBlockTokens
	}
	if c.CacheBlocks <= 0 {
		c.CacheBlocks = defaultCacheBlocks
	}
	if c.MaxOutputTokens <= 0 {
		c.MaxOutputTokens = defaultMaxOutputTokens
	}
	return c
}

// New makes the handler of one mock process. It returns an error when the
// configuration contradicts itself.
func New(cfg Config) (http.Handler, error) {
	if t := cfg.Timing; t.PrefillBase < 0 || t.PrefillPerToken < 0 || t.ITL < 0 {
		return nil, problem.Errorf(problem.ServerInvalid,
			"mock server: TTFT, prefill time per token and ITL must not be negative, got %v, %v, %v",
			t.PrefillBase, t.PrefillPerToken, t.ITL)
	}
	if !(cfg.ToolCalls >= 0 && cfg.ToolCalls <= 1) {
		return nil, problem.Errorf(problem.ServerInvalid,
			"mock server: fraction of tool calls must be between 0 and 1, got %g", cfg.ToolCalls)
	}
	if !(cfg.Timing.Spread >= 0 && cfg.Timing.Spread < 1) {
		return nil, problem.Errorf(problem.ServerInvalid,
			"mock server: spread must be at least 0 and less than 1, got %g", cfg.Timing.Spread)
	}
	if f := cfg.Faults; !(f.HTTPError >= 0 && f.Abort >= 0 && f.EventError >= 0 && f.HTTPError+f.Abort+f.EventError <= 1) {
		return nil, problem.Errorf(problem.ServerInvalid,
			"mock server: fault rates must be fractions that add up to at most 1, got %g, %g, %g",
			f.HTTPError, f.Abort, f.EventError)
	}
	cfg = cfg.withDefaults()
	switch cfg.Role {
	case schema.Agg, schema.Prefill, schema.Decode:
		return newWorker(cfg), nil
	case schema.Frontend:
		return newFrontend(cfg)
	}
	return nil, problem.Errorf(problem.ServerInvalid,
		"mock server: role must be agg, prefill, decode or frontend, got %q", cfg.Role)
}

// Fault is what happens to one request.
type Fault string

// The faults a request can meet. FaultNone is the zero value.
const (
	FaultNone       Fault = ""
	FaultHTTPError  Fault = "http_error"  // status 500 instead of an answer
	FaultAbort      Fault = "abort"       // the connection is cut in mid-stream
	FaultEventError Fault = "event_error" // an error event in mid-stream, then the end
)

// Faults makes a worker misbehave. The zero value is a worker without fault.
type Faults struct {
	// HTTPError, Abort and EventError are fractions of all requests (0 to 1,
	// together at most 1) that meet the fault of that name. Which ones is drawn
	// from the request's key, so a repeated request meets its fault again.
	HTTPError, Abort, EventError float64
	// SlowStart is how long after its creation a worker reports that it is not
	// ready (status 503 on /health).
	SlowStart time.Duration
}

// For is the fault that the request with this key meets.
func (f Faults) For(key uint64) Fault {
	u := unit(key, saltFault)
	switch {
	case u < f.HTTPError:
		return FaultHTTPError
	case u < f.HTTPError+f.Abort:
		return FaultAbort
	case u < f.HTTPError+f.Abort+f.EventError:
		return FaultEventError
	}
	return FaultNone
}
