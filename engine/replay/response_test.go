package replay

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// testTime returns the time s seconds after a fixed one.
func testTime(s float64) time.Time { return time.Unix(1000, 0).Add(seconds(s)) }

func TestResponseClassify(t *testing.T) {
	t.Parallel()
	const (
		content = `{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}`
		empty   = `{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
		second  = `{"choices":[{"index":1,"delta":{"content":"hi"},"finish_reason":null}]}`
		reason  = `{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}`
		short   = `{"choices":[{"index":0,"delta":{"reasoning":"hm"}}]}`
		call    = `{"choices":[{"index":0,"delta":{"content":null,"tool_calls":[{"index":0,"function":{"name":"edit",` +
			`"arguments":""}}]}}]}`
		args    = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}`
		noStop  = `{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":""}]}`
		stop    = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
		failure = `{"error":{"message":"out of memory"}}`
		done    = `[DONE]`
	)
	tests := []struct {
		name   string
		events []string
		want   errorKind
		output int // events with output
	}{
		{name: "content", events: []string{empty, content, content, stop, done}, output: 2},
		{name: "reasoning", events: []string{reason, short, stop, done}, output: 2},
		{name: "only a tool call", events: []string{empty, call, args, stop, done}, output: 2},
		{name: "finish reason but no [DONE]", events: []string{content, stop}, output: 1},
		{name: "[DONE] but no finish reason", events: []string{content, done}, output: 1},
		{name: "no finish reason", events: []string{content}, want: errorEarlyEnd, output: 1},
		{name: "empty finish reason", events: []string{noStop}, want: errorEarlyEnd, output: 1},
		{name: "no events", want: errorNoOutput},
		{name: "no output", events: []string{empty, stop, done}, want: errorNoOutput},
		{name: "output of another choice", events: []string{second, stop, done}, want: errorNoOutput},
		{name: "output after [DONE]", events: []string{empty, done, content, stop}, want: errorNoOutput},
		{name: "error in the data", events: []string{content, failure, done}, want: errorEvent, output: 1},
		{name: "error after [DONE]", events: []string{content, stop, done, failure}, want: errorEvent, output: 1},
		{name: "not JSON", events: []string{"<html>"}, want: errorMalformed},
		{name: "not JSON, then output", events: []string{"<html>", content, stop}, want: errorMalformed, output: 1},
		{name: "not JSON, then an error", events: []string{"<html>", failure, done}, want: errorEvent},
		{name: "not JSON after [DONE]", events: []string{content, stop, done, "<html>"}, output: 1},
		{name: "not an object", events: []string{content, `"x"`, stop, done}, want: errorMalformed, output: 1},
		{name: "error is null", events: []string{`{"error":null,"choices":[{"delta":{"content":"x"}}]}`, done}, output: 1},
		{name: "error is empty", events: []string{`{"error":"","choices":[{"delta":{"content":"x"}}]}`, done}, output: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var a response
			for i, e := range tt.events {
				a.addEvent(testTime(float64(i)), nil, []byte(e))
			}
			if got, text := a.classify(); got != tt.want || a.events != tt.output || (got == "") != (text == "") {
				t.Errorf("got %q (%s) with %d output events, want %q with %d", got, text, a.events, tt.want, tt.output)
			}
		})
	}
}

