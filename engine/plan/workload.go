package plan

import (
	"math"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// play has other levels played than the recipe's.
func (b *builder) play(levels []int, why string) {
	b.substitute("users", recipes.JoinInts(b.levels), recipes.JoinInts(levels), why)
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
	levels := "[" + strings.ReplaceAll(recipes.JoinInts(b.levels), ",", ", ") + "]"
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

// What a smoke run plays, at most: it proves that everything comes up and that
// the client gets answers, and measures nothing that counts.
const (
	smokeUsers   = 4
	smokeSettle  = 10.0 // s
	smokeMeasure = 20.0 // s
	smokeRate    = 1.0  // users/s, at least
	smokeSeconds = 12.0 // a local smoke run's phase, its timeout
)

// smokeFile is the client's workload in the log dir of a smoke run.
const smokeFile = "benchmark_config.smoke.yaml"

// smoke makes a Slurm run short: the same nodes and servers, one level of a few
// users, and the shortest phase that its own rule allows. The client reads a copy of
// the workload from the log dir. Each difference is a row of Substitutions.
func (b *builder) smoke() error {
	w := b.Workload
	if w == nil {
		return errNoWorkload
	}
	users := min(smokeUsers, b.r.Benchmark.MaxLevel())
	settle, measure := atMost(w.Settling, smokeSettle), atMost(w.MinMeasurement, smokeMeasure)
	rate := math.Max(w.SpawnRate.Float(), smokeRate)
	b.play([]int{users}, "smoke run: it proves that all comes up")
	times := shape(math.Ceil(float64(users-1)/rate+settle+measure)+1, settle, measure, rate)
	for _, s := range times {
		if from := b.quantity(s.Name); from != s.Value {
			b.substitute(s.Name, from, s.Value, "smoke run: the shortest phase")
		}
	}
	b.config = containerLogs + "/" + smokeFile
	b.substitute("workload", b.r.Benchmark.ConfigPath, b.config, "smoke run: the client reads a changed copy")
	return b.rewrite(LogDir+"/"+smokeFile, times)
}
