package parity

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// rowSet is a generated run: 1,200 rows of 12 users in a window of 300 s, of which a case changes
// some.
type rowSet struct {
	rows    []map[string]any
	end     float64                         // of the window, after its start
	text    func(row map[string]any) string // nil: compact JSON
	mangle  func(i int, line string) string // nil: lines as they are
	planned results.PlannedPhase
}

const caseStart = 1789642000.0

func newRowSet() *rowSet {
	s := &rowSet{end: 300}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 1200 {
		start := caseStart + float64(i)/4
		s.rows = append(s.rows, map[string]any{
			"phase_idx": 0, "concurrency": 12, "conversation_id": fmt.Sprint("c", i%40), "conversation_idx": i / 40,
			"user_id": i % 12, "request_id": fmt.Sprint("r", i), "start_time": start, "end_time": start + 0.5,
			"server_input_tokens": 100, "server_output_tokens": 30, "server_cached_tokens": 40,
			"ttft": 0.1 + rng.Float64()/100, "itl": 0.01, "sse_output_speed": 90.0, "success": true,
		})
	}
	return s
}

// keyOrder is the order in which the client writes the keys of a row.
var keyOrder = []string{
	"phase_idx", "concurrency", "conversation_id", "conversation_idx", "user_id", "request_id", "start_time", "end_time",
	"server_input_tokens", "server_output_tokens", "server_cached_tokens", "ttft", "itl", "sse_output_speed", "success",
}

// spell writes a row with separators between its members, and between keys and values.
func spell(row map[string]any, keys []string, comma, colon string) string {
	var members []string
	for _, key := range keys {
		value, err := json.Marshal(row[key])
		if err != nil {
			panic(err)
		}
		members = append(members, `"`+key+`"`+colon+string(value))
	}
	return "{" + strings.Join(members, comma) + "}"
}

// load writes the rows and loads them.
func (s *rowSet) load(t *testing.T) Side {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "agentperf")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i, row := range s.rows {
		line := spell(row, keyOrder, ",", ":")
		if s.text != nil {
			line = s.text(row)
		}
		if s.mangle != nil {
			line = s.mangle(i, line)
		}
		lines = append(lines, line)
	}
	manifest := fmt.Sprintf(`{"phase_idx":0,"settling_end":%.1f,"actual_phase_end":%.1f}`, caseStart, caseStart+s.end)
	for name, text := range map[string]string{
		results.RequestsFile: strings.Join(lines, "\n"), results.ManifestFile: manifest,
	} {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	side, err := Load(t.Context(), dir, AnyPhase, results.RunContext{Planned: []results.PlannedPhase{s.planned}})
	if err != nil {
		t.Fatal(err)
	}
	return side
}

// setEvery sets a value in every nth row.
func setEvery(n int, key string, value any) func(*rowSet) {
	return func(s *rowSet) {
		for i := 0; i < len(s.rows); i += n {
			s.rows[i][key] = value
		}
	}
}

// failEvery makes every nth request fail.
func failEvery(n int) func(*rowSet) {
	return func(s *rowSet) {
		for i := 0; i < len(s.rows); i += n {
			for _, key := range []string{
				"server_input_tokens", "server_output_tokens", "server_cached_tokens", "ttft", "itl", "sse_output_speed",
			} {
				s.rows[i][key] = nil
			}
			s.rows[i]["success"] = false
		}
	}
}

func allOf(changes ...func(*rowSet)) func(*rowSet) {
	return func(s *rowSet) {
		for _, change := range changes {
			change(s)
		}
	}
}

