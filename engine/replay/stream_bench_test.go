package replay

import (
	"bytes"
	"context"
	"testing"
)

// BenchmarkReadStream measures the client's work for one event of a stream of 300 events. It is
// part of the measured latencies, so it must stay small.
func BenchmarkReadStream(b *testing.B) {
	const (
		head = `data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1700000000,` +
			`"model":"org/model","choices":[{"index":0,"delta":`
		word = `{"content":"the "},"finish_reason":null}]`
	)
	shapes := []struct{ name, rest string }{
		{"content", word + `}`},
		{"nulls", `{"content":"the ","reasoning_content":null,"tool_calls":[]},"logprobs":null,"finish_reason":null,` +
			`"stop_reason":null}],"usage":null,"error":null}`},
		{"reasoning", `{"reasoning_content":"the "},"finish_reason":null}]}`},
		{"tool_call", `{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]},"finish_reason":null}]}`},
		{"usage", word + `,"usage":{"prompt_tokens":40000,"completion_tokens":300,"total_tokens":40300,` +
			`"prompt_tokens_details":{"cached_tokens":39000}}}`},
	}
	const events = 300
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			var stream bytes.Buffer
			for range events {
				stream.WriteString(head + shape.rest + "\n\n")
			}
			stream.WriteString(head + `{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
			_, cancel := context.WithCancel(b.Context())
			defer cancel()
			var in bytes.Reader
			b.ReportAllocs()
			for b.Loop() {
				in.Reset(stream.Bytes())
				var a response
				if err := readBody(&in, cancel, newBodyParser(&a)); err != nil || a.events != events {
					b.Fatal(err, a.events)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
		})
	}
}
