// Package report writes what package results computed for other programs and
// for people without this one: CSV of phases, of phases over time and of
// curves, and HTML pages of a run or of a comparison. A page holds its drawings
// and styles itself and asks for nothing over the network. The package reads no
// files.
package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
)

// Run is all that is told of one run.
type Run struct {
	Name string `json:"name"`
	results.Run
	Series []results.Series     `json:"series"` // in the order of Phases
	Tiers  []results.TierResult `json:"tiers,omitempty"`
}

// PhasesCSV writes a line for each figure of each phase. What is not known is
// an empty cell.
func PhasesCSV(w io.Writer, r Run) error {
	rows := [][]string{{
		"phase_idx", "concurrency", "window_seconds", "window_source", "metric", "value", "unit", "n", "method",
		"client_value", "invalid",
	}}
	for _, p := range r.Phases {
		seconds, source := "", ""
		if p.Window != nil {
			seconds, source = number(p.Window.Seconds), p.Window.Source
		}
		for _, f := range p.Figures {
			why := f.Invalid
			if why == "" && len(p.Invalid) > 0 {
				why = p.Invalid[0]
			}
			rows = append(rows, []string{
				strconv.Itoa(p.Index), strconv.Itoa(p.Concurrency), seconds, source, f.Key, number(f.Value), f.Unit,
				strconv.Itoa(f.N), f.Method, number(f.Client), why,
			})
		}
	}
	return write(w, rows)
}

// SeriesCSV writes a line for each bucket of each phase.
func SeriesCSV(w io.Writer, r Run) error {
	head := []string{"phase_idx", "start", "start_utc", "seconds", "requests", "failed"}
	for _, m := range results.Trends {
		head = append(head, m.Trend.Key)
	}
	rows := [][]string{append(head, "users", "in_flight")}
	for _, s := range r.Series {
		for _, b := range s.Buckets {
			row := []string{
				strconv.Itoa(s.Phase), number(b.Start), time.UnixMilli(int64(b.Start * 1000)).UTC().Format(time.RFC3339),
				number(b.Seconds), strconv.Itoa(b.N), strconv.Itoa(b.Failed),
			}
			for _, v := range b.Values {
				row = append(row, number(v))
			}
			rows = append(rows, append(row, strconv.Itoa(b.Users), number(b.InFlight)))
		}
	}
	return write(w, rows)
}

// CurveCSV writes a line for each level of each run.
func CurveCSV(w io.Writer, points []results.Point) error {
	rows := [][]string{{
		"run", "concurrency", "gpus", "output_tok_s", "output_tok_s_per_gpu", "total_tok_s_per_gpu",
		results.LocalSpeed50, results.LocalSpeed25, results.TTFT95, "invalid",
	}}
	for _, p := range points {
		gpus := ""
		if p.GPUs > 0 {
			gpus = strconv.Itoa(p.GPUs)
		}
		rows = append(rows, []string{
			p.Run, strconv.Itoa(p.Concurrency), gpus, number(p.Output), number(p.OutputPerGPU), number(p.TotalPerGPU),
			number(p.Speed50), number(p.Speed25), number(p.TTFT95), p.Invalid,
		})
	}
	return write(w, rows)
}

// write guards texts that a spreadsheet would take for a formula.
func write(w io.Writer, rows [][]string) error {
	out := csv.NewWriter(w)
	for _, row := range rows {
		for i, cell := range row {
			if _, err := strconv.ParseFloat(cell, 64); cell != "" && err != nil {
				switch cell[0] {
				case '=', '+', '-', '@', '\t', '\r':
					row[i] = "'" + cell
				}
			}
		}
		if err := out.Write(row); err != nil {
			return fmt.Errorf("write CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// number prints a float so that it reads back as the same; NaN is empty.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// TiersCSV writes a line for each level's standing to each tier.
func TiersCSV(w io.Writer, r Run) error {
	rows := [][]string{{
		"tier", "speed_floor_tok_s", "ttft_ceiling_s", "highest_concurrency", "concurrency", "meets", "why",
	}}
	for _, t := range r.Tiers {
		for _, l := range t.Levels {
			rows = append(rows, []string{
				t.Tier.Name, number(t.Tier.SpeedFloor), number(t.Tier.TTFTCeiling), strconv.Itoa(t.Concurrency),
				strconv.Itoa(l.Concurrency), strconv.FormatBool(l.Meets), l.Why,
			})
		}
	}
	return write(w, rows)
}

// ComparisonCSV writes a line for each figure of a comparison.
func ComparisonCSV(w io.Writer, c parity.Comparison) error {
	rows := [][]string{{
		"metric", "key", c.Reference.Name, c.Candidate.Name, "delta", "tolerance", "low_95_within_run", "high_95_within_run",
		"flags",
	}}
	for _, r := range c.Rows {
		for _, p := range r.Parts {
			low, high := "", ""
			if p.Interval != nil {
				low, high = number(p.Interval.Low), number(p.Interval.High)
			}
			rows = append(rows, []string{
				r.Metric, p.Key, known(p.Reference), known(p.Candidate), known(p.Delta), number(p.Tolerance), low, high,
				strings.Join(r.Flags, "; "),
			})
		}
	}
	return write(w, rows)
}

func known(v *float64) string {
	if v == nil {
		return ""
	}
	return number(*v)
}
