package results

import (
	"fmt"
	"math"
	"slices"

	"github.com/agentperf/agentperf-tui/engine/percentile"
)

// Class tells how far a figure can be relied on.
type Class string

// Classes of figures, from best to worst.
const (
	Exact     Class = "exact"     // at most 0.1 % of the data behind it is unknown
	Uncertain Class = "uncertain" // at most 1 %: the value has bounds
	Invalid   Class = "invalid"   // more: a sum is a lower bound, anything else must not be used
)

// Limits of the unknown share for the classes.
const (
	exactShare     = 0.001
	uncertainShare = 0.01
)

// classOf returns the class for an unknown share of the requests or of the window.
func classOf(share float64) Class {
	switch {
	case share <= exactShare:
		return Exact
	case share <= uncertainShare:
		return Uncertain
	}
	return Invalid
}

// rank orders classes; a higher rank is worse.
func (c Class) rank() int { return slices.Index([]Class{Exact, Uncertain, Invalid}, c) }

// Worse returns the worse of two classes. The empty class is better than all others.
func (c Class) Worse(o Class) Class {
	if o.rank() > c.rank() {
		return o
	}
	return c
}

// ReasonID names a kind of reason why a figure is not exact.
type ReasonID string

// The reasons. A reason of a phase affects all its figures.
const (
	UnreadableRows  ReasonID = "unreadable-rows"  // rows of the phase could not be parsed
	UnknownQuantity ReasonID = "unknown-quantity" // successful requests lack the value
	WindowEstimated ReasonID = "window-estimated" // the client did not record the measuring window
	RowsMissing     ReasonID = "rows-missing"     // no rows in a part of the window
	ClockStep       ReasonID = "clock-step"       // times contradict each other
	OutOfRange      ReasonID = "out-of-range"     // the value can't be true
	FewSamples      ReasonID = "few-samples"      // too few requests for the percentile
	NotSettled      ReasonID = "not-settled"      // throughput or TTFT drift within the window
	WindowInvalid   ReasonID = "window-invalid"   // there is no measuring window, or it is too short
	Contradiction   ReasonID = "contradiction"    // the output contradicts itself
	InFlight        ReasonID = "in-flight"        // requests in flight are not counted yet
	OtherDefinition ReasonID = "other-definition" // another tool defines the figure somewhat differently
	StatedInvalid   ReasonID = "stated-invalid"   // the file that states the figure marks it as invalid
)

// Reason says why a figure is not exact, or what to know about an exact one.
type Reason struct {
	ID    ReasonID `json:"id"`
	Text  string   `json:"text"`
	Class Class    `json:"class"` // of the figures that it affects; exact: a note
	// Share of the requests or of the window that is unknown, from 0 to 1.
	Share float64 `json:"share,omitempty"`
}

// newReason returns a reason whose class follows from the unknown share.
func newReason(id ReasonID, share float64, format string, args ...any) Reason {
	return Reason{ID: id, Text: fmt.Sprintf(format, args...), Class: classOf(share), Share: share}
}

// unknownOf returns the number of measured requests for which the quantity is unknown:
// successful ones that lack it, and those whose rows are missing. A failed request has no
// tokens and no times of tokens by definition. Neither has a speed if it returned at most
// one token.
func (s *measuredSums) unknownOf(q Quantity) int {
	return max(0, s.measured-s.failed-s.undefined[q]-s.successful[q].n) + s.missing
}

// expected returns the number of measured requests that should have the quantity.
func (s *measuredSums) expected(q Quantity) int { return s.measured - s.undefined[q] + s.missing }

// defined reports whether a request should have the quantity if it succeeded.
func (q Quantity) defined(r *Request) bool {
	switch q {
	case LocalSpeed, SSESpeed, ITL:
		return r.Output < 0 || r.Output > 1
	}
	return true
}

// complete sets class, bounds and reasons of a figure from the requests behind it.
func (s *measuredSums) complete(m *Metric, f *Figure) {
	q := m.Formula.Of
	if m.Formula.Kind == ClientReported {
		return
	}
	unknown := s.unknownOf(q)
	f.Of = s.expected(q)
	if unknown == 0 || f.Of == 0 {
		return
	}
	own := unknown - s.missing
	if own > 0 {
		f.addReason(newReason(UnknownQuantity, float64(own)/float64(f.Of), "%s unknown in %s of %s requests",
			q.inReasons(), Count(own), Count(f.Of)))
	}
	// If few of the requests have the quantity, the missing ones weigh more than the reason of the phase says.
	share := float64(s.missing) / float64(f.Of)
	if classOf(share) != classOf(float64(s.missing)/float64(s.measured+s.missing)) {
		f.addReason(newReason(UnreadableRows, share, "%s unknown in up to %s of %s requests, which could not be read",
			q.name(), Count(s.missing), Count(f.Of)))
	}
	f.Low, f.High = s.boundsOf(m, f.Value, unknown)
	if math.IsInf(f.High, 1) && classOf(float64(unknown)/float64(f.Of)) != Invalid {
		f.addReason(Reason{ID: UnknownQuantity, Class: Invalid, Share: share, Text: fmt.Sprintf(
			"p%g may be one of the %s unknown values", m.Formula.Percentile, Count(unknown))})
	}
}

