package results

import (
	"fmt"
	"math"
	"strings"
)

// Keys of metrics that are used individually. Other code iterates over Metrics.
const (
	Primary      = "output_server_tok_s" // decides the verdict of a comparison
	TotalRate    = "total_server_tok_s"
	TTFT50       = "ttft_p50_s"
	TTFT95       = "ttft_p95_s"
	TTFT99       = "ttft_p99_s"
	AvgOutput    = "avg_output_per_request"
	LocalSpeed25 = "output_speed_local_p25_tok_s"
	LocalSpeed50 = "output_speed_local_p50_tok_s"
	Latency99    = "e2e_p99_s"
	OutputSum    = "output_tokens"
)

// Metrics are all metrics, in the order of output. To add a metric, add an entry here; for a percentile
// use the family of its quantity, and add the Quantity if it does not exist yet. The tests named
// TestEveryMetric… check that all outputs and screens show every metric.
var Metrics = []*Metric{
	{
		Key: Primary, Label: "Output tok/s (server-reported)", Short: "Output tok/s (server)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: Formula{Kind: Rate, Of: OutputTokens}, Statistics: StatisticsPath{"throughput", "output_server_tok_s"},
		Parity:    &Parity{Published: true, UnitInLabel: true},
		Dashboard: &Dashboard{Label: "output (tok/s)", Decimals: 1, Priority: 1},
		Trend: &Trend{
			Key: "output_tok_s", Chart: "output (tok/s)", Priority: 2, Curve: "server-reported", Page: "Output, tok/s",
		},
		Runs:  &Runs{Key: "output_tok_s", Title: "OUT TOK/S"},
		Watch: "out",
	},
	{
		Key: "output_client_tok_s", Label: "Output tok/s (client-estimated)", Short: "Output tok/s (client)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: Formula{Kind: ClientReported}, Statistics: StatisticsPath{"throughput", "output_client_tok_s"},
		Parity:    &Parity{Published: true, Tolerance: 0.02, UnitInLabel: true},
		Dashboard: &Dashboard{Label: "output, client (tok/s)", Decimals: 1, Priority: 10},
	},
	{
		Key: TotalRate, Label: "Total tok/s (server-reported)", Short: "Total tok/s (server)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: Formula{Kind: Rate, Of: AllTokens}, Statistics: StatisticsPath{"throughput", "total_server_tok_s"},
		Parity:    &Parity{Published: true, Tolerance: 0.02, UnitInLabel: true},
		Dashboard: &Dashboard{Label: "total (tok/s)", Priority: 1},
		Trend:     &Trend{Key: "total_tok_s", Chart: "total (tok/s)", Priority: 5, Curve: "input + output"},
	},
	ttft.percentile(50, Metric{
		Parity:    &Parity{Published: true, Tolerance: 0.025},
		Dashboard: &Dashboard{Label: "TTFT p50 (s)", Decimals: 3, Priority: 1},
		Trend:     &Trend{Key: "ttft_p50_s", Chart: "TTFT (s)", Priority: 1, Curve: "p50", Page: "TTFT, s"},
		Watch:     "TTFT p50",
	}),
	ttft.percentile(95, Metric{
		Parity:    &Parity{Published: true, Tolerance: 0.05},
		Dashboard: &Dashboard{Label: "TTFT p95 (s)", Decimals: 3, Priority: 1},
		Trend:     &Trend{Key: "ttft_p95_s", Chart: "TTFT (s)", Priority: 1, Curve: "p95", Peak: true, Page: "TTFT, s"},
		Runs:      &Runs{Key: "ttft_p95_s", Title: "TTFT P95", Unit: "s", Decimals: 2, Drop: 2},
		Watch:     "p95",
	}),
	ttft.percentile(99, Metric{
		Parity:    &Parity{Published: true, Tolerance: 0.15, Noisy: true},
		Dashboard: &Dashboard{Label: "TTFT p99 (s)", Decimals: 3, Priority: 1},
	}),
	{
		Key: "cache_hit_rate", Label: "Cache hit rate", Unit: Fraction, Decimals: 1, Better: Higher,
		Formula:    Formula{Kind: Share, Of: CachedOfInput, Over: InputOfCached},
		Statistics: StatisticsPath{"tokens_server", "cache_hit_rate"},
		Parity:     &Parity{Published: true, Tolerance: 0.01},
		Dashboard:  &Dashboard{Label: "cache hit (%)", Decimals: 1, Priority: 3},
		Runs:       &Runs{Key: "cache_hit_rate", Detail: "cache"},
		Watch:      "cache",
	},
	{
		Key: "avg_input_per_request", Label: "Avg input tokens/request", Short: "Avg input tokens",
		Unit: Tokens, Decimals: 1,
		Formula: Formula{Kind: Mean, Of: InputTokens}, Statistics: StatisticsPath{"tokens_server", "avg_input_per_request"},
		Parity:    &Parity{Published: true, Tolerance: 0.01, UnitInLabel: true},
		Dashboard: &Dashboard{Label: "input/request (tok)", Decimals: 1, Priority: 6},
	},
	{
		Key: AvgOutput, Label: "Avg output tokens/request", Short: "Avg output tokens",
		Unit: Tokens, Decimals: 1,
		Formula: Formula{Kind: Mean, Of: OutputTokens}, Statistics: StatisticsPath{"tokens_server", "avg_output_per_request"},
		Parity:    &Parity{Published: true, Tolerance: 0.02, UnitInLabel: true},
		Dashboard: &Dashboard{Label: "output/request (tok)", Decimals: 1, Priority: 6},
	},
	{
		Key: "median_output_per_request", Label: "Median output tokens/request", Short: "Median output tokens",
		Unit: Tokens, Decimals: 1,
		Formula: Formula{Kind: Percentile, Of: OutputTokens, Percentile: 50}, Validity: tailSamples,
		Statistics: StatisticsPath{"tokens_server", "median_output_per_request"},
		Parity:     &Parity{Tolerance: 0.02, UnitInLabel: true},
		Dashboard:  &Dashboard{Label: "median output (tok)", Decimals: 1, Priority: 9},
	},
	localSpeed.percentile(5, Metric{
		Parity: &Parity{Tolerance: 0.05}, Dashboard: &Dashboard{Label: "speed p5 (tok/s)", Decimals: 1, Priority: 7},
	}),
	localSpeed.percentile(25, Metric{
		Parity: &Parity{Tolerance: 0.03}, Dashboard: &Dashboard{Label: "speed p25 (tok/s)", Decimals: 1, Priority: 2},
		Trend: &Trend{
			Key: LocalSpeed25, Chart: "speed per request (tok/s)", Priority: 3, Curve: "p25",
			Page: "Output speed per request (local), p25, tok/s",
		},
	}),
	localSpeed.percentile(50, Metric{
		Parity:    &Parity{Published: true, Tolerance: 0.02},
		Dashboard: &Dashboard{Label: "speed p50 (tok/s)", Decimals: 1, Priority: 4},
	}),
	localSpeed.percentile(95, Metric{
		Parity: &Parity{Tolerance: 0.05}, Dashboard: &Dashboard{Label: "speed p95 (tok/s)", Decimals: 1, Priority: 7},
	}),
	sseSpeed.percentile(5, Metric{Parity: &Parity{Tolerance: 0.05}}),
	sseSpeed.percentile(25, Metric{Parity: &Parity{Tolerance: 0.03}}),
	sseSpeed.percentile(50, Metric{Parity: &Parity{Published: true, Tolerance: 0.02}}),
	sseSpeed.percentile(95, Metric{Parity: &Parity{Tolerance: 0.05}}),
	latency.percentile(50, Metric{
		Parity: &Parity{Tolerance: 0.025}, Dashboard: &Dashboard{Label: "end to end p50 (s)", Decimals: 3, Priority: 5},
	}),
	latency.percentile(95, Metric{
		Parity: &Parity{Tolerance: 0.05}, Dashboard: &Dashboard{Label: "end to end p95 (s)", Decimals: 3, Priority: 5},
	}),
	latency.percentile(99, Metric{
		Parity:    &Parity{Tolerance: 0.15, Noisy: true},
		Dashboard: &Dashboard{Label: "end to end p99 (s)", Decimals: 3, Priority: 8},
	}),
	itl.percentile(50, Metric{
		Parity: &Parity{Tolerance: 0.02}, Dashboard: &Dashboard{Label: "ITL p50 (ms)", Decimals: 2, Priority: 11},
	}),
	itl.percentile(95, Metric{
		Parity: &Parity{Tolerance: 0.05}, Dashboard: &Dashboard{Label: "ITL p95 (ms)", Decimals: 2, Priority: 11},
	}),
	itl.percentile(99, Metric{
		Parity:    &Parity{Tolerance: 0.15, Noisy: true},
		Dashboard: &Dashboard{Label: "ITL p99 (ms)", Decimals: 2, Priority: 11},
	}),
	{
		Key: "input_tokens", Label: "Input tokens", Unit: Tokens,
		Formula: Formula{Kind: Sum, Of: InputTokens}, Statistics: StatisticsPath{"tokens_server", "input"},
	},
	{
		Key: OutputSum, Label: "Output tokens", Unit: Tokens,
		Formula: Formula{Kind: Sum, Of: OutputTokens}, Statistics: StatisticsPath{"tokens_server", "output"},
	},
	{
		Key: "cached_tokens", Label: "Cached tokens", Unit: Tokens,
		Formula: Formula{Kind: Sum, Of: CachedTokens}, Statistics: StatisticsPath{"tokens_server", "cached"},
	},
}

