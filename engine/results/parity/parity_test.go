package parity

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
)

const publishedTable = `| Metric | script harness | srt-slurm | Δ |
| --- | --- | --- | --- |
| Output tok/s (server-reported) | 60,822.2 | 60,573.2 | −0.41% |
| Output tok/s (client-estimated) | 45,776.2 | 45,697.7 | −0.17% |
| Total tok/s (server-reported) | 8,145,082.8 | 8,014,563.4 | −1.60% |
| TTFT p50 | 1.348 s | 1.376 s | +2.1% |
| TTFT p95 | 2.562 s | 2.495 s | −2.6% |
| TTFT p99 | 4.158 s | 3.759 s | −9.6% |
| Cache hit rate | 96.7% | 96.7% | = |
| Avg input tokens/request | 40,544.8 | 40,448.1 | −0.24% |
| Avg output tokens/request | 305.0 | 308.0 | +1.0% |
| Per-request output speed p50 (local / SSE) | 77.5 / 138.3 tok/s | 77.4 / 136.7 tok/s | −0.1% / −1.2% |
| Measured requests (errors) | 230,509 (0) | 216,835 (0) | - |
`

func load(t *testing.T, path string) Side {
	t.Helper()
	s, err := Load(t.Context(), path, AnyPhase, results.Known{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPublishedTable(t *testing.T) {
	t.Parallel()
	c := Compare(load(t, "testdata/script-harness.yaml"), load(t, "testdata/srt-slurm.yaml"), Options{})
	if !strings.Contains(c.Markdown(), publishedTable) {
		t.Errorf("the published table is not in\n%s", c.Markdown())
	}
	if c.Verdict != Within {
		t.Errorf("verdict %q", c.Verdict)
	}
	t.Log("\n" + c.Text())
	t.Log("\n" + c.Markdown())
}
