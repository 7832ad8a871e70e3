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

// trend is one chart: its title and its curves over the buckets of a phase.
type trend struct {
	title  string
	place  int // among the charts
	curves []curve
}

type curve struct {
	label string
	of    func(results.Bucket) float64
	// peak keeps the highest of several buckets that share a step: a slow moment
	// must not vanish in a mean.
	peak bool
}

// trends are the charts: those of metrics, and what the run is under.
var trends = func() []trend {
	all := []trend{
		{"load", 4, []curve{
			{"users", func(b results.Bucket) float64 { return float64(b.Users) }, false},
			{"requests in flight", func(b results.Bucket) float64 { return b.InFlight }, false},
		}},
		{"errors a bucket", math.MaxInt, []curve{
			{"failed requests", func(b results.Bucket) float64 { return float64(b.Failed) }, true},
		}},
	}
	for _, m := range results.TrendMetrics {
		i := slices.IndexFunc(all, func(t trend) bool { return t.title == m.Trend.Chart })
		if i < 0 {
			i, all = len(all), append(all, trend{title: m.Trend.Chart, place: m.Trend.Priority})
		}
		of := func(b results.Bucket) float64 { return m.DisplayValue(b.Get(m.Key)) }
		all[i].curves = append(all[i].curves, curve{m.Trend.Curve, of, m.Trend.Peak})
	}
	slices.SortStableFunc(all, func(a, b trend) int { return cmp.Compare(a.place, b.place) })
	return all
}()

// whole are the buckets that time has filled: the newest tells of requests that
// ended and not of those that have yet to.
func whole(s *results.Series, ended bool) []results.Bucket {
	if s == nil {
		return nil
	}
	b := s.Buckets
	if n := len(b); n > 1 && (!ended || b[n-1].Seconds < s.Seconds/2) {
		b = b[:n-1]
	}
	return b
}

// fewest is how many requests a point of a curve stands for at least, on average.
const fewest = 8

// valuesOf are a curve's values, several buckets together where each has only few
// requests: a percentile of two of them is noise.
func valuesOf(buckets []results.Bucket, c curve) []float64 {
	requests := 0
	for _, b := range buckets {
		requests += b.N
	}
	each := 1
	if requests > 0 {
		each = min(max((fewest*len(buckets)+requests-1)/requests, 1), max(len(buckets)/12, 1))
	}
	var out []float64
	for i := 0; i < len(buckets); i += each {
		var values []float64
		for _, b := range buckets[i:min(i+each, len(buckets))] {
			values = append(values, c.of(b))
		}
		out = append(out, chart.Aggregate(values, c.peak))
	}
	return out
}

// moment is a name for a time on a chart's axis.
type moment struct {
	at   time.Time
	name string
}

// moments are when the parts of a phase began, those that are known, the one that
// matters most first.
func (p phaseView) moments() []moment {
	if p.mark == nil {
		return nil
	}
	var out []moment
	for _, m := range []moment{{p.mark.Measuring, "measuring"}, {p.mark.Stop, "stop"}, {p.mark.Settling, "settling"}} {
		if !m.at.IsZero() {
			out = append(out, m)
		}
	}
	return out
}

// fractions are where moments lie between two times, from 0 to 1.
func fractions(marks []moment, from, to float64) []float64 {
	out := make([]float64, 0, len(marks))
	for _, m := range marks {
		out = append(out, (float64(m.at.UnixMilli())/1000-from)/(to-from))
	}
	return out
}

// timeAxis is the line under a chart from one time to another: the moments in
// their places, the first of them first; where a name has no room its first letter
// stands for it. Then the length at the end and the beginning, where they fit.
func timeAxis(from, to float64, marks []moment, w int) string {
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
				put(x-len(name), name+"╵") // to the left of its place
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

// draw is one chart with its title and its time axis in a box of w × h cells.
func (t trend) draw(th ui.Theme, p phaseView, buckets []results.Bucket, w, h int) string {
	curves := make([]ui.Curve, 0, len(t.curves))
	for _, c := range t.curves {
		values := chart.Resample(valuesOf(buckets, c), c.peak, 2*(w-ui.ChartAxisWidth))
		curves = append(curves, ui.Curve{Label: c.label, Values: values})
	}
	head := ui.LeftRight(t.title, th.Legend(curves...), w)
	if len(buckets) == 0 {
		return ui.Box(head+"\n\n"+th.Paint(ui.Muted, strings.Repeat(" ", ui.ChartAxisWidth)+"no requests yet"), w, h)
	}
	last := buckets[len(buckets)-1]
	from, to := buckets[0].Start, last.Start+last.Seconds
	axis := strings.Repeat(" ", ui.ChartAxisWidth) + timeAxis(from, to, p.moments(), w-ui.ChartAxisWidth)
	drawn := th.Chart(w, h-2, fractions(p.moments(), from, to), curves...)
	return ui.Box(head+"\n"+drawn+"\n"+th.Paint(ui.Muted, axis), w, h)
}
