package results

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// completeRow is row i of a phase of 300 s with 12 users, one request in 250 ms.
func completeRow(i int, more string) string {
	start := 1000 + 0.25*float64(i)
	text := fmt.Sprintf(`{"phase_idx":0,"concurrency":12,"conversation_id":"c%d","conversation_idx":%d,"user_id":%d,`+
		`"request_id":"r%d","start_time":%g,"end_time":%g,"server_input_tokens":100,"server_output_tokens":30,`+
		`"server_cached_tokens":40,"ttft":%g,"itl":0.01,"sse_output_speed":90,"success":true`,
		i%40, i/40, i%12, i, start, start+0.5, 0.1+float64(i%100)/1000)
	if more != "" {
		text += "," + more
	}
	return text + "}"
}

const completeWindow = `{"phase_idx":0,"settling_end":1000,"actual_phase_end":1300}`

// rowsWith returns 1200 rows; change may replace a row, or drop it by returning "".
func rowsWith(change func(i int, row string) string) []string {
	var rows []string
	for i := range 1200 {
		if row := change(i, completeRow(i, "")); row != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

// aggregateAny adds rows of which some can't be read.
func aggregateAny(t *testing.T, rows []string) *Aggregator {
	t.Helper()
	f := NewAggregator()
	t.Cleanup(f.Close)
	if err := f.AddManifestRow([]byte(completeWindow)); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		_ = f.AddRequestRow([]byte(row))
	}
	return f
}

// edit returns a function for rowsWith that changes each nth row, beginning with row first.
func edit(n, first int, change func(row string) string) func(int, string) string {
	return func(i int, row string) string {
		if i%n == first {
			return change(row)
		}
		return row
	}
}

func replace(old, new string) func(string) string {
	return func(row string) string { return strings.Replace(row, old, new, 1) }
}

func cutOff(row string) string { return row[:min(60, len(row))] }

// chain applies second to the rows that first returns.
func chain(first, second func(int, string) string) func(int, string) string {
	return func(i int, row string) string { return second(i, first(i, row)) }
}

// keep leaves out the rows before from and those after the row before to.
func keep(from, to int) func(int, string) string {
	return func(i int, row string) string {
		if i < from || i >= to {
			return ""
		}
		return row
	}
}

// hole leaves out the rows from from to the one before to.
func hole(from, to int) func(int, string) string {
	return func(i int, row string) string {
		if i >= from && i < to {
			return ""
		}
		return row
	}
}

// noTTFT leaves out the TTFT of the first n rows.
func noTTFT(n int) func(int, string) string {
	return func(i int, row string) string {
		if i < n {
			row, _, _ = strings.Cut(row, `"ttft"`)
			return row + `"success":true}`
		}
		return row
	}
}

func TestClassesOfFigures(t *testing.T) {
	t.Parallel()
	noOutput := func(n int) func(int, string) string {
		return edit(n, 0, replace(`"server_output_tokens":30`, `"server_output_tokens":null`))
	}
	oneToken := func(row string) string {
		row = strings.Replace(row, `"server_output_tokens":30`, `"server_output_tokens":1`, 1)
		return strings.Replace(row, `"itl":0.01`, `"itl":null`, 1)
	}
	moreCached := replace(`"server_cached_tokens":40`, `"server_cached_tokens":150`)
	tests := []struct {
		name    string
		rows    func(i int, row string) string
		key     string
		class   Class
		text    string
		reasons []ReasonID
	}{
		{"all known", keep(0, 1200), Primary, Exact, "120.0 tok/s", nil},
		{"one unknown", noOutput(1200), Primary, Exact, "119.9 tok/s", []ReasonID{UnknownQuantity}},
		{"0.5 % unknown", noOutput(200), Primary, Uncertain, "119.4 ±0.6 tok/s", []ReasonID{UnknownQuantity}},
		{"4 % unknown", noOutput(25), Primary, Invalid, "≥ 115.2 tok/s", []ReasonID{UnknownQuantity}},
		{"half unknown", noOutput(2), Primary, Invalid, "≥ 60.0 tok/s", []ReasonID{UnknownQuantity}},
		{"sum", noOutput(25), OutputSum, Invalid, "≥ 34,560 tok", []ReasonID{UnknownQuantity}},
		{"mean", noOutput(200), AvgOutput, Uncertain, "30.0 ±0.2 tok", []ReasonID{UnknownQuantity}},
		{"mean over 1 %", noOutput(25), AvgOutput, Invalid, "30.0 tok", []ReasonID{UnknownQuantity}},
		{"other quantity", noOutput(2), TTFT50, Exact, "0.150 s", nil},
		{"percentile", noTTFT(12), TTFT50, Uncertain, "0.150 ±0.001 s", []ReasonID{UnknownQuantity}},
		{"percentile over 1 %", noTTFT(13), TTFT50, Invalid, "0.150 s", []ReasonID{UnknownQuantity}},
		{"one unreadable row", edit(1200, 0, cutOff), Primary, Exact, "119.9 tok/s", []ReasonID{UnreadableRows}},
		{"12 unreadable rows", edit(100, 0, cutOff), Primary, Uncertain, "118.8 ±1.2 tok/s", []ReasonID{UnreadableRows}},
		{"half unreadable", edit(2, 0, cutOff), Primary, Invalid, "≥ 60.0 tok/s", []ReasonID{UnreadableRows}},
		{"half unreadable, percentile", edit(2, 0, cutOff), TTFT95, Invalid, "", []ReasonID{UnreadableRows}},
		{"rows end early", keep(0, 840), Primary, Invalid, "≥ 84.0 tok/s", []ReasonID{RowsMissing}},
		{"rows end a bit early", keep(0, 1160), Primary, Invalid, "", []ReasonID{RowsMissing}},
		{"rows begin late", keep(300, 1200), Primary, Invalid, "≥ 90.0 tok/s", []ReasonID{RowsMissing}},
		{"rows end after 12 requests", keep(0, 12), Primary, Invalid, "≥ 1.2 tok/s", []ReasonID{RowsMissing}},
		{"one request", keep(600, 601), Primary, Invalid, "≥ 0.1 tok/s", []ReasonID{RowsMissing, RowsMissing}},
		{"hole in the rows", hole(400, 800), Primary, Invalid, "≥ 80.0 tok/s", []ReasonID{RowsMissing}},
		{
			"more cached than input tokens", edit(1, 0, moreCached),
			"cache_hit_rate", Invalid, "150.0 %",
			[]ReasonID{OutOfRange, OutOfRange},
		},
		{"one token has no speed", edit(2, 0, oneToken), LocalSpeed50, Exact, "100.0 tok/s", nil},
		{
			"0.67 % unknown and 0.67 % unreadable", chain(edit(150, 70, cutOff), noOutput(150)),
			Primary, Invalid, "≥ 118.4 tok/s",
			[]ReasonID{UnknownQuantity, RowsMissing, UnreadableRows},
		},
		{
			"0.08 % unknown and 0.08 % unreadable", chain(edit(1200, 70, cutOff), noOutput(1200)),
			Primary, Uncertain, "119.8 ±0.2 tok/s",
			[]ReasonID{UnknownQuantity, RowsMissing, UnreadableRows},
		},
		{
			"0.5 % without start time", edit(200, 3, replace(`"start_time":`, `"start_time":null,"was":`)),
			Primary, Uncertain, "119.4 ±0.6 tok/s",
			[]ReasonID{UnreadableRows},
		},
		{
			"0.5 % with more cached than input tokens", edit(200, 3, moreCached),
			"cache_hit_rate", Uncertain, "40.6 ±0.3 %",
			[]ReasonID{OutOfRange},
		},
		{"few requests have a speed, 3 of 1,200 rows unreadable", func(i int, row string) string {
			if i%50 != 0 {
				row = oneToken(row)
			}
			return edit(400, 70, cutOff)(i, row)
		}, LocalSpeed50, Invalid, "100.0 tok/s", []ReasonID{UnreadableRows, UnreadableRows}},
		{"failed requests have no tokens", edit(25, 0, func(row string) string {
			row, _, _ = strings.Cut(row, `"server_input_tokens"`)
			return row + `"server_output_tokens":null,"success":false}`
		}), Primary, Exact, "115.2 tok/s", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := only(t, aggregateAny(t, rowsWith(tt.rows)))
			f := p.Figures.Get(tt.key)
			if f.Class != tt.class || tt.text != "" && f.Text() != tt.text {
				t.Errorf("%s is %q, want %s is %q; reasons %+v", f.Class, f.Text(), tt.class, tt.text, p.ReasonsOf(f))
			}
			var ids []ReasonID
			for _, r := range p.ReasonsOf(f) {
				ids = append(ids, r.ID)
			}
			if !slices.Equal(ids, tt.reasons) {
				t.Errorf("reasons %v, want %v", ids, tt.reasons)
			}
			if (f.Class == Invalid) != (f.Invalid != "" || len(p.Invalid) > 0) {
				t.Errorf("class %s, but invalid %q and %q", f.Class, f.Invalid, p.Invalid)
			}
		})
	}
}

