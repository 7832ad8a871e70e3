package results

import (
	"strings"
	"testing"
)

// TestStopReason checks which stop reasons of the client make a phase partial.
func TestStopReason(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, manifest, stats, partial, warning string }{
		{name: "no stop reason"},
		{name: "timeout", manifest: "timeout", stats: "timeout"},
		{name: "criteria met", manifest: "criteria"},
		{name: "interrupted", manifest: "interrupted", partial: "the client was interrupted"},
		{name: "failed", manifest: "failed", partial: "the client failed"},
		{name: "in the statistics file", stats: "interrupted", partial: "the client was interrupted"},
		{name: "unknown reason", manifest: "tired\x1b[31m", warning: `unknown stop_reason of the client: "tired\x1b[31m"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			manifest, stats := "", ""
			if tt.manifest != "" {
				manifest = `{"phase_idx":0,"settling_end":110,"actual_phase_end":120,"stop_reason":"` +
					strings.ReplaceAll(tt.manifest, "\x1b", `\u001b`) + `"}`
			}
			if tt.stats != "" {
				stats = `{"measurement_duration_s":10,"stop_reason":"` + tt.stats + `"}`
			}
			p := only(t, aggregate(t, manifest, stats, line(0, 110, ""), line(1, 111, "")))
			if p.Partial != tt.partial || !strings.Contains(strings.Join(p.Warnings, "\n"), tt.warning) ||
				tt.warning == "" && len(p.Warnings) > 0 {
				t.Errorf("partial %q, warnings %q; want %q and %q", p.Partial, p.Warnings, tt.partial, tt.warning)
			}
			if shown := strings.Contains(p.Text(), "PARTIAL   "+tt.partial); shown != (tt.partial != "") {
				t.Errorf("in the text: %v\n%s", shown, p.Text())
			}
		})
	}
}
