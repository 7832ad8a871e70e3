package parity

import (
	"fmt"
	"math"
	"slices"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// addNotes adds what a reader of the comparison must know.
func (c *Comparison) addNotes(ref, cand *Side, references []Side) {
	add := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	if c.References < 2 {
		add("one run per side: a difference within the run-to-run band can be random")
	} else {
		add("tolerances: %g%% prediction intervals for one more run, around the mean of %d references, at least the defaults",
			100*predictionLevel, c.References)
	}
	if c.References == 2 {
		add("an interval from two references is wide; from three it is typically a third as wide")
	}
	if ref.isSame(cand) && ref.Phase.Index == cand.Phase.Index && ref.Name == cand.Name {
		add("reference and candidate are the same run: the comparison tells nothing about another one")
	}
	if r, k := c.Reference.Window, c.Candidate.Window; r != nil && k != nil && math.Abs(*k-*r) > 0.01**r {
		how := ""
		if c.Reference.WindowDerived || c.Candidate.WindowDerived {
			how = ", derived from token counts"
		}
		a, b := distinctDecimals(*r, *k)
		add("measuring windows differ: %s s vs. %s s%s", a, b, how)
	}
	for i, s := range []*Side{ref, cand} {
		other := []*Side{cand, ref}[i]
		if s.Inputs.HardwareMetrics == identity.CollectedYes && other.Inputs.HardwareMetrics == identity.CollectedNo {
			add("hardware metrics were collected during the run of the %s only, which affects it a little; srtctl collects "+
				"them unless observability.tachometer.enabled is false", sideNames[i])
		}
	}
	c.Notes = slices.Concat(
		c.Notes, propertyNotes(c.Properties), intervalNotes(ref, cand), sideNotes(ref, cand, references),
		engineNotes(&ref.Inputs.Engines, &cand.Inputs.Engines),
	)
}

// warnings returns the errors and warnings of the run and the phase that are not reasons of the
// phase.
func (s *Side) warnings() []string {
	out := []string{}
	for _, w := range slices.Concat(s.Warnings, s.Phase.Warnings) {
		if w = stripControl(w); !slices.Contains(reasonTexts(s.Phase.Reasons), w) && !slices.Contains(s.Phase.Invalid, w) &&
			!slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// sideNotes returns the reasons and warnings of all sides. One that reference and candidate have occurs
// once.
func sideNotes(ref, cand *Side, references []Side) []string {
	var notes []string
	sides, names := []*Side{ref, cand}, slices.Clone(sideNames[:])
	for i := range references {
		sides = append(sides, &references[i])
		names = append(names, stripControl("reference "+references[i].Name))
	}
	for i, s := range sides {
		add := func(word, text string) {
			text = word + ": " + stripControl(text)
			if j := slices.Index(notes, sideNames[0]+text); i == 1 && j >= 0 {
				notes[j] = "both" + text
				return
			}
			notes = append(notes, names[i]+text)
		}
		for _, r := range s.Phase.Reasons {
			add(classWord(r.Class), r.Text)
		}
		for _, text := range s.Phase.Invalid {
			if !slices.Contains(reasonTexts(s.Phase.Reasons), text) {
				add(" invalid", text)
			}
		}
		for _, w := range s.warnings() {
			add("", w)
		}
		unclassed := func(f results.Figure) bool { return f.Class == "" && !math.IsNaN(f.Value) }
		if slices.ContainsFunc(s.Phase.Figures, unclassed) {
			add("", "the completeness of the figures is unknown")
		}
	}
	return notes
}

// distinctDecimals formats two numbers with as many decimals as are needed to distinguish them.
func distinctDecimals(a, b float64) (string, string) {
	for decimals := 0; ; decimals++ {
		x, y := results.Decimal(a, decimals), results.Decimal(b, decimals)
		if x != y || decimals == 6 {
			return x, y
		}
	}
}