// An error is found wherever a server puts it, also after the finish reason.
func TestResponseFindsErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, event, data string
		want              errorKind
		text              string
	}{
		{name: "named event", event: "error", data: `{"message":"boom"}`, want: errorEvent, text: `{"message":"boom"}`},
		{name: "named in capitals", event: "ERROR", data: "boom", want: errorEvent, text: "boom"},
		{name: "named, [DONE]", event: "error", data: "[DONE]", want: errorEvent, text: "[DONE]"},
		{name: "error object", data: `{"error":{"message":"boom"}}`, want: errorEvent, text: `{"message":"boom"}`},
		{name: "empty error object", data: `{"error":{}}`, want: errorEvent, text: `{}`},
		{name: "error text", data: `{"error":"boom"}`, want: errorEvent, text: `"boom"`},
		{
			name: "object error", data: `{"object":"error","message":"boom","code":500}`,
			want: errorEvent, text: `{"object":"error","message":"boom","code":500}`,
		},
		{name: "object Error", data: `{"object":"Error"}`, want: errorEvent, text: `{"object":"Error"}`},
		{name: "type error", data: `{"type":"error"}`, want: errorEvent, text: `{"type":"error"}`},
		{name: "in a choice", data: `{"choices":[{"error":{"code":502}}]}`, want: errorEvent, text: `{"code":502}`},
		{
			name: "in another choice", data: `{"choices":[{"index":0},{"index":1,"error":{"code":502}}]}`,
			want: errorEvent, text: `{"code":502}`,
		},
		{name: "in a delta", data: `{"choices":[{"delta":{"error":"boom"}}]}`, want: errorEvent, text: `"boom"`},
		{
			name: "object of a choice", data: `{"choices":[{"object":"error"}]}`,
			want: errorEvent, text: `{"choices":[{"object":"error"}]}`,
		},
		{name: "finish error", data: finishChunk("error"), want: errorFinish, text: `finish reason "error"`},
		{name: "finish ABORT", data: finishChunk("ABORT"), want: errorFinish, text: `finish reason "ABORT"`},
		{name: "finish Cancelled", data: finishChunk("Cancelled"), want: errorFinish, text: `finish reason "Cancelled"`},
		{name: "finish canceled", data: finishChunk("canceled"), want: errorFinish, text: `finish reason "canceled"`},
		{name: "finish timeout", data: finishChunk("timeout"), want: errorFinish, text: `finish reason "timeout"`},
		{
			name: "finish network_error", data: finishChunk("network_error"), want: errorFinish,
			text: `finish reason "network_error"`,
		},
		{name: "finish stop", data: finishChunk("stop")},
		{name: "finish length", data: finishChunk("length")},
		{name: "finish tool_calls", data: finishChunk("tool_calls")},
		{name: "finish content_filter", data: finishChunk("content_filter")},
		{name: "finish eos_token", data: finishChunk("eos_token")},
		{name: "another event", event: "ping", data: `{}`},
		{name: "no error", data: `{"error":false,"object":"chat.completion.chunk","type":null}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var a response
			a.addEvent(testTime(1), nil, []byte(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`))
			a.addEvent(testTime(2), []byte(tt.event), []byte(tt.data))
			a.addEvent(testTime(3), nil, []byte("[DONE]"))
			if kind, text := a.classify(); kind != tt.want || text != tt.text {
				t.Errorf("got %q (%s), want %q (%s)", kind, text, tt.want, tt.text)
			}
		})
	}
}

func finishChunk(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func TestResponseSpeeds(t *testing.T) {
	t.Parallel()
	tokens := func(n int32) usage { return usage{output: tokenCount{n, true}} }
	none := math.NaN()
	tests := []struct {
		name     string
		a        response
		itl, sse float64 // NaN for none
	}{
		{
			name: "one token per event",
			a: response{
				events: 5, bytes: 20, firstBytes: 4, usage: tokens(5), firstOutput: testTime(1), lastOutput: testTime(3),
			},
			itl: 0.5, sse: 2,
		},
		{
			name: "a large first event",
			a: response{
				events: 2, bytes: 40, firstBytes: 20, usage: tokens(9), firstOutput: testTime(1), lastOutput: testTime(3),
			},
			itl: 0.25, sse: 2.25,
		},
		{
			name: "one event",
			a: response{
				events: 1, bytes: 20, firstBytes: 20, usage: tokens(5), firstOutput: testTime(1), lastOutput: testTime(1),
			},
			itl: none, sse: none,
		},
		{
			name: "two events in one read",
			a: response{
				events: 2, bytes: 20, firstBytes: 10, usage: tokens(5), firstOutput: testTime(1), lastOutput: testTime(1),
			},
			itl: none, sse: none,
		},
		{
			name: "count unknown",
			a:    response{events: 5, bytes: 20, firstBytes: 4, firstOutput: testTime(1), lastOutput: testTime(3)},
			itl:  none, sse: none,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range []struct {
				what      string
				got, want float64
			}{{"itl", orNaN(tt.a.itl()), tt.itl}, {"sse speed", orNaN(tt.a.sseSpeed()), tt.sse}} {
				if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
					t.Errorf("%s: got %g, want %g", c.what, c.got, c.want)
				}
			}
		})
	}
}