// Units of metrics.
var (
	TokensPerSecond = Unit{"tok/s", "tok/s", 1}
	Tokens          = Unit{"tok", "tok", 1}
	Seconds         = Unit{"s", "s", 1}
	Milliseconds    = Unit{"s", "ms", 1000}
	Fraction        = Unit{"fraction", "%", 100}
)

// tailSamples is the condition for a valid percentile.
var tailSamples = Validity{MinTail: 10}

// family holds what the percentiles of a quantity have in common. In its strings, "%"
// stands for the percentile, such as "p50".
type family Metric

const speedRow = "Per-request output speed % (local / SSE)"

var (
	ttft = family{
		Key: "ttft_%_s", Label: "TTFT %", Unit: Seconds, Decimals: 3, Better: Lower,
		Formula: Formula{Of: TTFT}, Validity: tailSamples, Statistics: StatisticsPath{"ttft_s", "%"},
	}
	localSpeed = family{
		Key: "output_speed_local_%_tok_s", Label: "Output speed % (local)", Short: "Speed % tok/s (local)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher, Formula: Formula{Of: LocalSpeed}, Validity: tailSamples,
		Statistics: StatisticsPath{"output_speed_per_request_local_tok_s", "%"}, Parity: &Parity{RowLabel: speedRow},
	}
	sseSpeed = family{
		Key: "output_speed_sse_%_tok_s", Label: "Output speed % (SSE)", Short: "Speed % tok/s (SSE)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher, Formula: Formula{Of: SSESpeed}, Validity: tailSamples,
		Statistics: StatisticsPath{"output_speed_per_request_sse_tok_s", "%"}, Parity: &Parity{RowLabel: speedRow},
	}
	latency = family{
		Key: "e2e_%_s", Label: "End-to-end latency %", Short: "End to end %", Unit: Seconds, Decimals: 3, Better: Lower,
		Formula: Formula{Of: Latency}, Validity: tailSamples, Statistics: StatisticsPath{"e2e_latency_s", "%"},
	}
	itl = family{
		Key: "itl_%_s", Label: "Inter-token latency %", Short: "ITL %", Unit: Milliseconds, Decimals: 2, Better: Lower,
		Formula: Formula{Of: ITL}, Validity: tailSamples, Statistics: StatisticsPath{"itl_s", "%"},
	}
)

