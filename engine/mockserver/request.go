package mockserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// maxBody limits the size of a request, in bytes. The longest prompts are a few megabytes long.
const maxBody = 64 << 20

type chatRequest struct {
	Model         string          `json:"model"`
	Messages      json.RawMessage `json:"messages"`
	Tools         json.RawMessage `json:"tools"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           *int   `json:"max_tokens"`
	MaxCompletionTokens *int   `json:"max_completion_tokens"`
	ReasoningEffort     string `json:"reasoning_effort"`
}

// limit returns the smallest output limit of the request, or 0 if it has none.
func (r chatRequest) limit() (int, error) {
	limit := 0
	for _, p := range []*int{r.MaxTokens, r.MaxCompletionTokens} {
		if p == nil {
			continue
		}
		if *p < 1 {
			return 0, problem.Errorf(problem.RequestInvalid, "max_tokens must be at least 1, got %d", *p)
		}
		if limit == 0 || *p < limit {
			limit = *p
		}
	}
	return limit, nil
}

// OutputTokens returns the length of the response to a request with an output limit (0 for none):
// the smaller of this limit and the configured one.
func (c Config) OutputTokens(limit int) int {
	configured := c.MaxOutputTokens
	if configured <= 0 {
		configured = defaultMaxOutputTokens
	}
	if limit > 0 {
		return min(limit, configured)
	}
	return configured
}

// parsedRequest is a valid request and the values derived from it.
type parsedRequest struct {
	body   []byte
	chat   chatRequest
	prompt Prompt
	output int // tokens
}

// parse reads and checks a request. If the request is invalid, parse writes the error response and
// returns false.
func (c Config) parse(w http.ResponseWriter, r *http.Request) (req parsedRequest, ok bool) {
	var err error
	if req.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		writeError(w, http.StatusBadRequest, fmt.Sprintf("read the request: %v", err))
		return req, false
	}
	if err := json.Unmarshal(req.body, &req.chat); err != nil {
		writeError(w, http.StatusBadRequest, fmt.Sprintf("the request is not valid JSON: %v", err))
		return req, false
	}
	if c.Model != "" && req.chat.Model != c.Model {
		writeError(w, http.StatusNotFound, fmt.Sprintf("model %q is not served here; ask for %q", req.chat.Model, c.Model))
		return req, false
	}
	limit, err := req.chat.limit()
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return req, false
	}
	req.output = c.OutputTokens(limit)
	if req.prompt, err = ParsePrompt(req.chat.Messages, req.chat.Tools, c.BlockTokens); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return req, false
	}
	return req, true
}

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "code": status}})
}

// writeJSON writes a JSON response. It ignores write errors: the client has disconnected.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

const (
	bytesPerToken   = 4
	messageOverhead = 4 // tokens that a chat template adds around a message
)

// Prompt holds the values derived from the messages and tools of a request. It depends on nothing
// else, so the same prompt has the same key in every process.
type Prompt struct {
	// Tokens is the length of the prompt. A message, like the list of tools, has one token per four
	// bytes of its compact JSON, rounded up, and four more.
	Tokens int
	Key    uint64   // hash of the prompt, which determines the spread and the faults
	blocks []uint64 // hashes of the prefixes that consist of full blocks
}

// ParsePrompt counts and hashes a prompt. messages is a JSON array of at least one message; tools is
// a JSON array, null or empty. A cache block has blockTokens tokens (128 if not positive).
func ParsePrompt(messages, tools json.RawMessage, blockTokens int) (Prompt, error) {
	if blockTokens <= 0 {
		blockTokens = defaultBlockTokens
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(messages, &parts); err != nil {
		return Prompt{}, problem.Errorf(problem.RequestInvalid, "messages is not a JSON array: %w", err)
	}
	if len(parts) == 0 {
		return Prompt{}, problem.New(problem.RequestInvalid, "messages is empty; send at least one message")
	}
	if hasTools(tools) {
		// A chat template puts the tools before the first message.
		parts = append([]json.RawMessage{tools}, parts...)
	}
	var text bytes.Buffer
	for _, p := range parts {
		if err := json.Compact(&text, p); err != nil {
			return Prompt{}, problem.Errorf(problem.RequestInvalid, "messages or tools is not valid JSON: %w", err)
		}
		pad := (bytesPerToken - text.Len()%bytesPerToken) % bytesPerToken
		text.Write(make([]byte, pad+messageOverhead*bytesPerToken))
	}
	return hashPrompt(text.Bytes(), blockTokens), nil
}

func hashPrompt(text []byte, blockTokens int) Prompt {
	p := Prompt{Tokens: len(text) / bytesPerToken}
	h := fnv.New64a()
	size := blockTokens * bytesPerToken
	for len(text) >= size {
		h.Write(text[:size])
		p.blocks = append(p.blocks, h.Sum64())
		text = text[size:]
	}
	h.Write(text)
	p.Key = mix(h.Sum64())
	return p
}

func hasTools(tools json.RawMessage) bool {
	t := bytes.TrimSpace(tools)
	return len(t) > 0 && !bytes.Equal(t, []byte("null")) && !bytes.Equal(t, []byte("[]"))
}
