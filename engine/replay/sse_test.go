package replay

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

func collect(t *testing.T, pieces ...string) []string {
	t.Helper()
	var p sseParser
	var got []string
	for _, piece := range pieces {
		err := p.feed([]byte(piece), func(name, data []byte) { got = append(got, string(name)+"|"+string(data)) })
		if err != nil {
			t.Fatal(err)
		}
	}
	return got
}

func TestSSEParser(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		pieces []string
		want   []string
	}{
		{name: "one event", pieces: []string{"data: a\n\n"}, want: []string{"|a"}},
		{name: "no space after the colon", pieces: []string{"data:a\n\n"}, want: []string{"|a"}},
		{name: "only one space is dropped", pieces: []string{"data:  a\n\n"}, want: []string{"| a"}},
		{name: "two events in a read", pieces: []string{"data: a\n\ndata: b\n\n"}, want: []string{"|a", "|b"}},
		{name: "cut lines", pieces: []string{"da", "ta: a", "b\n", "\nda", "ta: c\n\n"}, want: []string{"|ab", "|c"}},
		{
			name: "carriage returns", pieces: []string{"data: a\r\n\r\n", "data: b\r\rdata: c\n\r"},
			want: []string{"|a", "|b", "|c"},
		},
		{
			name: "CR and LF in two reads", pieces: []string{"data: a\r", "\n\r", "\ndata: b\r\n\r\n"},
			want: []string{"|a", "|b"},
		},
		{name: "named", pieces: []string{"event: error\ndata: x\n\ndata: y\n\n"}, want: []string{"error|x", "|y"}},
		{name: "name without data", pieces: []string{"event: error\n\n"}, want: []string{"error|"}},
		{name: "data of two lines", pieces: []string{"data: a\ndata: b\n\n"}, want: []string{"|a\nb"}},
		{name: "empty data", pieces: []string{"data\n\n"}, want: []string{"|"}},
		{
			name: "comments and other fields", pieces: []string{": ping\nid: 1\nretry: 5\ndata: a\n\n: ping\n\n"},
			want: []string{"|a"},
		},
		{name: "incomplete event", pieces: []string{"data: a\n"}, want: nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := collect(t, tt.pieces...); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSSEParserLimitsEventSize(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"data: " + string(make([]byte, 1<<20)), "data: " + string(make([]byte, 1<<20)) + "\n"} {
		var p sseParser
		var err error
		for range 32 {
			if err = p.feed([]byte(piece), func(_, _ []byte) {}); err != nil {
				break
			}
		}
		if !errors.Is(err, errEventTooLong) {
			t.Errorf("an endless event: got %v, want %v", err, errEventTooLong)
		}
	}
}

// The events are the same for reads of any size.
func FuzzSSEParser(f *testing.F) {
	f.Add([]byte("data: {\"a\":1}\n\ndata: [DONE]\n\n"), 3)
	f.Add([]byte("event: error\r\ndata: x\r\n\r\n: c\r\rdata:y\n\n"), 1)
	f.Add([]byte("data\n\n\n\r\r\n\x00\xff:"), 2)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		if size < 1 {
			return
		}
		parse := func(pieces ...[]byte) (got []string) {
			var p sseParser
			for _, piece := range pieces {
				if err := p.feed(piece, func(name, data []byte) { got = append(got, string(name)+"|"+string(data)) }); err != nil {
					t.Fatal(err)
				}
			}
			return got
		}
		whole := parse(stream)
		cut := parse(slices.Collect(slices.Chunk(bytes.Clone(stream), size))...)
		if !slices.Equal(whole, cut) {
			t.Errorf("in one read %q, in reads of %d bytes %q", whole, size, cut)
		}
	})
}

// No event of a server causes a panic, and every successful response has output.
func FuzzResponse(f *testing.F) {
	f.Add([]byte(`{"choices":[{"index":0,"delta":{"content":"x"},` +
		`"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`))
	f.Add([]byte(`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"n","arguments":null}}]}}],` +
		`"usage":{"prompt_tokens_details":null}}`))
	f.Add([]byte(`{"error":{"message":"boom"}}`))
	f.Add([]byte(`[DONE]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var a response
		a.addEvent(testTime(1), nil, data)
		a.addEvent(testTime(2), nil, data)
		if kind, _ := a.classify(); kind == "" && (a.events == 0 || a.bytes == 0) {
			t.Error("a success without output")
		}
		if itl := a.itl(); itl != nil && *itl <= 0 {
			t.Errorf("itl %g: want it positive", *itl)
		}
		if v := a.sseSpeed(); v != nil && *v < 0 {
			t.Errorf("sse speed %g: want it not negative", *v)
		}
		a.clientTokens()
	})
}

// A body is judged the same for reads of any size.
func FuzzBody(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbf"+sseOutput+sseStop+sseUsage+sseDone+": bye\n\n"), 1)
	f.Add([]byte("\xef\xbb\xbf \n"+jsonGood), 2)
	f.Add([]byte("\xef\xbbdata: x\r\r"+sseDone+"x"), 1)
	f.Add([]byte("\n<html>"), 1)
	f.Add([]byte("event: error\ndata: x"), 3)
	f.Fuzz(func(t *testing.T, body []byte, size int) {
		if size < 1 {
			return
		}
		parse := func(pieces ...[]byte) (kind errorKind, text string, n notes) {
			var a response
			p := newBodyParser(&a)
			for _, piece := range pieces {
				if a.complete() {
					break
				}
				if err := p.feed(testTime(1), piece); err != nil {
					t.Fatal(err)
				}
			}
			p.end(false)
			kind, text = a.classify()
			return kind, text, a.notes()
		}
		kind, text, n := parse(body)
		cutKind, cutText, cutNotes := parse(slices.Collect(slices.Chunk(bytes.Clone(body), size))...)
		if kind != cutKind || text != cutText || kind == "" && n != cutNotes {
			t.Errorf("in one read %q (%s) %v, in reads of %d bytes %q (%s) %v",
				kind, text, n.keys(), size, cutKind, cutText, cutNotes.keys())
		}
	})
}
