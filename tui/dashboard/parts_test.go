package dashboard

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// drawLayout draws a layout: h headline, f figures, c charts, s steps, l log, - rules
// and titles.
func drawLayout(w, h int, l layout) string {
	grid := make([][]byte, h)
	for y := range grid {
		grid[y] = []byte(strings.Repeat("-", w))
	}
	fill := func(x, y, w, h int, c byte) {
		for dy := range h {
			for dx := range w {
				grid[y+dy][x+dx] = c
			}
		}
	}
	fill(0, 0, w, l.headH, 'h')
	fill(0, l.upperY, l.figuresW, l.upperH, 'f')
	x := l.figuresW
	for _, c := range l.chartWidths {
		fill(x+3, l.upperY, c, l.upperH, 'c')
		x += c + 3
	}
	fill(0, l.logY, l.logW, l.logH, 'l')
	fill(l.stepsX, l.stepsY, l.stepsW, l.stepsH, 's')
	var rows []string
	for _, row := range grid {
		short := ""
		for i, c := range row { // one column per ten cells
			if i%10 == 5 {
				short += string(c)
			}
		}
		rows = append(rows, short)
	}
	return strings.Join(rows, "\n")
}

func TestArrangeLayout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		w, h int
		s    content
		want string
	}{
		"60x12": {60, 12, content{headLines: 2, figureLines: 10, steps: true}, `
hhhhhh
hhhhhh
------
fffff-
fffff-
fffff-
fffff-
fffff-
fffff-
fffff-
------
llllll`},
		"80x16, steps": {80, 16, content{headLines: 2, figureLines: 9, steps: true, stepsReplaceFigures: true}, `
hhhhhhhh
hhhhhhhh
--------
ssssssss
ssssssss
ssssssss
ssssssss
ssssssss
ssssssss
ssssssss
ssssssss
ssssssss
--------
llllllll
llllllll
llllllll`},
		"80x8, zoom": {80, 8, content{headLines: 2, figureLines: 9, zoom: true}, `
hhhhhhhh
hhhhhhhh
--------
llllllll
llllllll
llllllll
llllllll
llllllll`},
		"200x14": {200, 14, content{headLines: 3, figureLines: 5, steps: true}, `
hhhhhhhhhhhhhhhhhhhh
hhhhhhhhhhhhhhhhhhhh
hhhhhhhhhhhhhhhhhhhh
--------------------
fffffffcccccc-cccccc
fffffffcccccc-cccccc
fffffffcccccc-cccccc
fffffffcccccc-cccccc
fffffffcccccc-cccccc
--------------------
lllllllllllllsssssss
lllllllllllllsssssss
lllllllllllllsssssss
lllllllllllllsssssss`},
	} {
		if got := drawLayout(c.w, c.h, arrangeLayout(c.w, c.h, c.s)); got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant%s", name, got, c.want)
		}
	}
	for _, size := range [][2]int{{0, 0}, {20, 5}, {5, 1}, {500, 200}} {
		for _, s := range []content{
			{},
			{headLines: 4, figureLines: 20, steps: true},
			{headLines: 2, figureLines: 9, stepsReplaceFigures: true},
			{zoom: true},
		} {
			l := arrangeLayout(size[0], size[1], s)
			if l.logH < 0 || l.upperH < 0 || l.upperY+l.upperH > max(size[1], l.upperY) || l.headH > size[1] {
				t.Errorf("%v %+v: %+v", size, s, l)
			}
		}
	}
}

