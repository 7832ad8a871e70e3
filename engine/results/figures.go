package results

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// metric describes one figure; the order of the table is the order of output.
type metric struct {
	key      string // in our JSON
	section  string // of the client's statistics file
	name     string // in that section
	label    string
	unit     string
	decimals int
}

// metrics of a phase. Percentiles are p<n> by the end of their statistics name.
var metrics = []metric{
	{"output_server_tok_s", "throughput", "output_server_tok_s", "Output tok/s (server-reported)", "tok/s", 1},
	{"output_client_tok_s", "throughput", "output_client_tok_s", "Output tok/s (client-estimated)", "tok/s", 1},
	{"total_server_tok_s", "throughput", "total_server_tok_s", "Total tok/s (server-reported)", "tok/s", 1},
	{"ttft_p50_s", "ttft_s", "p50", "TTFT p50", "s", 3},
	{"ttft_p95_s", "ttft_s", "p95", "TTFT p95", "s", 3},
	{"ttft_p99_s", "ttft_s", "p99", "TTFT p99", "s", 3},
	{"cache_hit_rate", "tokens_server", "cache_hit_rate", "Cache hit rate", "%", 1},
	{"avg_input_per_request", "tokens_server", "avg_input_per_request", "Avg input tokens/request", "tok", 1},
	{"avg_output_per_request", "tokens_server", "avg_output_per_request", "Avg output tokens/request", "tok", 1},
	{"median_output_per_request", "tokens_server", "median_output_per_request", "Median output tokens/request", "tok", 1},
	{"output_speed_local_p5_tok_s", "output_speed_per_request_local_tok_s", "p5", "Output speed p5 (local)", "tok/s", 1},
	{"output_speed_local_p25_tok_s", "output_speed_per_request_local_tok_s", "p25", "Output speed p25 (local)", "tok/s", 1},
	{"output_speed_local_p50_tok_s", "output_speed_per_request_local_tok_s", "p50", "Output speed p50 (local)", "tok/s", 1},
	{"output_speed_local_p95_tok_s", "output_speed_per_request_local_tok_s", "p95", "Output speed p95 (local)", "tok/s", 1},
	{"output_speed_sse_p5_tok_s", "output_speed_per_request_sse_tok_s", "p5", "Output speed p5 (SSE)", "tok/s", 1},
	{"output_speed_sse_p25_tok_s", "output_speed_per_request_sse_tok_s", "p25", "Output speed p25 (SSE)", "tok/s", 1},
	{"output_speed_sse_p50_tok_s", "output_speed_per_request_sse_tok_s", "p50", "Output speed p50 (SSE)", "tok/s", 1},
	{"output_speed_sse_p95_tok_s", "output_speed_per_request_sse_tok_s", "p95", "Output speed p95 (SSE)", "tok/s", 1},
	{"e2e_p50_s", "e2e_latency_s", "p50", "End-to-end latency p50", "s", 3},
	{"e2e_p95_s", "e2e_latency_s", "p95", "End-to-end latency p95", "s", 3},
	{"e2e_p99_s", "e2e_latency_s", "p99", "End-to-end latency p99", "s", 3},
	{"input_tokens", "tokens_server", "input", "Input tokens", "tok", 0},
	{"output_tokens", "tokens_server", "output", "Output tokens", "tok", 0},
	{"cached_tokens", "tokens_server", "cached", "Cached tokens", "tok", 0},
}

const methodStated = "as stated by the client"

// Figure is one metric of one phase. Figures are exact: no histogram, no
// sampling.
type Figure struct {
	Key     string  // snake_case, with the unit at its end
	Label   string  // for people
	Unit    string  // tok/s, s, tok or %; a % figure's Value is the fraction
	Value   float64 // NaN without data
	N       int     // requests it was formed over; 0 when it is as stated by the client
	Method  string  // how it was formed
	Client  float64 // what the client's statistics file says, if that is more than 1 % off; else NaN
	Invalid string  // why it must not be trusted, beyond the reasons of its phase; else empty

	decimals int
}

// Text is the value as people read it, with thousands separators and unit; a
// dash without data.
func (f Figure) Text() string { return f.format(f.Value) }

func (f Figure) format(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	if f.Unit == "%" {
		v *= 100
	}
	return Decimal(v, f.decimals) + " " + f.Unit
}

// MarshalJSON writes null for what is not known.
func (f Figure) MarshalJSON() ([]byte, error) {
	unit := f.Unit
	if unit == "%" {
		unit = "fraction"
	}
	return json.Marshal(struct {
		Value   number  `json:"value"`
		Unit    string  `json:"unit"`
		N       int     `json:"n"`
		Method  string  `json:"method"`
		Client  *number `json:"client,omitempty"`
		Invalid string  `json:"invalid,omitempty"`
	}{number(f.Value), unit, f.N, f.Method, known(f.Client), f.Invalid})
}

// number is null in JSON when it is NaN or infinite.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func known(f float64) *number {
	if math.IsNaN(f) {
		return nil
	}
	n := number(f)
	return &n
}

// Figures are all figures of a phase, in the order in which they are shown.
type Figures []Figure

// Of returns the figure with a key such as "ttft_p50_s"; without one, a figure
// whose Value is NaN.
func (fs Figures) Of(key string) Figure {
	for _, f := range fs {
		if f.Key == key {
			return f
		}
	}
	return Figure{Key: key, Value: math.NaN(), Client: math.NaN()}
}

// MarshalJSON writes one object, a member a figure, in order.
func (fs Figures) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, f := range fs {
		if i > 0 {
			out = append(out, ',')
		}
		value, err := json.Marshal(f)
		if err != nil {
			return nil, fmt.Errorf("figure %s: %w", f.Key, err)
		}
		out = append(strconv.AppendQuote(out, f.Key), ':')
		out = append(out, value...)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote. Figures that this version does
// not know are left out.
func (fs *Figures) UnmarshalJSON(data []byte) error {
	var all map[string]struct {
		Value   *float64 `json:"value"`
		N       int      `json:"n"`
		Method  string   `json:"method"`
		Client  *float64 `json:"client"`
		Invalid string   `json:"invalid"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	*fs = nil
	for _, m := range metrics {
		if v, ok := all[m.key]; ok {
			f := m.empty()
			f.Value, f.Client = orNaN(v.Value), orNaN(v.Client)
			f.N, f.Method, f.Invalid = v.N, v.Method, v.Invalid
			*fs = append(*fs, f)
		}
	}
	return nil
}

func orNaN(f *float64) float64 {
	if f == nil {
		return math.NaN()
	}
	return *f
}

// Decimal prints v with thousands separators and so many decimals; a dash for
// NaN and infinity.
func Decimal(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if decimals > 0 {
		whole += "." + fraction
	}
	if v < 0 && strings.Trim(text, "0.") != "" {
		whole = "-" + whole
	}
	return whole
}

func (m metric) empty() Figure {
	return Figure{Key: m.key, Label: m.label, Unit: m.unit, Value: math.NaN(), Client: math.NaN(), decimals: m.decimals}
}

// rank is the percentile that the metric's name in the statistics file says.
func (m metric) rank() (float64, bool) {
	if m.key == "median_output_per_request" {
		return 50, true
	}
	text, ok := strings.CutPrefix(m.name, "p")
	p, err := strconv.ParseFloat(text, 64)
	return p, ok && err == nil
}
