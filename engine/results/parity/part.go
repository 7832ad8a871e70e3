package parity

import (
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// figure returns a figure of the side with the reasons of its phase. A figure that a file only
// states, or that comes from an older roll-up, has no class unless it is invalid.
func (s *Side) figure(key string) results.Figure {
	f := s.Phase.Figures.Get(key)
	if math.IsNaN(f.Value) {
		return f
	}
	f.Reasons = s.Phase.ReasonsOf(f)
	if f.Class == "" {
		f.Low, f.High = math.NaN(), math.NaN()
	}
	if f.Invalid != "" || len(s.Phase.Invalid) > 0 {
		f.Class = results.Invalid
	}
	return f
}

// unfit returns why a figure must not be used, or "" if it may be used.
func (s *Side) unfit(key string) string {
	f := s.figure(key)
	if f.Class != results.Invalid {
		return ""
	}
	var texts []string
	for _, r := range f.Reasons {
		if r.Class == results.Invalid {
			texts = append(texts, r.Text)
		}
	}
	if len(texts) == 0 { // of an older roll-up, or the sum of several reasons
		texts = slices.Concat([]string{f.Invalid}, s.Phase.Invalid, reasonTexts(f.Reasons))
	}
	texts = slices.DeleteFunc(texts, func(t string) bool { return t == "" })
	return stripControl(strings.Join(slices.Compact(texts), ", "))
}

func reasonTexts(reasons []results.Reason) []string {
	texts := make([]string, 0, len(reasons))
	for _, r := range reasons {
		texts = append(texts, r.Text)
	}
	return texts
}

// bounds returns the lowest and the highest possible value of a figure that is not invalid.
func bounds(f results.Figure) (low, high float64) {
	switch {
	case f.Class != results.Uncertain:
		return f.Value, f.Value
	case !math.IsNaN(f.Low) && !math.IsNaN(f.High):
		return min(f.Low, f.Value), max(f.High, f.Value)
	}
	share := 0.0 // the unknown shares; nothing better is known
	for _, r := range f.Reasons {
		share += r.Share
	}
	width := math.Abs(f.Value) * share
	return f.Value - width, f.Value + width
}

// newPart compares a metric of both sides.
func newPart(m *results.Metric, ref, cand *Side, within tolerance) Part {
	r, c := ref.figure(m.Key), cand.figure(m.Key)
	p := Part{
		Key: m.Key, Reference: finite(r.Value), Candidate: finite(c.Value), Delta: finite((c.Value - r.Value) / r.Value),
		Tolerance: within.width, Better: m.Better, Label: m.ShortLabel(), Figures: [2]results.Figure{r, c},
		Invalid: [2]bool{r.Class == results.Invalid, c.Class == results.Invalid},
	}
	form := formatOf(m)
	p.Text = [2]string{form.figure(r), form.figure(c)}
	beyond := p.compare(within, form.number(r.Value), form.number(c.Value))
	for i, s := range []*Side{ref, cand} {
		p.Flags = append(p.Flags, s.figureFlags(sideNames[i], m)...)
	}
	switch {
	case m.Parity.Noisy:
		p.Flags = append(p.Flags, "noisy")
	case beyond:
		p.Flags = append(p.Flags, "beyond ±"+p.Band)
	}
	return p
}

// compare sets the difference of the part and reports whether it is beyond the tolerance.
// A difference of uncertain figures is beyond only if both ends of its range are; that of invalid
// figures is never flagged. ref and cand are the formatted values, without marks and bounds.
func (p *Part) compare(within tolerance, ref, cand string) (beyond bool) {
	p.Band, p.DeltaText = results.Percent(within.width), dash
	if p.Delta != nil {
		p.DeltaText = deltaText(*p.Delta, ref, cand)
	}
	judged := p.Delta
	if within.references > 1 && p.Candidate != nil {
		judged = finite(within.delta(*p.Candidate))
		p.References, p.Mean, p.FromMean = within.references, finite(within.center), judged
	}
	if judged == nil {
		return false
	}
	outside := isBeyond(*judged, within.width)
	if p.FromMean != nil {
		p.MeanText, p.Band = judgedTexts(*judged, within.width, deltaDecimals(ref, cand))
	} else if outside || p.DeltaText != equalText {
		p.DeltaText, p.Band = judgedTexts(*judged, within.width, deltaDecimals(ref, cand))
	}
	if p.isInvalid() {
		return false
	}
	position := within.position(*judged)
	p.Position = &position
	p.setRange(within, *judged)
	way, ok := within.direction(p.low, p.high)
	switch {
	case !ok:
		p.Flags = append(p.Flags, "not told apart: "+rangeText(p.low, p.high))
		if p.ToleranceRange != nil {
			p.Flags = append(p.Flags, "tolerance "+within.widthText())
		}
		return false
	case way == 0 || p.Better == "":
	case (way > 0) == (p.Better == results.Higher):
		p.Flags = append(p.Flags, "better")
	default:
		p.Flags = append(p.Flags, "worse")
	}
	return way != 0
}

// setRange sets the range of the difference that is compared with the tolerance, if a figure or a
// reference is uncertain.
func (p *Part) setRange(within tolerance, judged float64) {
	p.low, p.high = judged, judged
	if !within.isUncertain() && p.Figures[1].Class != results.Uncertain {
		return
	}
	candLow, candHigh := bounds(p.Figures[1])
	p.low, p.high = candLow/within.centers[1]-1, candHigh/within.centers[0]-1
	if finite(p.low) != nil && finite(p.high) != nil {
		p.DeltaRange = &[2]float64{p.low, p.high}
	}
	if within.widths[0] < within.widths[1] && finite(within.widths[1]) != nil {
		p.ToleranceRange = &within.widths
	}
}

// direction returns 0 if a difference is within a tolerance, else its sign.
func direction(delta, width float64) int {
	switch {
	case !isBeyond(delta, width):
		return 0
	case delta > 0:
		return 1
	}
	return -1
}

// rangeText formats a range of differences.
func rangeText(low, high float64) string {
	return results.Change(low, 2) + " to " + results.Change(high, 2)
}

func (p *Part) isInvalid() bool { return p.Invalid[0] || p.Invalid[1] }

// figureFlags returns the reasons of the figure itself, and the value of the client if it differs.
// The reasons of its phase affect all figures, so they are notes instead.
func (s *Side) figureFlags(name string, m *results.Metric) []string {
	f := s.Phase.Figures.Get(m.Key)
	var flags []string
	add := func(text string) { flags = append(flags, name+stripControl(text)) }
	for _, r := range f.Reasons {
		add(classWord(r.Class) + ": " + r.Text)
	}
	if f.Invalid != "" && len(f.Reasons) == 0 {
		add(" invalid: " + f.Invalid)
	}
	if text := f.ClientText(); text != "" {
		add(": the client reports " + text)
	}
	return flags
}

// classWord returns the class for messages, after the name of a side.
func classWord(c results.Class) string {
	if c == results.Exact || c == "" {
		return ""
	}
	return " " + string(c)
}

// markInvalid appends "!" to an invalid figure.
func markInvalid(text string, invalid bool) string {
	if invalid && text != dash {
		return text + " !"
	}
	return text
}
