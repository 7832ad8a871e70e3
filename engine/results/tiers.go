package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Tier is a service level: every user gets at least a speed and waits at most
// a time. Tiers come from the user's configuration.
type Tier struct {
	Name        string  `json:"name"`
	SpeedFloor  float64 `json:"speed_floor_tok_s"` // tok/s, of the local output speed's 25th percentile
	TTFTCeiling float64 `json:"ttft_ceiling_s"`    // s, of the TTFT's 95th percentile
}

// TierResult is the answer for one tier.
type TierResult struct {
	Tier        Tier        `json:"tier"`
	Concurrency int         `json:"concurrency"` // the highest that meets the tier; 0 when none does
	Levels      []TierLevel `json:"levels"`      // each phase's verdict
}

// TierLevel is how one phase stands to a tier.
type TierLevel struct {
	Concurrency int    `json:"concurrency"`
	Meets       bool   `json:"meets"`
	Reason      string `json:"why,omitempty"` // why it does not
	ShortReason string `json:"-"`             // the same where there is little room
}

// TierResults tells for each tier the highest concurrency that meets it. A phase
// whose figures are missing or invalid proves nothing, so it meets no tier.
func TierResults(phases []Phase, tiers []Tier) []TierResult {
	out := make([]TierResult, 0, len(tiers))
	for _, t := range tiers {
		r := TierResult{Tier: t, Levels: []TierLevel{}}
		for _, p := range phases {
			l := TierLevel{Concurrency: p.Concurrency}
			l.Reason, l.ShortReason = t.unmetReason(p)
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

// misses says why a phase does not meet the tier, whole and in brief; empty where it does.
func (t Tier) unmetReason(p Phase) (why, brief string) {
	speed, ttft := p.Figures.Get(LocalSpeed25), p.Figures.Get(TTFT95)
	reasons := slices.Concat(p.Invalid, []string{p.Partial, speed.Invalid, ttft.Invalid})
	reasons = slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" })
	if len(reasons) > 0 {
		return "invalid: " + strings.Join(reasons, "; "), "not valid"
	}
	switch {
	case !(speed.Value >= t.SpeedFloor):
		return fmt.Sprintf("output speed p25 %s, want at least %s tok/s", speed.Text(), Decimal(t.SpeedFloor, 1)), "speed"
	case !(ttft.Value <= t.TTFTCeiling):
		return fmt.Sprintf("TTFT p95 %s, want at most %s s", ttft.Text(), Decimal(t.TTFTCeiling, 3)), "TTFT"
	}
	return "", ""
}

// Point is one level of one run on the curve of throughput per GPU against
// speed per user. Unknown figures are NaN.
type Point struct {
	Run          string
	Concurrency  int
	GPUs         int     // of all workers; 0 when unknown, and nothing is per GPU then
	Output       float64 // tok/s, by the server's count
	OutputPerGPU float64
	TotalPerGPU  float64 // input and output
	Speed50      float64 // tok/s of a request's local output speed
	Speed25      float64
	TTFT95       float64 // s
	Invalid      string  // why the level proves nothing; else empty
}

// Curve gives a point for each phase.
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
		v := func(key string) float64 { return p.Figures.Get(key).Value }
		points = append(points, Point{
			Run: run, Concurrency: p.Concurrency, GPUs: gpus, Output: v(Primary),
			OutputPerGPU: per(v(Primary)), TotalPerGPU: per(v(TotalRate)),
			Speed50: v(LocalSpeed50), Speed25: v(LocalSpeed25), TTFT95: v(TTFT95),
			Invalid: strings.Join(why, "; "),
		})
	}
	return points
}

// MarshalJSON writes null for what is not known.
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
	return out.MarshalJSON()
}