// While a phase runs, its window is short and estimated. That must not hide, and not be taken
// for, a reason that stays when the phase ends.
func TestFiguresSoFar(t *testing.T) {
	t.Parallel()
	swap := func(old, new string, every int) func(int, string) string {
		return edit(every, 0, replace(old, new))
	}
	backwards := func(i int, row string) string {
		if i == 700 {
			return strings.Replace(row, `"end_time":1175.5`, `"end_time":1000`, 1)
		}
		return row
	}
	const allRead = `"no such text"`
	tests := []struct {
		name, rate, ttft string
		rows             func(int, string) string
		invalid          string // begin of the reason; empty: none
	}{
		{"valid", "~ 120.0 tok/s", "~ 0.150 s", swap(allRead, "", 1), ""},
		{"clock step", "~ 120.0 tok/s !", "~ 0.150 s !", backwards, "clock changed: 1 request(s) end before"},
		{
			"half unreadable", "~ ≥ 60.1 tok/s !", "~ 0.150 s !",
			swap(`"phase_idx":0`, `"phase_idx":0,,`, 2), "600 of 1,200 rows",
		},
		{"1 % unreadable", "~ 118.9 ±1.3 tok/s", "~ 0.150 ±0.001 s", swap(`"phase_idx":0`, `"phase_idx":0,,`, 100), ""},
		{"4 % unknown", "~ ≥ 115.2 tok/s !", "~ 0.150 s", swap(`tokens":30`, `tokens":null`, 25), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := NewAggregator()
			t.Cleanup(f.Close)
			f.SetRunning(true)
			f.AddPlan(PlannedPhase{Phase: 0, Concurrency: 12, Timeout: 3600, MinMeasurement: 900})
			for _, row := range rowsWith(tt.rows) {
				_ = f.AddRequestRow([]byte(row))
			}
			p := f.Snapshot(time.Unix(1300, 0)).Phases[0]
			if got := p.Figures.Get(Primary); !got.IsInvalid() || !p.Provisional || p.Window.Source != Estimated {
				t.Errorf("the window of %.1f s is too short, but %s is %s", p.Window.Seconds, got.Text(), got.Class)
			}
			soFar := p.FiguresSoFar()
			rate, ttft := soFar.Get(Primary).MarkedText(), soFar.Get(TTFT50).MarkedText()
			if rate != tt.rate || ttft != tt.ttft {
				t.Errorf("%q and %q, want %q and %q; reasons %+v", rate, ttft, tt.rate, tt.ttft, p.Reasons)
			}
			got := strings.Join(p.InvalidSoFar(), "; ")
			if (got == "") != (tt.invalid == "") || !strings.HasPrefix(got, tt.invalid) || strings.Contains(got, "window") {
				t.Errorf("invalid because of %q, want %q", got, tt.invalid)
			}
		})
	}
	p := only(t, aggregateAny(t, rowsWith(swap(allRead, "", 1))))
	p.Figures[0].Class, p.Invalid = Invalid, []string{"measuring window too short"}
	if p.FiguresSoFar()[0].Class != Invalid || len(p.InvalidSoFar()) != 1 {
		t.Error("an ended phase has other figures so far than at its end")
	}
}

