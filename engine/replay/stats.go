package replay

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/engine/percentile"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// statistics is the content of a phase's statistics file. A figure without data is null.
type statistics struct {
	Phase       int `json:"phase"`
	Concurrency int `json:"concurrency"`
	Requests    struct {
		Total      int `json:"total"`
		Measured   int `json:"measured"`
		Successful int `json:"successful"`
		Failed     int `json:"failed"`
	} `json:"requests"`
	Duration     number       `json:"measurement_duration_s"`
	TokensServer serverTokens `json:"tokens_server"`
	TokensClient struct {
		Output int    `json:"output"`
		Avg    number `json:"avg_output_per_request"`
	} `json:"tokens_client"`
	Throughput struct {
		OutputClient number `json:"output_client_tok_s"`
		OutputServer number `json:"output_server_tok_s"`
		TotalServer  number `json:"total_server_tok_s"`
	} `json:"throughput"`
	TTFT       latencyPercentiles `json:"ttft_s"`
	LocalSpeed speedPercentiles   `json:"output_speed_per_request_local_tok_s"`
	SSESpeed   speedPercentiles   `json:"output_speed_per_request_sse_tok_s"`
	Latency    latencyPercentiles `json:"e2e_latency_s"`

	Client     string            `json:"client"`
	StopReason stopReason        `json:"stop_reason"`
	CutOff     int               `json:"cut_off"`
	Errors     map[errorKind]int `json:"errors"` // of measured requests
	// Notes counts measured successful requests by the keys of noteTexts.
	Notes map[string]noteCount `json:"notes"`
}

// serverTokens holds sums over the measured successful requests whose token count is known,
// and the number of these requests.
type serverTokens struct {
	Input     *int   `json:"input"`
	Output    *int   `json:"output"`
	Cached    *int   `json:"cached"`
	HitRate   number `json:"cache_hit_rate"` // fraction, over requests with both counts; null above 1
	AvgInput  number `json:"avg_input_per_request"`
	AvgOutput number `json:"avg_output_per_request"`
	Median    number `json:"median_output_per_request"`

	InputKnown  int `json:"requests_with_input_count"`
	OutputKnown int `json:"requests_with_output_count"`
	CachedKnown int `json:"requests_with_cached_count"`
}

type latencyPercentiles struct {
	P50 number `json:"p50"`
	P95 number `json:"p95"`
	P99 number `json:"p99"`
}

type speedPercentiles struct {
	P5  number `json:"p5"`
	P25 number `json:"p25"`
	P50 number `json:"p50"`
	P95 number `json:"p95"`
}

// number is a figure; NaN (null in JSON) means no data.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// ratio returns a/b, or NaN if b is not positive.
func ratio(a, b float64) number {
	if b <= 0 {
		return number(math.NaN())
	}
	return number(a / b)
}

// sample is a measured request in memory. It is made from the request row, so that statistics
// computed from the rows have the same values.
type sample struct {
	start, latency        float64 // Unix seconds, seconds
	ttft, local, sse      float64 // s, tok/s, tok/s; NaN if unknown
	input, output, cached int32   // tokens, -1 if unknown
	client                int32   // tokens, estimated
	firstOut, lastOut     float64 // Unix seconds
	kind                  errorKind
	notes                 notes
}

// window is the measuring window of a phase, in Unix seconds.
type window struct{ begin, end float64 }

func (w window) contains(start float64) bool { return w.begin <= start && start < w.end }

// measure computes the statistics of a phase from its samples.
func measure(samples []sample, w window) statistics {
	var s statistics
	s.Errors = map[errorKind]int{}
	duration := max(w.end-w.begin, 0)
	s.Duration = number(duration)
	var ok []sample
	for _, x := range samples {
		switch {
		case !w.contains(x.start):
		case x.kind != "":
			s.Errors[x.kind]++
			s.Requests.Failed++
		default:
			ok = append(ok, x)
		}
	}
	s.Requests.Successful = len(ok)
	s.Requests.Measured = len(ok) + s.Requests.Failed
	s.Notes = countNotes(ok)
	s.TokensServer = sumServer(ok)
	sumClient(&s, ok)
	in, out := s.TokensServer.Input, s.TokensServer.Output
	s.Throughput.OutputServer, s.Throughput.TotalServer = optionalRatio(out, duration), number(math.NaN())
	if in != nil && out != nil {
		s.Throughput.TotalServer = ratio(float64(*in+*out), duration)
	}
	s.TTFT = latencyPercentilesOf(ok, func(x sample) float64 { return x.ttft })
	s.Latency = latencyPercentilesOf(ok, func(x sample) float64 { return x.latency })
	s.LocalSpeed = speedPercentilesOf(ok, func(x sample) float64 { return x.local })
	s.SSESpeed = speedPercentilesOf(ok, func(x sample) float64 { return x.sse })
	return s
}

