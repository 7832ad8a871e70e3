package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Tier is a service level: a minimum output speed and a maximum TTFT. Tiers are defined in
// the configuration.
type Tier struct {
	Name        string  `json:"name"`
	SpeedFloor  float64 `json:"speed_floor_tok_s"` // minimum of the 25th percentile of the local output speed, tok/s
	TTFTCeiling float64 `json:"ttft_ceiling_s"`    // maximum of the 95th percentile of the TTFT, s
}

// TierResult is the result of a run for one tier.
type TierResult struct {
	Tier        Tier        `json:"tier"`
	Concurrency int         `json:"concurrency"` // highest level that meets the tier; 0 if none does
	Levels      []TierLevel `json:"levels"`      // one per phase
}

// TierLevel tells whether a concurrency level meets a tier.
type TierLevel struct {
	Concurrency int    `json:"concurrency"`
	Meets       bool   `json:"meets"`
	Unknown     bool   `json:"unknown,omitempty"` // whether it meets the tier can't be told from its figures
	Reason      string `json:"why,omitempty"`     // why it does not meet the tier
	ShortReason string `json:"-"`                 // the same in one or two words
}

// TierResults returns the result for each tier. A phase that has not ended, or whose figures are
// missing or invalid, does not meet any tier. An uncertain figure must meet it at both bounds.
func TierResults(phases []Phase, tiers []Tier) []TierResult {
	out := make([]TierResult, 0, len(tiers))
	for _, t := range tiers {
		r := TierResult{Tier: t, Levels: []TierLevel{}}
		for _, p := range phases {
			l := TierLevel{Concurrency: p.Concurrency}
			l.Reason, l.ShortReason = t.unknownReason(p)
			if l.Unknown = l.Reason != ""; !l.Unknown {
				l.Reason, l.ShortReason = t.unmetReason(p)
			}
			l.Meets = l.Reason == ""
			r.Levels = append(r.Levels, l)
			if l.Meets {
				r.Concurrency = max(r.Concurrency, p.Concurrency)
			}
		}
		out = append(out, r)
	}
	return out
}

// unknownReason returns why it can't be told whether a phase meets the tier, in full and in short, or
// empty strings if it can.
func (t Tier) unknownReason(p Phase) (why, brief string) {
	speed, ttft := p.Figures.Get(LocalSpeed25), p.Figures.Get(TTFT95)
	reasons := slices.Concat(p.Invalid, []string{p.Partial, speed.Invalid, ttft.Invalid})
	reasons = slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" })
	between := func(f Figure, limit float64) bool { return f.Class == Uncertain && f.Low < limit && limit < f.High }
	switch {
	case len(reasons) > 0:
		return "invalid: " + strings.Join(reasons, "; "), "invalid"
	case p.Provisional:
		return "the phase has not ended", "not ended"
	case math.IsNaN(speed.Value):
		return t.needsSpeed(speed), "speed"
	case math.IsNaN(ttft.Value):
		return t.needsTTFT(ttft), "TTFT"
	case between(speed, t.SpeedFloor):
		return "uncertain: " + t.needsSpeed(speed), "uncertain"
	case between(ttft, t.TTFTCeiling):
		return "uncertain: " + t.needsTTFT(ttft), "uncertain"
	}
	return "", ""
}

// unmetReason returns which known figure of a phase does not meet the tier, in full and in short, or
// empty strings if all do.
func (t Tier) unmetReason(p Phase) (why, brief string) {
	if speed := p.Figures.Get(LocalSpeed25); speed.Value < t.SpeedFloor {
		return t.needsSpeed(speed), "speed"
	}
	if ttft := p.Figures.Get(TTFT95); ttft.Value > t.TTFTCeiling {
		return t.needsTTFT(ttft), "TTFT"
	}
	return "", ""
}

func (t Tier) needsSpeed(f Figure) string {
	return fmt.Sprintf("output speed p25: %s, must be at least %s tok/s", f.Text(), Decimal(t.SpeedFloor, 1))
}

func (t Tier) needsTTFT(f Figure) string {
	return fmt.Sprintf("TTFT p95: %s, must be at most %s s", f.Text(), Decimal(t.TTFTCeiling, 3))
}

// Point is a concurrency level of a run on the curve of throughput per GPU over speed per
// user. Unknown figures are NaN.
type Point struct {
	Run          string
	Concurrency  int
	GPUs         int     // of all workers; 0 if unknown, then figures per GPU are NaN
	Output       float64 // tok/s, server-reported
	OutputPerGPU float64
	TotalPerGPU  float64 // input and output
	Speed50      float64 // local output speed per request, tok/s
	Speed25      float64
	TTFT95       float64 // s
	Invalid      string  // why the figures are invalid; empty if they are valid
	Class        Class   // the worst of the figures
	Figures      Figures // of the phase, with their class and reasons
}

// Curve returns a point for each phase.
func Curve(run string, phases []Phase, gpus int) []Point {
	points := make([]Point, 0, len(phases))
	per := func(v float64) float64 {
		if gpus <= 0 {
			return math.NaN()
		}
		return v / float64(gpus)
	}
	for _, p := range phases {
		why := p.Invalid
		if p.Partial != "" {
			why = append([]string{p.Partial}, why...)
		}
		class := Class("")
		for _, key := range []string{Primary, TotalRate, LocalSpeed50, LocalSpeed25, TTFT95} {
			f := p.Figures.Get(key)
			class = class.Worse(f.Class)
			if f.Invalid != "" {
				why = append(slices.Clone(why), f.Label+": "+f.Invalid)
			}
		}
		v := func(key string) float64 { return p.Figures.Get(key).Value }
		points = append(points, Point{
			Run: run, Concurrency: p.Concurrency, GPUs: gpus, Output: v(Primary),
			OutputPerGPU: per(v(Primary)), TotalPerGPU: per(v(TotalRate)),
			Speed50: v(LocalSpeed50), Speed25: v(LocalSpeed25), TTFT95: v(TTFT95),
			Invalid: strings.Join(why, "; "), Class: class, Figures: p.Figures,
		})
	}
	return points
}

// MarshalJSON writes unknown values as null.
func (p Point) MarshalJSON() ([]byte, error) {
	out := Object{
		{"run", p.Run},
		{"concurrency", p.Concurrency},
		{"gpus", nil},
		{"output_tok_s", Number(p.Output)},
		{"output_tok_s_per_gpu", Number(p.OutputPerGPU)},
		{"total_tok_s_per_gpu", Number(p.TotalPerGPU)},
		{LocalSpeed50, Number(p.Speed50)},
		{LocalSpeed25, Number(p.Speed25)},
		{TTFT95, Number(p.TTFT95)},
	}
	if p.GPUs > 0 {
		out[2].Value = p.GPUs
	}
	if p.Invalid != "" {
		out.Add("invalid", p.Invalid)
	}
	if p.Class != "" {
		out.Add("class", p.Class)
	}
	return out.MarshalJSON()
}
