package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/percentile"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
)

// Text formats the run for a terminal: a table per phase with the value, unit and number of
// requests of each figure. Invalid figures are marked with "!".
func (r Run) Text() string {
	var b strings.Builder
	if r.Partial != "" {
		fmt.Fprintf(&b, "PARTIAL: %s\n\n", r.Partial)
	}
	for _, p := range r.Phases {
		b.WriteString(p.Text())
		b.WriteByte('\n')
	}
	switch {
	case len(r.Phases) > 0:
	case r.Unreadable > 0:
		fmt.Fprintf(&b, "none of the %s request rows could be read\n", Count(r.Unreadable))
	default:
		b.WriteString("no requests since the last client start\n")
	}
	writeList(&b, "error", r.Errors)
	writeList(&b, "note", r.Warnings)
	return b.String()
}

// Text formats the phase, see [Run.Text].
func (p Phase) Text() string {
	var b strings.Builder
	concurrency := "unknown"
	if p.Concurrency > 0 {
		concurrency = Count(p.Concurrency)
	}
	fmt.Fprintf(&b, "phase %d, concurrency %s%s\n", p.Index, concurrency, p.unreadableText())
	if p.Partial != "" {
		fmt.Fprintf(&b, "  PARTIAL   %s\n", p.Partial)
	}
	fmt.Fprintf(&b, "  window    %s\n", p.windowText())
	fmt.Fprintf(&b, "  requests  %s\n", p.countsText())
	// Without kinds the line would repeat the number of failed requests.
	if len(p.Errors) > 1 || len(p.Errors) == 1 && p.Errors["unknown"] == 0 {
		var kinds []string
		for _, kind := range sortedKeys(p.Errors) {
			kinds = append(kinds, fmt.Sprintf("%s %s", kind, Count(p.Errors[kind])))
		}
		fmt.Fprintf(&b, "  failures  %s\n", strings.Join(kinds, ", "))
	}
	table := [][]string{{"metric", "value", "", "n", "client reports"}}
	for _, f := range p.Figures {
		table = append(table, f.tableRow(len(p.Invalid) > 0))
	}
	for _, line := range texttable.Lines(table, figureColumns...) {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(&b, "  n: number of requests; !: invalid; percentiles by %s\n", percentile.Method)
	p.writeReasons(&b)
	return b.String()
}

// UsersText returns the number of users, or that it is unknown.
func (p Phase) UsersText() string {
	if p.Concurrency > 0 {
		return fmt.Sprintf("%d users", p.Concurrency)
	}
	return "unknown number of users"
}

// unreadableText returns the share of rows that could not be read, for the first line.
func (p Phase) unreadableText() string {
	if p.Unreadable == 0 {
		return ""
	}
	all := p.Total + p.Unreadable
	if slices.Contains(p.Warnings, noRows) { // the total is as stated by the client
		all = p.Unreadable
	}
	return fmt.Sprintf(": %s of the rows could not be read (%s of %s)",
		Percent(float64(p.Unreadable)/float64(all)), Count(p.Unreadable), Count(all))
}

// WithoutFigures returns why the run at a path has no figures, or nil if a phase has any.
func (r Run) WithoutFigures(path string) error {
	for _, p := range r.Phases {
		if slices.ContainsFunc(p.Figures, func(f Figure) bool { return !math.IsNaN(f.Value) }) {
			return nil
		}
	}
	id, why := problem.ResultsNotFound, "no request has ended since the last client start; look at the log of the client"
	switch {
	case r.Unreadable > 0 && !slices.ContainsFunc(r.Phases, func(p Phase) bool { return p.Total > 0 }):
		id = problem.RowsUnreadable
		why = fmt.Sprintf("none of the %s request rows could be read; the notes name the first one", Count(r.Unreadable))
	case len(r.Phases) == 0 && r.Rejected:
		id, why = problem.RowsUnreadable, strings.Join(r.Warnings[:1], "")
	case len(r.Phases) > 0 && len(r.Phases[0].Invalid) > 0:
		why = fmt.Sprintf("phase %d: %s", r.Phases[0].Index, strings.Join(r.Phases[0].Invalid, "; "))
	}
	return problem.Errorf(id, "read results: %s: no figures: %s", path, why)
}

// writeReasons writes why the figures are not exact, the worst reasons first, then the notes.
func (p Phase) writeReasons(b *strings.Builder) {
	var uncertain []string
	for _, r := range p.Reasons {
		if r.Class == Uncertain {
			uncertain = append(uncertain, r.Text)
		}
	}
	isKnown := func(w string) bool { return slices.Contains(uncertain, w) }
	writeList(b, "  invalid", p.Invalid)
	writeList(b, "  invalid", p.Figures.reasonTexts(Invalid))
	if len(p.Invalid) == 0 {
		writeList(b, "  unknown", p.Figures.unknownTexts())
	}
	writeList(b, "  uncertain", uncertain)
	writeList(b, "  uncertain", p.Figures.reasonTexts(Uncertain))
	writeList(b, "  note", slices.DeleteFunc(slices.Clone(p.Warnings), isKnown))
	writeList(b, "  note", p.Figures.reasonTexts(Exact))
}

// reasonTexts returns the reasons of a class that single figures have, each with the labels of its figures.
func (fs Figures) reasonTexts(class Class) []string {
	return fs.reasonsIf(func(f *Figure, r Reason) bool { return r.Class == class && !math.IsNaN(f.Value) })
}

// unknownTexts returns why figures are unknown, like reasonTexts.
func (fs Figures) unknownTexts() []string {
	return fs.reasonsIf(func(f *Figure, r Reason) bool { return r.ID == UnknownQuantity && math.IsNaN(f.Value) })
}

// reasonsIf returns the reasons of figures for which want returns true, each with the labels of its figures.
func (fs Figures) reasonsIf(want func(*Figure, Reason) bool) []string {
	var reasons []string
	labels := map[string][]string{}
	add := func(text, label string) {
		if labels[text] == nil {
			reasons = append(reasons, text)
		}
		labels[text] = append(labels[text], label)
	}
	for _, f := range fs {
		all := f.Reasons
		if f.Invalid != "" && len(all) == 0 {
			all = []Reason{{Text: f.Invalid, Class: Invalid}}
		}
		for _, r := range all {
			if want(&f, r) {
				add(r.Text, f.Label)
			}
		}
	}
	for i, r := range reasons {
		reasons[i] = r + ": " + strings.Join(labels[r], ", ")
	}
	return reasons
}

func (f Figure) tableRow(phaseInvalid bool) []string {
	value, unit := f.Text(), ""
	if i := strings.LastIndexByte(value, ' '); i >= 0 {
		value, unit = value[:i], value[i+1:]
	}
	if !math.IsNaN(f.Value) && (phaseInvalid || f.IsInvalid()) {
		unit += " !"
	}
	n := ""
	switch {
	case f.N > 0:
		n = Count(f.N)
	case f.Method == methodStated && !math.IsNaN(f.Value):
		n = "reported"
	}
	return []string{f.Label, value, unit, n, f.ClientText()}
}

func (p Phase) windowText() string {
	w := p.Window
	if w == nil && p.Requests != nil && p.Requests.Measured == 0 {
		return "none: settling not completed"
	}
	if w == nil {
		return "unknown"
	}
	text := fmt.Sprintf("%s s (%s)", Decimal(w.Seconds, 1), w.Source)
	if math.IsNaN(w.Start) || math.IsNaN(w.End) || math.Abs(w.Start) > 1e11 || math.Abs(w.End) > 1e11 {
		return text
	}
	clock := func(s float64) string { return time.UnixMilli(int64(s * 1000)).UTC().Format("2006-01-02 15:04:05") }
	return fmt.Sprintf("%s, %s to %s UTC", text, clock(w.Start), clock(w.End))
}

func (p Phase) countsText() string {
	text := Count(p.Total) + " in total"
	r := p.Requests
	if r == nil {
		return text
	}
	text += fmt.Sprintf(", %s measured (%s ok, %s failed)", Count(r.Measured), Count(r.Successful), Count(r.Failed))
	add := func(what string, n, failed int) {
		if n > 0 {
			text += fmt.Sprintf(", %s %s", Count(n), what)
		}
		if failed > 0 {
			text += fmt.Sprintf(" (%s failed)", Count(failed))
		}
	}
	add("settling", r.Settling, r.SettlingFailed)
	add("after the window", r.After, r.AfterFailed)
	add("without a start time", r.NoStartTime, 0)
	return text
}

// figureColumns are the columns of [Figure.tableRow]. The unit is next to its value.
var figureColumns = []texttable.Column{
	{Gap: 2}, {Gap: 2, Right: true}, {Gap: 1}, {Gap: 2, Right: true}, {Gap: 2, Right: true},
}

func writeList(b *strings.Builder, label string, texts []string) {
	for _, t := range texts {
		fmt.Fprintf(b, "%s: %s\n", label, t)
	}
}
