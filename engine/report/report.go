// Package report exports the figures of runs and comparisons as CSV and HTML. HTML pages contain
// their charts and styles and load nothing over the network. Only [Load] and [WriteComparison]
// access files.
package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Run is the exported data of a run.
type Run struct {
	Name  string       `json:"name"`
	About parity.About `json:"about"` // inputs and settings of the run
	// ReportedBy is the version of the program that writes the report.
	ReportedBy string `json:"reported_by,omitempty"`
	results.Run
	Series []results.Series     `json:"series"` // in the order of Phases
	Tiers  []results.TierResult `json:"tiers,omitempty"`
}

// PhasesCSV writes a line per figure and phase. Unknown values are empty.
func PhasesCSV(w io.Writer, r Run) error {
	rows := [][]string{{
		"phase_idx", "concurrency", "window_seconds", "window_source", "metric", "value", "unit", "n", "method",
		"client_value", "invalid", "class", "low", "high", "at_least", "of", "provisional", "reasons",
	}}
	for _, p := range r.Phases {
		window := results.Window{Seconds: math.NaN()}
		if p.Window != nil {
			window = *p.Window
		}
		for _, f := range p.Figures {
			why := f.Invalid
			if len(p.Invalid) > 0 {
				why = cmp.Or(why, p.Invalid[0])
			}
			rows = append(rows, cells(p.Index, p.Concurrency, window.Seconds, window.Source, f.Key, f.Value, f.Unit,
				f.N, f.Method, f.Client, why, f.Class, f.Low, f.High, f.AtLeast, f.Of, f.Provisional, reasonTexts(p.ReasonsOf(f))))
		}
		rows = append(rows, steadyRows(p, window)...)
	}
	return writeCSV(w, rows)
}

// reasonTexts joins reasons, each with its class.
func reasonTexts(reasons []results.Reason) string {
	var out []string
	for _, r := range reasons {
		out = append(out, reasonText(r))
	}
	return strings.Join(out, "; ")
}

// steadyRows returns the rows of throughput and TTFT in the thirds of the measuring window, and
// those of their drift: 1 if they drift, else 0, and how much longer settling would have to be.
func steadyRows(p results.Phase, window results.Window) [][]string {
	if p.Steady == nil {
		return nil
	}
	var rows [][]string
	add := func(metric string, value float64, unit, method string) {
		nan := math.NaN()
		rows = append(rows, cells(p.Index, p.Concurrency, window.Seconds, window.Source, metric, value, unit, 0, method, nan,
			"", "", nan, nan, false, 0, p.Provisional, ""))
	}
	for i, third := range p.Steady.Thirds {
		method := fmt.Sprintf("in third %d of the window", i+1)
		add(fmt.Sprintf("third_%d_output_server_tok_s", i+1), float64(third.Output), "tok/s", method)
		add(fmt.Sprintf("third_%d_ttft_geometric_mean_s", i+1), float64(third.TTFT), "s", method)
	}
	drift := 0.0
	if p.Steady.Drift {
		drift = 1
	}
	add("drift", drift, "boolean", "over the window")
	add("more_settling_s", float64(p.Steady.MoreSettling), "s", "until the rest of the window is steady")
	return rows
}

// SeriesCSV writes a line per time series bucket and phase.
func SeriesCSV(w io.Writer, r Run) error {
	head := []string{"phase_idx", "start", "start_utc", "seconds", "requests", "failed"}
	for _, m := range results.TrendMetrics {
		head = append(head, m.Trend.Key)
	}
	rows := [][]string{append(head, "users", "in_flight")}
	for _, s := range r.Series {
		for _, b := range s.Buckets {
			start := time.UnixMilli(int64(b.Start * 1000)).UTC().Format(time.RFC3339)
			row := cells(s.Phase, b.Start, start, b.Seconds, b.N, b.Failed)
			for _, v := range b.Values {
				row = append(row, cells(v)...)
			}
			rows = append(rows, append(row, cells(b.Users, b.InFlight)...))
		}
	}
	return writeCSV(w, rows)
}

// CurveCSV writes a line per concurrency level and run.
func CurveCSV(w io.Writer, points []results.Point) error {
	rows := [][]string{{
		"run", "concurrency", "gpus", "output_tok_s", "output_tok_s_per_gpu", "total_tok_s_per_gpu",
		results.LocalSpeed50, results.LocalSpeed25, results.TTFT95, "invalid", "class",
	}}
	for _, p := range points {
		gpus := math.NaN() // unknown
		if p.GPUs > 0 {
			gpus = float64(p.GPUs)
		}
		rows = append(rows, cells(p.Run, p.Concurrency, gpus, p.Output, p.OutputPerGPU, p.TotalPerGPU,
			p.Speed50, p.Speed25, p.TTFT95, p.Invalid, p.Class))
	}
	return writeCSV(w, rows)
}

// writeCSV writes rows. It prefixes text that a spreadsheet would evaluate as a formula with "'".
func writeCSV(w io.Writer, rows [][]string) error {
	out := csv.NewWriter(w)
	for _, row := range rows {
		for i, cell := range row {
			_, err := strconv.ParseFloat(cell, 64)
			if cell != "" && err != nil && strings.IndexByte("=+-@\t\r", cell[0]) >= 0 {
				row[i] = "'" + cell
			}
		}
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV: %w", problem.Mark(problem.WriteFailed, err))
	}
	return nil
}

