package results

import (
	"fmt"
	"math"
	"slices"
)

// Metric describes a figure of a phase: how it is computed, when it is invalid, how it is
// compared, and its names in all outputs. [Metrics] lists all metrics.
//
// Every metric appears in results, exports, HTML pages and roll-ups. It appears in the
// other views if the field for the view is not nil or empty.
type Metric struct {
	Key        string // in JSON and CSV: snake_case, ends with the unit
	Label      string // for display
	Short      string // for narrow views; empty: same as Label
	Unit       Unit
	Decimals   int // for display
	Better     Direction
	Formula    Formula
	Validity   Validity
	Statistics StatisticsPath // where the client reports it

	Parity    *Parity    // in comparisons
	Dashboard *Dashboard // on the dashboard
	Trend     *Trend     // in time series and their charts
	Runs      *Runs      // in lists of runs
	Watch     string     // name in the output of watch; empty: not shown
}

// Unit is the unit of stored values and of displayed values.
type Unit struct {
	Name    string  // of stored values
	Display string  // of displayed values
	Scale   float64 // displayed value / stored value
}

// Direction tells whether higher or lower values are better. It is empty if neither is.
type Direction string

// Directions of metrics.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Formula defines how a metric is computed from requests.
type Formula struct {
	Kind       Kind
	Of         Quantity
	Over       Quantity // divisor of a Share
	Percentile float64  // 0 to 100
}

// Kind is the kind of a formula.
type Kind int

// Kinds of formulas. Sums are over all measured requests, means and percentiles over the
// successful ones; requests without the quantity are skipped. Confidence intervals of
// differences are computed by resampling blocks of time for rates, and users for means,
// shares and percentiles. ClientReported and Sum have none.
const (
	ClientReported Kind = iota // not computed: reported by the client
	Rate                       // sum / length of the measuring window
	Sum
	Mean
	Share // sum of one quantity / sum of another
	Percentile
)

// Validity defines when a figure is invalid, in addition to the reasons for its phase.
type Validity struct {
	MinTail int // minimum number of values in the smaller tail of a percentile
}

// StatisticsPath is the position of a value in the client's statistics file.
type StatisticsPath struct{ Section, Name string }

// Parity describes the row of a metric in comparisons.
type Parity struct {
	RowLabel    string  // label of a row that several metrics share; empty: Metric.Label
	Published   bool    // in the published table: always shown, before the others
	Tolerance   float64 // as a fraction of the reference; 0 for Primary, to which the band applies
	Noisy       bool    // never flagged as beyond its tolerance
	UnitInLabel bool    // values are shown without the unit
}

// Dashboard describes the line of a metric on the dashboard.
type Dashboard struct {
	Label    string // including the unit
	Decimals int
	Priority int // lines that do not fit are dropped, the highest number first
}

// MainPriority is the largest Dashboard.Priority of the lines that the dashboard shows
// even where there is little room.
const MainPriority = 3

// Trend describes the time series of a metric.
type Trend struct {
	Key      string // in the JSON form of a Bucket
	Chart    string // title of the dashboard chart, with the unit; equal titles share a chart
	Priority int    // of the chart; 1 is the most important
	Curve    string // label of the curve
	Peak     bool   // aggregate values by their maximum instead of their mean
	Page     string // title of the chart on HTML pages; equal titles share a chart; empty: none
}

// Runs describes a metric in lists of runs, which show the highest concurrency level.
type Runs struct {
	Key      string // in JSON
	Title    string // of the column; empty: no column
	Unit     string // shown with values; empty if the title contains it
	Decimals int    // in narrow lists
	Drop     int    // columns that do not fit are dropped, the highest number first; 0: never
	Detail   string // label in the details of the selected run; empty: not shown
}

// TrendMetrics are the metrics with time series.
var TrendMetrics = FilterMetrics(func(m *Metric) bool { return m.Trend != nil })

// RunsColumnMetrics are the metrics with a column in lists of runs.
var RunsColumnMetrics = FilterMetrics(func(m *Metric) bool { return m.Runs != nil && m.Runs.Title != "" })

// FindMetric returns the metric with a key, or nil if there is none.
func FindMetric(key string) *Metric {
	if i := slices.IndexFunc(Metrics, func(m *Metric) bool { return m.Key == key }); i >= 0 {
		return Metrics[i]
	}
	return nil
}

// FilterMetrics returns the metrics for which keep returns true, in order.
func FilterMetrics(keep func(*Metric) bool) []*Metric {
	return slices.DeleteFunc(slices.Clone(Metrics), func(m *Metric) bool { return !keep(m) })
}

// DisplayValue converts a stored value to the displayed unit.
func (m *Metric) DisplayValue(v float64) float64 { return v * m.Unit.Scale }

// NumberText formats a value without its unit, or as "-" if it is unknown.
func (m *Metric) NumberText(v float64) string { return Decimal(m.DisplayValue(v), m.Decimals) }

// Text formats a value with its unit, or as "-" if it is unknown.
func (m *Metric) Text(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return m.NumberText(v) + " " + m.Unit.Display
}

// RunsText formats a value for lists of runs.
func (m *Metric) RunsText(v float64, decimals int) string {
	text := Decimal(m.DisplayValue(v), decimals)
	if text == "-" || m.Runs.Unit == "" {
		return text
	}
	return text + " " + m.Runs.Unit
}

// ShortLabel returns the label for narrow views.
func (m *Metric) ShortLabel() string {
	if m.Short != "" {
		return m.Short
	}
	return m.Label
}

// outOfRangeReason returns why a value can't be true, or "" if it can.
func (m *Metric) outOfRangeReason(v float64) string {
	switch q := m.Formula.Of; {
	case m.Unit == Fraction && (v < 0 || v > 1):
		return Decimal(v*100, 1) + " %, must be between 0 and 100 %"
	case v < 0:
		return "negative"
	case m.Formula.Kind == Percentile && (q == LocalSpeed || q == SSESpeed) && v > maxUserSpeed,
		m.Formula.Kind == Percentile && q == ITL && v > 0 && v < 1/maxUserSpeed:
		return "the server sends tokens in large chunks (stream_interval): speeds per request are not meaningful"
	}
	return ""
}

// invalidReason returns why a percentile over n requests is invalid, or "" if it is valid.
func (m *Metric) invalidReason(n int) string {
	if p := m.Formula.Percentile; m.Validity.MinTail > 0 && n > 0 {
		need := int(math.Ceil(float64(100*m.Validity.MinTail)/min(p, 100-p) - 1e-9))
		if n < need {
			return fmt.Sprintf("%s samples, p%g needs %s", Count(n), p, Count(need))
		}
	}
	return ""
}
