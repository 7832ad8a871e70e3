package parity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/results"
)

func side(t *testing.T, text string) Side {
	t.Helper()
	path := filepath.Join(t.TempDir(), "figures.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Load(t.Context(), path, AnyPhase, results.RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const someFigures = "concurrency: 4\nthroughput: {output_server_tok_s: 100.0}\n"

func TestComparability(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, ref, cand, failure string
		verdict, reason          string
	}{
		{"model name with / and _", "about: {model: org/name}", "about: {model: org_name}", "", Within, ""},
		{"model path and served name", "about: {model: /models/x/name}", "about: {model: name}", "", Within, ""},
		{"different model", "about: {model: name}", "about: {model: other}", "", NotComparable, "model differs"},
		{"dataset in another directory", "about: {dataset: /a/x.jsonl}", "about: {dataset: /b/x.jsonl}", "", Within, ""},
		{
			"different dataset contents", "about: {dataset_hash: 1f}", "about: {dataset_hash: 2f}", "", NotComparable,
			"dataset contents differ",
		},
		{
			"different dataset", "about: {dataset: /a/x.jsonl}", "about: {dataset: /a/y.jsonl}", "", NotComparable,
			"dataset differs",
		},
		{"different seed", "about: {seed: 1}", "about: {seed: 2}", "", NotComparable, "seed differs"},
		{
			"interrupted", "", "stop_reason: interrupted", "", NotComparable,
			"the candidate's phase is partial: the client was interrupted",
		},
		{"different regular stop reasons", "stop_reason: timeout", "stop_reason: criteria", "", Within, ""},
		{"failed run", "", "", "failed: decode_0 exited", NotComparable, "candidate's run failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cand := side(t, someFigures+c.cand)
			cand.Failure = c.failure
			got := Compare(side(t, someFigures+c.ref), cand, Options{})
			if got.Verdict != c.verdict || !strings.Contains(strings.Join(got.Reasons, "; "), c.reason) {
				t.Errorf("%s, %v; want %s with %q", got.Verdict, got.Reasons, c.verdict, c.reason)
			}
		})
	}
}

// TestHardwareMetrics checks that a comparison says that hardware metrics were collected for one side only.
func TestHardwareMetrics(t *testing.T) {
	t.Parallel()
	yes, no := identity.CollectedYes, identity.CollectedNo
	for _, c := range []struct {
		ref, cand identity.Collected
		want      string
	}{
		{yes, no, "collected during the run of the reference only"},
		{no, yes, "collected during the run of the candidate only"},
		{yes, yes, ""},
		{no, no, ""},
		{yes, "", ""},
		{"", no, ""},
	} {
		ref, cand := side(t, someFigures), side(t, someFigures)
		ref.Inputs.HardwareMetrics, cand.Inputs.HardwareMetrics = c.ref, c.cand
		notes := strings.Join(Compare(ref, cand, Options{}).Notes, "\n")
		if strings.Contains(notes, "hardware metrics") != (c.want != "") || !strings.Contains(notes, c.want) {
			t.Errorf("%q and %q: %s", c.ref, c.cand, notes)
		}
	}
}

// TestExtremeFigures checks that figures that no real run has do not cause a panic.
func TestExtremeFigures(t *testing.T) {
	t.Parallel()
	tiny, huge := side(t, "throughput: {output_server_tok_s: 1.0e-300}"),
		side(t, "throughput: {output_server_tok_s: 1.0e+8}")
	for _, c := range []Comparison{Compare(tiny, huge, Options{}), Compare(huge, tiny, Options{})} {
		if c.Verdict != Outside || c.Text() == "" || c.Markdown() == "" {
			t.Errorf("verdict %s", c.Verdict)
		}
	}
}

// TestTextAlignsWideNames checks the alignment of columns with a title in wide characters.
func TestTextAlignsWideNames(t *testing.T) {
	t.Parallel()
	delta := 0.0
	c := Comparison{
		Delta: &delta, Reference: Column{Name: "参考运行"}, Candidate: Column{Name: "b"},
		Rows: []Row{{Metric: "Requests", Reference: "1", Candidate: "2", Delta: "="}},
	}
	_, table, _ := strings.Cut(c.Text(), "\n\nreference")
	lines := strings.Split(table, "\n")
	if want := []string{"Metric    参考运行  b  Δ  tolerance", "Requests         1  2  ="}; len(lines) < 6 ||
		lines[3] != want[0] || lines[4] != want[1] {
		t.Errorf("got %q, want %q", lines, want)
	}
}
