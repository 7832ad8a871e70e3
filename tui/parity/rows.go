package parity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// intervalTitle heads the intervals: what they leave out is what matters.
const intervalTitle = "95 % WITHIN RUN"

// columns of the comparison. Where it is narrow the flags go first, then the
// intervals, the width of the tolerance, and where in it the candidate lies.
func columns() []ui.Column {
	return []ui.Column{
		{Title: "METRIC", Min: 20},
		{Title: "REFERENCE", Right: true},
		{Title: "CANDIDATE", Right: true},
		{Title: "Δ", Right: true, Min: 7},
		{Title: "IN TOLERANCE", Min: 11, Drop: 1},
		{Title: "±", Right: true, Min: 4, Drop: 2},
		{Title: intervalTitle, Right: true, Drop: 3},
		{Title: "FLAGS", Min: 16, Flex: true, Drop: 4},
	}
}

// line is one row of the table with what is said of it below.
type line struct {
	cells  []ui.Cell
	detail string
}

// linesOf are the rows of a comparison; one with two parts becomes two. Half is
// the length of a gauge from its middle.
func linesOf(c engine.Comparison, half int) []line {
	var out []line
	for i, r := range c.Rows {
		if len(r.Parts) < 2 {
			out = append(out, lineOf(r, i == 0, half))
			continue
		}
		var said []string // of the first part: what is true of both is told once
		for _, p := range r.Parts {
			mark := func(i int) string {
				if p.Invalid[i] && p.Text[i] != "-" {
					return p.Text[i] + " !"
				}
				return p.Text[i]
			}
			one := engine.ComparisonRow{
				Metric: p.Label, Reference: mark(0), Candidate: mark(1), Delta: p.DeltaText, Parts: []engine.ComparisonPart{p},
				Flags: slices.DeleteFunc(slices.Clone(p.Flags), func(f string) bool {
					return strings.Contains(f, "invalid: ") && slices.Contains(said, f)
				}),
			}
			said = append(said, p.Flags...)
			out = append(out, lineOf(one, false, half))
		}
	}
	return out
}

func lineOf(r engine.ComparisonRow, primary bool, half int) line {
	label, tolerance, role := r.Metric, "", ui.Plain
	gaugeCell, interval := ui.Cell{}, ui.Cell{Role: ui.Muted}
	detail := r.Metric
	if len(r.Parts) == 1 {
		p := r.Parts[0]
		label = p.Label
		if p.Position != nil {
			role = roleOf(*p.Position, r.Flags)
			gaugeCell = ui.Cell{Text: gauge(*p.Position, half), Role: role}
		}
		tolerance = results.Percent(p.Tolerance)
		detail += ": tolerance ±" + tolerance
		if p.Better != "" {
			detail += ", " + string(p.Better) + " is better"
		}
		if in := p.Interval; in != nil {
			interval.Text = results.Change(in.Low, 1) + " … " + results.Change(in.High, 1)
			detail += "; 95 % of differences within " + interval.Text + " by " + in.Method
		}
	}
	if len(r.Flags) > 0 {
		detail += "; " + strings.Join(r.Flags, ", ")
	}
	flags := r.Flags
	if primary {
		flags = append([]string{"primary"}, flags...)
	}
	delta := ui.Cell{Text: r.Delta}
	if role == ui.Bad || role == ui.Warn {
		delta.Role = role
	}
	return line{detail: detail, cells: []ui.Cell{
		{Text: label},
		value(r.Reference), value(r.Candidate), delta, gaugeCell,
		{Text: tolerance, Role: ui.Muted},
		interval,
		{Text: strings.Join(flags, ", "), Role: ui.Muted},
	}}
}

func value(s string) ui.Cell {
	c := ui.Cell{Text: s}
	if strings.HasSuffix(s, "!") {
		c.Role = ui.Warn
	}
	return c
}

