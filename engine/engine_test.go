package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfiguration(t *testing.T) {
	t.Parallel()
	for text, wantErr := range map[string]string{
		"":                    "<nil>",
		"band_percent: 1.5\n": "<nil>",
		"tiers: [{name: a, speed_floor_tok_s: 40, ttft_ceiling_s: 5}]": "<nil>",
		"band_percent: -1\n":      "more than 0",
		"band_percent: .nan\n":    "more than 0",
		"bandpercent: 1\n":        "known keys",
		"queue_seconds: 3601\n":   "queue_seconds must be between 0 and 3600, got 3601",
		"stall_seconds: 100000\n": "stall_seconds must be between 0 and 86400, got 100000",
	} {
		_, err := readConfig(write(t, text), none)
		if !strings.Contains(fmt.Sprint(err), wantErr) {
			t.Errorf("%q: %v, want %q", text, err, wantErr)
		}
	}
	c, err := readConfig(filepath.Join(t.TempDir(), "none.yaml"), none)
	if err != nil || c.BandPercent != 2 || c.QueueSeconds != 5 || c.StallSeconds != 300 {
		t.Errorf("defaults %+v, %v", c, err)
	}
}

// The longer queue interval of configuration and environment applies. The stall limit of the
// environment overrides the configured one.
func TestEnvironmentSettings(t *testing.T) {
	t.Parallel()
	path := write(t, "queue_seconds: 20\nstall_seconds: 60\n")
	for _, c := range []struct {
		queue, stall         string
		queueWant, stallWant float64
		wantErr              string
	}{
		{"", "", 20, 60, ""},
		{"10", "5", 20, 5, ""},
		{"30", "90", 30, 90, ""},
		{"often", "", 0, 0, `$AGENTPERF_TUI_QUEUE_SECONDS: must be more than 0 and at most 3600 seconds, got "often"`},
		{"4000", "", 0, 0, "at most 3600"},
		{"", "0", 0, 0, `$AGENTPERF_TUI_STALL_SECONDS: must be more than 0 seconds, got "0"`},
	} {
		got, err := readConfig(path, func(name string) string {
			return map[string]string{queueEnv: c.queue, stallEnv: c.stall}[name]
		})
		if c.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("%q and %q: %v, want %q", c.queue, c.stall, err, c.wantErr)
			}
			continue
		}
		if err != nil || got.QueueSeconds != c.queueWant || got.StallSeconds != c.stallWant {
			t.Errorf("%q and %q: %+v, %v", c.queue, c.stall, got, err)
		}
	}
}

func none(string) string { return "" }

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
