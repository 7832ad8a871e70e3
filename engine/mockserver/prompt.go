package mockserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
)

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
		return Prompt{}, fmt.Errorf("messages is not a JSON array: %w", err)
	}
	if len(parts) == 0 {
		return Prompt{}, errors.New("messages is empty: want at least one message")
	}
	if hasTools(tools) {
		// A chat template puts the tools before the first message.
		parts = append([]json.RawMessage{tools}, parts...)
	}
	var stream bytes.Buffer
	for _, p := range parts {
		if err := json.Compact(&stream, p); err != nil {
			return Prompt{}, fmt.Errorf("messages or tools hold invalid JSON: %w", err)
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