// percentile returns the metric of a percentile, with the view fields of m.
func (f family) percentile(percentile float64, m Metric) *Metric {
	name := fmt.Sprintf("p%g", percentile)
	named := func(pattern string) string { return strings.Replace(pattern, "%", name, 1) }
	m.Key, m.Label, m.Short = named(f.Key), named(f.Label), named(f.Short)
	m.Unit, m.Decimals, m.Better, m.Validity = f.Unit, f.Decimals, f.Better, f.Validity
	m.Formula = Formula{Kind: Percentile, Of: f.Formula.Of, Percentile: percentile}
	m.Statistics = StatisticsPath{f.Statistics.Section, name}
	if f.Parity != nil {
		m.Parity.RowLabel = named(f.Parity.RowLabel)
	}
	return &m
}

// Quantity is a number per request, from which metrics are computed.
type Quantity int

// Quantities of requests.
const (
	OutputTokens Quantity = iota
	InputTokens
	AllTokens // input and output
	CachedTokens
	CachedOfInput // cached tokens of requests for which input tokens are known too
	InputOfCached // input tokens of requests for which cached tokens are known too
	TTFT          // s
	Latency       // s, from start to end
	LocalSpeed    // tok/s, 1 / ITL
	SSESpeed      // tok/s, from the SSE events that the client received
	ITL           // s, mean inter-token latency
	quantities    = iota
)