// roleOf is what a place in the tolerance means: beyond it and worse is bad,
// beyond it and not worse is worth a look, and a noisy metric proves nothing.
func roleOf(position float64, flags []string) ui.Role {
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

// gauge draws where in the tolerance a difference lies: the middle is the
// reference, the ends are the tolerance, an arrow lies beyond.
func gauge(position float64, half int) string {
	arm := strings.Repeat("─", max(half-1, 0))
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

// summary counts what lies beyond its tolerance, noisy metrics aside; first of all
// it says why no verdict can be given.
func summary(c engine.Comparison) (text string, role ui.Role) {
	if c.Verdict == engine.NotComparable {
		return "not comparable: " + ui.Clean(strings.Join(c.Reasons, "; ")), ui.Warn
	}
	judged := 0
	var beyond []string
	for _, r := range c.Rows {
		for _, p := range r.Parts {
			if p.Position == nil {
				continue
			}
			switch how := roleOf(*p.Position, p.Flags); how {
			case ui.Muted:
			case ui.OK:
				judged++
			default:
				judged++
				role, beyond = max(role, how), append(beyond, p.Label)
			}
		}
	}
	if len(beyond) == 0 {
		return fmt.Sprintf("all %d judged figures in their tolerance", judged), ui.OK
	}
	return fmt.Sprintf("%d of %d judged figures beyond their tolerance: %s",
		len(beyond), judged, strings.Join(beyond, ", ")), role
}

// verdict is the state of a comparison.
func verdict(c engine.Comparison) ui.State {
	band := "band ±" + results.Percent(c.Band)
	if c.BandSource != "" {
		band += " as measured"
	}
	forced := ""
	if c.Forced {
		forced = " (forced)"
	}
	switch c.Verdict {
	case engine.Within:
		return ui.State{Text: "✓ within the band" + forced + "  " + results.Change(*c.Delta, 2), Role: ui.OK, Age: band}
	case engine.Outside:
		return ui.State{Text: "✗ outside the band" + forced + "  " + results.Change(*c.Delta, 2), Role: ui.Bad, Age: band}
	}
	return ui.State{Text: "⚠ not comparable", Role: ui.Warn, Age: band}
}

// sideText names a side on one line.
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
			text += ", implied"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// identity is one thing that makes two runs the same configuration.
type identity struct {
	name      string
	ref, cand string
	mark      string // =, ≠, or ? when a side does not know
	role      ui.Role
}

// identities sets both sides' identity side by side.
func identities(c engine.Comparison) []identity {
	a, b := c.Reference.About, c.Candidate.About
	users := func(n int) string {
		if n == 0 {
			return ""
		}
		return results.Count(n)
	}
	window := func(w *float64) string {
		if w == nil {
			return ""
		}
		return results.Decimal(*w, 1) + " s"
	}
	return []identity{
		compareTwo("users", users(c.Reference.Concurrency), users(c.Candidate.Concurrency), true),
		compareTwo("model", a.Model, b.Model, true),
		compareTwo("model revision", a.ModelRevision, b.ModelRevision, true),
		compareTwo("seed", a.Seed, b.Seed, true),
		compareTwo("dataset", a.Dataset, b.Dataset, true),
		compareTwo("client commit", a.ClientCommit, b.ClientCommit, true),
		compareTwo("window", window(c.Reference.Window), window(c.Candidate.Window), false),
		compareTwo("cluster", a.Cluster, b.Cluster, false),
		compareTwo("recipe", a.Recipe, b.Recipe, false),
		compareTwo("job", a.Job, b.Job, false),
	}
}

// compareTwo marks a pair; of what may differ no mark is made.
func compareTwo(name, ref, cand string, same bool) identity {
	id := identity{name: name, ref: ref, cand: cand, mark: " "}
	switch {
	case !same:
	case ref == "" || cand == "":
		id.mark, id.role = "?", ui.Muted
	case ref == cand:
		id.mark, id.role = "=", ui.OK
	default:
		id.mark, id.role = "≠", ui.Bad
	}
	return id
}
