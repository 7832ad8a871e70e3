package dashboard

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/chart"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// trend is one chart with its curves over the buckets of a phase.
type trend struct {
	title    string
	priority int // order of the charts
	curves   []curve
}

type curve struct {
	label string
	value func(results.Bucket) float64
	// peak takes the maximum of buckets that share a point, so that a peak does not
	// vanish in the mean.
	peak bool
}

// trends are the charts of metrics, load and errors.
var trends = func() []trend {
	all := []trend{
		{"load", 4, []curve{
			{"users", func(b results.Bucket) float64 { return float64(b.Users) }, false},
			{"requests in flight", func(b results.Bucket) float64 { return b.InFlight }, false},
		}},
		{"errors per bucket", math.MaxInt, []curve{
			{"failed requests", func(b results.Bucket) float64 { return float64(b.Failed) }, true},
		}},
	}
	for _, m := range results.TrendMetrics {
		i := slices.IndexFunc(all, func(t trend) bool { return t.title == m.Trend.Chart })
		if i < 0 {
			i, all = len(all), append(all, trend{title: m.Trend.Chart, priority: m.Trend.Priority})
		}
		of := func(b results.Bucket) float64 { return m.DisplayValue(b.Get(m.Key)) }
		all[i].curves = append(all[i].curves, curve{m.Trend.Curve, of, m.Trend.Peak})
	}
	slices.SortStableFunc(all, func(a, b trend) int { return cmp.Compare(a.priority, b.priority) })
	return all
}()

// completeBuckets returns the buckets without the last one if that is incomplete, since
// requests that belong to it may not have ended.
func completeBuckets(s *results.Series, ended bool) []results.Bucket {
	if s == nil {
		return nil
	}
	b := s.Buckets
	if n := len(b); n > 1 && (!ended || b[n-1].Seconds < s.Seconds/2) {
		b = b[:n-1]
	}
	return b
}

// minRequestsPerPoint is the average number of requests that a point of a curve needs.
const minRequestsPerPoint = 8

// curveValues returns the values of a curve. Buckets with few requests are aggregated,
// because percentiles of few values are noise.
func curveValues(buckets []results.Bucket, c curve) []float64 {
	requests := 0
	for _, b := range buckets {
		requests += b.N
	}
	perPoint := 1
	if requests > 0 {
		perPoint = min(max((minRequestsPerPoint*len(buckets)+requests-1)/requests, 1), max(len(buckets)/12, 1))
	}
	var out []float64
	for i := 0; i < len(buckets); i += perPoint {
		var values []float64
		for _, b := range buckets[i:min(i+perPoint, len(buckets))] {
			values = append(values, c.value(b))
		}
		out = append(out, chart.Aggregate(values, c.peak))
	}
	return out
}

// timeMark is a named time on the axis of a chart.
type timeMark struct {
	at   time.Time
	name string
}

// timeMarks returns the known start times of the parts of a phase, the most important
// one first.
func (p phaseView) timeMarks() []timeMark {
	if p.times == nil {
		return nil
	}
	var out []timeMark
	for _, m := range []timeMark{
		{p.times.Measuring, "measuring"}, {p.times.Stop, "stop"}, {p.times.Settling, "settling"},
	} {
		if !m.at.IsZero() {
			out = append(out, m)
		}
	}
	return out
}

// fractions returns the positions of marks between two times, from 0 to 1.
func fractions(marks []timeMark, from, to float64) []float64 {
	out := make([]float64, 0, len(marks))
	for _, m := range marks {
		out = append(out, (float64(m.at.UnixMilli())/1000-from)/(to-from))
	}
	return out
}

// timeAxis draws the time axis of a chart. Marks are drawn in their order, abbreviated
// to their first letter where the name does not fit. Then the times of the end and the
// start are drawn if they fit.
func timeAxis(from, to float64, marks []timeMark, w int) string {
	line := []rune(strings.Repeat(" ", max(w, 0)))
	if !(to > from) || w < 4 {
		return string(line)
	}
	put := func(at int, texts ...string) {
		for _, s := range texts {
			r := []rune(s)
			free := at >= 0 && at+len(r) <= len(line)
			for i := max(at-1, 0); free && i < min(at+len(r)+1, len(line)); i++ {
				free = line[i] == ' '
			}
			if free {
				copy(line[at:], r)
				return
			}
		}
	}
	fs := fractions(marks, from, to)
	for i := range marks {
		if x := int(fs[i] * float64(w)); fs[i] >= 0 && fs[i] <= 1 {
			x = min(x, w-1)
			name := marks[i].name
			put(x, "╵"+name)
			if line[x] != '╵' {
				put(x-len(name), name+"╵") // to the left of its position
			}
			if line[x] != '╵' {
				put(x, "╵"+name[:1], "╵")
			}
		}
	}
	span := ui.Clock(to - from)
	put(len(line)-len(span), span)
	put(0, "0:00")
	return string(line)
}

// draw draws the chart with its title and time axis in a box of w × h cells.
func (t trend) draw(th ui.Theme, p phaseView, buckets []results.Bucket, w, h int) string {
	curves := make([]ui.Curve, 0, len(t.curves))
	for _, c := range t.curves {
		values := chart.Resample(curveValues(buckets, c), c.peak, 2*(w-ui.ChartAxisWidth))
		curves = append(curves, ui.Curve{Label: c.label, Values: values})
	}
	head := ui.LeftRight(t.title, th.Legend(curves...), w)
	if len(buckets) == 0 {
		return ui.Box(head+"\n\n"+th.Paint(ui.Muted, strings.Repeat(" ", ui.ChartAxisWidth)+"no requests yet"), w, h)
	}
	last := buckets[len(buckets)-1]
	from, to := buckets[0].Start, last.Start+last.Seconds
	axis := strings.Repeat(" ", ui.ChartAxisWidth) + timeAxis(from, to, p.timeMarks(), w-ui.ChartAxisWidth)
	drawn := th.Chart(w, h-2, fractions(p.timeMarks(), from, to), curves...)
	return ui.Box(head+"\n"+drawn+"\n"+th.Paint(ui.Muted, axis), w, h)
}