// TestIncompleteRows compares a complete run with one in which something is unknown, missing or
// impossible. The exit code of the command follows from the verdict.
func TestIncompleteRows(t *testing.T) {
	t.Parallel()
	const primary = "Output tok/s (server-reported)"
	invalid := primary + " of the candidate is invalid: "
	tests := []struct {
		name    string
		change  func(*rowSet)
		verdict string
		reason  string // in Reasons
		row     string // metric of a row
		value   string // of the candidate in it
		flag    string // in the flags of the row
		note    string
	}{
		{name: "plain", change: func(*rowSet) {}, verdict: Within, row: primary, value: "120.0"},
		{name: "spaced", verdict: Within, row: primary, value: "120.0", change: func(s *rowSet) {
			s.text = func(row map[string]any) string { return spell(row, keyOrder, ", ", ": ") }
		}},
		{name: "spaced more", verdict: Within, row: primary, value: "120.0", change: func(s *rowSet) {
			s.text = func(row map[string]any) string { return spell(row, keyOrder, " ,\t", " : ") }
		}},
		{name: "shuffled", verdict: Within, row: primary, value: "120.0", change: func(s *rowSet) {
			rng := rand.New(rand.NewPCG(2, 2))
			rng.Shuffle(len(s.rows), func(i, j int) { s.rows[i], s.rows[j] = s.rows[j], s.rows[i] })
			s.text = func(row map[string]any) string {
				keys := slices.Sorted(maps.Keys(row))
				rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				return spell(row, keys, ",", ":")
			}
		}},
		{
			name: "tokens of 4 % unknown", change: setEvery(25, "server_output_tokens", nil), verdict: NotComparable,
			reason: invalid + "output tokens unknown in 48 of 1,200 requests", row: primary, value: "≥ 115.2 !",
			flag: "candidate invalid: output tokens unknown in 48 of 1,200 requests",
		},
		{
			name: "tokens of half unknown", change: setEvery(2, "server_output_tokens", nil), verdict: NotComparable,
			reason: invalid + "output tokens unknown in 600 of 1,200 requests", row: primary, value: "≥ 60.0 !",
		},
		{
			name: "tokens of 0.5 % unknown", change: setEvery(200, "server_output_tokens", nil), verdict: Within,
			row: primary, value: "119.4 ±0.6", flag: "candidate uncertain: output tokens unknown in 6 of 1,200 requests",
		},
		{
			name: "tokens of one request unknown", change: setEvery(1200, "server_output_tokens", nil), verdict: Within,
			row: primary, flag: "candidate: output tokens unknown in 1 of 1,200 requests",
		},
		{
			// One request has most of the tokens that the six others may have had.
			name: "either side of the band", verdict: NotComparable,
			change: allOf(setEvery(200, "server_output_tokens", nil),
				func(s *rowSet) { s.rows[1]["server_output_tokens"] = 630 }),
			reason: "not told apart: the difference of " + primary + " is +1.17% to +11.67%, the band is ±2% " +
				"(candidate: output tokens unknown in 6 of 1,200 requests)",
			row: primary, value: "121.4 ±12.6", flag: "not told apart: +1.17% to +11.67%",
		},
		{
			name: "outside the band at both ends", verdict: Outside, row: primary, value: "99.5 ±0.5",
			change: allOf(setEvery(1, "server_output_tokens", 25), setEvery(200, "server_output_tokens", nil)),
			flag:   "beyond ±2%",
		},
		{
			name: "half unreadable", verdict: NotComparable, reason: invalid + "600 of 1,200 rows could not be read",
			change: func(s *rowSet) {
				s.mangle = func(i int, line string) string {
					if i%2 == 0 {
						return line[:len(line)-9]
					}
					return line
				}
			},
			row: "TTFT p50", value: "!", note: "candidate invalid: 600 of 1,200 rows could not be read",
		},
		{
			name: "rows end early", verdict: NotComparable, change: func(s *rowSet) { s.rows = s.rows[:840] },
			reason: invalid + "the rows end 89.8 s before the measuring window does", row: primary, value: "!",
		},
		{
			name: "clock forward", verdict: NotComparable, reason: invalid + "no request in flight for 3,599.8 s",
			change: func(s *rowSet) {
				s.end = 3900
				for _, row := range s.rows[600:] {
					row["start_time"] = row["start_time"].(float64) + 3600
					row["end_time"] = row["end_time"].(float64) + 3600
				}
			},
			row: primary, value: "!",
		},
		{
			name: "more cached than input", change: setEvery(1, "server_cached_tokens", 150), verdict: Within,
			row: "Cache hit rate", value: "150.0% !", flag: "candidate invalid: 150.0 %, must be between 0 and 100 %",
		},
		{
			name: "speeds of an answer in one chunk", verdict: Within, row: "Per-request output speed p50 (local / SSE)",
			change: setEvery(1, "sse_output_speed", 215847.0), value: "100.0 / 215,847.0 tok/s !",
			flag: "candidate invalid: the server sends tokens in large chunks",
		},
		{
			name: "window too short", verdict: NotComparable, reason: invalid + "measuring window too short: 300.0 s",
			change: func(s *rowSet) { s.planned.MinMeasurement = 600 }, row: primary, value: "120.0 !",
		},
		{
			name: "failed requests", change: failEvery(48), verdict: Outside, row: "Failed requests", value: "2.08%",
			flag: "worse",
		},
	}
	plain := newRowSet().load(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := newRowSet()
			tt.change(set)
			cand := set.load(t)
			c := Compare(plain, cand, Options{})
			if c.Verdict != tt.verdict || !strings.Contains(strings.Join(c.Reasons, "\n"), tt.reason) {
				t.Errorf("%s, want %s, %s", c.Summary(), tt.verdict, tt.reason)
			}
			i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Metric == tt.row })
			r := c.Rows[i]
			if !strings.HasSuffix(r.Candidate, tt.value) || !strings.Contains(strings.Join(r.Flags, ", "), tt.flag) {
				t.Errorf("%s: %q with %q, want %q with %q", tt.row, r.Candidate, r.Flags, tt.value, tt.flag)
			}
			if !strings.Contains(strings.Join(c.Notes, "\n"), tt.note) {
				t.Errorf("notes %q, want %q", c.Notes, tt.note)
			}
			base := plain
			base.Requests, cand.Requests = nil, nil // without intervals, which take long
			if back := Compare(cand, base, Options{}); back.Verdict != tt.verdict {
				t.Errorf("the other way round: %s", back.Summary())
			}
			forced := Compare(base, cand, Options{Force: true})
			if forced.Verdict != tt.verdict || forced.Forced || (forced.NoVerdict() == "") != (tt.verdict != NotComparable) {
				t.Errorf("forced: %s", forced.Summary())
			}
			checkSurfaces(t, forced, tt.reason, tt.flag, tt.note)
		})
	}
}

