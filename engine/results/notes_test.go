package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClientNotes checks that the notes of a statistics file become warnings, and that a malformed
// one does not.
func TestClientNotes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, notes string
		want        []string
	}{
		{name: "none", notes: `{}`, want: []string{}},
		{
			name:  "two",
			notes: `{"no_usage":{"requests":1,"share":0.25},"data_after_done":{"requests":1200,"share":1}}`,
			want: []string{
				`the client reports "data after done" in 1,200 successful request(s) (100.0 %)`,
				`the client reports "no usage" in 1 successful request(s) (25.0 %)`,
			},
		},
		{
			name:  "terminal escape",
			notes: `{"\u001b[31m":{"requests":1,"share":0.5}}`,
			want:  []string{`the client reports "\x1b[31m" in 1 successful request(s) (50.0 %)`},
		},
		{
			name: "other content", want: []string{},
			notes: `{"a":1,"b":{"requests":-1,"share":0.5},"c":{"requests":1,"share":7}}`,
		},
		{name: "a text", notes: `"fine"`, want: []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := only(t, aggregate(t, `{"phase_idx":0,"settling_end":110,"actual_phase_end":120}`,
				`{"measurement_duration_s":10,"notes":`+tt.notes+`}`, line(0, 110, ""), line(1, 111, "")))
			if diff := cmp.Diff(tt.want, p.Warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}
