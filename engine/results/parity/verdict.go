package parity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// setVerdict sets the verdict, which depends on the primary metric only. With force there is a verdict
// even if the runs are not comparable, but not if the figures permit none.
func (c *Comparison) setVerdict(band tolerance, ref, cand *Side, references []Side, force bool) {
	c.noVerdict = c.figureReasons(band, ref, cand, references)
	force = force && len(c.noVerdict) == 0
	c.Reasons = append(c.Reasons, c.noVerdict...)
	c.Forced = len(c.Reasons) > 0 && force
	switch {
	case len(c.Reasons) > 0 && !force:
		c.Verdict = NotComparable
	case isBeyond(*c.judged(), c.Band):
		c.Verdict = Outside
	default:
		c.Verdict = Within
	}
}

// figureReasons returns why the primary figures permit no verdict.
func (c *Comparison) figureReasons(band tolerance, ref, cand *Side, references []Side) []string {
	label, p := c.Rows[0].Metric, &c.Rows[0].Parts[0]
	var reasons []string
	for i, s := range []*Side{ref, cand} {
		if why := s.unfit(p.Key); why != "" {
			reasons = append(reasons, fmt.Sprintf("%s of the %s is invalid: %s", label, sideNames[i], why))
		}
	}
	switch {
	case len(reasons) > 0:
		return reasons
	case c.judged() == nil:
		return unknownReasons(label, p.Key, ref, cand)
	}
	if _, ok := band.direction(p.low, p.high); ok {
		return nil
	}
	var why []string
	for i, f := range p.Figures {
		why = append(why, uncertainties(sideNames[i], f)...)
	}
	for i := range references {
		why = append(why, uncertainties("reference "+references[i].Name, references[i].figure(p.Key))...)
	}
	return []string{strings.TrimSuffix(fmt.Sprintf("not told apart: the difference of %s is %s, the band is %s (%s)",
		label, rangeText(p.low, p.high), band.widthText(), strings.Join(why, "; ")), " ()")}
}

// uncertainties returns why a figure of a side is uncertain.
func uncertainties(name string, f results.Figure) []string {
	var why []string
	for _, r := range f.Reasons {
		if r.Class == results.Uncertain {
			why = append(why, stripControl(name+": "+r.Text))
		}
	}
	return why
}

// unknownReasons returns why there is no difference.
func unknownReasons(label, key string, sides ...*Side) []string {
	var reasons []string
	for i, s := range sides {
		if math.IsNaN(s.figure(key).Value) {
			reasons = append(reasons, s.unknownText(fmt.Sprintf("%s of the %s is unknown", label, sideNames[i]), key))
		}
	}
	if len(reasons) == 0 {
		reasons = []string{"the difference of " + label + " can't be computed"}
	}
	return reasons
}

// unknownText adds to a text why a figure is unknown, as far as that is known.
func (s *Side) unknownText(text, key string) string {
	if why := slices.Concat(reasonTexts(s.figure(key).Reasons), s.Phase.Invalid); len(why) > 0 {
		text += ": " + stripControl(strings.Join(why, ", "))
	}
	return text
}

// NoVerdict returns why there is no verdict even with [Options].Force, or "".
func (c *Comparison) NoVerdict() string { return strings.Join(c.noVerdict, "; ") }

// judged returns the difference of the primary metric that the verdict depends on, or nil if it is unknown.
func (c *Comparison) judged() *float64 {
	if c.References > 1 {
		return c.FromMean
	}
	return c.Delta
}
