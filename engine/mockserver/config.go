// Package mockserver is an OpenAI-compatible server that answers from
// arithmetic instead of a model: it counts prompt tokens, keeps a prefix cache
// as the serving engines do, and streams tokens at times that follow from the
// request alone. It plays one process of a deployment at a time: an aggregated
// worker, a prefill or decode worker, or the frontend that routes between them.
//
// Everything it will answer can be computed beforehand with the exported pure
// functions ([ParsePrompt], [Timing], [Faults]), which is what makes it a
// reference. It knows nothing of recipes, clients or schedulers.
package mockserver

import (
	"fmt"
	"net/http"

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
		return nil, fmt.Errorf("mock server: times %v, %v, %v: want none below 0", t.PrefillBase, t.PrefillPerToken, t.ITL)
	}
	if !(cfg.ToolCalls >= 0 && cfg.ToolCalls <= 1) {
		return nil, fmt.Errorf("mock server: %g of the requests answered by tool calls: want a fraction from 0 to 1",
			cfg.ToolCalls)
	}
	if !(cfg.Timing.Spread >= 0 && cfg.Timing.Spread < 1) {
		return nil, fmt.Errorf("mock server: spread %g: want a fraction from 0 to below 1", cfg.Timing.Spread)
	}
	if f := cfg.Faults; !(f.HTTPError >= 0 && f.Abort >= 0 && f.EventError >= 0 && f.HTTPError+f.Abort+f.EventError <= 1) {
		return nil, fmt.Errorf("mock server: fault rates %g, %g, %g: want fractions that add up to at most 1",
			f.HTTPError, f.Abort, f.EventError)
	}
	cfg = cfg.withDefaults()
	switch cfg.Role {
	case schema.Agg, schema.Prefill, schema.Decode:
		return newWorker(cfg), nil
	case schema.Frontend:
		return newFrontend(cfg)
	}
	return nil, fmt.Errorf("mock server: role %q: want agg, prefill, decode or frontend", cfg.Role)
}