// TiersCSV writes a line per tier and concurrency level.
func TiersCSV(w io.Writer, r Run) error {
	rows := [][]string{{
		"tier", "speed_floor_tok_s", "ttft_ceiling_s", "highest_concurrency", "concurrency", "meets", "why",
	}}
	for _, t := range r.Tiers {
		for _, l := range t.Levels {
			rows = append(rows, cells(t.Tier.Name, t.Tier.SpeedFloor, t.Tier.TTFTCeiling, t.Concurrency,
				l.Concurrency, l.Meets, l.Reason))
		}
	}
	return writeCSV(w, rows)
}

// ComparisonCSV writes a line per metric of a comparison.
func ComparisonCSV(w io.Writer, c parity.Comparison) error {
	rows := [][]string{{
		"metric", "key", c.Reference.Name, c.Candidate.Name, "delta", "tolerance", "low_95_within_run", "high_95_within_run",
		"flags", "references", "references_mean", "delta_from_mean",
		"reference_class", "reference_low", "reference_high", "reference_at_least", "reference_reasons",
		"candidate_class", "candidate_low", "candidate_high", "candidate_at_least", "candidate_reasons",
	}}
	for _, r := range c.Rows {
		for _, p := range r.Parts {
			within := parity.Interval{Low: math.NaN(), High: math.NaN()}
			if p.Interval != nil {
				within = *p.Interval
			}
			row := cells(r.Metric, p.Key, p.Reference, p.Candidate, p.Delta, p.Tolerance, within.Low, within.High,
				strings.Join(r.Flags, "; "), max(p.References, 1), p.Mean, p.FromMean)
			for _, f := range p.Figures {
				row = append(row, cells(f.Class, f.Low, f.High, f.AtLeast, reasonTexts(f.Reasons))...)
			}
			rows = append(rows, row)
		}
	}
	return writeCSV(w, rows)
}

// cells formats values without loss of precision. Unknown values are empty.
func cells(values ...any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		if p, ok := v.(*float64); ok {
			v = math.NaN()
			if p != nil {
				v = *p
			}
		}
		switch f, ok := v.(float64); {
		case !ok:
			out[i] = fmt.Sprint(v)
		case !math.IsNaN(f) && !math.IsInf(f, 0):
			out[i] = strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	return out
}

// Load reads the figures, time series and tier results of a run, and its inputs and settings. The
// buckets of the time series have a length of bucketSeconds; 0 chooses a length.
func Load(ctx context.Context, ref runs.Ref, tiers []results.Tier, bucketSeconds float64) (Run, error) {
	c, err := ref.Context()
	if err != nil {
		return Run{}, err
	}
	run, series, err := results.LoadSeries(ctx, ref.Logs, c, bucketSeconds)
	if err != nil {
		return Run{}, err
	}
	out := Run{Name: ref.Label(), Run: run, Series: series, Tiers: results.TierResults(run.Phases, tiers)}
	out.About, err = aboutRun(ctx, ref, run.Phases)
	return out, err
}

// aboutRun returns the inputs and settings of a run, and the date of its first measurement.
func aboutRun(ctx context.Context, ref runs.Ref, phases []results.Phase) (parity.About, error) {
	f, err := ref.Facts(ctx)
	if err != nil {
		return parity.About{}, err
	}
	about := parity.About{
		Name: ref.Label(), Job: ref.Record.ID, Recipe: f.Recipe, Model: f.Model, ModelRevision: f.ModelRevision,
		Dataset: f.Dataset, DatasetHash: f.DatasetHash, Seed: f.Seed, Nodes: f.Nodes, ClientCommit: f.Client,
		ToolVersions: f.Tools,
	}
	for _, p := range phases {
		if p.Window != nil && about.Date == "" {
			about.Date = parity.DateText(p.Window.Start)
		}
	}
	if about.Date == "" && !f.Date.IsZero() {
		about.Date = parity.DateText(float64(f.Date.Unix()))
	}
	return about, nil
}

// WriteComparison writes the HTML page of a comparison to a directory and returns its path,
// parity-REF-CAND.html. A number is added to the name if the file exists.
func WriteComparison(dir string, c parity.Comparison) (string, error) {
	var page bytes.Buffer
	if err := ComparisonHTML(&page, c); err != nil {
		return "", fmt.Errorf("write the comparison: %w", err)
	}
	safe := func(r rune) rune {
		if strings.ContainsRune("._-", r) || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '-'
	}
	stem := filepath.Join(dir, strings.Map(safe, fmt.Sprintf("parity-%.60s-%.60s", c.Reference.Name, c.Candidate.Name)))
	for n := 1; ; n++ {
		path := stem + ".html"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.html", stem, n)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) // reserves the name
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = errors.Join(f.Close(), renameio.WriteFile(path, page.Bytes(), 0o644))
		}
		if err != nil {
			return "", fmt.Errorf("write the comparison: %w", err)
		}
		return filepath.Abs(path)
	}
}
