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

// maxBody bounds a request: the longest prompts in use are a few megabytes.
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

// limit is the smallest output limit the request states, 0 if it states none.
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

// OutputTokens is the length of an answer whose request limits it to limit
// tokens (0: no limit): the limit or the configured cap, whichever is smaller.
func (c Config) OutputTokens(limit int) int {
	most := c.MaxOutputTokens
	if most <= 0 {
		most = defaultMaxOutputTokens
	}
	if limit > 0 {
		return min(limit, most)
	}
	return most
}

// job is a checked request with everything that follows from it.
type job struct {
	body    []byte
	request chatRequest
	prompt  Prompt
	output  int // tokens
}

// parse reads and checks a request. On failure it has answered already.
func (c Config) parse(w http.ResponseWriter, r *http.Request) (j job, ok bool) {
	var err error
	if j.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("read the request: %v", err))
		return j, false
	}
	if err := json.Unmarshal(j.body, &j.request); err != nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("the request is not valid JSON: %v", err))
		return j, false
	}
	if c.Model != "" && j.request.Model != c.Model {
		refuse(w, http.StatusNotFound, fmt.Sprintf("model %q is not served here; ask for %q", j.request.Model, c.Model))
		return j, false
	}
	limit, err := j.request.limit()
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return j, false
	}
	j.output = c.OutputTokens(limit)
	if j.prompt, err = ParsePrompt(j.request.Messages, j.request.Tools, c.BlockTokens); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return j, false
	}
	return j, true
}

func refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "code": status}})
}

// writeJSON answers with one document. A client that has gone is not an error of the server's.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

const (
	bytesPerToken   = 4
	messageOverhead = 4 // tokens that a chat template adds around a message
)

// Prompt is what the mock derives from a request's messages and tools. It
// depends on nothing else, so equal prompts have equal keys in every process.
type Prompt struct {
	// Tokens is the prompt's length: for the tools (if any) and for each message
	// the bytes of its compact JSON divided by four, rounded up, plus four.
	Tokens int
	Key    uint64   // the request's hash, from which spread and faults are drawn
	blocks []uint64 // the hashes of each prefix that is a whole number of blocks
}

// ParsePrompt counts and hashes a prompt. messages is a JSON array of at least one message, tools a
// JSON array or null or nothing. A cache block has blockTokens tokens (128 if not positive).
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
	var stream bytes.Buffer
	for _, p := range parts {
		if err := json.Compact(&stream, p); err != nil {
			return Prompt{}, problem.Errorf(problem.RequestInvalid, "messages or tools is not valid JSON: %w", err)
		}
		pad := (bytesPerToken - stream.Len()%bytesPerToken) % bytesPerToken
		stream.Write(make([]byte, pad+messageOverhead*bytesPerToken))
	}
	return hashPrompt(stream.Bytes(), blockTokens), nil
}

func hashPrompt(stream []byte, blockTokens int) Prompt {
	p := Prompt{Tokens: len(stream) / bytesPerToken}
	h := fnv.New64a()
	size := blockTokens * bytesPerToken
	for len(stream) >= size {
		h.Write(stream[:size])
		p.blocks = append(p.blocks, h.Sum64())
		stream = stream[size:]
	}
	h.Write(stream)
	p.Key = mix(h.Sum64())
	return p
}

func hasTools(tools json.RawMessage) bool {
	t := bytes.TrimSpace(tools)
	return len(t) > 0 && !bytes.Equal(t, []byte("null")) && !bytes.Equal(t, []byte("[]"))
}
