package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// figure is one line of the table of figures: two values with their counts of requests.
type figure struct {
	key             string // of the metric; empty for other lines
	label           string
	total, recent   ui.Cell
	totalN, recentN ui.Cell
	reason          ui.Cell // why a tier is not met; replaces recent
}

// dashboardMetrics are the metrics with a line, by priority. The last ones are dropped
// if they do not fit.
var dashboardMetrics = slices.SortedStableFunc(
	slices.Values(results.FilterMetrics(func(m *results.Metric) bool { return m.Dashboard != nil })),
	func(a, b *results.Metric) int { return cmp.Compare(a.Dashboard.Priority, b.Dashboard.Priority) })

// mainFigureCount is the number of metrics in dashboardMetrics that are never dropped.
var mainFigureCount = len(results.FilterMetrics(func(m *results.Metric) bool {
	return m.Dashboard != nil && m.Dashboard.Priority <= results.MainPriority
}))

// errorLine is the index of the line of requests and errors.
const errorLine = 1

// minFigureLines returns the number of lines of figures, with the header, that are
// never dropped.
func minFigureLines(tiers []results.Tier, gpus int) int {
	n := 1 + mainFigureCount + 2 + len(tiers) // the header; requests and users
	if gpus > 0 {
		n += 2
	}
	return n
}

// figureLines returns the lines of a phase, with the figures of the measuring window
// and of the last minute. recent is nil once the phase has ended. If gpus is not 0,
// there are lines per GPU.
func figureLines(p phaseView, recent *results.Recent, tiers []results.Tier, gpus int) []figure {
	var figures results.Figures
	if p.result != nil {
		figures = p.result.FiguresSoFar()
	}
	count := func(f results.Figure) ui.Cell {
		if f.N == 0 {
			return ui.Cell{}
		}
		return ui.Cell{Text: results.Count(f.N), Role: ui.Muted}
	}
	line := func(m *results.Metric, label string, decimals int, scale float64) figure {
		cell := func(f results.Figure) ui.Cell {
			c := ui.Cell{Text: f.Marked(results.Decimal(m.DisplayValue(f.Value)*scale, decimals))}
			if f.IsInvalid() && c.Text != "-" {
				c.Role = ui.Warn
			}
			return c
		}
		total := figures.Get(m.Key)
		total.Provisional = false // the title of the column is marked
		f := figure{key: m.Key, label: label, total: cell(total), totalN: count(total)}
		if recent != nil {
			r := recent.Figures.Get(m.Key)
			r.Class, r.Invalid = "", "" // a minute never has enough samples for the tails
			f.recent, f.recentN = cell(r), count(r)
		}
		return f
	}
	out := make([]figure, 0, len(dashboardMetrics)+4+len(tiers))
	for _, m := range dashboardMetrics {
		out = append(out, line(m, m.Dashboard.Label, m.Dashboard.Decimals, 1))
	}
	more := []figure{usersLine(p, recent)}
	if gpus > 0 {
		perGPU := 1 / float64(gpus)
		more = append(more, line(results.FindMetric(results.Primary), "output/GPU (tok/s)", 1, perGPU),
			line(results.FindMetric(results.TotalRate), "total/GPU (tok/s)", 1, perGPU))
	}
	for _, r := range results.TierResults(phaseResults(p), tiers) {
		more = append(more, tierLine(r))
	}
	out = slices.Insert(out, mainFigureCount, more...)
	return slices.Insert(out, errorLine, requestsLine(p, recent))
}

// compactBelow is the height below which the TTFT figures share a line.
const compactBelow = 9

