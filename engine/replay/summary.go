package replay

import (
	"cmp"
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
	for _, line := range noteLines(s) {
		put("%s", line)
	}
	t := s.TokensServer
	put("Tokens (server):")
	ok := s.Requests.Successful
	noOutput := unknownCounts(t.Output, t.OutputKnown, ok)
	noInput := unknownCounts(t.Input, t.InputKnown, ok)
	put("  Input: %s (%s per request)%s", formatCount(t.Input), t.AvgInput.format(1), noInput)
	put("  Output: %s (%s per request, median %s)%s",
		formatCount(t.Output), t.AvgOutput.format(1), t.Median.format(1), noOutput)
	put("  Cached: %s (hit rate %s%%)%s",
		formatCount(t.Cached), (100 * t.HitRate).format(1), unknownCounts(t.Cached, t.CachedKnown, ok))
	put("Tokens (client estimate): %s (%s per request)",
		groupDigits(strconv.Itoa(s.TokensClient.Output)), s.TokensClient.Avg.format(1))
	put("System Throughput (server output): %s tok/s%s", s.Throughput.OutputServer.format(1), noOutput)
	put("System Throughput (client output): %s tok/s", s.Throughput.OutputClient.format(1))
	noTotal := cmp.Or(noOutput, noInput)
	if t.Input == nil {
		noTotal = noInput
	}
	put("System Throughput (server total): %s tok/s%s", s.Throughput.TotalServer.format(1), noTotal)
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

// noteLines returns the notes with their numbers of requests, in the order of [noteTexts].
func noteLines(s statistics) []string {
	var lines []string
	for _, t := range noteTexts {
		if c, ok := s.Notes[t.key]; ok {
			lines = append(lines, fmt.Sprintf("Note: %s: %s", t.text, share(c.Requests, s.Requests.Successful)))
		}
	}
	return lines
}

func share(n, of int) string {
	return fmt.Sprintf("%d of %d successful requests (%.1f%%)", n, of, 100*float64(n)/float64(of))
}

// unknownCounts returns the text after a sum of counts: in how many requests the count is unknown.
func unknownCounts(sum *int, known, of int) string {
	switch {
	case known == of:
		return ""
	case sum == nil:
		return ", unknown in all requests"
	}
	return ", a lower bound: unknown in " + share(of-known, of)
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
