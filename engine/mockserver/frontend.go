package mockserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// sessionHeaders are the headers that identify a request's conversation, in order of precedence.
var sessionHeaders = []string{"X-Session-ID", "X-Correlation-ID", "X-Dynamo-Session-ID"}

const healthTimeout = time.Second

type frontend struct {
	cfg    Config
	client *http.Client
}

func newFrontend(cfg Config) (http.Handler, error) {
	if agg, disagg := len(cfg.AggURLs) > 0, len(cfg.PrefillURLs) > 0 && len(cfg.DecodeURLs) > 0; agg == disagg {
		return nil, problem.New(problem.ServerInvalid,
			"mock server: a frontend needs either aggregated workers, or both prefill and decode workers")
	}
	// Keep all connections, so that none is opened in the middle of a measurement.
	tr := &http.Transport{MaxIdleConnsPerHost: 1 << 16, DisableCompression: true}
	f := &frontend{cfg: cfg, client: &http.Client{Transport: tr}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", f.health)
	mux.HandleFunc("GET /v1/models", models(cfg.Model))
	mux.HandleFunc("POST /v1/chat/completions", f.complete)
	return mux, nil
}

type instance struct {
	Endpoint  string `json:"endpoint"`
	Component string `json:"component"`
}

// health lists the workers that respond, with the component names of TensorRT-LLM workers
// in Dynamo.
func (f *frontend) health(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	urls := slices.Concat(f.cfg.PrefillURLs, f.cfg.DecodeURLs, f.cfg.AggURLs)
	alive := make([]bool, len(urls))
	var wg sync.WaitGroup
	for i, u := range urls {
		wg.Go(func() { alive[i] = f.alive(ctx, u) })
	}
	wg.Wait()
	instances := []instance{}
	for i, ok := range alive {
		component := "tensorrt_llm"
		if i < len(f.cfg.PrefillURLs) {
			component = string(schema.Prefill)
		}
		if ok {
			instances = append(instances, instance{Endpoint: "generate", Component: component})
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"instances": instances})
}

func (f *frontend) alive(ctx context.Context, base string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/health", nil)
	if err != nil {
		return false
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 4096))
	return err == nil && resp.StatusCode == http.StatusOK
}

func (f *frontend) complete(w http.ResponseWriter, r *http.Request) {
	req, ok := f.cfg.parse(w, r)
	if !ok {
		return
	}
	key := routingKey(r.Header, req.prompt)
	if len(f.cfg.AggURLs) > 0 {
		f.proxy(w, r, pickWorker(f.cfg.AggURLs, key)+"/v1/chat/completions", req.body, nil)
		return
	}
	prefill, err := f.prefill(r.Context(), pickWorker(f.cfg.PrefillURLs, key), req.body)
	if err != nil {
		if r.Context().Err() == nil {
			writeError(w, http.StatusServiceUnavailable, err.Error())
		}
		return
	}
	f.proxy(w, r, pickWorker(f.cfg.DecodeURLs, key)+decodePath, req.body, http.Header{
		headerPromptTokens: {strconv.Itoa(prefill.PromptTokens)},
		headerCachedTokens: {strconv.Itoa(prefill.CachedTokens)},
		headerFirstToken:   {strconv.FormatInt(prefill.FirstToken, 10)},
	})
}

// routingKey returns the hash that selects the worker of a request. It is a hash of the session id
// or, without one, of the prompt's first block.
func routingKey(h http.Header, p Prompt) uint64 {
	for _, name := range sessionHeaders {
		if id := h.Get(name); id != "" {
			sum := fnv.New64a()
			_, _ = io.WriteString(sum, id) // writing to a hash never fails
			return mix(sum.Sum64())
		}
	}
	if len(p.blocks) > 0 {
		return mix(p.blocks[0])
	}
	return p.Key
}

func pickWorker(urls []string, key uint64) string {
	return strings.TrimSuffix(urls[key%uint64(len(urls))], "/")
}

func (f *frontend) post(ctx context.Context, url string, body []byte, h http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range h {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	return f.client.Do(req)
}

func (f *frontend) prefill(ctx context.Context, base string, body []byte) (prefillReply, error) {
	var reply prefillReply
	resp, err := f.post(ctx, base+prefillPath, body, nil)
	if err != nil {
		return reply, fmt.Errorf("prefill worker: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return reply, fmt.Errorf("prefill worker %s: %w", base, err)
	}
	if resp.StatusCode != http.StatusOK {
		return reply, problem.Errorf(problem.ServerFailed, "prefill worker %s: status %s", base, resp.Status)
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return reply, problem.Errorf(problem.ServerFailed, "prefill worker %s: reply is not valid JSON: %w", base, err)
	}
	return reply, nil
}

// proxy forwards a request to a worker and streams back its response. If the worker's stream
// breaks, proxy breaks the response to the client too.
func (f *frontend) proxy(w http.ResponseWriter, r *http.Request, url string, body []byte, h http.Header) {
	resp, err := f.post(r.Context(), url, body, h)
	if err != nil {
		if r.Context().Err() == nil {
			writeError(w, http.StatusServiceUnavailable, fmt.Sprintf("worker: %v", err))
		}
		return
	}
	defer resp.Body.Close()
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	out := http.NewResponseController(w)
	buf := make([]byte, 16<<10)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil || out.Flush() != nil {
				return
			}
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler) // closes the connection
		}
	}
}