func TestPhaseParts(t *testing.T) {
	t.Parallel()
	pl := &plan.Phase{RampSeconds: 10, SettlingSeconds: 5, TimeoutSeconds: 60, MinMeasurement: 20}
	for name, c := range map[string]struct {
		p     phaseView
		now   float64
		ended time.Time
		want  string
	}{
		"not begun": {p: phaseView{plan: pl}, want: "ramp 0:10  settling 0:05  measuring ~0:45"},
		"ramp": {
			p: phaseView{plan: pl, times: &event.PhaseTimes{Ramp: at(0)}}, now: 4,
			want: "ramp 0:04 / 0:10  settling 0:05  measuring ~0:45",
		},
		"measuring": {
			p: phaseView{plan: pl, times: &event.PhaseTimes{Ramp: at(0), Settling: at(11), Measuring: at(16)}}, now: 36,
			want: "ramp ✓ 0:11  settling ✓ 0:05  measuring 0:20 / ~0:45",
		},
		"stopped": {
			p:   phaseView{plan: pl, times: &event.PhaseTimes{Ramp: at(0), Settling: at(11), Measuring: at(16), Stop: at(36)}},
			now: 90, want: "ramp ✓ 0:11  settling ✓ 0:05  measuring ✓ 0:20 / ~0:45",
		},
		"cut short": {
			p: phaseView{plan: pl, times: &event.PhaseTimes{Ramp: at(0), Stop: at(3)}}, now: 90,
			want: "ramp ✗ 0:03 / 0:10  settling not reached  measuring not reached",
		},
		"killed": {
			p: phaseView{plan: pl, times: &event.PhaseTimes{Ramp: at(0), Settling: at(10)}}, now: 90, ended: at(12),
			want: "ramp ✓ 0:10  settling ✗ 0:02 / 0:05  measuring not reached",
		},
		"without plan": {
			p: phaseView{times: &event.PhaseTimes{Ramp: at(0), Settling: at(10)}}, now: 12,
			want: "ramp ✓ 0:10  settling 0:02  measuring",
		},
		"external": {
			p: phaseView{result: &results.Phase{Window: &results.Window{Seconds: 1156}}}, want: "measuring ✓ 19:16",
		},
	} {
		var got []string
		parts := c.p.parts(at(c.now), c.ended)
		for i, p := range parts {
			got = append(got, ansi.Strip(drawPart(ui.NewTheme(true), p, 0, i == len(parts)-1)))
		}
		if s := strings.Join(got, "  "); s != c.want {
			t.Errorf("%s: %s, want %s", name, s, c.want)
		}
		for w := 0; w < 150; w += 7 {
			if n := ui.Width(drawParts(ui.NewTheme(true), parts, w)); n > max(w, 32) {
				t.Errorf("%s: parts for %d cells take %d", name, w, n)
			}
		}
	}
}

// Buckets with few requests are aggregated, unless too few points would be left.
func TestSparseBuckets(t *testing.T) {
	t.Parallel()
	var many, few []results.Bucket
	p95 := func(i int) []float64 { return trendValues(map[string]float64{results.TTFT95: float64(i)}) }
	for i := range 48 {
		many = append(many, results.Bucket{N: 100, Values: p95(i)})
		few = append(few, results.Bucket{N: 4, Values: p95(i)})
	}
	curve := trends[0].curves[1]
	if got := curveValues(many, curve); len(got) != 48 || got[47] != 47 {
		t.Errorf("%v", got)
	}
	if got := curveValues(few, curve); len(got) != 24 || got[0] != 1 || got[23] != 47 {
		t.Errorf("%v", got)
	}
	if got := curveValues(few[:3], curve); len(got) != 3 {
		t.Errorf("%v", got)
	}
}