// The bounds must contain the value that the figure has if the unknown values are known.
func TestBoundsContainTheTruth(t *testing.T) {
	t.Parallel()
	truth := only(t, aggregateAny(t, rowsWith(func(_ int, row string) string { return row })))
	for _, every := range []int{110, 150, 300, 599} {
		for name, change := range map[string]func(i int, row string) string{
			"unreadable": func(i int, row string) string {
				if i%every == every/2 {
					return "{" + row
				}
				return row
			},
			"unknown": func(i int, row string) string {
				if i%every == every/2 {
					row, _, _ = strings.Cut(row, `"server_input_tokens"`)
					return row + `"success":true}`
				}
				return row
			},
		} {
			p := only(t, aggregateAny(t, rowsWith(change)))
			for _, f := range p.Figures {
				want := truth.Figures.Get(f.Key)
				if f.Class != Uncertain || math.IsNaN(want.Value) || want.Class == Invalid {
					continue
				}
				if !(f.Low <= want.Value+1e-9 && want.Value <= f.High+1e-9) {
					t.Errorf("%s, every %d: %s from %g to %g, truth %g", name, every, f.Key, f.Low, f.High, want.Value)
				}
			}
		}
	}
}

func TestFigureJSONKeepsItsClass(t *testing.T) {
	t.Parallel()
	p := only(t, aggregateAny(t, rowsWith(func(i int, row string) string {
		if i%25 == 0 {
			return strings.Replace(row, `"server_output_tokens":30`, `"server_output_tokens":null`, 1)
		}
		return row
	})))
	data, err := json.Marshal(p.Figures)
	if err != nil {
		t.Fatal(err)
	}
	var got Figures
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, want := range p.Figures {
		f := got.Get(want.Key)
		if f.Class != want.Class || f.Text() != want.Text() || f.Of != want.Of || len(f.Reasons) != len(want.Reasons) {
			t.Errorf("%s: read back %+v, want %+v", want.Key, f, want)
		}
	}
	var old Figures
	if err := json.Unmarshal([]byte(`{"ttft_p50_s":{"value":1,"invalid":"3 samples"}}`), &old); err != nil {
		t.Fatal(err)
	}
	if f := old.Get(TTFT50); f.Class != Invalid {
		t.Errorf("without a class: %+v", f)
	}
}