// boundsOf returns the lowest and the highest possible value of a figure if the quantity is unknown
// for some requests: each of these may have any value from 0 to the largest known one.
func (s *measuredSums) boundsOf(m *Metric, value float64, unknown int) (low, high float64) {
	q := m.Formula.Of
	all, ok := s.all[q], s.successful[q]
	u := float64(unknown)
	switch m.Formula.Kind {
	case Rate, Sum:
		seconds := 1.0
		if m.Formula.Kind == Rate {
			seconds = s.seconds
		}
		return value, (all.sum + u*all.max) / seconds
	case Mean:
		n := float64(ok.n) + u
		return ok.sum / n, (ok.sum + u*ok.max) / n
	case Share:
		over := s.all[m.Formula.Over]
		more := u * over.max
		return all.sum / (over.sum + more), (all.sum + more) / (over.sum + more)
	case Percentile:
		if s.ranks.n[q] == 0 {
			return math.NaN(), math.NaN()
		}
		return s.ranks.percentileBounds(q, unknown, m.Formula.Percentile)
	}
	return math.NaN(), math.NaN()
}

// shiftedRanks returns the ranks among n known values between which a percentile lies if
// some more values are unknown and all are below (first) or above (second) the known ones.
func shiftedRanks(n, unknown int, p float64) (ranks [2][2]int, fraction float64) {
	low, high, fraction := percentile.Ranks(n+unknown, p)
	clamp := func(rank int) int { return min(max(rank, 0), n-1) }
	ranks[0] = [2]int{clamp(low - unknown), clamp(high - unknown)}
	ranks[1] = [2]int{clamp(low), clamp(high)}
	return ranks, fraction
}

// wantBounds adds the ranks that percentileBounds needs.
func (s *rankSet) wantBounds(of Quantity, unknown int, p float64) {
	if s.n[of] == 0 || unknown == 0 {
		return
	}
	ranks, _ := shiftedRanks(s.n[of], unknown, p)
	s.want[of] = append(s.want[of], ranks[0][0], ranks[0][1], ranks[1][0], ranks[1][1])
}

// percentileBounds returns the bounds of a percentile. Where it may be one of the unknown values,
// these are 0 and infinity.
func (s *rankSet) percentileBounds(of Quantity, unknown int, p float64) (low, high float64) {
	n := s.n[of]
	ranks, fraction := shiftedRanks(n, unknown, p)
	at := func(r [2]int) float64 {
		return percentile.Interpolate(s.found[of][r[0]], s.found[of][r[1]], fraction)
	}
	low, high = at(ranks[0]), at(ranks[1])
	first, second, fraction := percentile.Ranks(n+unknown, p)
	if first < unknown {
		low = 0
	}
	if second >= n && (fraction > 0 || first >= n) {
		high = math.Inf(1)
	}
	return low, high
}

// addReason adds a reason, and worsens the class of the figure to that of the reason.
func (f *Figure) addReason(r Reason) {
	f.Reasons = append(f.Reasons, r)
	f.Class = f.Class.Worse(r.Class)
	if r.Class == Invalid && f.Invalid == "" {
		f.Invalid = r.Text
	}
}

// widen widens the bounds for an unknown share of the window: what was not counted in it
// could raise or lower a rate or a sum by that share.
func (f *Figure) widen(m *Metric, share float64) {
	if math.IsNaN(f.Value) || m.Formula.Kind == ClientReported {
		return
	}
	low, high := f.Low, f.High
	if math.IsNaN(low) {
		low, high = f.Value, f.Value
	}
	f.Low, f.High = low*(1-share), high*(1+share)
}

// finish applies the reasons of a phase to its figures.
func (p *Phase) finish() {
	if p.Provisional {
		p.SoFar = p.withoutWindowReasons()
		p.SoFar.applyReasons()
	}
	p.applyReasons()
}

