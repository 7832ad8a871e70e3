// Package mockserver is an OpenAI-compatible server without a model. It counts prompt tokens,
// keeps a prefix cache as serving engines do, and streams generated tokens at times that depend
// only on the request. A mock server is one process of a deployment: an aggregated worker, a
// prefill or decode worker, or the frontend that routes requests to them.
//
// Every response can be computed in advance with [ParsePrompt] and the methods of [Timing] and
// [Faults], which are pure functions, so the mock server can serve as a reference.
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

// Config configures one mock server. Zero values mean the defaults named here.
type Config struct {
	Role schema.Role // agg, prefill, decode or frontend
	// Model is the served model name. Requests for other models get status 404. If it is empty,
	// any model is served.
	Model  string
	Timing Timing
	Faults Faults
	// BlockTokens is the size of a prefix-cache block in tokens; 0 means 128. It must be the same
	// for all processes of a deployment.
	BlockTokens int
	CacheBlocks int // capacity of the prefix cache; 0 means 65536 blocks
	// MaxOutputTokens limits the length of every response. Responses to requests without a limit
	// have this length. 0 means 256.
	MaxOutputTokens int
	// ToolCalls is the fraction (0 to 1) of requests with tools whose response is a tool call
	// without text. Which requests these are depends on the request's key.
	ToolCalls float64
	// Reasoning turns the first third of a response into reasoning text, if the request sets a
	// reasoning effort.
	Reasoning bool

	// AggURLs, PrefillURLs and DecodeURLs are the frontend's workers, as http://host:port: either
	// only aggregated workers, or both prefill and decode workers.
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

// New returns the handler of a mock server, or an error if the configuration is invalid.
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

// Fault is a fault that is injected into a request.
type Fault string

// The faults. FaultNone is the zero value.
const (
	FaultNone       Fault = ""
	FaultHTTPError  Fault = "http_error"  // status 500
	FaultAbort      Fault = "abort"       // the connection is closed in the middle of the stream
	FaultEventError Fault = "event_error" // an error event ends the stream in the middle
)

// Faults configures fault injection. The zero value injects none.
type Faults struct {
	// HTTPError, Abort and EventError are the fractions of requests that get the fault of that
	// name (0 to 1, and at most 1 in total). Which requests these are depends on the request's
	// key, so a repeated request gets the same fault again.
	HTTPError, Abort, EventError float64
	// SlowStart is how long a new worker reports that it is not ready (status 503 on /health).
	SlowStart time.Duration
}

// For returns the fault of the request with this key.
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
