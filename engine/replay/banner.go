package replay

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

var separator = strings.Repeat("=", 60)

// withoutPassword returns base with its password redacted, for the log.
func withoutPassword(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "invalid"
	}
	return u.Redacted()
}

// banner returns the resolved configuration as text. It uses the labels of the external client,
// so that parsers of that banner can read it too.
func banner(cfg Config) string {
	var b strings.Builder
	line := func(label string, value any) { fmt.Fprintf(&b, "  %s: %v\n", label, value) }
	fmt.Fprintf(&b, "%s\n%s\n%s\n", separator, cfg.clientName(), separator)
	line("Client", cfg.clientName())
	line("Base URL", withoutPassword(cfg.BaseURL))
	line("Model", cfg.Model)
	line("Server type", cfg.ServerType)
	line("Concurrencies", intList(cfg.Concurrencies))
	line("Connection pool", fmt.Sprintf("%d (auto-sized, keepalive expiry disabled)", cfg.maxConcurrency()))
	line("Phase Timeout", floatSeconds(cfg.PhaseTimeout)+"s")
	line("Max ISL offset", cfg.MaxStartingOffset)
	if cfg.AssignmentsPath != "" {
		line("User assignments", cfg.AssignmentsPath)
	}
	line("Max tokens", cfg.MaxTokens)
	effort := cfg.ReasoningEffort
	if effort == "" {
		effort = "None"
	}
	line("Reasoning effort", effort)
	line("Tool-call delays", enabled(cfg.DelayKey != ""))
	line("Conversation routing headers", enabled(cfg.RoutingHeaders))
	line("Dynamo conv-aware routing (X-Dynamo-Session-ID)", enabled(cfg.DynamoHeaders))
	line("Power sampling", enabled(false))
	line("Results dir", cfg.ResultsDir)
	line("Request log", cfg.RequestLogPath)
	line("Seed", cfg.Seed)
	fmt.Fprintln(&b, separator)
	return b.String()
}

// datasetLines returns the log lines about the loaded dataset.
func datasetLines(cfg Config, d *Dataset) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Loaded %d trajectories\n", d.conversations())
	fmt.Fprintf(&b, "Total requests across all trajectories: %d\n", d.turns())
	if cfg.AssignmentsPath != "" {
		fmt.Fprintf(&b, "Loaded user assignments from %s: %d users, %d trajectories each\n",
			cfg.AssignmentsPath, d.users, d.perUser)
	}
	fmt.Fprintf(&b, "Running %d phase(s): concurrencies=%s\n", len(cfg.Concurrencies), intList(cfg.Concurrencies))
	return b.String()
}

func enabled(on bool) string {
	if on {
		return "enabled"
	}
	return "disabled"
}

// intList formats a list as Python does: [64, 1010].
func intList(v []int) string {
	parts := make([]string, len(v))
	for i, n := range v {
		parts[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// shortSeconds formats seconds without unneeded decimals: 2400, 300.5.
func shortSeconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}

// floatSeconds formats seconds as Python formats a float: 2400.0, 300.5.
func floatSeconds(d time.Duration) string {
	s := shortSeconds(d)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// printable replaces control characters in a server's message, so that it is safe to show
// and fits on one line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