// withoutWindowReasons returns the figures and reasons of a phase, but not that its window is short
// or estimated: until the end of a phase, each is.
func (p *Phase) withoutWindowReasons() *Phase {
	out := &Phase{Provisional: p.Provisional, Figures: slices.Clone(p.Figures)}
	for i := range out.Figures {
		out.Figures[i].Reasons = slices.Clone(out.Figures[i].Reasons)
	}
	for _, r := range p.Reasons {
		if r.ID != WindowInvalid && r.ID != WindowEstimated {
			out.add(r)
		}
	}
	return out
}

// FiguresSoFar returns the figures of a phase that has not ended, not worse for a measuring
// window that is still short or estimated. All other reasons keep their effect. If the phase
// has ended, it returns Figures.
func (p Phase) FiguresSoFar() Figures {
	if !p.Provisional || p.SoFar == nil {
		return p.Figures
	}
	return p.SoFar.Figures
}

// InvalidSoFar returns why all figures of [Phase.FiguresSoFar] are invalid.
func (p Phase) InvalidSoFar() []string {
	if !p.Provisional || p.SoFar == nil {
		return p.Invalid
	}
	return p.SoFar.Invalid
}

func (p *Phase) applyReasons() {
	if r, ok := inTotal(p.Reasons); ok {
		p.add(r)
	}
	for i := range p.Figures {
		f := &p.Figures[i]
		m := FindMetric(f.Key)
		if math.IsNaN(f.Value) {
			f.Class, f.Low, f.High = "", math.NaN(), math.NaN()
			continue
		}
		f.Provisional = p.Provisional
		f.applyReasons(m, p.Reasons)
		sum := m != nil && (m.Formula.Kind == Rate || m.Formula.Kind == Sum)
		switch {
		case f.Class == Invalid && sum && isIncomplete(slices.Concat(f.Reasons, p.Reasons)):
			f.AtLeast, f.Low, f.High = true, f.Value, math.NaN()
		case f.Class != Uncertain:
			f.Low, f.High = math.NaN(), math.NaN()
		}
	}
}

// applyReasons sets the class of the figure, and widens its bounds, by its own reasons and those of
// its phase.
func (f *Figure) applyReasons(m *Metric, ofPhase []Reason) {
	own := func(id ReasonID) bool {
		return slices.ContainsFunc(f.Reasons, func(r Reason) bool { return r.ID == id })
	}
	all := slices.Clone(f.Reasons)
	for _, r := range ofPhase {
		if r.ID != UnreadableRows || !own(UnreadableRows) { // else it says the same
			all = append(all, r)
		}
	}
	f.Class = f.Class.Worse(Exact)
	share := 0.0
	for _, r := range all {
		f.Class = f.Class.Worse(r.Class)
		if r.ID != UnknownQuantity && r.ID != UnreadableRows { // of which boundsOf knows
			share += r.Share
		}
	}
	if share > 0 {
		f.widen(m, share)
	}
	if r, ok := inTotal(all); ok && f.Class != Invalid {
		f.addReason(r)
	}
}

// inTotal returns the reason that follows from several reasons of which none makes a figure invalid,
// or uncertain, although together they do.
func inTotal(reasons []Reason) (Reason, bool) {
	total, worst, id := 0.0, Exact, RowsMissing
	for _, r := range reasons {
		if r.Share > 0 && !isIncomplete([]Reason{{ID: r.ID, Class: Invalid}}) {
			id = r.ID // a sum may be too high
		}
		total, worst = total+r.Share, worst.Worse(r.Class)
	}
	text := fmt.Sprintf("%s %% of the requests or of the window is unknown in total", Decimal(100*total, 2))
	r := Reason{ID: id, Class: classOf(total), Text: text}
	return r, worst != Invalid && r.Class.Worse(worst) != worst
}

// isIncomplete reports whether a figure is invalid only because requests or values are
// missing, so that a sum is a lower bound.
func isIncomplete(reasons []Reason) bool {
	return !slices.ContainsFunc(reasons, func(r Reason) bool {
		return r.Class == Invalid && r.ID != UnknownQuantity && r.ID != UnreadableRows && r.ID != RowsMissing
	})
}

// ReasonsOf returns all reasons that affect a figure of the phase: its own and those of the
// phase.
func (p *Phase) ReasonsOf(f Figure) []Reason { return slices.Concat(f.Reasons, p.Reasons) }

// Mark returns how a figure is marked: "!" if it is invalid, "±" if it is uncertain, else "".
func (f Figure) Mark() string {
	switch f.Class {
	case Invalid:
		return "!"
	case Uncertain:
		return "±"
	}
	return ""
}

// HalfWidth returns the largest distance of a bound from the value, 0 if it has no bounds.
func (f Figure) HalfWidth() float64 {
	if f.Class != Uncertain || math.IsNaN(f.Low) || math.IsNaN(f.High) {
		return 0
	}
	return max(f.Value-f.Low, f.High-f.Value, 0)
}
