package results

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// requireNumpy is the environment variable that makes the test fail without numpy.
const requireNumpy = "AGENTPERF_REQUIRE_NUMPY"

// numpyScript computes the figures of phase 0 independently of the Go code.
const numpyScript = `
import json, sys, numpy as np
rows = [json.loads(l) for l in open(sys.argv[1] + "/requests.jsonl")]
window = json.loads(open(sys.argv[1] + "/phase_manifest.jsonl").readline())
t0, t1 = window["settling_end"], window["actual_phase_end"]
rows = [r for r in rows if r.get("phase_idx", 0) == 0 and t0 <= r["start_time"] < t1]
ok = [r for r in rows if r.get("success") is not False and r.get("has_output") is not False]
def known(rs, *keys): return [r for r in rs if all(r.get(k) is not None for k in keys)]
def col(rs, key): return np.array([r[key] for r in known(rs, key)], dtype=np.float64)
IN, OUT, HIT = "server_input_tokens", "server_output_tokens", "server_cached_tokens"
out = {
  "output_server_tok_s": col(rows, OUT).sum() / (t1 - t0),
  "total_server_tok_s": sum(r[IN] + r[OUT] for r in known(rows, IN, OUT)) / (t1 - t0),
  "cache_hit_rate": sum(r[HIT] for r in known(rows, HIT, IN)) / sum(r[IN] for r in known(rows, HIT, IN)),
  "avg_input_per_request": col(ok, IN).mean(),
  "avg_output_per_request": col(ok, OUT).mean(),
  "median_output_per_request": np.median(col(ok, OUT)),
  "input_tokens": col(rows, IN).sum(), "output_tokens": col(rows, OUT).sum(), "cached_tokens": col(rows, HIT).sum(),
}
def percentiles(name, values, unit, ps):
    for p in ps: out["%s_p%d_%s" % (name, p, unit)] = np.percentile(values, p)
percentiles("ttft", col(ok, "ttft"), "s", (50, 95, 99))
itl = col(ok, "itl"); sse = col(ok, "sse_output_speed")
percentiles("output_speed_local", 1 / itl[itl > 0], "tok_s", (5, 25, 50, 95))
percentiles("itl", itl[itl > 0], "s", (50, 95, 99))
percentiles("output_speed_sse", sse[sse > 0], "tok_s", (5, 25, 50, 95))
percentiles("e2e", np.array([r["end_time"] - r["start_time"] for r in ok]), "s", (50, 95, 99))
figures = {k: float(v) for k, v in out.items()}
json.dump({"figures": figures, "measured": len(rows), "failed": len(rows) - len(ok)}, sys.stdout)
`

// TestFiguresEqualNumpy compares all figures with those computed by numpy.
func TestFiguresEqualNumpy(t *testing.T) {
	t.Parallel()
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import numpy").Run() == nil {
			python = p
			break
		}
	}
	if python == "" {
		text := "not compared with numpy: no python3 with numpy found; on Debian: apt-get install python3-numpy"
		if os.Getenv(requireNumpy) != "" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	dir := t.TempDir()
	writeMixedRows(t, dir, 20_000)
	out, err := exec.Command(python, "-c", numpyScript, dir).Output()
	if err != nil {
		t.Fatalf("numpy: %v", err)
	}
	var want struct {
		Figures          map[string]float64
		Measured, Failed int
	}
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	run, err := Load(t.Context(), dir, RunContext{})
	if err != nil {
		t.Fatal(err)
	}
	p := run.Phases[0]
	if p.Requests.Measured != want.Measured || p.Requests.Failed != want.Failed {
		t.Errorf("%+v, want %d measured, %d failed", p.Requests, want.Measured, want.Failed)
	}
	if len(want.Figures) != len(Metrics)-1 { // all except the one of the client
		t.Errorf("%d figures by numpy of %d", len(want.Figures), len(Metrics)-1)
	}
	for key, v := range want.Figures {
		if got := p.Figures.Get(key).Value; !(math.Abs(got-v) <= 1e-9*math.Abs(v)) {
			t.Errorf("%s: %.17g, numpy says %.17g", key, got, v)
		}
	}
}

// writeMixedRows writes rows of two phases with failed requests, null values, and starts
// before and after the measuring window.
func writeMixedRows(t *testing.T, dir string, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	number := func(v any) string {
		if rng.IntN(20) == 0 {
			return "null"
		}
		return fmt.Sprint(v)
	}
	var b strings.Builder
	for i := range n {
		start := 1.789e9 + float64(i)/20 + rng.Float64()
		fmt.Fprintf(&b, `{"phase_idx":%d,"concurrency":%d,"conversation_id":"c%d","conversation_idx":%d,"user_id":%d,`+
			`"request_id":"%012x","start_time":%.7f,"end_time":%.7f,`,
			i*5/(4*n), 64+i*5/(4*n), i%50, i, i, i, start, start+rng.ExpFloat64()*5)
		if rng.IntN(50) == 0 {
			b.WriteString(`"server_input_tokens":null,"server_output_tokens":null,"server_cached_tokens":null,"ttft":null,` +
				`"itl":null,"sse_output_speed":null,"success":false}` + "\n")
			continue
		}
		fmt.Fprintf(&b, `"server_input_tokens":%s,"server_output_tokens":%s,"server_cached_tokens":%s,"ttft":%s,"itl":%s,`+
			`"sse_output_speed":%s,"success":true%s}`+"\n",
			number(rng.IntN(80000)), number(rng.IntN(900)), number(rng.IntN(20000)), number(rng.ExpFloat64()),
			number(0.001+rng.ExpFloat64()/50),
			number(rng.NormFloat64()*20+150), []string{"", "", "", `,"has_output":true`, `,"has_output":false`}[rng.IntN(5)])
	}
	for name, text := range map[string]string{
		RequestsFile: b.String(),
		ManifestFile: `{"phase_idx":0,"settling_end":1789000050.5,"actual_phase_end":1789000700.25}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
