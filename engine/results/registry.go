package results

import "math"

// Keys of metrics that code asks for by name; everything else goes over Metrics.
const (
	Primary      = "output_server_tok_s" // decides a comparison
	TotalRate    = "total_server_tok_s"
	TTFT50       = "ttft_p50_s"
	TTFT95       = "ttft_p95_s"
	AvgOutput    = "avg_output_per_request"
	LocalSpeed25 = "output_speed_local_p25_tok_s"
	LocalSpeed50 = "output_speed_local_p50_tok_s"
	Latency99    = "e2e_p99_s"
	OutputSum    = "output_tokens"
)

// Metrics are all metrics, in the order of output. To add one is to add an entry, and
// its quantity below where it is one of a new kind; tests named TestEveryMetric… hold
// all outputs and screens to it.
var Metrics = []*Metric{
	{
		Key: Primary, Label: "Output tok/s (server-reported)", Short: "Output tok/s (server)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: Formula{Kind: Rate, Of: OutputTokens}, Statistics: Statistic{"throughput", "output_server_tok_s"},
		Parity:    &Parity{Published: true, Bare: true},
		Dashboard: &Dashboard{Label: "output (tok/s)", Decimals: 1, Place: 1},
		Trend: &Trend{
			Key: "output_tok_s", Chart: "output (tok/s)", Place: 2, Curve: "by the server's count", Page: "Output, tok/s",
		},
		Runs:  &Runs{Key: "output_tok_s", Title: "OUT TOK/S"},
		Watch: "out",
	},
	{
		Key: "output_client_tok_s", Label: "Output tok/s (client-estimated)", Short: "Output tok/s (client)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: Formula{Kind: Stated}, Statistics: Statistic{"throughput", "output_client_tok_s"},
		Parity:    &Parity{Published: true, Tolerance: 0.02, Bare: true},
		Dashboard: &Dashboard{Label: "output, client (tok/s)", Decimals: 1, Place: 10},
	},
	{
		Key: TotalRate, Label: "Total tok/s (server-reported)", Short: "Total tok/s (server)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: Formula{Kind: Rate, Of: AllTokens}, Statistics: Statistic{"throughput", "total_server_tok_s"},
		Parity:    &Parity{Published: true, Tolerance: 0.02, Bare: true},
		Dashboard: &Dashboard{Label: "total (tok/s)", Place: 1},
		Trend:     &Trend{Key: "total_tok_s", Chart: "total (tok/s)", Place: 5, Curve: "input and output"},
	},
	{
		Key: TTFT50, Label: "TTFT p50", Unit: Seconds, Decimals: 3, Better: Lower,
		Formula: rank(TTFT, 50), Valid: tail, Statistics: Statistic{"ttft_s", "p50"},
		Parity:    &Parity{Published: true, Tolerance: 0.025},
		Dashboard: &Dashboard{Label: "TTFT p50 (s)", Decimals: 3, Place: 1},
		Trend:     &Trend{Key: "ttft_p50_s", Chart: "TTFT (s)", Place: 1, Curve: "p50", Page: "TTFT, s"},
		Watch:     "TTFT p50",
	},
	{
		Key: TTFT95, Label: "TTFT p95", Unit: Seconds, Decimals: 3, Better: Lower,
		Formula: rank(TTFT, 95), Valid: tail, Statistics: Statistic{"ttft_s", "p95"},
		Parity:    &Parity{Published: true, Tolerance: 0.05},
		Dashboard: &Dashboard{Label: "TTFT p95 (s)", Decimals: 3, Place: 1},
		Trend:     &Trend{Key: "ttft_p95_s", Chart: "TTFT (s)", Place: 1, Curve: "p95", Peak: true, Page: "TTFT, s"},
		Runs:      &Runs{Key: "ttft_p95_s", Title: "TTFT P95", Unit: "s", Decimals: 2, Drop: 2},
		Watch:     "p95",
	},
	{
		Key: "ttft_p99_s", Label: "TTFT p99", Unit: Seconds, Decimals: 3, Better: Lower,
		Formula: rank(TTFT, 99), Valid: tail, Statistics: Statistic{"ttft_s", "p99"},
		Parity:    &Parity{Published: true, Tolerance: 0.15, Noisy: true},
		Dashboard: &Dashboard{Label: "TTFT p99 (s)", Decimals: 3, Place: 1},
	},
	{
		Key: "cache_hit_rate", Label: "Cache hit rate", Unit: Fraction, Decimals: 1, Better: Higher,
		Formula:    Formula{Kind: Share, Of: CachedOfInput, Over: InputOfCached},
		Statistics: Statistic{"tokens_server", "cache_hit_rate"},
		Parity:     &Parity{Published: true, Tolerance: 0.01},
		Dashboard:  &Dashboard{Label: "cache hit (%)", Decimals: 1, Place: 3},
		Runs:       &Runs{Key: "cache_hit_rate", Detail: "cache"},
		Watch:      "cache",
	},
	{
		Key: "avg_input_per_request", Label: "Avg input tokens/request", Short: "Avg input tokens",
		Unit: Tokens, Decimals: 1,
		Formula: Formula{Kind: Mean, Of: InputTokens}, Statistics: Statistic{"tokens_server", "avg_input_per_request"},
		Parity:    &Parity{Published: true, Tolerance: 0.01, Bare: true},
		Dashboard: &Dashboard{Label: "input a request (tok)", Decimals: 1, Place: 6},
	},
	{
		Key: AvgOutput, Label: "Avg output tokens/request", Short: "Avg output tokens",
		Unit: Tokens, Decimals: 1,
		Formula: Formula{Kind: Mean, Of: OutputTokens}, Statistics: Statistic{"tokens_server", "avg_output_per_request"},
		Parity:    &Parity{Published: true, Tolerance: 0.02, Bare: true},
		Dashboard: &Dashboard{Label: "output a request (tok)", Decimals: 1, Place: 6},
	},
	{
		Key: "median_output_per_request", Label: "Median output tokens/request", Short: "Median output tokens",
		Unit: Tokens, Decimals: 1,
		Formula: rank(OutputTokens, 50), Valid: tail, Statistics: Statistic{"tokens_server", "median_output_per_request"},
		Parity:    &Parity{Tolerance: 0.02, Bare: true},
		Dashboard: &Dashboard{Label: "median output (tok)", Decimals: 1, Place: 9},
	},
	{
		Key: "output_speed_local_p5_tok_s", Label: "Output speed p5 (local)", Short: "Speed p5 tok/s (local)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: rank(LocalSpeed, 5), Valid: tailOfMost, Statistics: Statistic{localSpeeds, "p5"},
		Parity:    &Parity{Row: "Per-request output speed p5 (local / SSE)", Tolerance: 0.05},
		Dashboard: &Dashboard{Label: "speed p5 (tok/s)", Decimals: 1, Place: 7},
	},
	{
		Key: LocalSpeed25, Label: "Output speed p25 (local)", Short: "Speed p25 tok/s (local)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: rank(LocalSpeed, 25), Valid: tailOfMost, Statistics: Statistic{localSpeeds, "p25"},
		Parity:    &Parity{Row: "Per-request output speed p25 (local / SSE)", Tolerance: 0.03},
		Dashboard: &Dashboard{Label: "speed p25 (tok/s)", Decimals: 1, Place: 2},
		Trend: &Trend{
			Key: LocalSpeed25, Chart: "speed of a request (tok/s)", Place: 3, Curve: "p25",
			Page: "Output speed of a request (local), p25, tok/s",
		},
	},
	{
		Key: LocalSpeed50, Label: "Output speed p50 (local)", Short: "Speed p50 tok/s (local)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: rank(LocalSpeed, 50), Valid: tailOfMost, Statistics: Statistic{localSpeeds, "p50"},
		Parity:    &Parity{Row: "Per-request output speed p50 (local / SSE)", Published: true, Tolerance: 0.02},
		Dashboard: &Dashboard{Label: "speed p50 (tok/s)", Decimals: 1, Place: 4},
	},
	{
		Key: "output_speed_local_p95_tok_s", Label: "Output speed p95 (local)", Short: "Speed p95 tok/s (local)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: rank(LocalSpeed, 95), Valid: tailOfMost, Statistics: Statistic{localSpeeds, "p95"},
		Parity:    &Parity{Row: "Per-request output speed p95 (local / SSE)", Tolerance: 0.05},
		Dashboard: &Dashboard{Label: "speed p95 (tok/s)", Decimals: 1, Place: 7},
	},
	{
		Key: "output_speed_sse_p5_tok_s", Label: "Output speed p5 (SSE)", Short: "Speed p5 tok/s (SSE)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: rank(SSESpeed, 5), Valid: tailOfMost, Statistics: Statistic{sseSpeeds, "p5"},
		Parity: &Parity{Row: "Per-request output speed p5 (local / SSE)", Tolerance: 0.05},
	},
	{
		Key: "output_speed_sse_p25_tok_s", Label: "Output speed p25 (SSE)", Short: "Speed p25 tok/s (SSE)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: rank(SSESpeed, 25), Valid: tailOfMost, Statistics: Statistic{sseSpeeds, "p25"},
		Parity: &Parity{Row: "Per-request output speed p25 (local / SSE)", Tolerance: 0.03},
	},
	{
		Key: "output_speed_sse_p50_tok_s", Label: "Output speed p50 (SSE)", Short: "Speed p50 tok/s (SSE)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: rank(SSESpeed, 50), Valid: tailOfMost, Statistics: Statistic{sseSpeeds, "p50"},
		Parity: &Parity{Row: "Per-request output speed p50 (local / SSE)", Published: true, Tolerance: 0.02},
	},
	{
		Key: "output_speed_sse_p95_tok_s", Label: "Output speed p95 (SSE)", Short: "Speed p95 tok/s (SSE)",
		Unit: TokensPerSecond, Decimals: 1, Better: Higher,
		Formula: rank(SSESpeed, 95), Valid: tailOfMost, Statistics: Statistic{sseSpeeds, "p95"},
		Parity: &Parity{Row: "Per-request output speed p95 (local / SSE)", Tolerance: 0.05},
	},
	{
		Key: "e2e_p50_s", Label: "End-to-end latency p50", Short: "End to end p50",
		Unit: Seconds, Decimals: 3, Better: Lower,
		Formula: rank(Latency, 50), Valid: tail, Statistics: Statistic{"e2e_latency_s", "p50"},
		Parity:    &Parity{Tolerance: 0.025},
		Dashboard: &Dashboard{Label: "end to end p50 (s)", Decimals: 3, Place: 5},
	},
	{
		Key: "e2e_p95_s", Label: "End-to-end latency p95", Short: "End to end p95",
		Unit: Seconds, Decimals: 3, Better: Lower,
		Formula: rank(Latency, 95), Valid: tail, Statistics: Statistic{"e2e_latency_s", "p95"},
		Parity:    &Parity{Tolerance: 0.05},
		Dashboard: &Dashboard{Label: "end to end p95 (s)", Decimals: 3, Place: 5},
	},
	{
		Key: Latency99, Label: "End-to-end latency p99", Short: "End to end p99",
		Unit: Seconds, Decimals: 3, Better: Lower,
		Formula: rank(Latency, 99), Valid: tail, Statistics: Statistic{"e2e_latency_s", "p99"},
		Parity:    &Parity{Tolerance: 0.15, Noisy: true},
		Dashboard: &Dashboard{Label: "end to end p99 (s)", Decimals: 3, Place: 8},
	},
	{
		Key: "itl_p50_s", Label: "Inter-token latency p50", Short: "ITL p50", Unit: Milliseconds, Decimals: 2, Better: Lower,
		Formula: rank(ITL, 50), Valid: tailOfMost, Statistics: Statistic{"itl_s", "p50"},
		Parity:    &Parity{Tolerance: 0.02},
		Dashboard: &Dashboard{Label: "ITL p50 (ms)", Decimals: 2, Place: 11},
	},
	{
		Key: "itl_p95_s", Label: "Inter-token latency p95", Short: "ITL p95", Unit: Milliseconds, Decimals: 2, Better: Lower,
		Formula: rank(ITL, 95), Valid: tailOfMost, Statistics: Statistic{"itl_s", "p95"},
		Parity:    &Parity{Tolerance: 0.05},
		Dashboard: &Dashboard{Label: "ITL p95 (ms)", Decimals: 2, Place: 11},
	},
	{
		Key: "itl_p99_s", Label: "Inter-token latency p99", Short: "ITL p99", Unit: Milliseconds, Decimals: 2, Better: Lower,
		Formula: rank(ITL, 99), Valid: tailOfMost, Statistics: Statistic{"itl_s", "p99"},
		Parity:    &Parity{Tolerance: 0.15, Noisy: true},
		Dashboard: &Dashboard{Label: "ITL p99 (ms)", Decimals: 2, Place: 11},
	},
	{
		Key: "input_tokens", Label: "Input tokens", Unit: Tokens,
		Formula: Formula{Kind: Sum, Of: InputTokens}, Statistics: Statistic{"tokens_server", "input"},
	},
	{
		Key: OutputSum, Label: "Output tokens", Unit: Tokens,
		Formula: Formula{Kind: Sum, Of: OutputTokens}, Statistics: Statistic{"tokens_server", "output"},
	},
	{
		Key: "cached_tokens", Label: "Cached tokens", Unit: Tokens,
		Formula: Formula{Kind: Sum, Of: CachedTokens}, Statistics: Statistic{"tokens_server", "cached"},
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

// Sections of the client's statistics file.
const (
	localSpeeds = "output_speed_per_request_local_tok_s"
	sseSpeeds   = "output_speed_per_request_sse_tok_s"
)

// A percentile wants ten values on its thinner side; a speed is a thing of most
// requests as well.
var (
	tail       = Validity{Tail: 10}
	tailOfMost = Validity{Tail: 10, Half: true}
)

func rank(of Quantity, percentile float64) Formula {
	return Formula{Kind: Percentile, Of: of, Percentile: percentile}
}

// Quantity is a number that a request has. Metrics are formed of quantities.
type Quantity int

// Quantities, those that are compared request by request in the order of that.
const (
	OutputTokens  Quantity = iota
	InputTokens            //
	AllTokens              // input and output
	CachedTokens           //
	CachedOfInput          // of requests that know both
	InputOfCached          // likewise
	TTFT                   // s
	Latency                // s, end to end
	LocalSpeed             // tok/s, by the time between tokens
	SSESpeed               // tok/s, by the client's events
	ITL                    // s, the mean time between two tokens
	quantities    = iota
)

var quantityTable = [quantities]struct {
	name   string // in reasons
	of     func(*Request) float64
	paired *Paired
}{
	OutputTokens: {"output tokens", func(r *Request) float64 { return given(r.Output >= 0, float64(r.Output)) }, nil},
	InputTokens:  {"input tokens", func(r *Request) float64 { return given(r.Input >= 0, float64(r.Input)) }, nil},
	AllTokens: {"tokens", func(r *Request) float64 {
		return given(r.Input >= 0 && r.Output >= 0, float64(r.Input)+float64(r.Output))
	}, nil},
	CachedTokens: {"cached tokens", func(r *Request) float64 { return given(r.Cached >= 0, float64(r.Cached)) }, nil},
	CachedOfInput: {"cached", func(r *Request) float64 {
		return given(r.Cached >= 0 && r.Input >= 0, float64(r.Cached))
	}, nil},
	InputOfCached: {"input tokens", func(r *Request) float64 {
		return given(r.Cached >= 0 && r.Input >= 0, float64(r.Input))
	}, nil},
	TTFT: {
		"TTFT", func(r *Request) float64 { return r.TTFT },
		&Paired{Key: "ttft_s", Label: "TTFT", Unit: Seconds, Decimals: 3, Better: Lower},
	},
	Latency: {
		"latency", func(r *Request) float64 { return given(!r.unplaced && r.seconds() >= 0, r.seconds()) },
		&Paired{"e2e_latency_s", "End-to-end latency", "end to end", Seconds, 3, Lower},
	},
	LocalSpeed: {
		"speed", func(r *Request) float64 { return given(r.ITL > 0, 1/r.ITL) },
		&Paired{"output_speed_local_tok_s", "Output speed (local)", "speed", TokensPerSecond, 1, Higher},
	},
	SSESpeed: {"speed", func(r *Request) float64 { return given(r.SSE > 0, r.SSE) }, nil},
	ITL: {
		"inter-token latency", func(r *Request) float64 { return given(r.ITL > 0, r.ITL) },
		&Paired{"itl_s", "Inter-token latency", "ITL", Milliseconds, 2, Lower},
	},
}

// Paired is how a quantity is compared request by request.
type Paired struct {
	Key      string // in JSON
	Label    string
	Short    string // where there is little room
	Unit     Unit
	Decimals int
	Better   Direction
}

// Of is the quantity of a request; NaN where it has none.
func (q Quantity) Of(r *Request) float64 { return quantityTable[q].of(r) }

// Paired is how it is compared request by request; nil where it is not.
func (q Quantity) Paired() *Paired { return quantityTable[q].paired }

// PairedQuantities are those that are compared request by request, in their order.
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

// given is v, or NaN where there is none.
func given(is bool, v float64) float64 {
	if !is {
		return math.NaN()
	}
	return v
}