// compactLines puts the three TTFT percentiles on one line, and the most important figures first.
func compactLines(lines []figure) []figure {
	find := func(key string) int {
		return slices.IndexFunc(lines, func(f figure) bool { return f.key == key })
	}
	keys := []string{results.TTFT50, results.TTFT95, results.TTFT99}
	if slices.ContainsFunc(keys, func(k string) bool { return find(k) < 0 }) {
		return lines
	}
	join := func(of func(figure) ui.Cell) ui.Cell {
		var parts []string
		var c ui.Cell
		for _, key := range keys {
			f := lines[find(key)]
			text := strings.TrimPrefix(of(f).Text, "! ")
			if v, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64); err == nil {
				text = results.Decimal(v, 2)
			}
			parts, c.Role = append(parts, text), max(c.Role, of(f).Role)
		}
		c.Text = strings.TrimSpace(strings.Join(parts, " "))
		if c.Role == ui.Warn {
			c.Text = "!" + c.Text
		}
		return c
	}
	ttft := figure{
		label: "TTFT 50 95 99 (s)", total: join(func(f figure) ui.Cell { return f.total }),
		recent: join(func(f figure) ui.Cell { return f.recent }), totalN: lines[find(results.TTFT50)].totalN,
	}
	out := []figure{lines[0], ttft, lines[errorLine]}
	if i := find(results.LocalSpeed25); i >= 0 {
		out = append(out, lines[i])
	}
	for i, f := range lines[1:] {
		if i+1 != errorLine && !slices.Contains(keys, f.key) && f.key != results.LocalSpeed25 {
			out = append(out, f)
		}
	}
	return out
}

// usersLine returns the line of active users, those with a request in flight: the maximum
// over the buckets, out of all users of the phase, and the number in the last minute.
func usersLine(p phaseView, recent *results.Recent) figure {
	f := figure{label: "users active", total: ui.Cell{Text: "-"}}
	if p.series == nil || len(p.series.Buckets) == 0 {
		return f
	}
	peak := 0
	for _, b := range p.series.Buckets {
		peak = max(peak, b.Users)
	}
	f.total.Text = results.Count(peak)
	if p.concurrency > 0 {
		f.total.Text += " of " + results.Count(p.concurrency)
	}
	if recent != nil {
		f.recent.Text = results.Count(recent.Users)
	}
	return f
}

func phaseResults(p phaseView) []results.Phase {
	if p.result == nil {
		return nil
	}
	soFar := *p.result // the title of the column tells whether the phase has ended
	soFar.Figures, soFar.Invalid, soFar.Provisional = soFar.FiguresSoFar(), soFar.InvalidSoFar(), false
	return []results.Phase{soFar}
}

