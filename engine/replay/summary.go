package replay

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// summary formats the statistics of a phase as text.
func summary(s statistics) string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put("\n%s\nPhase %d Results (concurrency=%d)\n%s", separator, s.Phase, s.Concurrency, separator)
	put("Client: %s", s.Client)
	put("Total requests: %d", s.Requests.Total)
	put("Measured: %d (%d ok, %d err)", s.Requests.Measured, s.Requests.Successful, s.Requests.Failed)
	put("Window: %ss", s.Duration.format(1))
	if s.StopReason != stopCriteria {
		put("Stopped by: %s", s.StopReason)
	}
	if s.CutOff > 0 {
		put("Cut off at the end of the drain, not counted: %d", s.CutOff)
	}
	if len(s.Errors) > 0 {
		put("Errors: %s", errorCounts(s.Errors))
	}
	t := s.TokensServer
	put("Tokens (server):")
	put("  Input: %s (%s per request)", formatCount(t.Input), t.AvgInput.format(1))
	put("  Output: %s (%s per request, median %s)", formatCount(t.Output), t.AvgOutput.format(1), t.Median.format(1))
	put("  Cached: %s (hit rate %s%%)", formatCount(t.Cached), (100 * t.HitRate).format(1))
	put("Tokens (client estimate): %s (%s per request)",
		groupDigits(strconv.Itoa(s.TokensClient.Output)), s.TokensClient.Avg.format(1))
	put("System Throughput (server output): %s tok/s", s.Throughput.OutputServer.format(1))
	put("System Throughput (client output): %s tok/s", s.Throughput.OutputClient.format(1))
	put("System Throughput (server total): %s tok/s", s.Throughput.TotalServer.format(1))
	put("TTFT p50/p95/p99: %ss / %ss / %ss", s.TTFT.P50.format(3), s.TTFT.P95.format(3), s.TTFT.P99.format(3))
	speed := func(which string, v speedPercentiles) {
		put("Output Speed (per-request %s, tok/s):", which)
		put("  p5: %s\n  p25: %s\n  p50: %s\n  p95: %s", v.P5.format(1), v.P25.format(1), v.P50.format(1), v.P95.format(1))
	}
	speed("local", s.LocalSpeed)
	speed("SSE", s.SSESpeed)
	put("%s", separator)
	return b.String()
}

func errorCounts(errs map[errorKind]int) string {
	var parts []string
	for kind, n := range errs {
		parts = append(parts, fmt.Sprintf("%s %d", kind, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func formatCount(n *int) string {
	if n == nil {
		return "-"
	}
	return groupDigits(strconv.Itoa(*n))
}

// format formats a number with thousands separators, and "-" for no data.
func (n number) format(decimals int) string {
	if math.IsNaN(float64(n)) {
		return "-"
	}
	return groupDigits(strconv.FormatFloat(float64(n), 'f', decimals, 64))
}

// groupDigits inserts thousands separators into a decimal number that is not negative.
func groupDigits(s string) string {
	whole, _, _ := strings.Cut(s, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