func TestTimeAxis(t *testing.T) {
	t.Parallel()
	from := float64(at(0).Unix())
	type marks = []timeMark
	for name, c := range map[string]struct {
		marks marks
		w     int
		want  string
	}{
		"plain":     {nil, 20, "0:00            1:40"},
		"marks":     {marks{{at(60), "measuring"}, {at(20), "settling"}}, 40, "0:00    ╵settling       ╵measuring  1:40"},
		"near":      {marks{{at(60), "measuring"}, {at(50), "settling"}}, 40, "0:00        settling╵   ╵measuring  1:40"},
		"narrow":    {marks{{at(60), "measuring"}, {at(100), "stop"}, {at(50), "settling"}}, 18, " measuring╵  stop╵"},
		"tight":     {marks{{at(60), "measuring"}, {at(50), "settling"}}, 14, "0:00    ╵m    "},
		"same time": {marks{{at(60), "measuring"}, {at(60), "settling"}}, 20, "   measuring╵   1:40"},
		"outside":   {marks{{at(500), "stop"}, {time.Time{}, "measuring"}}, 20, "0:00            1:40"},
		"tiny":      {nil, 3, "   "},
	} {
		if got := timeAxis(from, from+100, c.marks, c.w); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFigureLines(t *testing.T) {
	t.Parallel()
	u := errorsUpdate()
	phases := mergePhases(newFake(t).phases, &u)
	got := map[string]figure{}
	for _, f := range figureLines(phases[1], u.Recent, newFake(t).Tiers(), 52) {
		got[f.label] = f
	}
	for label, want := range map[string][2]ui.Cell{
		"output (tok/s)":       {{Text: "60,573.2"}, {Text: "61,178.9"}},
		"cache hit (%)":        {{Text: "96.7"}, {Text: "96.7"}},
		"requests (errors)":    {{Text: "114,201 (431)", Role: ui.Bad}, {Text: "11,020 (120)", Role: ui.Bad}},
		"SLO 40 tok/s · 5 s":   {{Text: "✓ met", Role: ui.OK}, {}},
		"SLO 100 tok/s · 2 s":  {{Text: "✗ not met", Role: ui.Warn}, {Text: "speed", Role: ui.Muted}},
		"output/GPU (tok/s)":   {{Text: "1,164.9"}, {Text: "1,176.5"}},
		"users active":         {{Text: "1,010 of 1,010"}, {Text: "1,004"}},
		"output/request (tok)": {{Text: "533.1"}, {Text: "538.4"}},
	} {
		f := got[label]
		if f.reason.Text != "" {
			f.recent = f.reason
		}
		if f.total != want[0] || f.recent != want[1] {
			t.Errorf("%s: %+v %+v, want %+v", label, f.total, f.recent, want)
		}
	}
	if n := got["TTFT p95 (s)"]; n.totalN.Text != "114,201" || n.recentN.Text != "11,020" {
		t.Errorf("counts %+v", n)
	}
	want := "120 of 11,020 requests of the last 60 s failed: 100 × http 503, 20 × timeout; " +
		"431 of 114,201 measured requests failed: 400 × http 503, 31 of unknown kind"
	if got := errorSummary(phases[1], u.Recent); got != want {
		t.Errorf("errors %q, want %q", got, want)
	}
	for _, f := range figureLines(phaseView{}, nil, nil, 52) {
		if f.total.Text != "-" {
			t.Errorf("%s without results is %q", f.label, f.total.Text)
		}
	}
}

// The stop criteria and times of a run that was planned without its workload are unknown.
func TestPhaseWithoutTimes(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p := phaseView{plan: &plan.Phase{Concurrency: 8}, times: &event.PhaseTimes{Ramp: noon}}
	if got := p.stopCriteria(ui.Theme{}, noon); len(got) != 1 || !strings.Contains(got[0], "unknown") {
		t.Errorf("stop criteria %q", got)
	}
	if at := p.deadline(); !at.IsZero() {
		t.Errorf("deadline %s", at)
	}
	for _, part := range p.parts(noon, time.Time{}) {
		if !math.IsNaN(part.planned) {
			t.Errorf("%s is planned to last %g s", part.name, part.planned)
		}
	}
}

// In a low body the three TTFT percentiles share a line.
func TestCompactFigures(t *testing.T) {
	t.Parallel()
	u := doneUpdate()
	phases := mergePhases(newFake(t).phases, &u)
	got := compactLines(figureLines(phases[1], u.Recent, nil, 0))
	for i, want := range []string{
		"output (tok/s) 60,573.2 61,178.9", "TTFT 50 95 99 (s) !1.38 2.50 3.76 1.39 2.52 3.80",
		"requests (errors) 114,201 (0) 11,020 (0)", "speed p25 (tok/s) 61.2 61.8", "total (tok/s) 8,014,563 8,094,709",
		"cache hit (%) 96.7 96.7",
	} {
		if line := got[i].label + " " + got[i].total.Text + " " + got[i].recent.Text; line != want {
			t.Errorf("line %d: %q, want %q", i, line, want)
		}
	}
	if n := len(figureLines(phases[1], u.Recent, nil, 0)) - len(got); n != 2 {
		t.Errorf("%d lines fewer, want 2", n)
	}
}

func TestFailedStep(t *testing.T) {
	t.Parallel()
	code := func(n int) *int { return &n }
	steps := []event.StepStatus{
		{Name: "prefill_1", State: "exited", ExitCode: code(143)},
		{Name: "prefill_10", State: "exited", ExitCode: code(1)},
		{Name: "decode_0", State: "ready"},
	}
	for message, want := range map[string]string{
		"prefill_10 ended with code 1": "prefill_10", "decode_0 was not ready within 60 s": "decode_0", "killed": "prefill_1",
	} {
		if got := failedStep(event.Status{Message: message, Steps: steps}); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}

// The line of TTFT percentiles has those of its label, even with another one between them.
func TestCompactFindsTTFTByKey(t *testing.T) {
	t.Parallel()
	lines := make([]figure, errorLine+1)
	for _, f := range [][2]string{
		{results.TTFT50, "0.50"}, {"ttft_p90_s", "0.90"}, {results.TTFT95, "0.95"}, {results.TTFT99, "0.99"},
	} {
		lines = append(lines, figure{key: f[0], total: ui.Cell{Text: f[1]}, recent: ui.Cell{Text: "-"}})
	}
	got := compactLines(lines)
	if got[1].label != "TTFT 50 95 99 (s)" || got[1].total.Text != "0.50 0.95 0.99" {
		t.Errorf("%q shows %q", got[1].label, got[1].total.Text)
	}
	if last := got[len(got)-1]; last.key != "ttft_p90_s" {
		t.Errorf("the percentile between them is missing: %+v", got)
	}
}
