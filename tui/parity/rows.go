package parity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// intervalTitle is the title of the confidence intervals. They cover the variation within a
// run, but not that between runs.
const intervalTitle = "95 % WITHIN RUN"

// columns returns the columns of the comparison. A narrow terminal drops the flags
// first, then the intervals, the tolerances and the gauges. With several references
// the differences are from their mean.
func columns(references int) []ui.Column {
	out := []ui.Column{
		{Title: "METRIC", Min: 20},
		{Title: "REFERENCE", Right: true},
		{Title: "CANDIDATE", Right: true},
		{Title: "Δ", Right: true, Min: 7},
		{Title: "IN TOLERANCE", Min: 11, Drop: 1},
		{Title: "±", Right: true, Min: 4, Drop: 2},
		{Title: intervalTitle, Right: true, Drop: 3},
		{Title: "FLAGS", Min: 16, Flex: true, Drop: 4},
	}
	if references > 1 {
		out[3].Title = "Δ MEAN"
	}
	return out
}

// tableRow is a row of the table, with the detail shown while it is selected.
type tableRow struct {
	cells  []ui.Cell
	detail string
}

// tableRows returns the rows of a comparison. A row with two parts becomes two rows.
// gaugeHalf is half of the length of a gauge.
func tableRows(c engine.Comparison, gaugeHalf int) []tableRow {
	var out []tableRow
	for i, r := range c.Rows {
		if len(r.Parts) < 2 {
			out = append(out, newTableRow(r, i == 0, gaugeHalf))
			continue
		}
		var firstFlags []string // flags of earlier parts, to show common ones once
		for _, p := range r.Parts {
			mark := func(i int) string {
				if p.Invalid[i] && p.Text[i] != "-" {
					return p.Text[i] + " !"
				}
				return p.Text[i]
			}
			row := engine.ComparisonRow{
				Metric: p.Label, Reference: mark(0), Candidate: mark(1), Delta: p.DeltaText, FromMean: p.MeanText,
				Parts: []engine.ComparisonPart{p},
				Flags: slices.DeleteFunc(slices.Clone(p.Flags), func(f string) bool {
					return strings.Contains(f, "invalid: ") && slices.Contains(firstFlags, f)
				}),
			}
			firstFlags = append(firstFlags, p.Flags...)
			out = append(out, newTableRow(row, false, gaugeHalf))
		}
	}
	return out
}

func newTableRow(r engine.ComparisonRow, primary bool, gaugeHalf int) tableRow {
	label, tolerance, role := r.Metric, "", ui.Plain
	gaugeCell, interval := ui.Cell{}, ui.Cell{Role: ui.Muted}
	detail := r.Metric
	if len(r.Parts) == 1 {
		p := r.Parts[0]
		label = p.Label
		if p.Position != nil {
			role = positionRole(*p.Position, r.Flags)
			gaugeCell = ui.Cell{Text: gauge(*p.Position, gaugeHalf), Role: role}
		}
		var facts []string
		if p.Tolerance > 0 {
			tolerance = p.Band
			text := "tolerance ±" + tolerance
			if p.Mean != nil {
				text += fmt.Sprintf(" around the mean of %d references; Δ from the first one %s", p.References, r.Delta)
			}
			facts = append(facts, text)
		}
		if p.Better != "" {
			facts = append(facts, string(p.Better)+" is better")
		}
		detail += ": " + strings.Join(facts, ", ")
		if in := p.Interval; in != nil {
			interval.Text = results.Change(in.Low, 1) + " … " + results.Change(in.High, 1)
			detail += "; 95 % confidence interval " + interval.Text + " by " + in.Method
		}
	}
	if len(r.Flags) > 0 {
		detail += "; " + strings.Join(r.Flags, ", ")
	}
	flags := r.Flags
	if primary {
		flags = append([]string{"primary"}, flags...)
	}
	delta := ui.Cell{Text: cmp.Or(r.FromMean, r.Delta)}
	if role == ui.Bad || role == ui.Warn {
		delta.Role = role
	}
	return tableRow{detail: detail, cells: []ui.Cell{
		{Text: label},
		valueCell(r.Reference), valueCell(r.Candidate), delta, gaugeCell,
		{Text: tolerance, Role: ui.Muted},
		interval,
		{Text: strings.Join(flags, ", "), Role: ui.Muted},
	}}
}

func valueCell(s string) ui.Cell {
	c := ui.Cell{Text: s}
	if strings.HasSuffix(s, "!") {
		c.Role = ui.Warn
	}
	return c
}

