package results

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// reasonsOf returns the reasons of the only phase of the rows, in a window of 300 s.
func reasonsOf(t *testing.T, rows []string) (Phase, string) {
	t.Helper()
	p := aggregateAny(t, rows).Snapshot(time.Time{}).Phases[0]
	var texts []string
	for _, r := range p.Reasons {
		texts = append(texts, r.Text)
	}
	return p, strings.Join(texts, "\n")
}

// passRow is row i of 12 users that pause 2.5 s; each user is in a single pass, with a turn per request.
func passRow(i int, shift float64) string {
	start := 1000 + 0.25*float64(i) + shift
	return fmt.Sprintf(`{"phase_idx":0,"concurrency":12,"conversation_id":"c%d","conversation_idx":%d,"user_id":%d,`+
		`"request_id":"p%d","start_time":%g,"end_time":%g,"server_input_tokens":100,"server_output_tokens":30,"ttft":0.1,`+
		`"success":true}`, i%12, i/12, i%12, i%12, start, start+0.5)
}

// TestClockSteps checks that the smallest steps of the clock that can be told from pauses are told.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		step float64 // of the clock in the middle of the window, s
		want string
	}{
		{0, ""},
		{2, ""}, // not longer than the pauses
		{5, "no request in flight for 4.8 s within the measuring window"},
		{180, "the rows end"},
		{-4, "start before the previous request of the same user ends"},
		{-180, "start before the previous request of the same user ends"},
	} {
		var rows []string
		for i := range 1200 {
			shift := 0.0
			if i >= 600 {
				shift = tt.step
			}
			rows = append(rows, passRow(i, shift))
		}
		p, got := reasonsOf(t, rows)
		if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("step of %g s: %q, want %q", tt.step, got, tt.want)
		}
		if f := p.Figures.Get(Primary); f.IsInvalid() != (tt.want != "") {
			t.Errorf("step of %g s: %s", tt.step, f.MarkedText())
		}
	}
}

// TestRowsEndEarly checks a phase of which the last 2 % of the rows are missing.
func TestRowsEndEarly(t *testing.T) {
	t.Parallel()
	p, got := reasonsOf(t, rowsWith(func(i int, row string) string {
		if i >= 1176 {
			return ""
		}
		return row
	}))
	const want = "the rows end 5.8 s before the measuring window does"
	if f := p.Figures.Get(Primary); f.MarkedText() != "≥ 117.6 tok/s !" || got != want {
		t.Errorf("%s: %s", f.MarkedText(), got)
	}
}

// TestConcurrencyOfRows checks rows of one phase that state different concurrencies.
func TestConcurrencyOfRows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		every int
		class Class
		want  string
	}{
		{2, Invalid, "up to 600 of 1,200 rows state a concurrency of 24 instead of 12"},
		{1200, Exact, "up to 1 of 1,200 rows state a concurrency of 24 instead of 12"},
	} {
		change := func(row string) string { return strings.Replace(row, `"concurrency":12`, `"concurrency":24`, 1) }
		p, got := reasonsOf(t, rowsWith(edit(tt.every, 1, change)))
		if f := p.Figures.Get(Primary); got != tt.want || f.Class != tt.class || p.Concurrency != 12 {
			t.Errorf("each %d.: %q, %s is %q", tt.every, got, f.Text(), f.Class)
		}
	}
}

// TestUnusableStatistics checks that values which are no usable numbers are unknown and are told.
func TestUnusableStatistics(t *testing.T) {
	t.Parallel()
	const name, key = "m__12u__phase0__dur300s__settle0s__traj3.json: 1 value(s) ", "throughput.output_server_tok_s "
	for _, tt := range []struct{ by, warning, err string }{
		{by: "NaN", warning: name + "of the wrong type, treated as unknown; first: " + key + `"NaN"`},
		{by: "-Infinity", warning: name + "of the wrong type, treated as unknown; first: " + key + `"-Infinity"`},
		{by: "1e400", warning: name + "out of range, treated as unknown; first: " + key + "1e400"},
		{by: `120.0,"output_server_tok_s":99`, err: `line 1, column 221: the key "output_server_tok_s" occurs twice`},
		{by: "120.0\n}", err: "line 2, column 30: invalid character ','"},
	} {
		agg := NewAggregator()
		t.Cleanup(agg.Close)
		data := strings.Replace(completeStatistics, `"output_server_tok_s":120.0`, `"output_server_tok_s":`+tt.by, 1)
		err := agg.AddStatistics(completeStem, []byte(data))
		if got := fmt.Sprint(err); (err != nil) != (tt.err != "") || !strings.Contains(got, tt.err) {
			t.Errorf("%s: %s, want %q", tt.by, got, tt.err)
		}
		run := agg.Snapshot(time.Time{})
		if err != nil {
			err := run.WithoutFigures("x")
			if problem.Of(err) != problem.RowsUnreadable || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v", tt.by, err)
			}
			continue
		}
		if f := run.Phases[0].Figures.Get(Primary); f.Text() != "-" || !slices.Contains(run.Warnings, tt.warning) {
			t.Errorf("%s: %s, %q", tt.by, f.Text(), run.Warnings)
		}
	}
}

// TestCompressed checks that compressed output is named.
func TestCompressed(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"agentperf/requests.jsonl.gz": "\x1f\x8b", "agentperf/phase_manifest.jsonl": completeWindow,
	})
	run, err := Load(t.Context(), dir, RunContext{})
	if text := strings.Join(run.Warnings, "\n"); err != nil ||
		!strings.Contains(text, "requests.jsonl.gz not read: it is compressed; decompress it") {
		t.Errorf("%v: %s", err, text)
	}
	_, err = Load(t.Context(), tree(t, map[string]string{"agentperf/requests.jsonl.zst": "x"}), RunContext{})
	const want = "only compressed output: requests.jsonl.zst"
	if problem.Of(err) != problem.ResultsNotFound || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}