// The last usage block counts, and a count in it that is not a whole number is unknown.
func TestResponseUsage(t *testing.T) {
	t.Parallel()
	const (
		small   = `{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":8}}`
		large   = `{"prompt_tokens":12,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":9}}`
		unknown = -1
	)
	tests := []struct {
		name                  string
		blocks                []string
		input, output, cached int
		notes                 notes
	}{
		{name: "growing", blocks: []string{small, large}, input: 12, output: 7, cached: 9},
		{name: "null afterwards", blocks: []string{small, "null", "{}"}, input: 10, output: 1, cached: 8},
		{name: "shrinking", blocks: []string{large, small}, input: 10, output: 1, cached: 8, notes: noteUsage},
		{
			name: "shrinking with one between", blocks: []string{large, `{"prompt_tokens":null}`, small},
			input: 10, output: 1, cached: 8, notes: noteUsage,
		},
		{
			name:   "shrinking cached count",
			blocks: []string{large, `{"prompt_tokens":12,"prompt_tokens_details":{"cached_tokens":8}}`},
			input:  12, output: unknown, cached: 8, notes: noteUsage,
		},
		{
			name:   "details null",
			blocks: []string{small, `{"prompt_tokens":12,"completion_tokens":7,"prompt_tokens_details":null}`},
			input:  12, output: 7, cached: unknown,
		},
		{
			name:   "floats",
			blocks: []string{`{"prompt_tokens":10.0,"completion_tokens":1e0,"prompt_tokens_details":{"cached_tokens":80e-1}}`},
			input:  10, output: 1, cached: 8,
		},
		{
			name: "texts", blocks: []string{`{"prompt_tokens":"10","completion_tokens":"1","prompt_tokens_details":"x"}`},
			input: unknown, output: unknown, cached: unknown, notes: noteInvalid,
		},
		{
			name:   "negative",
			blocks: []string{`{"prompt_tokens":10,"completion_tokens":-1,"prompt_tokens_details":{"cached_tokens":-1}}`},
			input:  10, output: unknown, cached: unknown, notes: noteInvalid,
		},
		{
			name:   "too large, and a fraction",
			blocks: []string{`{"prompt_tokens":99999999999999999999,"completion_tokens":1.5}`},
			input:  unknown, output: unknown, cached: unknown, notes: noteInvalid,
		},
		{
			name: "a known block, then a text", blocks: []string{small, `"none"`},
			input: unknown, output: unknown, cached: unknown, notes: noteInvalid,
		},
		{
			name: "counts null", blocks: []string{`{"prompt_tokens":10,"completion_tokens":null}`},
			input: 10, output: unknown, cached: unknown,
		},
		{
			name: "null throughout", blocks: []string{"null", "null"}, input: unknown, output: unknown, cached: unknown,
			notes: noteNoUsage,
		},
		{name: "none", input: unknown, output: unknown, cached: unknown, notes: noteNoUsage},
		{
			name:   "more cached than input",
			blocks: []string{`{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":11}}`},
			input:  10, output: unknown, cached: 11, notes: noteCached,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var a response
			for _, b := range tt.blocks {
				a.addEvent(testTime(1), nil, []byte(`{"choices":[],"usage":`+b+`}`))
			}
			a.addEvent(testTime(1), nil, []byte(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`))
			a.addEvent(testTime(2), nil, []byte("[DONE]"))
			a.addEvent(testTime(2), nil, []byte(`{"usage":{"prompt_tokens":1,"completion_tokens":99}}`))
			var got []int32
			for _, c := range []tokenCount{a.usage.input, a.usage.output, a.usage.cached} {
				got = append(got, orUnknown(c.pointer()))
			}
			if want := []int32{int32(tt.input), int32(tt.output), int32(tt.cached)}; !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if kind, text := a.classify(); kind != "" || a.notes() != tt.notes {
				t.Errorf("got %q (%s) with the notes %v, want success with %v", kind, text, a.notes().keys(), tt.notes.keys())
			}
		})
	}
}

// A text that is too long is not cut within a character.
func TestClipText(t *testing.T) {
	t.Parallel()
	x := strings.Repeat("x", maxErrorText-2)
	for text, want := range map[string]string{
		"": "", "short é": "short é", x + "é": x + "é", x + "漢": x, x + "é漢": x + "é", x + "\xff\xffé": x + "\xff\xff",
	} {
		if got := clipText([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
