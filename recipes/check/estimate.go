package check

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Estimate is the longest time that a run can take: the whole health window (the time limit for the
// start of the servers), a slow build of the client, and phases that last until their timeout.
// Durations are in seconds.
type Estimate struct {
	Nodes     int         `json:"nodes"`
	BringUp   float64     `json:"bring_up_seconds"`  // the health window
	Preflight float64     `json:"preflight_seconds"` // build of the client
	Phases    []PhaseTime `json:"phases"`
	Most      float64     `json:"most_seconds"`
	NodeHours float64     `json:"most_node_hours"`
	Limit     float64     `json:"time_limit_seconds"` // 0: unknown
}

// PhaseTime is the duration of one phase: at least ramp-up, settling and the minimum
// measurement, at most its timeout and the time to drain requests.
type PhaseTime struct {
	Level int     `json:"level"`
	Least float64 `json:"least_seconds"`
	Most  float64 `json:"most_seconds"`
}

// preflightSeconds is the time for a slow build of the external client; 5 to 10 minutes are usual.
const preflightSeconds = 600

// Summary formats the estimate on one line.
func (e Estimate) Summary() string {
	s := fmt.Sprintf("at most %s: %s startup, %s client build",
		duration(e.Most), duration(e.BringUp), duration(e.Preflight))
	for _, p := range e.Phases {
		s += fmt.Sprintf(", level %d %s to %s", p.Level, duration(p.Least), duration(p.Most))
	}
	nodes := "nodes"
	if e.Nodes == 1 {
		nodes = "node"
	}
	s += fmt.Sprintf("; %d %s, %.1f node-hours", e.Nodes, nodes, e.NodeHours)
	switch {
	case e.Limit == 0:
		return s
	case e.Most > e.Limit:
		return s + "; exceeds the time limit of " + duration(e.Limit)
	}
	return s + "; within the time limit of " + duration(e.Limit)
}

// duration formats seconds as Go does, but without trailing zero units: 1h45m, not 1h45m0s.
func duration(seconds float64) string {
	s := time.Duration(math.Ceil(seconds) * float64(time.Second)).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// timeLimits checks the health window and the job's time limit.
func (c *checker) timeLimits() {
	r := c.r
	if r.HealthWindowSeconds() < 1800 && r.WorkerNodes() >= 8 {
		c.report("health-window", "health_check.max_attempts", "max_attempts: 300",
			"servers have %d s to start, but on %d nodes they need 20 to 30 minutes", r.HealthWindowSeconds(), r.WorkerNodes()).
			Set("300", false)
	}
	if c.cluster != nil && c.cluster.HealthAttempts > 0 && r.Has("health_check.interval_seconds") &&
		!r.Has("health_check.max_attempts") {
		c.report("health-window", "health_check.interval_seconds", "set max_attempts too",
			"the cluster file's %d attempts are ignored because the recipe has a health_check: "+
				"the limit is %d attempts", c.cluster.HealthAttempts, r.HealthAttempts)
	}
	limit, ok := 0, false
	if r.Slurm.TimeLimit != "" {
		if limit, ok = ParseTimeLimit(r.Slurm.TimeLimit); !ok {
			c.report("time-limit", "slurm.time_limit", "use HH:MM:SS or D-HH:MM:SS",
				"%q is not a Slurm time limit", r.Slurm.TimeLimit).Severity = recipes.Error
		}
	}
	e := EstimateRun(r, c.w)
	if e == nil {
		return
	}
	e.Limit = float64(limit)
	c.out.Estimate = e
	if ok && e.Most > e.Limit {
		given := fmt.Sprintf("%s is %d s", r.Slurm.TimeLimit, limit)
		if !r.Has("slurm.time_limit") {
			given = "not set in the recipe: " + given
		}
		value := e.TimeLimit()
		c.report("time-limit", "slurm.time_limit", "time_limit: \""+value+"\"",
			"%s, but startup, client build and phases may take %.0f s", given, e.Most).Set(`"`+value+`"`, false)
	}
}

// TimeLimit returns a Slurm time limit that is long enough, rounded up to 15 minutes.
func (e *Estimate) TimeLimit() string {
	const quarter = 900
	s := (int(e.Most) + quarter - 1) / quarter * quarter
	return fmt.Sprintf("%02d:%02d:00", s/3600, s/60%60)
}

// EstimateRun estimates the longest time that a run can take, without its Limit. It
// returns nil if an input is missing or invalid.
func EstimateRun(r *recipes.Recipe, w *recipes.Workload) *Estimate {
	if w == nil || len(r.Benchmark.Levels) == 0 || r.Benchmark.Type != schema.AgentPerf {
		return nil
	}
	e := &Estimate{Nodes: r.Nodes(), BringUp: float64(r.HealthWindowSeconds()), Preflight: preflightSeconds}
	e.Most = e.BringUp + e.Preflight
	for _, t := range recipes.CheckTimeouts(w, r.Benchmark.Levels) {
		if !t.Known {
			return nil
		}
		p := PhaseTime{Level: t.Level, Least: min(t.Need, t.Timeout), Most: t.Timeout + w.RequestTimeoutSeconds}
		e.Phases = append(e.Phases, p)
		e.Most += p.Most
	}
	e.NodeHours = e.Most * float64(e.Nodes) / 3600
	return e
}

// ParseTimeLimit returns the seconds of a Slurm time limit: minutes, MM:SS, HH:MM:SS, D-HH,
// D-HH:MM or D-HH:MM:SS. ok is false for anything else.
func ParseTimeLimit(s string) (seconds int, ok bool) {
	days, rest, dashed := strings.Cut(s, "-")
	total := 0
	if dashed {
		d, err := strconv.Atoi(days)
		if err != nil || d < 0 || d > 10000 {
			return 0, false
		}
		total = d * 86400
	} else {
		rest = s
	}
	parts := strings.Split(rest, ":")
	units := map[bool][][]int{
		false: {{60}, {60, 1}, {3600, 60, 1}},
		true:  {{3600}, {3600, 60}, {3600, 60, 1}},
	}[dashed]
	if len(parts) > len(units) {
		return 0, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 1e6 {
			return 0, false
		}
		total += n * units[len(parts)-1][i]
	}
	return total, true
}
