package plan

import "math"

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