func requestsLine(p phaseView, recent *results.Recent) figure {
	line := figure{label: "requests (errors)", total: ui.Cell{Text: "-"}}
	count := func(n, failed int) ui.Cell {
		c := ui.Cell{Text: results.Count(n) + " (" + results.Count(failed) + ")"}
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

// tierLine returns the line of a tier: whether the phase meets it, or why not.
func tierLine(r results.TierResult) figure {
	ceiling := strconv.FormatFloat(r.Tier.TTFTCeiling, 'f', -1, 64)
	label := "SLO " + results.Decimal(r.Tier.SpeedFloor, 0) + " tok/s · " + ceiling + " s"
	if len(r.Levels) == 0 {
		return figure{label: label, total: ui.Cell{Text: "-"}}
	}
	if l := r.Levels[0]; !l.Meets {
		why := ui.Cell{Text: l.ShortReason, Role: ui.Muted}
		if l.Unknown {
			return figure{label: label, total: ui.Cell{Text: "unknown", Role: ui.Warn}, reason: why}
		}
		return figure{label: label, total: ui.Cell{Text: "✗ not met", Role: ui.Warn}, reason: why}
	}
	return figure{label: label, total: ui.Cell{Text: "✓ met", Role: ui.OK}}
}

// errorSummary returns the failed requests by kind, the most frequent first: those of
// the last minute, and those of the measuring window.
func errorSummary(p phaseView, r *results.Recent) string {
	var parts []string
	if r != nil && r.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s requests of the last %.0f s failed: %s",
			results.Count(r.Failed), results.Count(r.N), r.Seconds, errorCounts(r.Errors)))
	}
	if p.result != nil && p.result.Requests != nil && p.result.Requests.Failed > 0 {
		n := p.result.Requests
		text := results.Count(n.Failed) + " of " + results.Count(n.Measured) + " measured requests failed"
		if len(p.result.Errors) > 0 {
			text += ": " + errorCounts(p.result.Errors)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func errorCounts(errors map[string]int) string {
	kinds := slices.SortedFunc(maps.Keys(errors), func(a, b string) int {
		return cmp.Or(cmp.Compare(errors[b], errors[a]), strings.Compare(a, b))
	})
	parts := make([]string, 0, len(kinds))
	for _, k := range kinds {
		suffix := " × " + k
		if k == "unknown" {
			suffix = " of unknown kind"
		}
		parts = append(parts, strconv.Itoa(errors[k])+suffix)
	}
	return strings.Join(parts, ", ")
}

// stepColumns returns the columns of the table of steps.
func stepColumns() []ui.Column {
	return []ui.Column{
		{Title: "STEP", Min: 12},
		{Title: "STATE", Min: 9},
		{Title: "READY AFTER (s)", Right: true, Drop: 2},
		{Title: "LOG", Flex: true, Min: 8, Drop: 3},
	}
}

// stepRow is a step, or a log without a step.
type stepRow struct {
	log   string // the step's name in the list of logs; empty: no log
	cells []ui.Cell
}

// stepRows returns the steps in the order of their start, then the other logs.
func stepRows(st event.Status, files []engine.LogFile) []stepRow {
	named := map[string]bool{}
	for _, f := range files {
		named[f.Step] = true
	}
	out := make([]stepRow, 0, len(st.Steps)+2)
	seen := map[string]bool{}
	for _, s := range st.Steps {
		seen[s.Name] = true
		row := stepRow{}
		if named[s.Name] {
			row.log = s.Name
		}
		after := "-"
		if s.Seconds > 0 {
			after = results.Decimal(s.Seconds, 1)
		}
		detail := ui.Cell{Text: ui.Clean(cmp.Or(s.Message, s.Log)), Role: ui.Muted}
		row.cells = []ui.Cell{{Text: s.Name}, stepState(st, s), {Text: after}, detail}
		out = append(out, row)
	}
	for _, f := range files {
		if !seen[f.Step] {
			name := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
			out = append(out, stepRow{f.Step, []ui.Cell{
				{Text: f.Step}, {Text: "· log", Role: ui.Muted}, {}, {Text: ui.Clean(name), Role: ui.Muted},
			}})
		}
	}
	return out
}

// stepState returns the state of a step. When the run has ended, all steps have stopped.
func stepState(st event.Status, s event.StepStatus) ui.Cell {
	switch {
	case s.State == "exited" && s.ExitCode != nil && *s.ExitCode != 0:
		return ui.Cell{Text: "✗ exit " + strconv.Itoa(*s.ExitCode), Role: ui.Bad}
	case s.State == "exited":
		return ui.Cell{Text: "✓ ended", Role: ui.Muted}
	case st.State.Final():
		return ui.Cell{Text: "· stopped", Role: ui.Muted}
	case s.State == "ready":
		return ui.Cell{Text: "● ready", Role: ui.OK}
	case s.Name == event.ClientStep:
		return ui.Cell{Text: "● running", Role: ui.Accent}
	case healthy(st, s.Name):
		return ui.Cell{Text: "● healthy", Role: ui.OK}
	}
	return ui.Cell{Text: "◌ starting", Role: ui.Accent}
}

// countReady returns the numbers of ready and started steps, and the steps that are not ready.
func countReady(st event.Status) (ready, started int, waiting []event.StepStatus) {
	for _, s := range st.Steps {
		if s.Name == event.ClientStep {
			continue
		}
		started++
		done := s.State == "exited" && s.Message == "" // as planned, such as the copy of a model
		if s.State == "ready" || done || s.State == "starting" && healthy(st, s.Name) {
			ready++
		} else {
			waiting = append(waiting, s)
		}
	}
	return ready, started, waiting
}

// failedStep returns the step that caused a failure: the one that the message begins
// with, or else the first one with a non-zero exit code.
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