// A percentile that may be one of the unknown values has no upper bound.
func TestPercentileBeyondTheKnownValues(t *testing.T) {
	t.Parallel()
	s := rankSet{n: [quantities]int{TTFT: 99}}
	s.found[TTFT] = map[int]float64{}
	for rank := range 99 {
		s.found[TTFT][rank] = float64(1 + rank)
	}
	for _, tt := range []struct {
		unknown   int
		p         float64
		low, high float64
	}{
		{1, 50, 49.5, 50.5},
		{1, 99, 98.01, math.Inf(1)},
		{2, 1, 0, 2},
		{99, 95, 89.15, math.Inf(1)},
	} {
		low, high := s.percentileBounds(TTFT, tt.unknown, tt.p)
		if math.Abs(low-tt.low) > 1e-9 || high != tt.high && !(math.Abs(high-tt.high) < 1e-9) {
			t.Errorf("p%g with %d unknown values: from %g to %g, want %g to %g", tt.p, tt.unknown, low, high, tt.low, tt.high)
		}
	}
}

// The table marks what is not exact, and names why.
func TestTextMarksFigures(t *testing.T) {
	t.Parallel()
	text := only(t, aggregateAny(t, rowsWith(func(i int, row string) string {
		if i%150 == 70 {
			return row[:60]
		}
		if i%150 == 0 {
			return strings.Replace(row, `"server_output_tokens":30`, `"server_output_tokens":null`, 1)
		}
		return row
	}))).Text()
	for _, want := range []string{
		"≥ 118.4 tok/s !", "30.0 tok !", "0.150 ±0.001 s",
		"invalid: 1.33 % of the requests or of the window is unknown in total: Output tok/s (server-reported)",
		"uncertain: 8 of 1,200 rows could not be read\n",
		"uncertain: output tokens unknown in 8 of 1,200 requests: Output tok/s (server-reported)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
