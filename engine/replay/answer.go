package replay

import (
	"bytes"
	"encoding/json"
	"math"
	"time"
)

// errorKind says in which way a request failed.
type errorKind string

// The kinds of failures, in the order in which they are looked for.
const (
	errorConnection errorKind = "connection"  // no response: refused, reset, name not found
	errorTimeout    errorKind = "timeout"     // the time limit of a request passed
	errorStatus     errorKind = "http_status" // a status that is not 2xx
	errorEvent      errorKind = "event_error" // an error event in the stream
	errorEarlyEnd   errorKind = "early_end"   // the stream ended without its end mark
	errorNoOutput   errorKind = "no_output"   // a complete stream without any output
)

// answer is what a stream has said so far.
type answer struct {
	firstOutput, lastOutput time.Time // when the reads that held them returned
	events                  int       // with output
	bytes, firstBytes       int       // of output: in all events, and in the first one
	input, output, cached   *int      // tokens by the server's count; nil is unknown
	finished, done          bool      // a finish reason, the end mark
	failure                 string    // an error event's text
	failed                  bool
}

// chunk is the part of a stream's event that matters here.
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

// event takes one event of the stream; at is when its read returned.
func (a *answer) event(at time.Time, name, data []byte) {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		a.done = true
		return
	}
	if string(name) == "error" {
		a.fail(data)
		return
	}
	if len(data) == 0 {
		return
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		a.fail([]byte("an event is not a completion chunk: " + err.Error()))
		return
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		a.fail(c.Error)
		return
	}
	a.take(at, &c)
}

func (a *answer) fail(text []byte) {
	if !a.failed {
		a.failed, a.failure = true, string(text[:min(len(text), maxErrorText)])
	}
}

func (a *answer) take(at time.Time, c *chunk) {
	n := 0
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue
		}
		d := &choice.Delta
		n += len(d.Content)
		// Servers that send both names of the reasoning send the same text.
		n += max(len(d.ReasoningContent), len(d.Reasoning))
		for _, call := range d.ToolCalls {
			n += len(call.Function.Name) + len(call.Function.Arguments)
		}
		a.finished = a.finished || choice.FinishReason != nil
	}
	if n > 0 {
		if a.events == 0 {
			a.firstOutput, a.firstBytes = at, n
		}
		a.events++
		a.bytes += n
		a.lastOutput = at
	}
	if u := c.Usage; u != nil {
		a.input, a.output, a.cached = known(u.PromptTokens), known(u.CompletionTokens), nil
		if u.PromptTokensDetails != nil {
			a.cached = known(u.PromptTokensDetails.CachedTokens)
		}
	}
}

// known drops a count that can't be one.
func known(n *int) *int {
	if n == nil || *n < 0 || *n > math.MaxInt32 {
		return nil
	}
	return n
}

// ended tells that nothing more of interest can come.
func (a *answer) ended() bool { return a.done || a.failed }

// kind judges a stream that has ended; broken tells that the connection did before the stream.
func (a *answer) kind(broken bool) errorKind {
	switch {
	case a.failed:
		return errorEvent
	case !a.done && (broken || !a.finished):
		return errorEarlyEnd
	case a.events == 0:
		return errorNoOutput
	}
	return ""
}

// tokenBytes is the rough length of a token, for the client's own estimate.
const tokenBytes = 4

// clientTokens estimates the output tokens from the text's bytes.
func (a *answer) clientTokens() int { return (a.bytes + tokenBytes - 1) / tokenBytes }

// itl is the mean time between two output tokens in seconds, over the server's count, from the
// first to the last event with output. Nil when one event or one token leaves no interval.
func (a *answer) itl() *float64 {
	seconds := a.lastOutput.Sub(a.firstOutput).Seconds()
	if a.events < 2 || a.output == nil || *a.output < 2 || seconds <= 0 {
		return nil
	}
	return new(seconds / float64(*a.output-1))
}

// sseSpeed is the tokens that arrived after the first event per second of the
// same interval. How many those are follows from the server's count and the
// events' shares of the text; a server that sends one token an event has the
// same speed here and as 1/itl, one whose first event is large a lower one here.
func (a *answer) sseSpeed() *float64 {
	seconds := a.lastOutput.Sub(a.firstOutput).Seconds()
	if a.events < 2 || a.output == nil || *a.output < 2 || seconds <= 0 {
		return nil
	}
	share := float64(a.bytes-a.firstBytes) / float64(a.bytes)
	return new(share * float64(*a.output) / seconds)
}
