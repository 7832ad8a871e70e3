package plan

import (
	"math"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// setLevels replaces the concurrency levels of the recipe.
func (b *builder) setLevels(levels []int, why string) {
	b.substitute("users", recipes.JoinInts(b.levels), recipes.JoinInts(levels), why)
	b.levels = levels
}

// phaseSettings returns the workload keys for the durations of a phase (s) and the spawn rate (users/s).
func phaseSettings(timeout, settling, measurement, rate float64) []recipes.Var {
	return []recipes.Var{
		{Name: "phase_timeout_seconds", Value: decimal(timeout)},
		{Name: "settling_time_seconds", Value: decimal(settling)},
		{Name: "min_measurement_seconds", Value: decimal(measurement)},
		{Name: "user_spawn_rate", Value: decimal(rate)},
	}
}

// writeWorkload adds a copy of the workload for the client, with the concurrency levels of
// the plan and the given keys set.
func (b *builder) writeWorkload(path string, set []recipes.Var) error {
	levels := "[" + strings.ReplaceAll(recipes.JoinInts(b.levels), ",", ", ") + "]"
	text, err := b.Workload.With(append([]recipes.Var{{Name: "concurrencies", Value: levels}}, set...))
	if err != nil {
		return err
	}
	source := b.Workload.File + " with the substitutions of this plan"
	b.plan.Files = append(b.plan.Files, File{Path: path, Content: string(text), Source: source})
	changed, _ := recipes.ParseWorkload(b.Workload.File, text)
	b.plan.Phases = phases(changed, b.levels)
	return nil
}

// workloadText returns the value of a workload key as written in the file.
func (b *builder) workloadText(key string) string {
	q := b.Workload.Quantity(key)
	if q.Assumed {
		return q.Text + " (assumed)"
	}
	return q.Text
}

// atMost returns the smaller of a quantity and a limit; the limit if the quantity is unknown.
func atMost(q recipes.Quantity, limit float64) float64 {
	if q.Value == nil {
		return limit
	}
	return math.Min(q.Float(), limit)
}

// decimal formats a number for a workload file, with a decimal point.
func decimal(f float64) string {
	text := strconv.FormatFloat(math.Round(f*1e6)/1e6, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// Limits of a smoke run. It tests that all steps start and that the client gets responses;
// its results are not meaningful.
const (
	smokeUsers   = 4
	smokeSettle  = 10.0 // s
	smokeMeasure = 20.0 // s
	smokeRate    = 1.0  // users/s; the minimum
	smokeSeconds = 12.0 // phase timeout of a local smoke run
)

// smokeFile is the client's workload in the log directory of a smoke run.
const smokeFile = "benchmark_config.smoke.yaml"

// shortenForSmoke reduces a Slurm run to one concurrency level with a few users and the
// shortest phase that the timeout rule allows, on the same nodes and servers. The client
// reads a copy of the workload from the log directory. Each difference is recorded as a
// substitution.
func (b *builder) shortenForSmoke() error {
	w := b.Workload
	if w == nil {
		return errNoWorkload
	}
	users := min(smokeUsers, b.recipe.Benchmark.MaxLevel())
	settling, measurement := atMost(w.Settling, smokeSettle), atMost(w.MinMeasurement, smokeMeasure)
	rate := math.Max(w.SpawnRate.Float(), smokeRate)
	b.setLevels([]int{users}, "smoke run: tests that all steps start")
	times := phaseSettings(math.Ceil(float64(users-1)/rate+settling+measurement)+1, settling, measurement, rate)
	for _, s := range times {
		if from := b.workloadText(s.Name); from != s.Value {
			b.substitute(s.Name, from, s.Value, "smoke run: the shortest phase")
		}
	}
	b.config = containerLogs + "/" + smokeFile
	b.substitute("workload", b.recipe.Benchmark.ConfigPath, b.config, "smoke run: the client reads a modified copy")
	return b.writeWorkload(LogDir.text()+"/"+smokeFile, times)
}
