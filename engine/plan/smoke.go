package plan

import (
	"math"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// What a smoke run plays, at most: it proves that everything comes up and that
// the client gets answers, and measures nothing that counts.
const (
	smokeUsers   = 4
	smokeSettle  = 10.0 // s
	smokeMeasure = 20.0 // s
	smokeRate    = 1.0  // users/s, at least
	// smokeSeconds is a local smoke run's phase, its timeout.
	smokeSeconds = 12.0
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
	levels := b.levels
	b.levels = []int{min(smokeUsers, b.r.Benchmark.MaxLevel())}
	settle, measure := atMost(w.Settling, smokeSettle), atMost(w.MinMeasurement, smokeMeasure)
	rate := math.Max(w.SpawnRate.Float(), smokeRate)
	timeout := math.Ceil(float64(b.levels[0]-1)/rate+settle+measure) + 1
	set := []recipes.Var{
		{Name: "concurrencies", Value: "[" + strconv.Itoa(b.levels[0]) + "]"},
		{Name: "phase_timeout_seconds", Value: decimal(timeout)},
		{Name: "settling_time_seconds", Value: decimal(settle)},
		{Name: "min_measurement_seconds", Value: decimal(measure)},
		{Name: "user_spawn_rate", Value: decimal(rate)},
	}
	text, err := w.With(set)
	if err != nil {
		return err
	}
	b.substitute("users", recipes.Commas(levels), recipes.Commas(b.levels), "smoke run: it proves that all comes up")
	for _, s := range set[1:] {
		if from := b.quantity(s.Name); from != s.Value {
			b.substitute(s.Name, from, s.Value, "smoke run: the shortest phase")
		}
	}
	b.config = "/logs/" + smokeFile
	b.substitute("workload", b.r.Benchmark.ConfigPath, b.config, "smoke run: the client reads a changed copy")
	b.p.Files = append(b.p.Files, File{
		Path: LogDir + "/" + smokeFile, Content: string(text), Source: w.File + " with the swaps of this plan",
	})
	short, _ := recipes.ParseWorkload(w.File, text)
	b.p.Phases = phases(short, b.levels)
	return nil
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
