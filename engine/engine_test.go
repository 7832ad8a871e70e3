package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// bench is an engine with folders of its own and a clock that stands.
func bench(t *testing.T) *Engine {
	t.Helper()
	e, err := New(Options{StateDir: t.TempDir(), OutputDir: t.TempDir(), Getenv: func(string) string { return "" }, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                    "",
		"band_percent: 1.5\n": "",
		"tiers: [{name: a, speed_floor_tok_s: 40, ttft_ceiling_s: 5}]": "",
		"band_percent: -1\n":   "more than 0",
		"band_percent: .nan\n": "more than 0",
		"bandpercent: 1\n":     "known keys",
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readConfig(path); fmt.Sprint(err) != "<nil>" && says == "" || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}