// positionRole returns the role of a position relative to the tolerance: Bad for worse
// than the tolerance allows, Warn for better, Muted for a noisy metric.
func positionRole(position float64, flags []string) ui.Role {
	switch {
	case slices.Contains(flags, "noisy"):
		return ui.Muted
	case math.Abs(position) <= 1:
		return ui.OK
	case slices.Contains(flags, "worse"):
		return ui.Bad
	}
	return ui.Warn
}

// gauge draws a difference relative to the tolerance: the middle is the reference,
// the ends are the tolerance, and an arrow is a difference outside.
func gauge(position float64, armCells int) string {
	arm := strings.Repeat("─", max(armCells-1, 0))
	g := []rune("├" + arm + "┼" + arm + "┤")
	switch {
	case position < -1:
		g[0] = '◀'
	case position > 1:
		g[len(g)-1] = '▶'
	default:
		g[len(g)/2+int(math.Round(position*float64(len(g)/2)))] = '●'
	}
	return string(g)
}

// summary returns the number of figures outside tolerance, without noisy metrics, or
// the reasons why the sides are not comparable.
func summary(c engine.Comparison) (text string, role ui.Role) {
	if c.Verdict == engine.NotComparable {
		return "not comparable: " + ui.Clean(strings.Join(c.Reasons, "; ")), ui.Warn
	}
	compared := 0
	var outside []string
	for _, r := range c.Rows {
		for _, p := range r.Parts {
			if p.Position == nil {
				continue
			}
			switch r := positionRole(*p.Position, p.Flags); r {
			case ui.Muted:
			case ui.OK:
				compared++
			default:
				compared++
				role, outside = max(role, r), append(outside, p.Label)
			}
		}
	}
	if len(outside) == 0 {
		return fmt.Sprintf("all %d compared figures within tolerance", compared), ui.OK
	}
	return fmt.Sprintf("%d of %d compared figures outside tolerance: %s",
		len(outside), compared, strings.Join(outside, ", ")), role
}

// verdict returns the state of a comparison.
func verdict(c engine.Comparison) ui.State {
	band := "band ±" + results.Percent(c.Band)
	change := ""
	if c.Verdict != engine.NotComparable {
		change, band = c.PrimaryTexts()
		band = "band ±" + band
	}
	if c.References > 1 {
		band += fmt.Sprintf(", %d references", c.References)
	}
	forced := ""
	if c.Forced {
		forced = " (forced)"
	}
	switch c.Verdict {
	case engine.Within:
		return ui.State{Text: "✓ within the band" + forced + "  " + change, Role: ui.OK, Age: band}
	case engine.Outside:
		return ui.State{Text: "✗ outside the band" + forced + "  " + change, Role: ui.Bad, Age: band}
	}
	return ui.State{Text: "⚠ not comparable", Role: ui.Warn, Age: band}
}

// sideText describes a side on one line.
func sideText(c engine.ComparisonColumn) string {
	parts := []string{ui.Clean(c.Name)}
	if c.About.Job != "" && !strings.Contains(c.Name, c.About.Job) {
		parts = append(parts, "job "+c.About.Job)
	}
	parts = append(parts, fmt.Sprintf("phase %d", c.Phase))
	if c.Concurrency > 0 {
		parts = append(parts, results.Count(c.Concurrency)+" users")
	}
	if c.Window != nil {
		text := "window " + results.Decimal(*c.Window, 0) + " s"
		if c.WindowDerived {
			text += ", derived"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// property is one line of the configuration of both sides.
type property struct {
	name      string
	ref, cand string
	mark      string // =, ≠, or ? if one is unknown
	role      ui.Role
}

// properties returns the configuration of both sides: what must match, and the settings that differ.
func properties(c engine.Comparison) []property {
	a, b := c.Reference.About, c.Candidate.About
	var out []property
	for _, p := range c.Properties {
		id := property{name: p.Name, ref: p.Reference, cand: p.Candidate, mark: p.Mark()}
		switch {
		case id.mark == "=":
			id.role = ui.OK
		case id.mark == "?":
			id.role = ui.Muted
		case p.Required:
			id.role = ui.Bad
		default:
			id.role = ui.Warn
		}
		if p.Required || id.mark == "≠" {
			out = append(out, id)
		}
	}
	window := func(w *float64) string {
		if w == nil {
			return ""
		}
		return results.Decimal(*w, 1) + " s"
	}
	for _, fact := range [][3]string{
		{"window", window(c.Reference.Window), window(c.Candidate.Window)},
		{"cluster", a.Cluster, b.Cluster},
		{"recipe", a.Recipe, b.Recipe},
		{"job", a.Job, b.Job},
	} {
		out = append(out, property{name: fact[0], ref: fact[1], cand: fact[2], mark: " "})
	}
	return out
}
