package mockserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func quick() Timing {
	return Timing{PrefillBase: time.Millisecond, ITL: 200 * time.Microsecond, StreamInterval: 2}
}

func start(t *testing.T, cfg Config) string {
	t.Helper()
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func request(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return resp, string(data)
}

// streamed is the content of a parsed stream.
type streamed struct {
	content, reasoning, arguments, tool, finish string
	events                                      int // with output
	usage                                       *usage
	done                                        bool
}

func readStream(t *testing.T, text string) streamed {
	t.Helper()
	var s streamed
	in := bufio.NewScanner(strings.NewReader(text))
	for in.Scan() {
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok || data == "[DONE]" {
			s.done = s.done || ok
			continue
		}
		var c completion
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if c.Usage != nil {
			s.usage = c.Usage
		}
		if len(c.Choices) == 0 {
			continue
		}
		d, before := c.Choices[0].Delta, len(s.content)+len(s.reasoning)+len(s.arguments)+len(s.tool)
		if d.Content != nil {
			s.content += *d.Content
		}
		s.reasoning += d.Reasoning
		for _, call := range d.ToolCalls {
			s.tool += call.Function.Name
			s.arguments += call.Function.Arguments
		}
		if len(s.content)+len(s.reasoning)+len(s.arguments)+len(s.tool) > before {
			s.events++
		}
		if f := c.Choices[0].FinishReason; f != nil {
			s.finish = *f
		}
	}
	return s
}

func TestStreamContent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, extra                               string
		content, reasoning, tool, events, outputs int // bytes, bytes, bytes, events, tokens
		finish                                    string
	}{
		{name: "text", extra: `"max_tokens":7`, content: 28, events: 4, outputs: 7, finish: "length"},
		{
			name: "two limits", extra: `"max_tokens":7,"max_completion_tokens":3`, content: 12, events: 2, outputs: 3,
			finish: "length",
		},
		{name: "limit above the maximum", extra: `"max_tokens":700`, content: 80, events: 11, outputs: 20, finish: "length"},
		{name: "no limit", extra: `"n":1`, content: 80, events: 11, outputs: 20, finish: "length"},
		{
			name: "reasoning", extra: `"max_tokens":9,"reasoning_effort":"high"`, reasoning: 12, content: 24, events: 5,
			outputs: 9, finish: "length",
		},
		{
			name: "tool call", extra: `"max_tokens":9,"tools":[{"type":"function"}]`, tool: 36, events: 5, outputs: 9,
			finish: "tool_calls",
		},
		{
			name: "short tool call", extra: `"max_tokens":2,"tools":[{"type":"function"}]`, tool: 8, events: 2, outputs: 2,
			finish: "tool_calls",
		},
	}
	base := start(t, Config{
		Role: schema.Agg, Model: "m", Timing: quick(), MaxOutputTokens: 20, ToolCalls: 1, Reasoning: true,
	})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, text := request(t, http.MethodPost, base+"/v1/chat/completions",
				`{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":["hello"],`+tt.extra+`}`)
			s := readStream(t, text)
			if len(s.content) != tt.content || len(s.reasoning) != tt.reasoning || len(s.tool)+len(s.arguments) != tt.tool ||
				s.events != tt.events {
				t.Errorf("got %d, %d, %d bytes of content, reasoning, tool call in %d events, want %d, %d, %d in %d",
					len(s.content), len(s.reasoning), len(s.tool)+len(s.arguments), s.events, tt.content, tt.reasoning,
					tt.tool, tt.events)
			}
			if tt.tool > 0 && !json.Valid([]byte(s.arguments)) {
				t.Errorf("arguments %q are not JSON", s.arguments)
			}
			if s.usage == nil || s.usage.CompletionTokens != tt.outputs || s.finish != tt.finish || !s.done {
				t.Errorf("got usage %+v, finish %q, done %v, want %d tokens, %q", s.usage, s.finish, s.done, tt.outputs, tt.finish)
			}
		})
	}
}

