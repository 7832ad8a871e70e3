package mockserver

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// The protocol between frontend and workers. A prefill worker takes a chat request and responds with
// a prefillReply after the prefill time. A decode worker takes the chat request, with the values of
// the prefillReply as headers, and responds as an OpenAI server does.
const (
	prefillPath = "/internal/prefill"
	decodePath  = "/internal/decode"

	headerPromptTokens = "X-Mock-Prompt-Tokens"
	headerCachedTokens = "X-Mock-Cached-Tokens"
	headerFirstToken   = "X-Mock-First-Token" // when the first token is due, Unix nanoseconds
)

type prefillReply struct {
	PromptTokens int   `json:"prompt_tokens"`
	CachedTokens int   `json:"cached_tokens"`
	FirstToken   int64 `json:"first_token"` // Unix nanoseconds
}

type worker struct {
	cfg     Config
	cache   *prefixCache
	created time.Time
}

func newWorker(cfg Config) http.Handler {
	w := &worker{cfg: cfg, cache: newPrefixCache(cfg.BlockTokens, cfg.CacheBlocks), created: time.Now()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", w.health)
	switch cfg.Role {
	case schema.Prefill:
		mux.HandleFunc("POST "+prefillPath, w.chat(w.prefill))
	case schema.Decode:
		mux.HandleFunc("POST "+decodePath, w.chat(w.decode))
	default:
		mux.HandleFunc("GET /v1/models", models(cfg.Model))
		mux.HandleFunc("POST /v1/chat/completions", w.chat(w.complete))
	}
	return mux
}

func (wk *worker) health(w http.ResponseWriter, _ *http.Request) {
	if time.Since(wk.created) < wk.cfg.Faults.SlowStart {
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "starting"})
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

// prefillPrompt waits for the prefill time. It returns the number of cached prompt tokens and the
// time of the first output token; ok is false if the client has disconnected.
func (wk *worker) prefillPrompt(ctx context.Context, arrival time.Time, p Prompt) (cached int, due time.Time, ok bool) {
	cached = wk.cache.lookup(p)
	due = arrival.Add(wk.cfg.Timing.Prefill(p.Key, p.Tokens, cached))
	if !sleepUntil(ctx, due) {
		return 0, time.Time{}, false
	}
	wk.cache.insert(p)
	return cached, due, true
}

// chat returns a handler that parses a request and, if it is valid, calls handle.
func (wk *worker) chat(handle func(http.ResponseWriter, *http.Request, parsedRequest, time.Time)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		arrival := time.Now()
		if req, ok := wk.cfg.parse(w, r); ok {
			handle(w, r, req, arrival)
		}
	}
}

func (wk *worker) prefill(w http.ResponseWriter, r *http.Request, req parsedRequest, arrival time.Time) {
	if cached, due, ok := wk.prefillPrompt(r.Context(), arrival, req.prompt); ok {
		writeJSON(w, http.StatusOK,
			prefillReply{PromptTokens: req.prompt.Tokens, CachedTokens: cached, FirstToken: due.UnixNano()})
	}
}

func (wk *worker) decode(w http.ResponseWriter, r *http.Request, req parsedRequest, arrival time.Time) {
	var counts [2]int
	for i, name := range []string{headerPromptTokens, headerCachedTokens} {
		n, err := strconv.Atoi(r.Header.Get(name))
		if err != nil {
			writeError(w, http.StatusBadRequest, name+" is missing; only a frontend may send requests to decode workers")
			return
		}
		counts[i] = n
	}
	wk.respond(w, r, req, usageOf(counts[0], counts[1], req.output), firstToken(r.Header.Get(headerFirstToken), arrival))
}

func (wk *worker) complete(w http.ResponseWriter, r *http.Request, req parsedRequest, arrival time.Time) {
	if cached, due, ok := wk.prefillPrompt(r.Context(), arrival, req.prompt); ok {
		wk.respond(w, r, req, usageOf(req.prompt.Tokens, cached, req.output), due)
	}
}

// firstToken returns the time of the first token as sent by the prefill worker, so that network
// delays between the processes don't postpone it. If it differs from the arrival by more than a second,
// the clocks disagree and firstToken returns the arrival.
func firstToken(header string, arrival time.Time) time.Time {
	ns, err := strconv.ParseInt(header, 10, 64)
	if err != nil {
		return arrival
	}
	late := time.Duration(arrival.UnixNano() - ns)
	if late.Abs() > time.Second {
		return arrival
	}
	return arrival.Add(-late)
}

func models(model string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{
			"object": "list", "data": []map[string]any{{"id": model, "object": "model", "owned_by": "mock"}},
		})
	}
}

// sleepUntil waits until t. It returns false if ctx ends first.
func sleepUntil(ctx context.Context, t time.Time) bool {
	d := time.Until(t)
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
