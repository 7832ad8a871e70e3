package replay

import (
	"bytes"
	"encoding/json"
	"math"
	"time"
)

// errorKind is the kind of a request's failure.
type errorKind string

// The kinds of failures, in the order in which they are checked.
const (
	errorConnection errorKind = "connection"  // no response: refused, reset, name not found
	errorTimeout    errorKind = "timeout"     // the request's time limit was exceeded
	errorStatus     errorKind = "http_status" // a status other than 2xx
	errorEvent      errorKind = "event_error" // an error event in the stream
	errorEarlyEnd   errorKind = "early_end"   // the stream ended without [DONE]
	errorNoOutput   errorKind = "no_output"   // a complete stream without any output
)

// response accumulates the events of a streamed response.
type response struct {
	firstOutput, lastOutput time.Time // when the reads that contained them returned
	events                  int       // events with output
	bytes, firstBytes       int       // bytes of output in all events, and in the first one
	input, output, cached   *int      // tokens counted by the server; nil if unknown
	finished                bool      // a finish reason was received
	done                    bool      // [DONE] was received
	failure                 string    // text of an error event
	failed                  bool
}

// chunk is the part of a stream event that this client uses.
type chunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content          string `json:"content"`
			ReasoningContent string `json:"reasoning_content"`
			Reasoning        string `json:"reasoning"`
			ToolCalls        []struct {
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens        *int `json:"prompt_tokens"`
		CompletionTokens    *int `json:"completion_tokens"`
		PromptTokensDetails *struct {
			CachedTokens *int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// addEvent adds an event of the stream; at is the time when its read returned.
func (r *response) addEvent(at time.Time, name, data []byte) {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		r.done = true
		return
	}
	if string(name) == "error" {
		r.fail(data)
		return
	}
	if len(data) == 0 {
		return
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		r.fail([]byte("event is not a completion chunk: " + err.Error()))
		return
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		r.fail(c.Error)
		return
	}
	r.addChunk(at, &c)
}

func (r *response) fail(text []byte) {
	if !r.failed {
		r.failed, r.failure = true, string(text[:min(len(text), maxErrorText)])
	}
}

func (r *response) addChunk(at time.Time, c *chunk) {
	n := 0
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue
		}
		d := &choice.Delta
		n += len(d.Content)
		// Servers that send both fields send the same text in both.
		n += max(len(d.ReasoningContent), len(d.Reasoning))
		for _, call := range d.ToolCalls {
			n += len(call.Function.Name) + len(call.Function.Arguments)
		}
		r.finished = r.finished || choice.FinishReason != nil
	}
	if n > 0 {
		if r.events == 0 {
			r.firstOutput, r.firstBytes = at, n
		}
		r.events++
		r.bytes += n
		r.lastOutput = at
	}
	if u := c.Usage; u != nil {
		r.input, r.output, r.cached = validCount(u.PromptTokens), validCount(u.CompletionTokens), nil
		if u.PromptTokensDetails != nil {
			r.cached = validCount(u.PromptTokensDetails.CachedTokens)
		}
	}
}

// validCount returns n, or nil if n is not a valid token count.
func validCount(n *int) *int {
	if n == nil || *n < 0 || *n > math.MaxInt32 {
		return nil
	}
	return n
}

// complete reports whether the rest of the stream can be ignored.
func (r *response) complete() bool { return r.done || r.failed }

// classify returns the kind of failure of a stream that has ended, or "" for success. broken is
// true if the connection ended before the stream did.
func (r *response) classify(broken bool) errorKind {
	switch {
	case r.failed:
		return errorEvent
	case !r.done && (broken || !r.finished):
		return errorEarlyEnd
	case r.events == 0:
		return errorNoOutput
	}
	return ""
}

// tokenBytes is the approximate length of a token in bytes, for the client's own estimate.
const tokenBytes = 4

// clientTokens estimates the number of output tokens from the length of the output.
func (r *response) clientTokens() int { return (r.bytes + tokenBytes - 1) / tokenBytes }

// itl returns the mean inter-token latency in seconds: the time from the first to the last event
// with output, divided by the server's token count less one. It is nil if there is no interval.
func (r *response) itl() *float64 {
	seconds := r.lastOutput.Sub(r.firstOutput).Seconds()
	if r.events < 2 || r.output == nil || *r.output < 2 || seconds <= 0 {
		return nil
	}
	return new(seconds / float64(*r.output-1))
}

// sseSpeed returns the output speed in tokens per second: the tokens after the first event, divided
// by the interval that [response.itl] uses. The number of these tokens is the server's count
// multiplied by their share of the output's bytes. With one token per event the speed equals
// 1/itl; with a large first event it is lower.
func (r *response) sseSpeed() *float64 {
	seconds := r.lastOutput.Sub(r.firstOutput).Seconds()
	if r.events < 2 || r.output == nil || *r.output < 2 || seconds <= 0 {
		return nil
	}
	share := float64(r.bytes-r.firstBytes) / float64(r.bytes)
	return new(share * float64(*r.output) / seconds)
}
