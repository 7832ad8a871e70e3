package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// TestLoad checks that a loaded run has time series and tier results.
func TestLoad(t *testing.T) {
	t.Parallel()
	l, err := runstest.New(t).Find(t.Context(), sample)
	if err != nil {
		t.Fatal(err)
	}
	run, err := Load(t.Context(), l, []results.Tier{{Name: "any", SpeedFloor: 1, TTFTCeiling: 10}}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Series) != 1 || run.Series[0].Seconds != 10 || len(run.Tiers) != 1 ||
		run.Name != "bm_agentperf_dsv4_5p1d/c1010" {
		t.Errorf("%+v", run)
	}
}

// TestWriteComparison checks that file names are safe and unique.
func TestWriteComparison(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	side, err := parity.Load(t.Context(), sample, parity.AnyPhase, results.RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	side.Name = "bm_agentperf_dsv4_5p1d/c1010"
	c := parity.Compare(side, side, parity.Options{Band: 0.02})
	c.Candidate.Name = "../a b"
	for _, want := range []string{
		"parity-bm_agentperf_dsv4_5p1d-c1010-..-a-b.html",
		"parity-bm_agentperf_dsv4_5p1d-c1010-..-a-b-2.html",
	} {
		path, err := WriteComparison(dir, c)
		if err != nil || path != filepath.Join(dir, want) {
			t.Fatalf("%s, %v, want %s", path, err, want)
		}
		if page, err := os.ReadFile(path); err != nil || !strings.Contains(string(page), "<svg") &&
			!strings.Contains(string(page), "<table") {
			t.Errorf("%v: %.80s", err, page)
		}
	}
	if _, err := WriteComparison(filepath.Join(dir, "missing"), c); err == nil {
		t.Error("no error for a missing directory")
	}
}
