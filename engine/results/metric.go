package results

import (
	"fmt"
	"math"
	"slices"
)

// Metric is one figure of a phase: how it is computed, when it is not to be trusted,
// how it is compared, and what it is called wherever it appears. Metrics lists them all.
//
// Every metric is part of results, exports, pages and roll-ups. In the views for which
// it has an entry of its own it appears where that is not nil or empty.
type Metric struct {
	Key        string // in JSON and CSV: snake_case, with the unit at its end
	Label      string // for people
	Short      string // where there is little room; empty: Label
	Unit       Unit
	Decimals   int // that people are shown
	Better     Direction
	Formula    Formula
	Validity   Validity
	Statistics StatisticsPath // where the client states it

	Parity    *Parity    // rows of a comparison
	Dashboard *Dashboard // lines of figures on the dashboard
	Trend     *Trend     // series over time, and charts of them
	Runs      *Runs      // list of runs
	Watch     string     // what it is called on a line of watch; empty: it is not there
}

// Unit is how values are kept, and how they are shown to people.
type Unit struct {
	Name    string // of a value as it is kept
	Display string // of a value as it is shown, which is Scale times the former
	Scale   float64
}

// Direction says which of two values is the better one; empty where neither is.
type Direction string

// Directions of metrics.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Formula says how a metric is computed from requests.
type Formula struct {
	Kind       Kind
	Of         Quantity
	Over       Quantity // what a Share is a share of
	Percentile float64  // 0 to 100
}

// Kind of a formula.
type Kind int

// Kinds of formulas. Sums are over all measured requests, means and percentiles over
// those of them that were successful; requests that lack the quantity are left out. The
// interval of a difference comes of drawing blocks of time for a rate, users for a mean,
// a share or a percentile; a sum, and what is stated, has none.
const (
	ClientReported Kind = iota // by the client, of what the rows don't tell
	Rate                       // sum per second of the window
	Sum                        //
	Mean                       //
	Share                      // sum of one quantity / sum of another
	Percentile                 //
)

// Validity says when a figure is not to be trusted, whatever its phase.
type Validity struct {
	MinTail     int  // values that are wanted on the thinner side of a percentile
	RequireHalf bool // half of the requests must have the quantity
}

// StatisticsPath is a place in the client's statistics file.
type StatisticsPath struct{ Section, Name string }

// Parity is a metric's row in a comparison.
type Parity struct {
	RowLabel    string  // label of a row that several metrics share, one behind the other; empty: Label
	Published   bool    // part of the published table: always shown, before all others
	Tolerance   float64 // fraction of the reference that a difference may be; that of Primary is the band
	Noisy       bool    // shown, and never beyond its tolerance
	UnitInLabel bool    // the label says the unit
}

// Dashboard is a metric's line among the figures of a live run.
type Dashboard struct {
	Label    string // with the unit
	Decimals int
	Priority int // 1 is the most important; lines that do not fit are dropped, the highest number first
}

// MainPriority is the largest Dashboard.Priority of the lines that the dashboard shows
// even where there is little room.
const MainPriority = 3

// Trend is a metric's series over time.
type Trend struct {
	Key      string // in a bucket
	Chart    string // title of the dashboard's chart, with the unit; metrics of one title share it
	Priority int    // of that chart
	Curve    string // name of the curve
	Peak     bool   // the highest of several values stands for them, else their mean
	Page     string // title of the chart on an HTML page, likewise; empty: there is none
}

// Runs is a metric's place in the list of runs, which shows that of the highest level.
type Runs struct {
	Key      string // in JSON
	Title    string // of the column; empty: there is none
	Unit     string // that the title does not say
	Decimals int    // where there is little room
	Drop     int    // order in which columns are left out where it is narrow; 0: never
	Detail   string // name beside the selected run; empty: it is not there
}

// TrendMetrics are the metrics of a Bucket.
var TrendMetrics = FilterMetrics(func(m *Metric) bool { return m.Trend != nil })

// RunsColumnMetrics are the metrics that have a column in lists of runs.
var RunsColumnMetrics = FilterMetrics(func(m *Metric) bool { return m.Runs != nil && m.Runs.Title != "" })

// FindMetric returns the metric with a key, nil if there is none.
func FindMetric(key string) *Metric {
	if i := slices.IndexFunc(Metrics, func(m *Metric) bool { return m.Key == key }); i >= 0 {
		return Metrics[i]
	}
	return nil
}

// FilterMetrics returns the metrics that hold, in their order.
func FilterMetrics(holds func(*Metric) bool) []*Metric {
	return slices.DeleteFunc(slices.Clone(Metrics), func(m *Metric) bool { return !holds(m) })
}

// DisplayValue is a value in the unit in which people are shown it.
func (m *Metric) DisplayValue(v float64) float64 { return v * m.Unit.Scale }

// NumberText is a value as it is shown, without its unit; a dash for what is not known.
func (m *Metric) NumberText(v float64) string { return Decimal(m.DisplayValue(v), m.Decimals) }

// Text is a value with its unit; a dash for what is not known.
func (m *Metric) Text(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return m.NumberText(v) + " " + m.Unit.Display
}

// RunsText is a value as lists of runs show it.
func (m *Metric) RunsText(v float64, decimals int) string {
	text := Decimal(m.DisplayValue(v), decimals)
	if text == "-" || m.Runs.Unit == "" {
		return text
	}
	return text + " " + m.Runs.Unit
}

// ShortLabel is the label where there is little room.
func (m *Metric) ShortLabel() string {
	if m.Short != "" {
		return m.Short
	}
	return m.Label
}

// doubt says why a figure over n of so many requests is not to be trusted; empty where it is.
func (m *Metric) invalidReason(n, requests int) string {
	if m.Validity.RequireHalf && 2*n < requests {
		return fmt.Sprintf("no %s in %s of %s requests", m.Formula.Of.name(), Count(requests-n), Count(requests))
	}
	if p := m.Formula.Percentile; m.Validity.MinTail > 0 && n > 0 {
		need := int(math.Ceil(float64(100*m.Validity.MinTail)/min(p, 100-p) - 1e-9))
		if n < need {
			return fmt.Sprintf("%s samples, p%g wants %s", Count(n), p, Count(need))
		}
	}
	return ""
}
