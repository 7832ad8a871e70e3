package recipes

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// TimeoutCheck is the result of the timeout rule for one concurrency level of the recipe:
//
//	phase_timeout_seconds ≥ (level − 1) / user_spawn_rate + settling_time_seconds + min_measurement_seconds
//
// The arithmetic is exact, so that equal values satisfy the rule. If an input is not a valid
// number, Known and OK are false.
type TimeoutCheck struct {
	Level   int      `json:"level"`
	Known   bool     `json:"known"`
	OK      bool     `json:"ok"`
	Timeout float64  `json:"phase_timeout_seconds"`
	Need    float64  `json:"need_seconds"`
	Ramp    float64  `json:"ramp_seconds"`
	Slack   float64  `json:"slack_seconds"` // negative if the timeout is too short
	Binding bool     `json:"binding"`       // the level that needs the longest timeout
	Assumed []string `json:"assumed"`       // inputs that the file omits: defaults are used
	Unknown []string `json:"unknown,omitempty"`
	Formula string   `json:"formula"`
	Fixes   []Fix    `json:"fixes,omitempty"` // any one of them satisfies the rule
	// Measurement is the length of the measuring window if no stop criterion ends the phase earlier.
	Measurement float64 `json:"measurement_seconds"`
}

// Fix is the smallest change of one input that satisfies the rule.
type Fix struct {
	Key   string `json:"key"`
	Op    string `json:"op"`    // ≥ or ≤
	Value string `json:"value"` // at most three decimals, rounded so that it satisfies the rule
}

// String formats the fix as in user_spawn_rate ≥ 1.001.
func (f Fix) String() string { return f.Key + " " + f.Op + " " + f.Value }

// CheckTimeouts evaluates the timeout rule for each concurrency level, in the given order.
func CheckTimeouts(w *Workload, levels []int) []TimeoutCheck {
	out := make([]TimeoutCheck, 0, len(levels))
	for _, l := range levels {
		out = append(out, checkTimeout(w, l))
	}
	if len(levels) > 0 {
		out[slices.Index(levels, slices.Max(levels))].Binding = true
	}
	return out
}

func checkTimeout(w *Workload, level int) TimeoutCheck {
	c := TimeoutCheck{Level: level, Assumed: []string{}}
	for _, q := range []Quantity{w.PhaseTimeout, w.SpawnRate, w.Settling, w.MinMeasurement} {
		if q.Value == nil {
			c.Unknown = append(c.Unknown, q.Key)
		} else if q.Assumed {
			c.Assumed = append(c.Assumed, q.Key)
		}
	}
	c.Formula = fmt.Sprintf("(%d − 1) / %s + %s + %s", level, quantityText(w.SpawnRate), quantityText(w.Settling),
		quantityText(w.MinMeasurement))
	if len(c.Unknown) > 0 || level < 1 {
		return c
	}
	timeout, rate, settling, measuring := w.PhaseTimeout.Value, w.SpawnRate.Value, w.Settling.Value, w.MinMeasurement.Value
	users := new(big.Rat).SetInt64(int64(level) - 1)
	ramp := new(big.Rat).Quo(users, rate)
	need := sum(ramp, settling, measuring)
	slack := new(big.Rat).Sub(timeout, need)
	c.Known, c.OK = true, slack.Sign() >= 0
	c.Timeout, c.Need, c.Ramp, c.Slack = toFloat(timeout), toFloat(need), toFloat(ramp), toFloat(slack)
	c.Measurement = toFloat(new(big.Rat).Sub(timeout, sum(ramp, settling)))
	if !c.OK {
		c.Fixes = timeoutFixes(timeout, rate, settling, measuring, ramp, need, users)
	}
	return c
}

func timeoutFixes(timeout, rate, settling, measuring, ramp, need, users *big.Rat) []Fix {
	out := []Fix{{"phase_timeout_seconds", "≥", formatDecimal(need, true)}}
	sub := func(parts ...*big.Rat) *big.Rat { return new(big.Rat).Sub(timeout, sum(parts...)) }
	if remaining := sub(settling, measuring); remaining.Sign() > 0 {
		out = append(out, Fix{"user_spawn_rate", "≥", formatDecimal(new(big.Rat).Quo(users, remaining), true)})
	}
	if remaining := sub(ramp, measuring); remaining.Sign() >= 0 {
		out = append(out, Fix{"settling_time_seconds", "≤", formatDecimal(remaining, false)})
	}
	if remaining := sub(ramp, settling); remaining.Sign() >= 0 {
		out = append(out, Fix{"min_measurement_seconds", "≤", formatDecimal(remaining, false)})
	}
	if remaining := sub(settling, measuring); remaining.Sign() >= 0 {
		maxUsers := new(big.Rat).Mul(remaining, rate)
		whole := new(big.Int).Quo(maxUsers.Num(), maxUsers.Denom())
		out = append(out, Fix{"concurrency", "≤", whole.Add(whole, big.NewInt(1)).String()})
	}
	return out
}

// Summary describes the result in one line.
func (c TimeoutCheck) Summary() string {
	if !c.Known {
		return fmt.Sprintf("level %d: phase timeout unknown: %s is not a valid number", c.Level,
			strings.Join(c.Unknown, ", "))
	}
	if c.OK {
		return fmt.Sprintf("level %d: %s = %s ≤ %s, slack %s s", c.Level, c.Formula, formatSeconds(c.Need),
			formatSeconds(c.Timeout), formatSeconds(c.Slack))
	}
	return fmt.Sprintf("level %d: %s = %s > %s, short by %s s", c.Level, c.Formula, formatSeconds(c.Need),
		formatSeconds(c.Timeout), formatSeconds(-c.Slack))
}

func quantityText(q Quantity) string {
	if q.Value == nil {
		return "?"
	}
	return formatDecimal(q.Value, true)
}

func sum(parts ...*big.Rat) *big.Rat {
	s := new(big.Rat)
	for _, p := range parts {
		s.Add(s, p)
	}
	return s
}

func toFloat(r *big.Rat) float64 { f, _ := r.Float64(); return f }

func formatSeconds(f float64) string {
	s := fmt.Sprintf("%.3f", f)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// formatDecimal formats a number with at most three decimals, rounded up or down.
func formatDecimal(r *big.Rat, up bool) string {
	scaled := new(big.Rat).Mul(r, big.NewRat(1000, 1))
	q, m := new(big.Int).DivMod(scaled.Num(), scaled.Denom(), new(big.Int))
	if up && m.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	s := new(big.Rat).SetFrac(q, big.NewInt(1000)).FloatString(3)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
