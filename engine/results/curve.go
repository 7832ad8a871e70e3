package results

import (
	"encoding/json"
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
			Run: run, Concurrency: p.Concurrency, GPUs: gpus, Output: v("output_server_tok_s"),
			OutputPerGPU: per(v("output_server_tok_s")), TotalPerGPU: per(v("total_server_tok_s")),
			Speed50: v("output_speed_local_p50_tok_s"), Speed25: v("output_speed_local_p25_tok_s"), TTFT95: v("ttft_p95_s"),
			Invalid: strings.Join(why, "; "),
		})
	}
	return points
}

// MarshalJSON writes null for what is not known.
func (p Point) MarshalJSON() ([]byte, error) {
	var gpus *int
	if p.GPUs > 0 {
		gpus = &p.GPUs
	}
	return json.Marshal(struct {
		Run          string `json:"run"`
		Concurrency  int    `json:"concurrency"`
		GPUs         *int   `json:"gpus"`
		Output       number `json:"output_tok_s"`
		OutputPerGPU number `json:"output_tok_s_per_gpu"`
		TotalPerGPU  number `json:"total_tok_s_per_gpu"`
		Speed50      number `json:"output_speed_local_p50_tok_s"`
		Speed25      number `json:"output_speed_local_p25_tok_s"`
		TTFT95       number `json:"ttft_p95_s"`
		Invalid      string `json:"invalid,omitempty"`
	}{p.Run, p.Concurrency, gpus, number(p.Output), number(p.OutputPerGPU), number(p.TotalPerGPU), number(p.Speed50), number(p.Speed25), number(p.TTFT95), p.Invalid})
}