// checkSurfaces checks that text, Markdown and JSON contain all texts.
func checkSurfaces(t *testing.T, c Comparison, texts ...string) {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	markdown := strings.ReplaceAll(c.Markdown(), `\`, "") // without escapes
	for _, text := range texts {
		for name, surface := range map[string]string{"text": c.Text(), "Markdown": markdown, "JSON": string(data)} {
			if !strings.Contains(surface, text) {
				t.Errorf("%s: no %q in\n%s", name, text, surface)
			}
		}
	}
}

// TestFigureJSON checks that the JSON of an uncertain figure has its class, bounds and reasons.
func TestFigureJSON(t *testing.T) {
	t.Parallel()
	set := newRowSet()
	setEvery(200, "server_output_tokens", nil)(set)
	data, err := json.Marshal(Compare(newRowSet().load(t), set.load(t), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Rows []struct {
			Parts []struct {
				Range   []float64 `json:"delta_range"`
				Figures []struct {
					Class     results.Class
					Low, High float64
					Of        int
					Reasons   []results.Reason
				}
			}
		}
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	p := c.Rows[0].Parts[0]
	f := p.Figures[1]
	if f.Class != results.Uncertain || f.Of != 1200 || len(f.Reasons) != 1 || !(f.Low < f.High) || len(p.Range) != 2 ||
		p.Figures[0].Class != results.Exact {
		t.Errorf("%+v", p)
	}
}

// TestFailedRow checks the shares of failed requests, which have no relative difference.
func TestFailedRow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ref, cand failures
		want      string // reference, candidate, delta and flags
	}{
		{failures{0, 1200}, failures{27, 1227}, "0.00% 2.20% +2.20 pp [worse]"},
		{failures{27, 1227}, failures{0, 1200}, "2.20% 0.00% −2.20 pp [better]"},
		{failures{0, 230509}, failures{27, 216835}, "0.00% 0.01% +0.01 pp [worse]"},
		{failures{0, 230509}, failures{1, 216835}, "0.0000% 0.0005% +0.0005 pp []"},
		{failures{1, 199}, failures{1, 199}, "0.50% 0.50% = []"},
		{failures{0, 10}, failures{10, 10}, "0.00% 100.00% +100.00 pp [worse]"},
		{failures{0, 0}, failures{3, 100}, "- 3.00% - []"},
	} {
		r := failedRow(&Side{}, &Side{}, tt.ref, tt.cand)
		if got := fmt.Sprint(r.Reference, " ", r.Candidate, " ", r.Delta, " ", r.Flags); got != tt.want {
			t.Errorf("%v and %v: %s, want %s", tt.ref, tt.cand, got, tt.want)
		}
	}
	failing := newRowSet()
	failEvery(48)(failing)
	cand := failing.load(t)
	cand.Phase.Errors = map[string]int{"timeout": 20, "http_500": 5}
	c := Compare(newRowSet().load(t), cand, Options{})
	checkSurfaces(t, c, "Failed requests", "+2.08 pp", "candidate errors: timeout 20, http_500 5")
}

// TestOlderRollup checks a roll-up that was written before figures had a class.
func TestOlderRollup(t *testing.T) {
	t.Parallel()
	rollup := func(invalid, phase string) Side {
		return load(t, write(t, "r.json", `{"benchmark":"agentperf","phases":[],"agentperf_tui":{"phases":[{"phase_idx":0,`+
			`"concurrency":4,"figures":{"output_server_tok_s":{"value":100,"invalid":"`+invalid+`"}},"invalid":[`+phase+`]}]}}`))
	}
	for _, tt := range []struct{ invalid, phase, want string }{
		{"", "", ""}, {"too few", "", "too few"}, {"", `"no window"`, "no window"},
	} {
		c := Compare(rollup(tt.invalid, tt.phase), rollup("", ""), Options{})
		if (c.Verdict == NotComparable) != (tt.want != "") || !strings.Contains(c.Summary(), tt.want) {
			t.Error(c.Summary())
		}
		if !strings.Contains(strings.Join(c.Notes, "\n"), "the completeness of the figures is unknown") {
			t.Errorf("%q", c.Notes)
		}
	}
}

// TestPartialRollup checks that a roll-up tells that its run is incomplete, like the run itself.
func TestPartialRollup(t *testing.T) {
	t.Parallel()
	rollup := func(doc, run, phase string) Side {
		return load(t, write(t, "r.json", `{"benchmark":"agentperf","phases":[],`+doc+`"agentperf_tui":{`+run+`"phases":[{`+
			phase+`"phase_idx":0,"concurrency":4,"figures":{"output_server_tok_s":{"value":100}}}]}}`))
	}
	complete := rollup("", "", "")
	for _, tt := range []struct {
		side Side
		want []string
	}{
		{complete, []string{}},
		{
			rollup(`"partial":true,`, `"partial":"the run's state is failed: disk full",`, ""),
			[]string{"the candidate's run is partial: the run's state is failed: disk full"},
		},
		{
			rollup(`"partial":true,`, `"partial":"the client failed in phase 0",`, `"partial":"the client failed",`),
			[]string{"the candidate's phase is partial: the client failed"},
		},
	} {
		c := Compare(complete, tt.side, Options{})
		if !slices.Equal(c.Reasons, tt.want) || (c.Verdict == NotComparable) != (len(tt.want) > 0) {
			t.Errorf("%s: %q, want %q", c.Verdict, c.Reasons, tt.want)
		}
	}
}
