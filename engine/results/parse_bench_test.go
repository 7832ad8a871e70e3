package results

import (
	"strings"
	"testing"
)

// BenchmarkParseRow parses a row in several spellings. The spaced one must not take more
// than a tenth longer than the compact one.
func BenchmarkParseRow(b *testing.B) {
	compact := `{"phase_idx":0,"concurrency":20000,"conversation_id":"coding-agent-007","conversation_idx":12,` +
		`"user_id":1207,` +
		`"request_id":"0000000003a7","start_time":1789000123.2774284,"end_time":1789000128.5926788,` +
		`"server_input_tokens":40544,"server_output_tokens":305,"server_cached_tokens":12345,"ttft":1.348123,` +
		`"itl":0.012345678901234567,"sse_output_speed":138.34567890123456,"success":true,` +
		`"x_request_id":"0123456789abcdef0123456789abcdef"}`
	spaced := strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(compact)
	for _, bm := range []struct{ name, line string }{
		{"compact", compact},
		{"spaced", spaced},
		{"spaced-more", strings.NewReplacer(`":`, `" : `, `,"`, " ,\t\"").Replace(compact)},
		{"other-order", `{"success":true,` + strings.Replace(compact[1:], `,"success":true`, "", 1)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			line, r := []byte(bm.line), row{}
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if err := parseRow(line, -1, &r); err != nil || r.Output != 305 {
					b.Fatal(err, r)
				}
			}
		})
	}
}
