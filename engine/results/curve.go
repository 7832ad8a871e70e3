package results

import (
	"math"
	"strings"
)

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
		v := func(key string) float64 { return p.Figures.Of(key).Value }
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
