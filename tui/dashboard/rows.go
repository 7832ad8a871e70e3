package dashboard

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// figure is one line of the table of figures.
type figure struct {
	label         string
	total, recent ui.Cell
}

// shown are the figures, the most telling first: what does not fit is left out
// from the end.
var shown = []struct {
	key, label string
	decimals   int
	scale      float64
}{
	{"output_server_tok_s", "output (tok/s)", 1, 1},
	{"total_server_tok_s", "total (tok/s)", 0, 1},
	{"ttft_p50_s", "TTFT p50 (s)", 3, 1},
	{"ttft_p95_s", "TTFT p95 (s)", 3, 1},
	{"ttft_p99_s", "TTFT p99 (s)", 3, 1},
	{"output_speed_local_p25_tok_s", "speed p25 (tok/s)", 1, 1},
	{"cache_hit_rate", "cache hit (%)", 1, 100},
	{"output_speed_local_p50_tok_s", "speed p50 (tok/s)", 1, 1},
	{"e2e_p50_s", "end to end p50 (s)", 3, 1},
	{"e2e_p95_s", "end to end p95 (s)", 3, 1},
	{"avg_input_per_request", "input a request (tok)", 1, 1},
	{"avg_output_per_request", "output a request (tok)", 1, 1},
	{"output_speed_local_p5_tok_s", "speed p5 (tok/s)", 1, 1},
	{"output_speed_local_p95_tok_s", "speed p95 (tok/s)", 1, 1},
	{"e2e_p99_s", "end to end p99 (s)", 3, 1},
	{"median_output_per_request", "median output (tok)", 1, 1},
	{"output_client_tok_s", "output, client (tok/s)", 1, 1},
}

// mainFigures of shown are to be seen wherever there is any room, and the service
// levels with them.
const mainFigures = 7

// errorRow is where the line of requests and errors stands: it is never left out
// before the lines above it.
const errorRow = 1

// figuresOf are the lines for a phase. Beside the figures of the whole window
// stand those of the last minute or, once the phase is over (recent is nil), the
// number of requests behind each.
func figuresOf(p phaseView, recent *results.Recent, tiers []results.Tier) []figure {
	var figures results.Figures
	if p.result != nil {
		figures = p.result.Figures
	}
	cell := func(f results.Figure, decimals int, scale float64) ui.Cell {
		c := ui.Cell{Text: results.Decimal(f.Value*scale, decimals)}
		if f.Invalid != "" && c.Text != "-" {
			c.Text, c.Role = "! "+c.Text, ui.Warn
		}
		return c
	}
	out := make([]figure, 0, len(shown)+1+len(tiers))
	for _, f := range shown {
		total := figures.Of(f.key)
		line := figure{label: f.label, total: cell(total, f.decimals, f.scale)}
		if recent != nil {
			r := recent.Figures.Of(f.key)
			r.Invalid = "" // a minute never has the samples that a tail wants
			line.recent = cell(r, f.decimals, f.scale)
		} else if total.N > 0 {
			line.recent = ui.Cell{Text: results.Decimal(float64(total.N), 0), Role: ui.Muted}
		}
		out = append(out, line)
	}
	levels := make([]figure, 0, len(tiers))
	for _, r := range results.Ladder(resultsOf(p), tiers) {
		levels = append(levels, tierLine(r))
	}
	out = slices.Insert(out, mainFigures, levels...)
	return slices.Insert(out, errorRow, requestsOf(p, recent))
}

func resultsOf(p phaseView) []results.Phase {
	if p.result == nil {
		return nil
	}
	return []results.Phase{*p.result}
}

func requestsOf(p phaseView, recent *results.Recent) figure {
	line := figure{label: "requests (errors)", total: ui.Cell{Text: "-"}}
	count := func(n, failed int) ui.Cell {
		c := ui.Cell{Text: results.Decimal(float64(n), 0) + " (" + results.Decimal(float64(failed), 0) + ")"}
		if failed > 0 {
			c.Role = ui.Bad
		}
		return c
	}
	if p.result != nil && p.result.Requests != nil {
		line.total = count(p.result.Requests.Measured, p.result.Requests.Failed)
	}
	if recent != nil {
		line.recent = count(recent.N, recent.Failed)
	}
	return line
}

// tierLine says whether the phase keeps a service level.
func tierLine(r results.Rung) figure {
	label := "SLO " + results.Decimal(r.Tier.SpeedFloor, 0) + " tok/s · " + strconv.FormatFloat(r.Tier.TTFTCeiling, 'f', -1, 64) + " s"
	if len(r.Levels) == 0 {
		return figure{label: label, total: ui.Cell{Text: "-"}}
	}
	if l := r.Levels[0]; !l.Meets {
		return figure{label: label, total: ui.Cell{Text: "✗ misses", Role: ui.Warn}, recent: ui.Cell{Text: missed(l.Why), Role: ui.Muted}}
	}
	return figure{label: label, total: ui.Cell{Text: "✓ holds", Role: ui.OK}}
}

