package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// errorKind is the kind of a request's failure.
type errorKind string

// The kinds of failures, in the order in which they are checked. If several apply to a response, the
// first one counts; but after errorEvent and errorFinish the rest of the stream is not read.
const (
	errorConnection errorKind = "connection"    // no response: refused, reset, name not found
	errorStatus     errorKind = "http_status"   // a status other than 2xx, or 204
	errorBody       errorKind = "not_a_stream"  // a body that is neither an event stream nor JSON
	errorEvent      errorKind = "event_error"   // an error event, or an error object in the data
	errorFinish     errorKind = "finish_reason" // a finish reason that reports a failure
	errorMalformed  errorKind = "malformed"     // an event or a document that can't be parsed
	errorTimeout    errorKind = "timeout"       // the request's time limit was exceeded
	errorNoOutput   errorKind = "no_output"     // no output at all
	errorEarlyEnd   errorKind = "early_end"     // output, but neither a finish reason nor [DONE]
)

// response accumulates the events of a streamed response.
type response struct {
	firstOutput, lastOutput time.Time // when the reads that contained them returned
	events                  int       // events with output
	bytes, firstBytes       int       // bytes of output in all events, and in the first one
	usage                   usage     // the last one before [DONE]
	largest                 [3]int32  // largest counts of input, output and cached tokens so far
	contradicts             bool      // a count was smaller than an earlier one
	finished                bool      // a finish reason was received
	done                    bool      // [DONE] was received
	after                   bool      // data was received after [DONE]
	whole                   bool      // the response is a JSON document
	failed                  errorKind // empty for no failure in the data
	failure                 string    // text of the failure
	chunk                   chunk     // of the event that is being added; here, it is allocated once
}

// addEvent adds an event of the stream; at is the time when its read returned. After [DONE], only
// errors count.
func (r *response) addEvent(at time.Time, name, data []byte) {
	data = bytes.TrimSpace(data)
	switch {
	case isErrorName(name):
		r.fail(errorEvent, clipText(data))
	case isDone(data):
		r.done = true
	case len(data) > 0:
		err := r.parse(data)
		if err == nil {
			r.addChunk(at, data)
		} else if !r.done {
			r.fail(errorMalformed, "event is not a completion chunk: "+err.Error())
		}
	}
}

func isErrorName(name []byte) bool { return bytes.EqualFold(name, []byte("error")) }

func isDone(data []byte) bool { return string(data) == "[DONE]" }

// addDocument adds a JSON document that was sent instead of a stream and was complete at the time at.
func (r *response) addDocument(at time.Time, data []byte) {
	r.whole = true
	if err := r.parse(data); err != nil {
		r.fail(errorMalformed, "answer is not a JSON completion: "+err.Error())
		return
	}
	r.addChunk(at, data)
}

// parse parses the data of an event or a document into r.chunk.
func (r *response) parse(data []byte) error {
	r.chunk = chunk{}
	return json.Unmarshal(data, &r.chunk)
}

// fail records a failure. An error that the server reports replaces malformed data.
func (r *response) fail(kind errorKind, text string) {
	if r.failed == "" || r.failed == errorMalformed && kind != errorMalformed {
		r.failed, r.failure = kind, text
	}
}

// clipText returns the beginning of a text that goes into a file.
func clipText(text []byte) string { return string(trimPartial(text[:min(len(text), maxErrorText)])) }

// trimPartial removes an incomplete character at the end of a truncated text.
func trimPartial(text []byte) []byte {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}

// addChunk adds the chunk that was parsed from data.
func (r *response) addChunk(at time.Time, data []byte) {
	c := &r.chunk
	if kind, text := c.failure(data); kind != "" {
		r.fail(kind, text)
		return
	}
	if r.done {
		return
	}
	n, finish := c.output()
	r.finished = r.finished || finish != ""
	if n > 0 {
		if r.events == 0 {
			r.firstOutput, r.firstBytes = at, n
		}
		r.events++
		r.bytes += n
		r.lastOutput = at
	}
	if c.Usage.present {
		r.addUsage(c.Usage)
	}
}

func (r *response) addUsage(u usage) {
	r.usage = u
	for i, c := range [...]tokenCount{u.input, u.output, u.cached} {
		if c.known {
			r.contradicts = r.contradicts || c.n < r.largest[i]
			r.largest[i] = max(r.largest[i], c.n)
		}
	}
}

// complete reports whether the rest of the response can be ignored.
func (r *response) complete() bool { return r.failed != "" && r.failed != errorMalformed }

// classify returns the kind of failure of a response that has ended, or "" for success, and the
// text of the failure.
func (r *response) classify() (errorKind, string) {
	switch {
	case r.failed != "":
		return r.failed, r.failure
	case r.events == 0:
		return errorNoOutput, "no output"
	case !r.whole && !r.done && !r.finished:
		return errorEarlyEnd, fmt.Sprintf("neither a finish reason nor [DONE] after %d events with output", r.events)
	}
	return "", ""
}

// notes returns the peculiarities of a successful response.
func (r *response) notes() notes {
	var n notes
	for _, c := range [...]struct {
		is   bool
		note notes
	}{
		{r.whole, noteJSON},
		{!r.finished, noteNoFinish},
		{r.contradicts, noteUsage},
		{r.after, noteAfter},
		{!r.usage.present, noteNoUsage},
		{r.usage.invalid, noteInvalid},
		{r.usage.input.known && r.usage.cached.n > r.usage.input.n, noteCached},
	} {
		if c.is {
			n |= c.note
		}
	}
	return n
}

// tokenBytes is the approximate length of a token in bytes, for the client's own estimate.
const tokenBytes = 4

// clientTokens estimates the number of output tokens from the length of the output.
func (r *response) clientTokens() int { return (r.bytes + tokenBytes - 1) / tokenBytes }

// itl returns the mean inter-token latency in seconds: the time from the first to the last event
// with output, divided by the server's token count less one. It is nil if there is no interval.
func (r *response) itl() *float64 {
	seconds := r.lastOutput.Sub(r.firstOutput).Seconds()
	if r.events < 2 || r.usage.output.n < 2 || seconds <= 0 {
		return nil
	}
	return new(seconds / float64(r.usage.output.n-1))
}

// sseSpeed returns the output speed in tokens per second: the tokens after the first event, over
// the same interval as [response.itl]. Their number is the server's count multiplied by their
// share of the output's bytes. With one token per event the speed equals 1/itl; with a large first
// event it is lower.
func (r *response) sseSpeed() *float64 {
	seconds := r.lastOutput.Sub(r.firstOutput).Seconds()
	if r.events < 2 || r.usage.output.n < 2 || seconds <= 0 {
		return nil
	}
	share := float64(r.bytes-r.firstBytes) / float64(r.bytes)
	return new(share * float64(r.usage.output.n) / seconds)
}