func TestUsageIsOptional(t *testing.T) {
	t.Parallel()
	base := start(t, Config{Role: schema.Agg, Timing: quick()})
	_, text := request(t, http.MethodPost, base+"/v1/chat/completions",
		`{"stream":true,"messages":["hello"],"max_tokens":2}`)
	if s := readStream(t, text); s.usage != nil || !s.done || len(s.content) != 8 {
		t.Errorf("got %+v, want 8 bytes and no usage", s)
	}
	_, text = request(t, http.MethodPost, base+"/v1/chat/completions", `{"messages":["hello"],"max_tokens":2}`)
	var c completion
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if c.Object != "chat.completion" || c.Usage.PromptTokens != 6 || c.Usage.CompletionTokens != 2 ||
		len(*c.Choices[0].Message.Content) != 8 {
		t.Errorf("not streamed: got %s, want 6 and 2 tokens", text)
	}
}

func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	base := start(t, Config{Role: schema.Agg, Model: "m"})
	for body, want := range map[string]int{
		`{`:                           http.StatusBadRequest,
		`{"model":"m"}`:               http.StatusBadRequest,
		`{"model":"m","messages":[]}`: http.StatusBadRequest,
		`{"model":"m","messages":["x"],"max_tokens":0}`:   http.StatusBadRequest,
		`{"model":"other","messages":["x"]}`:              http.StatusNotFound,
		`{"model":"m","messages":["x"],"max_tokens":"a"}`: http.StatusBadRequest,
	} {
		resp, text := request(t, http.MethodPost, base+"/v1/chat/completions", body)
		if resp.StatusCode != want || !strings.Contains(text, `"error"`) {
			t.Errorf("%s: got %d %s, want %d and an error", body, resp.StatusCode, text, want)
		}
	}
}

func TestInjectedFaults(t *testing.T) {
	t.Parallel()
	const body = `{"stream":true,"messages":["hello"],"max_tokens":9}`
	base := start(t, Config{Role: schema.Agg, Timing: quick(), Faults: Faults{HTTPError: 1}})
	resp, _ := request(t, http.MethodPost, base+"/v1/chat/completions", body)
	if resp.StatusCode != http.StatusInternalServerError {
		t.Errorf("http error: got %s, want status 500", resp.Status)
	}
	base = start(t, Config{Role: schema.Agg, Timing: quick(), Faults: Faults{Abort: 1}})
	_, text := request(t, http.MethodPost, base+"/v1/chat/completions", body)
	if readStream(t, text).events != 3 || strings.Contains(text, "DONE") {
		t.Errorf("abort: got %q, want 3 of 5 events and no end", text)
	}
	base = start(t, Config{Role: schema.Agg, Timing: quick(), Faults: Faults{EventError: 1}})
	_, text = request(t, http.MethodPost, base+"/v1/chat/completions", body)
	if !strings.Contains(text, "event: error\ndata: {") {
		t.Errorf("event error: got %q, want an error event", text)
	}
}