func sumServer(ok []sample) serverTokens {
	var t serverTokens
	t.Input, t.InputKnown = sum(ok, func(x sample) int32 { return x.input })
	t.Output, t.OutputKnown = sum(ok, func(x sample) int32 { return x.output })
	t.Cached, t.CachedKnown = sum(ok, func(x sample) int32 { return x.cached })
	t.AvgInput = optionalRatio(t.Input, float64(t.InputKnown))
	t.AvgOutput = optionalRatio(t.Output, float64(t.OutputKnown))
	var input, cached int
	for _, x := range ok {
		if x.input >= 0 && x.cached >= 0 {
			input += int(x.input)
			cached += int(x.cached)
		}
	}
	if t.HitRate = ratio(float64(cached), float64(input)); t.HitRate > 1 {
		t.HitRate = number(math.NaN())
	}
	t.Median = number(percentile.Of(sorted(ok, func(x sample) float64 {
		if x.output < 0 {
			return math.NaN()
		}
		return float64(x.output)
	}), 50))
	return t
}

// sum returns the sum of the known counts, or nil if none is known, and the number of known counts.
func sum(ok []sample, of func(sample) int32) (*int, int) {
	total, known := 0, 0
	for _, x := range ok {
		if n := of(x); n >= 0 {
			total += int(n)
			known++
		}
	}
	if known == 0 {
		return nil, 0
	}
	return &total, known
}

// optionalRatio returns total/over, or NaN if the total is not known.
func optionalRatio(total *int, over float64) number {
	if total == nil {
		return number(math.NaN())
	}
	return ratio(float64(*total), over)
}

// sumClient sets the figures that the client estimates itself. Their throughput is measured from the
// first to the last output event.
func sumClient(s *statistics, ok []sample) {
	first, last := math.Inf(1), math.Inf(-1)
	for _, x := range ok {
		s.TokensClient.Output += int(x.client)
		first, last = min(first, x.firstOut), max(last, x.lastOut)
	}
	s.TokensClient.Avg = ratio(float64(s.TokensClient.Output), float64(len(ok)))
	s.Throughput.OutputClient = ratio(float64(s.TokensClient.Output), last-first)
}

func latencyPercentilesOf(ok []sample, of func(sample) float64) latencyPercentiles {
	v := sorted(ok, of)
	p := func(p float64) number { return number(percentile.Of(v, p)) }
	return latencyPercentiles{P50: p(50), P95: p(95), P99: p(99)}
}

func speedPercentilesOf(ok []sample, of func(sample) float64) speedPercentiles {
	v := sorted(ok, of)
	p := func(p float64) number { return number(percentile.Of(v, p)) }
	return speedPercentiles{P5: p(5), P25: p(25), P50: p(50), P95: p(95)}
}

// sorted returns the values that are not NaN, in ascending order.
func sorted(ok []sample, of func(sample) float64) []float64 {
	v := make([]float64, 0, len(ok))
	for _, x := range ok {
		if f := of(x); !math.IsNaN(f) {
			v = append(v, f)
		}
	}
	slices.Sort(v)
	return v
}

// manifestRow describes a finished phase, with all times in Unix seconds.
type manifestRow struct {
	Phase       int        `json:"phase_idx"`
	Concurrency int        `json:"concurrency"`
	Start       float64    `json:"phase_start"`
	SettlingEnd float64    `json:"settling_end"` // as planned; the phase may have ended earlier
	End         float64    `json:"actual_phase_end"`
	StopReason  stopReason `json:"stop_reason"`
	Client      string     `json:"client"`
}

// writeResults writes the files of a phase after all its requests have ended. It writes the manifest
// last, so that the files of every phase in the manifest are complete.
func (p *phase) writeResults(end time.Time, reason stopReason) error {
	w := window{begin: p.clock.seconds(p.settled), end: p.clock.seconds(end)}
	s := measure(p.samples, w)
	s.Phase, s.Concurrency = p.index, p.users
	s.Requests.Total = p.counts.Successful + p.counts.Failed
	s.Client, s.StopReason, s.CutOff = p.cfg.clientName(), reason, p.counts.CutOff
	if err := p.analysis.publish(); err != nil {
		return err
	}
	text := summary(s)
	base := filepath.Join(p.cfg.ResultsDir, p.stem)
	if err := smallfile.WriteJSON(base+".json", s, 0o644); err != nil {
		return fmt.Errorf("write the statistics of phase %d: %w", p.index, err)
	}
	if err := renameio.WriteFile(base+".txt", []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the summary of phase %d: %w", p.index, err)
	}
	row := manifestRow{
		Phase: p.index, Concurrency: p.users, Start: p.clock.seconds(p.start),
		SettlingEnd: w.begin, End: w.end, StopReason: reason, Client: p.cfg.clientName(),
	}
	if err := appendRow(p.manifestPath(), row); err != nil {
		return fmt.Errorf("write the phase manifest: %w", err)
	}
	p.log.print(text)
	return nil
}
