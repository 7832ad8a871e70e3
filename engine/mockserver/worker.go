package mockserver

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// The worker protocol behind the frontend. Prefill takes the chat request and answers with
// prefillReply after the prompt's time. Decode takes the chat request with the prefill's figures as
// headers, and answers as an OpenAI server does.
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

// prefillPrompt waits until the prompt is processed and tells how much of it was cached and when
// its first token is due. It returns false when the client has gone.
func (wk *worker) prefillPrompt(ctx context.Context, arrival time.Time, p Prompt) (cached int, due time.Time, ok bool) {
	cached = wk.cache.lookup(p)
	due = arrival.Add(wk.cfg.Timing.Prefill(p.Key, p.Tokens, cached))
	if !sleepUntil(ctx, due) {
		return 0, time.Time{}, false
	}
	wk.cache.insert(p)
	return cached, due, true
}

// chat checks a request before what answers it; one that is refused has been answered.
func (wk *worker) chat(answer func(http.ResponseWriter, *http.Request, job, time.Time)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		arrival := time.Now()
		if j, ok := wk.cfg.parse(w, r); ok {
			answer(w, r, j, arrival)
		}
	}
}

func (wk *worker) prefill(w http.ResponseWriter, r *http.Request, j job, arrival time.Time) {
	if cached, due, ok := wk.prefillPrompt(r.Context(), arrival, j.prompt); ok {
		writeJSON(w, http.StatusOK,
			prefillReply{PromptTokens: j.prompt.Tokens, CachedTokens: cached, FirstToken: due.UnixNano()})
	}
}

func (wk *worker) decode(w http.ResponseWriter, r *http.Request, j job, arrival time.Time) {
	var told [2]int
	for i, name := range []string{headerPromptTokens, headerCachedTokens} {
		n, err := strconv.Atoi(r.Header.Get(name))
		if err != nil {
			refuse(w, http.StatusBadRequest, name+" is missing: decode is for the frontend, after prefill")
			return
		}
		told[i] = n
	}
	wk.answer(w, r, j, usageOf(told[0], told[1], j.output), firstToken(r.Header.Get(headerFirstToken), arrival))
}

func (wk *worker) complete(w http.ResponseWriter, r *http.Request, j job, arrival time.Time) {
	if cached, due, ok := wk.prefillPrompt(r.Context(), arrival, j.prompt); ok {
		wk.answer(w, r, j, usageOf(j.prompt.Tokens, cached, j.output), due)
	}
}

// firstToken is the time that the prefill worker has promised, so that the hops between the
// processes do not add up. Clocks that differ by more than a second are not believed.
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

// sleepUntil waits for t and tells whether ctx lasted that long.
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