// missed is which of the two limits is broken, short.
func missed(why string) string {
	what, _, _ := strings.Cut(why, ",")
	what = strings.TrimSuffix(strings.TrimSuffix(what, " s"), " tok/s")
	switch {
	case strings.HasPrefix(what, "TTFT"):
		return "TTFT"
	case strings.HasPrefix(what, "output speed"):
		return "speed"
	}
	return "not valid"
}

// errorKinds are the kinds of failed requests of the last minute, the most
// frequent first.
func errorKinds(r *results.Recent) string {
	if r == nil || r.Failed == 0 {
		return ""
	}
	kinds := make([]string, 0, len(r.Errors))
	for k := range r.Errors {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		if d := r.Errors[b] - r.Errors[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	parts := make([]string, 0, len(kinds))
	for _, k := range kinds {
		parts = append(parts, fmt.Sprintf("%d × %s", r.Errors[k], k))
	}
	return fmt.Sprintf("%d of %d requests of the last %.0f s failed: %s", r.Failed, r.N, r.Seconds, strings.Join(parts, ", "))
}

// stepColumns head the table of steps.
func stepColumns() []ui.Column {
	return []ui.Column{
		{Title: "STEP", Min: 12},
		{Title: "STATE", Min: 9},
		{Title: "READY AFTER (s)", Right: true, Drop: 2},
		{Title: "LOG", Flex: true, Min: 8, Drop: 3},
	}
}

// stepRow is a step, or a log that belongs to none.
type stepRow struct {
	log   string // the step's name among the logs; empty: there is none
	cells []ui.Cell
}

// stepsOf lists the steps in the order of their start, then the other logs.
// ended says that the run is over: an exit then is no news.
func stepsOf(steps []event.StepStatus, files []engine.LogFile, ended bool) []stepRow {
	named := map[string]bool{}
	for _, f := range files {
		named[f.Step] = true
	}
	out := make([]stepRow, 0, len(steps)+2)
	seen := map[string]bool{}
	for _, s := range steps {
		seen[s.Name] = true
		row := stepRow{}
		if named[s.Name] {
			row.log = s.Name
		}
		after := "-"
		if s.Seconds > 0 {
			after = results.Decimal(s.Seconds, 1)
		}
		text := s.Log
		if s.Message != "" {
			text = s.Message
		}
		row.cells = []ui.Cell{{Text: s.Name}, stepState(s, ended), {Text: after}, {Text: ui.Clean(text), Role: ui.Muted}}
		out = append(out, row)
	}
	for _, f := range files {
		if !seen[f.Step] {
			name := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
			out = append(out, stepRow{f.Step, []ui.Cell{{Text: f.Step}, {Text: "· log", Role: ui.Muted}, {}, {Text: ui.Clean(name), Role: ui.Muted}}})
		}
	}
	return out
}

func stepState(s event.StepStatus, ended bool) ui.Cell {
	switch {
	case s.State == "exited" && s.ExitCode != nil && *s.ExitCode != 0:
		return ui.Cell{Text: "✗ exit " + strconv.Itoa(*s.ExitCode), Role: ui.Bad}
	case s.State == "exited":
		return ui.Cell{Text: "✓ ended", Role: ui.Muted}
	case ended:
		return ui.Cell{Text: "· gone", Role: ui.Muted}
	case s.State == "ready":
		return ui.Cell{Text: "● ready", Role: ui.OK}
	case s.Name == "client":
		return ui.Cell{Text: "● running", Role: ui.Accent}
	}
	return ui.Cell{Text: "◌ starting", Role: ui.Accent}
}

// bringUp says how many steps are ready, and which ones are waited for.
func bringUp(steps []event.StepStatus) (ready, started int, waiting []event.StepStatus) {
	for _, s := range steps {
		if s.Name == "client" {
			continue
		}
		started++
		if s.State == "ready" {
			ready++
		} else {
			waiting = append(waiting, s)
		}
	}
	return ready, started, waiting
}

// failedStep is the step that a failed run blames: the one that its message
// begins with, else the first that ended badly.
func failedStep(st event.Status) string {
	first := ""
	for _, s := range st.Steps {
		if strings.HasPrefix(st.Message, s.Name+" ") {
			return s.Name
		}
		if first == "" && s.State == "exited" && s.ExitCode != nil && *s.ExitCode != 0 {
			first = s.Name
		}
	}
	return first
}

// fraction is a part of a whole, 0 of nothing.
func fraction(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// isNumber is false for NaN and infinity.
func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