// The frontend routes by session and lists the workers that respond.
func TestFrontend(t *testing.T) {
	t.Parallel()
	worker := Config{Role: schema.Prefill, Model: "m", Timing: quick(), BlockTokens: 4}
	prefill := []string{start(t, worker), start(t, worker)}
	worker.Role = schema.Decode
	decode := start(t, worker)
	slow := start(t, Config{Role: schema.Prefill, Faults: Faults{SlowStart: time.Hour}})
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	front := start(t, Config{
		Role: schema.Frontend, Model: "m", BlockTokens: 4, PrefillURLs: prefill, DecodeURLs: []string{decode},
	})
	health := start(t, Config{
		Role: schema.Frontend, PrefillURLs: append(prefill, slow, gone.URL), DecodeURLs: []string{decode},
	})

	_, text := request(t, http.MethodGet, health+"/health", "")
	const want = `{"instances":[{"endpoint":"generate","component":"prefill"},` +
		`{"endpoint":"generate","component":"prefill"},{"endpoint":"generate","component":"tensorrt_llm"}]}` + "\n"
	if text != want {
		t.Errorf("health: got %s, want %s", text, want)
	}
	_, text = request(t, http.MethodGet, front+"/v1/models", "")
	if !strings.Contains(text, `"id":"m"`) {
		t.Errorf("models: got %s", text)
	}
	const body = `{"model":"m","stream":true,"stream_options":{"include_usage":true},` +
		`"messages":["0123456789abcd"],"max_tokens":3}`
	expected := NewDeployment(Config{BlockTokens: 4}, len(prefill))
	prompt, err := ParsePrompt(json.RawMessage(`["0123456789abcd"]`), nil, 4)
	if err != nil {
		t.Fatal(err)
	}
	// Sessions "one" and "two" are routed to different workers with separate caches.
	for i, step := range []struct {
		session string
		cached  int
	}{{"one", 0}, {"one", 4}, {"two", 0}, {"one", 4}, {"two", 4}} {
		at, cached := expected.Route(step.session, prompt)
		expected.FinishPrefill(at, prompt)
		if cached != step.cached {
			t.Errorf("request %d of session %s: computed %d cached tokens, want %d", i, step.session, cached, step.cached)
		}
		_, text := request(t, http.MethodPost, front+"/v1/chat/completions", body, "X-Session-ID", step.session)
		s := readStream(t, text)
		if s.usage == nil || s.usage.PromptTokens != 8 || s.usage.CompletionTokens != 3 ||
			s.usage.PromptDetails.CachedTokens != step.cached || !s.done {
			t.Errorf("request %d of session %s: got %s, want 8 tokens of which %d cached", i, step.session, text, step.cached)
		}
	}
}

func TestFrontendWithoutWorkers(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	front := start(t, Config{Role: schema.Frontend, AggURLs: []string{gone.URL}})
	resp, text := request(t, http.MethodPost, front+"/v1/chat/completions", `{"messages":["x"]}`)
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("got %s %s, want status 503", resp.Status, text)
	}
	if _, text := request(t, http.MethodGet, front+"/health", ""); text != `{"instances":[]}`+"\n" {
		t.Errorf("health: got %s, want no instance", text)
	}
}

func TestNewRejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]Config{
		`role must be agg, prefill, decode or frontend, got ""`: {},
		"a frontend needs": {Role: schema.Frontend, PrefillURLs: []string{"http://x"}},
		"spread must be at least 0 and less than 1, got 1": {Role: schema.Agg, Timing: Timing{Spread: 1}},
		"fault rates must be fractions":                    {Role: schema.Agg, Faults: Faults{Abort: 0.7, HTTPError: 0.7}},
	} {
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want one with %q", cfg, err, want)
		}
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	h, err := New(Config{Role: schema.Agg, Timing: quick()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, "127.0.0.1:0", h, ServeOptions{Ready: func(a net.Addr) { address <- a.String() }})
	}()
	resp, text := request(t, http.MethodGet, "http://"+<-address+"/health", "")
	if resp.StatusCode != http.StatusOK || text != `{"status":"ready"}`+"\n" {
		t.Errorf("health: got %s %s", resp.Status, text)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("graceful stop: got %v", err)
	}
	if err := Serve(t.Context(), "127.0.0.1:0", h, ServeOptions{ExitAfter: time.Millisecond}); !errors.Is(err, errExit) {
		t.Errorf("got %v, want %v", err, errExit)
	}
	if err := Serve(t.Context(), "no address", h, ServeOptions{}); err == nil ||
		!strings.Contains(err.Error(), `listen on "no address"`) {
		t.Errorf("got %v, want an error that names the address", err)
	}
}
