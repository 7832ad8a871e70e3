package parity

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// unknownText is shown for unknown properties of the origin of figures.
const unknownText = "unknown"

// Origin is a property of the origin of figures, for reports.
type Origin struct{ Label, Value string }

// Origins returns what a report says about the origin of its figures. Unknown properties are listed
// as unknown, except for those that only some runs have.
func (a About) Origins() []Origin {
	var out []Origin
	for _, o := range []struct {
		Origin
		optional bool
	}{
		{Origin{"Recipe", a.Recipe}, false},
		{Origin{"Model", a.Model}, false},
		{Origin{"Model revision", a.ModelRevision}, false},
		{Origin{"Dataset", a.Dataset}, false},
		{Origin{"Dataset hash", a.DatasetHash}, true},
		{Origin{"Seed", a.Seed}, false},
		{Origin{"Cluster", a.Cluster}, true},
		{Origin{"Nodes", a.Nodes}, false},
		{Origin{"Job", a.Job}, true},
		{Origin{"Date", a.Date}, false},
		{Origin{"Client commit", a.ClientCommit}, false},
		{Origin{"Tool versions", a.ToolVersions}, false},
	} {
		switch {
		case o.Value != "":
			out = append(out, Origin{o.Label, stripControl(o.Value)})
		case !o.optional:
			out = append(out, Origin{o.Label, unknownText})
		}
	}
	return out
}

// Origins returns the table of the origin of both sides. Its rows have a label and two values.
func (c Comparison) Origins() [][]string {
	var out [][]string
	add := func(label, ref, cand string) { out = append(out, []string{label, ref, cand}) }
	ref, cand := c.Reference.About.Origins(), c.Candidate.About.Origins()
	for _, o := range ref {
		add(o.Label, o.Value, cmp.Or(valueOf(cand, o.Label), unknownText))
	}
	for _, o := range cand {
		if valueOf(ref, o.Label) == "" {
			add(o.Label, unknownText, o.Value)
		}
	}
	users := func(c Column) string {
		if c.Concurrency > 0 {
			return results.Count(c.Concurrency)
		}
		return unknownText
	}
	window := func(c Column) string {
		switch {
		case c.Window == nil:
			return unknownText
		case c.WindowDerived:
			return results.Decimal(*c.Window, 1) + " s (derived from token counts)"
		}
		return results.Decimal(*c.Window, 1) + " s"
	}
	add("Phase", results.Count(c.Reference.Phase), results.Count(c.Candidate.Phase))
	add("Concurrency", users(c.Reference), users(c.Candidate))
	add("Measuring window", window(c.Reference), window(c.Candidate))
	return out
}

// valueOf returns the value with a label, or "".
func valueOf(all []Origin, label string) string {
	if i := slices.IndexFunc(all, func(o Origin) bool { return o.Label == label }); i >= 0 {
		return all[i].Value
	}
	return ""
}

// DateText formats the time of a measurement, in Unix seconds, or returns "" if it is unknown.
func DateText(seconds float64) string {
	if math.IsNaN(seconds) || seconds <= 0 || seconds > 1e11 {
		return ""
	}
	return time.UnixMilli(int64(seconds * 1000)).UTC().Format("2006-01-02 15:04 UTC")
}
