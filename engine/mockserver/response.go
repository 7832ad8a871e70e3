package mockserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	PromptDetails    struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func usageOf(prompt, cached, output int) usage {
	u := usage{PromptTokens: prompt, CompletionTokens: output, TotalTokens: prompt + output}
	u.PromptDetails.CachedTokens = cached
	return u
}

// message is a delta of a stream, or the message of a response that is not streamed.
type message struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type choice struct {
	Index        int      `json:"index"`
	Delta        *message `json:"delta,omitempty"`
	Message      *message `json:"message,omitempty"`
	FinishReason *string  `json:"finish_reason"`
}

type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

// responseText is the generated text of a response, four bytes per token. Reasoning tokens come
// first. A response with a tool call has no other text.
type responseText struct {
	key       uint64
	tokens    int
	reasoning int
	toolCall  bool
}

func (c Config) text(req parsedRequest) responseText {
	t := responseText{key: req.prompt.Key, tokens: req.output}
	if hasTools(req.chat.Tools) && unit(t.key, saltToolCall) < c.ToolCalls {
		t.toolCall = true
	} else if c.Reasoning && req.chat.ReasoningEffort != "" {
		t.reasoning = t.tokens / 3
	}
	return t
}

var words = [16]string{
	"add ", "fix ", "run ", "the ", "log ", "map ", "key ", "row ",
	"try ", "set ", "end ", "use ", "and ", "for ", "new ", "old ",
}

const toolName = "edit" // one token

// delta returns the text of the tokens from (inclusive) to to (exclusive).
func (t responseText) delta(from, to int) message {
	if t.toolCall {
		return t.toolDelta(from, to)
	}
	var reasoning, content strings.Builder
	for i := from; i < to; i++ {
		word := words[mix(t.key+saltText+uint64(i))%uint64(len(words))]
		if i < t.reasoning {
			reasoning.WriteString(word)
		} else {
			content.WriteString(word)
		}
	}
	m := message{Reasoning: reasoning.String()}
	if content.Len() > 0 {
		m.Content = new(content.String())
	}
	return m
}

// toolDelta returns the tool call's name as the first token and its arguments as the others:
// a JSON object, padded with spaces to the number of tokens.
func (t responseText) toolDelta(from, to int) message {
	call := toolCall{}
	if from == 0 {
		call.ID, call.Type = fmt.Sprintf("call_%016x", t.key), "function"
		call.Function.Name = toolName
		from = 1
	}
	object := `{"path":"main.go","line":1} `
	if len(object) > (t.tokens-1)*bytesPerToken {
		object = "{}  "
	}
	for i := from; i < to; i++ {
		word := "    "
		if at := (i - 1) * bytesPerToken; at < len(object) {
			word = object[at : at+bytesPerToken]
		}
		call.Function.Arguments += word
	}
	return message{ToolCalls: []toolCall{call}}
}

func (t responseText) finish() *string {
	if t.toolCall {
		return new("tool_calls")
	}
	return new("length")
}

// respond sends the response, whose first token is due at first.
func (wk *worker) respond(w http.ResponseWriter, r *http.Request, req parsedRequest, u usage, first time.Time) {
	fault := wk.cfg.Faults.For(req.prompt.Key)
	if fault == FaultHTTPError {
		writeError(w, http.StatusInternalServerError, "injected fault")
		return
	}
	head := completion{
		ID: fmt.Sprintf("chatcmpl-%016x", req.prompt.Key), Object: "chat.completion.chunk", Created: first.Unix(),
		Model: req.chat.Model,
	}
	t := wk.cfg.text(req)
	if req.chat.Stream {
		s := stream{w: w, out: http.NewResponseController(w), head: head}
		wk.stream(r, &s, req, t, u, first, fault)
		return
	}
	_, after := wk.cfg.Timing.Event(req.prompt.Key, wk.cfg.Timing.Events(req.output)-1, req.output)
	if !sleepUntil(r.Context(), first.Add(after)) {
		return
	}
	if fault != FaultNone {
		panic(http.ErrAbortHandler) // closes the connection, which is the configured fault
	}
	head.Object = "chat.completion"
	m := t.delta(0, t.tokens)
	m.Role = "assistant"
	head.Choices = []choice{{Message: &m, FinishReason: t.finish()}}
	head.Usage = &u
	writeJSON(w, http.StatusOK, head)
}

// stream sends the events of the response, each at its time after first.
func (wk *worker) stream(
	r *http.Request, s *stream, req parsedRequest, t responseText, u usage, first time.Time, fault Fault,
) {
	timing, key := wk.cfg.Timing, req.prompt.Key
	events, sent := timing.Events(t.tokens), 0
	s.start()
	if !sleepUntil(r.Context(), first) || !s.delta(message{Role: "assistant", Content: new("")}, nil) {
		return
	}
	for i := range events {
		if fault != FaultNone && i >= (events+1)/2 {
			break
		}
		upTo, after := timing.Event(key, i, t.tokens)
		if !s.flushBefore(r, first.Add(after)) || !s.delta(t.delta(sent, upTo), nil) {
			return
		}
		sent = upTo
	}
	switch fault {
	case FaultAbort:
		_ = s.out.Flush() // fails if the client has disconnected, which is fine
		panic(http.ErrAbortHandler)
	case FaultEventError:
		s.event("event: error\n", map[string]any{"error": map[string]any{"message": "injected fault", "code": 500}})
		return
	}
	if !s.delta(message{}, t.finish()) {
		return
	}
	if req.chat.StreamOptions.IncludeUsage {
		s.head.Choices, s.head.Usage = []choice{}, &u
		if !s.event("", s.head) {
			return
		}
	}
	_, _ = fmt.Fprint(s.w, "data: [DONE]\n\n") // fails if the client has disconnected, which is fine
}

// stream writes server-sent events. Its methods return false if the client has disconnected.
type stream struct {
	w    http.ResponseWriter
	out  *http.ResponseController
	head completion
}

func (s *stream) start() {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	s.w.WriteHeader(http.StatusOK)
}

// flushBefore flushes what was written and waits until t. If t has passed, it does not flush, so
// that a server that is late catches up with few large writes.
func (s *stream) flushBefore(r *http.Request, t time.Time) bool {
	if time.Until(t) <= 0 {
		return r.Context().Err() == nil
	}
	return s.out.Flush() == nil && sleepUntil(r.Context(), t)
}

func (s *stream) delta(m message, finish *string) bool {
	s.head.Choices = []choice{{Delta: &m, FinishReason: finish}}
	return s.event("", s.head)
}

func (s *stream) event(prefix string, v any) bool {
	data, err := json.Marshal(v)
	if err != nil {
		return false
	}
	_, err = fmt.Fprintf(s.w, "%sdata: %s\n\n", prefix, data)
	return err == nil
}
