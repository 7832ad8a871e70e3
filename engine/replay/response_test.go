package replay

import (
	"math"
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
		stop    = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
		failure = `{"error":{"message":"out of memory"}}`
		done    = `[DONE]`
	)
	tests := []struct {
		name   string
		events []string
		broken bool
		want   errorKind
		output int // events with output
	}{
		{name: "content", events: []string{empty, content, content, stop, done}, output: 2},
		{name: "reasoning", events: []string{reason, short, stop, done}, output: 2},
		{name: "only a tool call", events: []string{empty, call, args, stop, done}, output: 2},
		{name: "finish reason but no [DONE]", events: []string{content, stop}, output: 1},
		{name: "broken after [DONE]", events: []string{content, done}, broken: true, output: 1},
		{
			name: "broken after the finish reason", events: []string{content, stop}, broken: true,
			want: errorEarlyEnd, output: 1,
		},
		{name: "no finish reason", events: []string{content}, want: errorEarlyEnd, output: 1},
		{name: "no events", want: errorEarlyEnd},
		{name: "no output", events: []string{empty, stop, done}, want: errorNoOutput},
		{name: "output of another choice", events: []string{second, stop, done}, want: errorNoOutput},
		{name: "error in the data", events: []string{content, failure, done}, want: errorEvent, output: 1},
		{name: "not JSON", events: []string{"<html>"}, want: errorEvent},
		{name: "error is null", events: []string{`{"error":null,"choices":[{"delta":{"content":"x"}}]}`, done}, output: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var a response
			for i, e := range tt.events {
				a.addEvent(testTime(float64(i)), nil, []byte(e))
			}
			if got := a.classify(tt.broken); got != tt.want || a.events != tt.output {
				t.Errorf("got %q with %d output events, want %q with %d", got, a.events, tt.want, tt.output)
			}
		})
	}
}

func TestResponseSpeeds(t *testing.T) {
	t.Parallel()
	tokens := func(n int) *int { return &n }
	none := math.NaN()
	tests := []struct {
		name     string
		a        response
		itl, sse float64 // NaN for none
	}{
		{
			name: "one token per event",
			a: response{
				events: 5, bytes: 20, firstBytes: 4, output: tokens(5), firstOutput: testTime(1), lastOutput: testTime(3),
			},
			itl: 0.5, sse: 2,
		},
		{
			name: "a large first event",
			a: response{
				events: 2, bytes: 40, firstBytes: 20, output: tokens(9), firstOutput: testTime(1), lastOutput: testTime(3),
			},
			itl: 0.25, sse: 2.25,
		},
		{
			name: "one event",
			a: response{
				events: 1, bytes: 20, firstBytes: 20, output: tokens(5), firstOutput: testTime(1), lastOutput: testTime(1),
			},
			itl: none, sse: none,
		},
		{
			name: "two events in one read",
			a: response{
				events: 2, bytes: 20, firstBytes: 10, output: tokens(5), firstOutput: testTime(1), lastOutput: testTime(1),
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

// The last event with usage counts, and null means unknown.
func TestResponseUsage(t *testing.T) {
	t.Parallel()
	var a response
	for _, e := range []string{
		`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":8}}}`,
		`{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7,"prompt_tokens_details":null}}`,
		`{"choices":[],"usage":null}`,
	} {
		a.addEvent(testTime(1), nil, []byte(e))
	}
	if a.input == nil || *a.input != 12 || a.output == nil || *a.output != 7 || a.cached != nil {
		t.Errorf("got %v, %v, %v, want 12, 7 and an unknown cached count", a.input, a.output, a.cached)
	}
}
