package replay

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// answer is a response of a test server.
type answer struct {
	status  int    // 0: 200
	header  string // Content-Type, or Name=value; empty: text/event-stream
	reads   []string
	aborted bool // the connection is closed in the middle of the body
}

// shape is an answer and what the client must make of it.
type shape struct {
	name    string
	answer  answer
	want    errorKind
	text    string // part of the failure's text
	notes   notes
	tokens  [3]int32 // input, output, cached; -1 for unknown; not checked for a failure
	noTTFT  bool
	outputs int // events with output; 0: 2 for a success
}

// serve writes the answer in pieces. How many of them the client gets in one read depends on the system;
// FuzzBody and FuzzSSEParser check that it makes no difference.
func (a answer) serve(w http.ResponseWriter, _ *http.Request) {
	name, value, ok := strings.Cut(a.header, "=")
	switch {
	case a.header == "":
		w.Header().Set("Content-Type", "text/event-stream")
	case ok:
		w.Header().Set(name, value)
	default:
		w.Header().Set("Content-Type", a.header)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	for _, text := range a.reads {
		writeNow(w, text)
	}
	if a.aborted {
		panic(http.ErrAbortHandler)
	}
}

const (
	sseOutput = `data: {"choices":[{"index":0,"delta":{"content":"word"},"finish_reason":null}]}` + "\n\n"
	sseStop   = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	sseUsage  = `data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,` +
		`"prompt_tokens_details":{"cached_tokens":40}}}` + "\n\n"
	sseDone  = "data: [DONE]\n\n"
	jsonGood = `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"a word"},` +
		`"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":5,` +
		`"prompt_tokens_details":{"cached_tokens":40}}}`
)

// good returns a stream with something in the place of its finish reason and usage.
func good(parts ...string) answer {
	return answer{reads: append([]string{sseOutput, sseOutput}, parts...)}
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // never fails on a buffer
	_ = w.Close()
	return b.String()
}

func badStatus() []shape {
	return []shape{
		{
			name: "status 500", answer: answer{status: 500, reads: []string{"boom"}}, want: errorStatus,
			text: "500 Internal Server Error: boom",
		},
		{name: "status 304", answer: answer{status: 304}, want: errorStatus, text: "304 Not Modified"},
		{name: "status 204", answer: answer{status: 204}, want: errorStatus, text: "204 No Content"},
		{
			name: "HTML", answer: answer{header: "text/html", reads: []string{"<html>login</html>"}}, want: errorBody,
			text: `markup instead of an event stream or JSON: 200 OK, Content-Type "text/html", ` +
				`body begins with "<html>login</html>"`,
		},
		{
			name: "HTML labelled as a stream", answer: answer{reads: []string{"\n <!DOCTYPE html>", "<p>", "</html>"}},
			want: errorBody, text: "markup",
		},
		{
			name: "plain text", answer: answer{header: "text/plain", reads: []string{"upstream ", "failed\n"}},
			want: errorBody, text: "neither",
		},
		{
			name: "plain text labelled as a stream", answer: answer{reads: []string{"upstream failed"}}, want: errorBody,
			text: "neither",
		},
		{
			name: "JSON text", answer: answer{header: "application/json", reads: []string{`"failed"`}}, want: errorBody,
			text: "neither",
		},
		{
			name: "gzip", answer: answer{header: "Content-Encoding=gzip", reads: []string{gzipped(sseOutput + sseDone)}},
			want: errorBody, text: `Content-Encoding "gzip"`,
		},
	}
}

func errorAnswers() []shape {
	stream := func(text string) answer { return good(text, sseStop, sseUsage, sseDone) }
	const objectError = `data: {"object":"error","message":"boom","code":500}` + "\n\n"
	return []shape{
		{
			name: "event: error", answer: good("event: error\ndata: {\"message\":\"boom\"}\n\n"), want: errorEvent,
			text: "boom",
		},
		{name: "event: Error without data", answer: stream("event: Error\n\n"), want: errorEvent},
		{
			name: "error object", answer: stream("data: {\"error\":{\"message\":\"boom\"}}\n\n"), want: errorEvent,
			text: "boom",
		},
		{name: "object error", answer: good(objectError, sseDone), want: errorEvent, text: "boom"},
		{
			name: "object error after the finish reason", answer: good(sseStop, sseUsage, objectError, sseDone),
			want: errorEvent, text: "boom",
		},
		{
			name: "object error after [DONE]", answer: good(sseStop, sseUsage, sseDone, objectError), want: errorEvent,
			text: "boom",
		},
		{
			name: "object error in the same read as [DONE]", answer: good(sseStop + sseDone + objectError),
			want: errorEvent, text: "boom",
		},
		{
			name: "object error without an empty line at the end", answer: good(sseStop, strings.TrimSpace(objectError)),
			want: errorEvent, text: "boom",
		},
		{
			name:   "error in a choice",
			answer: stream("data: {\"choices\":[{\"index\":0,\"error\":{\"message\":\"boom\"}}]}\n\n"),
			want:   errorEvent, text: "boom",
		},
		{
			name: "finish reason error", answer: good("data: "+finishChunk("error")+"\n\n", sseUsage, sseDone),
			want: errorFinish, text: `finish reason "error"`,
		},
		{
			name: "finish reason Abort", answer: good("data: "+finishChunk("Abort")+"\n\n", sseUsage, sseDone),
			want: errorFinish, text: `finish reason "Abort"`,
		},
		{
			name: "JSON error", answer: answer{header: "application/json", reads: []string{`{"error":{"message":"boom"}}`}},
			want: errorEvent, text: "boom",
		},
		{
			name:   "JSON object error",
			answer: answer{header: "application/json", reads: []string{`{"object":"error","message":"boom"}`}},
			want:   errorEvent, text: "boom",
		},
		{
			name: "JSON with a finish reason that names an error",
			answer: answer{
				header: "application/json",
				reads:  []string{strings.Replace(jsonGood, `"stop"`, `"CANCELLED"`, 1)},
			},
			want: errorFinish, text: "CANCELLED",
		},
	}
}

func malformedAnswers() []shape {
	return []shape{
		{
			name: "event cut in its JSON", answer: good("data: {\"choices\":[{\"de\n\n", sseOutput, sseStop, sseDone),
			want: errorMalformed,
		},
		{name: "NaN", answer: good("data: {\"x\":NaN}\n\n", sseStop, sseDone), want: errorMalformed},
		{name: "text as data", answer: good("data: boom\n\n", sseStop, sseDone), want: errorMalformed},
		{
			name:   "output that is no text",
			answer: good("data: {\"choices\":[{\"delta\":{\"content\":5}}]}\n\n", sseStop, sseDone), want: errorMalformed,
		},
		{name: "malformed, then an error", answer: good("data: boom\n\n", "event: error\n\n"), want: errorEvent},
		{name: "JSON answer cut in the middle", answer: answer{reads: []string{jsonGood[:90]}}, want: errorMalformed},
		{name: "two JSON documents", answer: answer{reads: []string{jsonGood, "\n" + jsonGood}}, want: errorMalformed},
	}
}

func jsonAnswers() []shape {
	tokens := [3]int32{100, 5, 40}
	one := func(reads ...string) answer { return answer{header: "application/json", reads: reads} }
	return []shape{
		{name: "JSON", answer: one(jsonGood), notes: noteJSON, tokens: tokens, noTTFT: true, outputs: 1},
		{
			name: "JSON in two reads", answer: one(jsonGood[:30], jsonGood[30:]), notes: noteJSON,
			tokens: tokens, noTTFT: true, outputs: 1,
		},
		{
			name: "JSON after white space", answer: one("\r\n ", "\t"+jsonGood), notes: noteJSON,
			tokens: tokens, noTTFT: true, outputs: 1,
		},
		{
			name: "JSON labelled as a stream", answer: answer{reads: []string{jsonGood}},
			notes: noteJSON, tokens: tokens, noTTFT: true, outputs: 1,
		},
		{
			name: "JSON after a byte-order mark", answer: one("\xef\xbb\xbf" + jsonGood), notes: noteJSON,
			tokens: tokens, noTTFT: true, outputs: 1,
		},
		{
			name: "JSON without finish reason and usage", answer: one(`{"choices":[{"message":{"content":"word"}}]}`),
			notes: noteJSON | noteNoFinish | noteNoUsage, tokens: [3]int32{-1, -1, -1}, noTTFT: true, outputs: 1,
		},
		{
			name: "JSON with a tool call",
			answer: one(`{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"edit","arguments":"{}"}}]},` +
				`"finish_reason":"tool_calls"}]}`),
			notes: noteJSON | noteNoUsage, tokens: [3]int32{-1, -1, -1}, noTTFT: true, outputs: 1,
		},
	}
}

func emptyAnswers() []shape {
	return []shape{
		{name: "nothing", answer: answer{reads: []string{""}}, want: errorNoOutput, text: "no output: 200 OK"},
		{name: "only [DONE]", answer: answer{reads: []string{sseDone}}, want: errorNoOutput},
		{name: "only comments", answer: answer{reads: []string{": ping\n\n", ": ping\n\n"}}, want: errorNoOutput},
		{name: "finish reason and usage", answer: answer{reads: []string{sseStop, sseUsage, sseDone}}, want: errorNoOutput},
		{name: "output after [DONE]", answer: answer{reads: []string{sseDone, sseOutput, sseStop}}, want: errorNoOutput},
		{
			name: "cut before any output", answer: answer{reads: []string{": ping\n\n"}, aborted: true},
			want: errorNoOutput, text: "unexpected EOF",
		},
		{
			name: "JSON without output", answer: answer{header: "application/json", reads: []string{`{"detail":"x"}`}},
			want: errorNoOutput, text: "detail",
		},
	}
}

func cutAnswers() []shape {
	return []shape{
		{
			name: "ends without both", answer: good(), want: errorEarlyEnd,
			text: "neither a finish reason nor [DONE] after 2 events",
		},
		{name: "usage, but not both", answer: good(sseUsage), want: errorEarlyEnd},
		{
			name: "connection closed", answer: answer{reads: []string{sseOutput}, aborted: true}, want: errorEarlyEnd,
			text: "unexpected EOF",
		},
		{name: "empty finish reason", answer: good("data: " + finishChunk("") + "\n\n"), want: errorEarlyEnd},
		{
			name: "cut in the last event", answer: good(`data: {"choices":[{"index":0,"finish_reason":"st`),
			want: errorEarlyEnd,
		},
	}
}

func successes() []shape {
	tokens, unknown := [3]int32{100, 5, 40}, [3]int32{-1, -1, -1}
	const smaller = `data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":4}}` + "\n\n"
	shapes := []shape{
		{name: "all", answer: good(sseStop, sseUsage, sseDone), tokens: tokens},
		{name: "no [DONE]", answer: good(sseStop, sseUsage), tokens: tokens},
		{
			name:   "no [DONE], connection closed",
			answer: answer{reads: []string{sseOutput, sseOutput, sseStop, sseUsage}, aborted: true}, tokens: tokens,
		},
		{name: "[DONE] without an empty line", answer: good(sseUsage, "data: [DONE]"), tokens: tokens, notes: noteNoFinish},
		{name: "no finish reason", answer: good(sseUsage, sseDone), tokens: tokens, notes: noteNoFinish},
		{
			name:   "status 201, no label",
			answer: answer{status: 201, header: "application/octet-stream", reads: good(sseStop, sseUsage, sseDone).reads},
			tokens: tokens,
		},
		{
			name:   "byte-order mark",
			answer: answer{reads: []string{"\xef\xbb\xbf" + sseOutput, sseOutput, sseStop, sseUsage, sseDone}},
			tokens: tokens,
		},
		{
			name:   "byte-order mark in three reads",
			answer: answer{reads: []string{"\xef", "\xbb", "\xbf", sseOutput, sseOutput, sseStop, sseUsage, sseDone}},
			tokens: tokens,
		},
		{
			name: "one read", answer: answer{reads: []string{sseOutput + sseOutput + sseStop + sseUsage + sseDone}},
			tokens: tokens,
		},
		{
			name: "smaller usage block", answer: good(sseUsage, sseStop, smaller, sseDone), tokens: [3]int32{100, 4, -1},
			notes: noteUsage,
		},
		{name: "growing usage blocks", answer: good(smaller, sseStop, sseUsage, sseDone), tokens: tokens},
		{name: "no usage", answer: good(sseStop, sseDone), tokens: unknown, notes: noteNoUsage},
		{
			name: "usage null", answer: good(sseStop, "data: {\"choices\":[],\"usage\":null}\n\n", sseDone),
			tokens: unknown, notes: noteNoUsage,
		},
		{
			name: "usage after [DONE]", answer: good(sseStop, sseDone, sseUsage), tokens: unknown,
			notes: noteNoUsage | noteAfter,
		},
		{
			name: "usage before and after [DONE]", answer: good(sseStop, sseUsage, sseDone, smaller), tokens: tokens,
			notes: noteAfter,
		},
	}
	for _, after := range []string{sseOutput, sseDone, "data: boom\n\n", "<html>\n", "x", "event: ping\n\n", `{"a":1}`} {
		shapes = append(shapes, shape{
			name: fmt.Sprintf("%q after [DONE]", after), answer: good(sseStop, sseUsage, sseDone, after), tokens: tokens,
			notes: noteAfter,
		})
	}
	for _, nothing := range []string{"\n\n", ": bye\n\n", "\r\n"} {
		shapes = append(shapes, shape{
			name: fmt.Sprintf("%q after [DONE]", nothing), answer: good(sseStop, sseUsage, sseDone, nothing), tokens: tokens,
		})
	}
	return shapes
}

// The first row that fits decides about an answer.
func TestSendJudgesAnswers(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		shapes []shape
	}{
		{"status or body of another kind", badStatus()},
		{"error", errorAnswers()},
		{"malformed", malformedAnswers()},
		{"JSON", jsonAnswers()},
		{"empty", emptyAnswers()},
		{"cut", cutAnswers()},
		{"success", successes()},
	}
	for _, row := range rows {
		for _, s := range row.shapes {
			t.Run(row.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				s.check(t)
			})
		}
	}
}