var quantityTable = [quantities]struct {
	name   string // in messages
	of     func(*Request) float64
	paired *PairedMetric
}{
	OutputTokens:  {"output tokens", func(r *Request) float64 { return tokens(r.Output) }, nil},
	InputTokens:   {"input tokens", func(r *Request) float64 { return tokens(r.Input) }, nil},
	AllTokens:     {"tokens", func(r *Request) float64 { return tokens(r.Input) + tokens(r.Output) }, nil},
	CachedTokens:  {"cached tokens", func(r *Request) float64 { return tokens(r.Cached) }, nil},
	CachedOfInput: {"cached", func(r *Request) float64 { return valueIf(r.Input >= 0, tokens(r.Cached)) }, nil},
	InputOfCached: {"input tokens", func(r *Request) float64 { return valueIf(r.Cached >= 0, tokens(r.Input)) }, nil},
	TTFT: {
		"TTFT", func(r *Request) float64 { return r.TTFT },
		&PairedMetric{Key: "ttft_s", Label: "TTFT", Unit: Seconds, Decimals: 3, Better: Lower},
	},
	Latency: {
		"latency", func(r *Request) float64 { return valueIf(!r.noStartTime && r.seconds() >= 0, r.seconds()) },
		&PairedMetric{"e2e_latency_s", "End-to-end latency", "end to end", Seconds, 3, Lower},
	},
	LocalSpeed: {
		"speed", func(r *Request) float64 { return valueIf(r.ITL > 0, 1/r.ITL) },
		&PairedMetric{"output_speed_local_tok_s", "Output speed (local)", "speed", TokensPerSecond, 1, Higher},
	},
	SSESpeed: {"speed", func(r *Request) float64 { return valueIf(r.SSE > 0, r.SSE) }, nil},
	ITL: {
		"inter-token latency", func(r *Request) float64 { return valueIf(r.ITL > 0, r.ITL) },
		&PairedMetric{"itl_s", "Inter-token latency", "ITL", Milliseconds, 2, Lower},
	},
}

// PairedMetric describes a quantity in paired comparisons.
type PairedMetric struct {
	Key      string // in JSON
	Label    string
	Short    string // label for narrow views
	Unit     Unit
	Decimals int
	Better   Direction
}

// Value returns the quantity of a request, or NaN if it is unknown.
func (q Quantity) Value(r *Request) float64 { return quantityTable[q].of(r) }

// Paired returns how the quantity is shown in paired comparisons, or nil if it is not.
func (q Quantity) Paired() *PairedMetric { return quantityTable[q].paired }

// PairedQuantities returns the quantities of paired comparisons, in display order.
func PairedQuantities() []Quantity {
	var out []Quantity
	for q := range Quantity(quantities) {
		if q.Paired() != nil {
			out = append(out, q)
		}
	}
	return out
}

func (q Quantity) name() string { return quantityTable[q].name }

// inReasons returns what is unknown if the quantity is.
func (q Quantity) inReasons() string {
	if q == CachedOfInput {
		return "cached or input tokens"
	}
	return q.name()
}

// tokens converts a token count, or returns NaN if it is unknown.
func tokens(n int32) float64 { return valueIf(n >= 0, float64(n)) }

// valueIf returns v if known is true, and NaN otherwise.
func valueIf(known bool, v float64) float64 {
	if !known {
		return math.NaN()
	}
	return v
}
