package plan

import (
	"math"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// play has other levels played than the recipe's.
func (b *builder) play(levels []int, why string) {
	b.substitute("users", recipes.Commas(b.levels), recipes.Commas(levels), why)
	b.levels = levels
}

// shape is what a workload says of the length of its phases, in seconds and users a second.
func shape(timeout, settle, measure, rate float64) []recipes.Var {
	return []recipes.Var{
		{Name: "phase_timeout_seconds", Value: decimal(timeout)},
		{Name: "settling_time_seconds", Value: decimal(settle)},
		{Name: "min_measurement_seconds", Value: decimal(measure)},
		{Name: "user_spawn_rate", Value: decimal(rate)},
	}
}

// rewrite gives the client a copy of the workload, at a path, with the levels that
// are played and other values of some keys.
func (b *builder) rewrite(path string, set []recipes.Var) error {
	levels := "[" + strings.ReplaceAll(recipes.Commas(b.levels), ",", ", ") + "]"
	text, err := b.Workload.With(append([]recipes.Var{{Name: "concurrencies", Value: levels}}, set...))
	if err != nil {
		return err
	}
	source := b.Workload.File + " with the swaps of this plan"
	b.p.Files = append(b.p.Files, File{Path: path, Content: string(text), Source: source})
	changed, _ := recipes.ParseWorkload(b.Workload.File, text)
	b.p.Phases = phases(changed, b.levels)
	return nil
}

// quantity is a key of the workload as it stands there.
func (b *builder) quantity(key string) string {
	q := b.Workload.Quantity(key)
	if q.Assumed {
		return q.Text + " (assumed)"
	}
	return q.Text
}

// atMost is a quantity cut to a limit; an unknown one is the limit.
func atMost(q recipes.Quantity, limit float64) float64 {
	if q.Value == nil {
		return limit
	}
	return math.Min(q.Float(), limit)
}

// decimal is a number as a workload file has it: a float stays one.
func decimal(f float64) string {
	text := strconv.FormatFloat(math.Round(f*1e6)/1e6, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