func (s shape) check(t *testing.T) {
	t.Helper()
	cfg := Config{
		BaseURL: serveHandler(t, http.HandlerFunc(s.answer.serve)), Concurrencies: []int{1},
		RequestTimeout: 10 * time.Second,
	}
	start := time.Now()
	x := newClient(cfg).send(t.Context(), start, []byte("{}"), nil)
	if x.kind != s.want || !strings.Contains(x.text, s.text) {
		t.Fatalf("got %q (%s), want %q (%s)", x.kind, x.text, s.want, s.text)
	}
	if s.want != "" {
		return
	}
	p := &phase{run: &run{clock: newClock()}}
	row := p.row(0, "", "", Step{}, &x)
	got := [3]int32{orUnknown(row.Input), orUnknown(row.Output), orUnknown(row.Cached)}
	if x.text != "" || got != s.tokens || x.notes() != s.notes {
		t.Errorf("got %q, the tokens %v and the notes %v, want no text, %v and %v",
			x.text, got, x.notes().keys(), s.tokens, s.notes.keys())
	}
	if want := cmp.Or(s.outputs, 2); x.events != want {
		t.Errorf("got %d events with output, want %d", x.events, want)
	}
	if (row.TTFT == nil) != s.noTTFT || row.TTFT != nil && !(*row.TTFT > 0 && *row.TTFT < row.End-row.Start+1e-6) {
		t.Errorf("got TTFT %v of %v s, want it unknown: %t", orNaN(row.TTFT), row.End-row.Start, s.noTTFT)
	}
}
