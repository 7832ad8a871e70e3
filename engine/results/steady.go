package results

import (
	"fmt"
	"math"
	"strings"
)

// Steady describes throughput and TTFT over the measuring window, in thirds. A window in
// which they drift began before the load had settled.
type Steady struct {
	Thirds [3]Third `json:"thirds"`
	Drift  bool     `json:"drift"`
	// MoreSettling is the time, in seconds, by which settling would have to be longer for
	// the rest of the window to be steady. It is null if there is no drift, or if the second
	// half of the window is not steady either.
	MoreSettling Number `json:"more_settling_s"`
}

// Third holds the figures of the requests that started in a third of the window.
type Third struct {
	Output Number `json:"output_server_tok_s"`
	TTFT   Number `json:"ttft_geometric_mean_s"`
}

const (
	fineParts   = 1200 // of the window, merged until each has enough requests
	minPerPart  = 20   // requests
	driftChange = 0.05 // from the first third to the last, of throughput
	ttftChange  = 0.10 // of TTFT
	// trendScore is the Mann-Kendall score from which a trend is significant. By chance it
	// is exceeded in about 1 of 700 steady windows.
	trendScore = 3.2
	// stepScore is the difference between the first and the last third, in standard errors
	// of the last one, from which it is significant: about 1 of 700, with Student's t of 9
	// degrees of freedom.
	stepScore = 4.6
)

// steadiness collects the requests of a phase by parts of the measuring window.
type steadiness struct {
	window *Window
	latest float64            // start of a request, in fine parts from the start of the window
	output [fineParts]float64 // tokens
	logs   [fineParts]float64 // sum of the logarithms of TTFT
	n      [fineParts]int     // requests
	ttfts  [fineParts]int     // with a TTFT
}

func (s *steadiness) add(r *Request) {
	w := s.window
	if !w.measures(r) || !(w.Seconds > 0) {
		return
	}
	at := (r.Start - w.Start) / w.Seconds * fineParts
	s.latest = max(s.latest, at)
	i := min(int(at), fineParts-1)
	s.n[i]++
	if r.Output > 0 {
		s.output[i] += float64(r.Output)
	}
	if r.TTFT > 0 && !r.Failed {
		s.logs[i] += math.Log(r.TTFT)
		s.ttfts[i]++
	}
}

// parts divides the window into count parts and returns throughput (tok/s) and TTFT (geometric
// mean, s) of each, and their length in seconds. The end of the window, in which the last
// requests are awaited and none starts, is left out.
func (s *steadiness) parts(count int) (output, ttft []float64, seconds float64) {
	each := int(s.latest) / count
	seconds = s.window.Seconds * float64(each) / fineParts
	for i := 0; i < count*each; i += each {
		tokens, logs, n := 0.0, 0.0, 0
		for k := i; k < i+each; k++ {
			tokens, logs, n = tokens+s.output[k], logs+s.logs[k], n+s.ttfts[k]
		}
		output = append(output, tokens/seconds)
		ttft = append(ttft, valueIf(n > 0, math.Exp(logs/float64(n))))
	}
	return output, ttft, seconds
}

// result returns nil if there are too few requests to tell.
func (s *steadiness) result() *Steady {
	requests := 0
	for _, n := range s.n {
		requests += n
	}
	count := 0
	for _, c := range []int{30, 15, 12} {
		if requests >= c*minPerPart && int(s.latest) >= c {
			count = c
			break
		}
	}
	if count == 0 {
		return nil
	}
	output, ttft, seconds := s.parts(count)
	r := &Steady{Drift: drifts(output, driftChange) || drifts(ttft, ttftChange), MoreSettling: unknown}
	thirdOutput, thirdTTFT, _ := s.parts(3)
	for i := range r.Thirds {
		r.Thirds[i] = Third{Number(thirdOutput[i]), Number(thirdTTFT[i])}
	}
	for skip := 1; r.Drift && skip <= count/2; skip++ {
		if !drifts(output[skip:], driftChange) && !drifts(ttft[skip:], ttftChange) {
			r.MoreSettling = Number(float64(skip) * seconds)
			break
		}
	}
	return r
}

// drifts reports whether values change by more than a fraction from their first third to
// their last, by a significant trend or, after an initial transient, by a significant step.
func drifts(values []float64, fraction float64) bool {
	third := len(values) / 3
	first, last := values[:third], values[len(values)-third:]
	before, _ := meanAndDeviation(first)
	after, deviation := meanAndDeviation(last)
	change := math.Abs(after - before)
	step := change / (deviation * math.Sqrt(2/float64(third)))
	return change > fraction*before && (math.Abs(trend(values)) > trendScore || step > stepScore)
}

// meanAndDeviation returns the mean and the sample standard deviation of at least 2 values.
func meanAndDeviation(values []float64) (mean, deviation float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, math.Sqrt(deviation)
}

// trend returns the score of the Mann-Kendall test: positive if values rise. For values
// without a trend it has the standard normal distribution.
func trend(values []float64) float64 {
	score, n := 0.0, float64(len(values))
	for i, a := range values {
		for _, b := range values[i+1:] {
			switch {
			case b > a:
				score++
			case b < a:
				score--
			}
		}
	}
	deviation := math.Sqrt(n * (n - 1) * (2*n + 5) / 18)
	switch {
	case score > 0:
		return (score - 1) / deviation
	case score < 0:
		return (score + 1) / deviation
	}
	return 0
}

// Text describes a drift, such as "output 100.0, 110.0, 120.0 tok/s and TTFT 0.100, 0.100,
// 0.100 s in the thirds of the window; 60 s more settling would have sufficed".
func (s *Steady) Text() string {
	var output, ttft []string
	for _, t := range s.Thirds {
		output = append(output, Decimal(float64(t.Output), 1))
		ttft = append(ttft, Decimal(float64(t.TTFT), 3))
	}
	text := fmt.Sprintf("output %s tok/s and TTFT %s s in the thirds of the window", strings.Join(output, ", "),
		strings.Join(ttft, ", "))
	switch {
	case !s.Drift:
	case s.MoreSettling.IsZero():
		text += "; its second half is not steady either"
	default:
		text += fmt.Sprintf("; %s s more settling would have sufficed", Decimal(math.Ceil(float64(s.MoreSettling)), 0))
	}
	return text
}
