package results

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

const sample = "../../testdata/bm_agentperf_dsv4_5p1d/c1010"

// TestSample checks that the figures computed from the request rows of the sample run equal
// those in the statistics file of the client.
func TestSample(t *testing.T) {
	t.Parallel()
	run, err := Load(t.Context(), sample, RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Phases) != 1 || run.EarlierStartRows != 0 || len(run.Errors)+len(run.Warnings) != 0 {
		t.Fatalf("run: %+v", run)
	}
	p := run.Phases[0]
	if p.Window.Source != FromManifest || p.Window.Seconds != 120.5 {
		t.Errorf("window %+v", p.Window)
	}
	want := Requests{Measured: 199, Successful: 198, Failed: 1, Settling: 41, SettlingFailed: 1}
	if p.Total != 240 || *p.Requests != want {
		t.Errorf("total %d, %+v; want 240, %+v", p.Total, *p.Requests, want)
	}
	stem, ok := harness.ParseStem(p.Stem)
	if !ok {
		t.Fatalf("stem %q", p.Stem)
	}
	stats, err := parseStatistics(stem, p.Statistics)
	if err != nil {
		t.Fatal(err)
	}
	checkReported(t, p, &stats)
	for _, dir := range []string{filepath.Join(sample, "agentperf"), sample + "/."} {
		if again, err := Load(t.Context(), dir, RunContext{}); err != nil || len(again.Phases) != 1 {
			t.Errorf("%s: %v, %+v", dir, err, again.Phases)
		}
	}
	t.Log("\n" + run.Text())
}

// checkReported compares the figures of a phase with those that the client reports.
func checkReported(t *testing.T, p Phase, stats *statistics) {
	t.Helper()
	for _, m := range Metrics {
		f, stated := p.Figures.Get(m.Key), stats.metric(m)
		if m.Formula.Of == ITL && math.IsNaN(stated) { // not reported by the client
			stated = f.Value
		}
		if !(math.Abs(f.Value-stated) <= 1e-9*stated) {
			t.Errorf("%s = %.12g, the statistics file contains %.12g", m.Key, f.Value, stated)
		}
		if !math.IsNaN(f.Client) {
			t.Errorf("%s: the client's %g is shown beside %g", m.Key, f.Client, f.Value)
		}
		if m.Key != "output_client_tok_s" && f.N == 0 {
			t.Errorf("%s: no sample count", m.Key)
		}
	}
}
