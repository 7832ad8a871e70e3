package check

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Estimate is how long a run takes at most: the whole health window, a slow build of the client,
// and phases that no stop criterion ends before their timeout. Durations are in seconds.
type Estimate struct {
	Nodes     int         `json:"nodes"`
	BringUp   float64     `json:"bring_up_seconds"`  // the health window
	Preflight float64     `json:"preflight_seconds"` // build of the client
	Phases    []PhaseTime `json:"phases"`
	Most      float64     `json:"most_seconds"`
	NodeHours float64     `json:"most_node_hours"`
	Limit     float64     `json:"time_limit_seconds"` // 0: not known
}

// PhaseTime is how long one phase takes: at least ramp, settling and the least
// measurement, at most its timeout and the requests that drain then.
type PhaseTime struct {
	Level int     `json:"level"`
	Least float64 `json:"least_seconds"`
	Most  float64 `json:"most_seconds"`
}

// preflightSeconds is a slow build of the external client; 5 to 10 minutes are usual.
const preflightSeconds = 600

// Sentence is the estimate in one line.
func (e Estimate) Sentence() string {
	s := fmt.Sprintf("at most %s: %s to come up, %s to build the client", span(e.Most), span(e.BringUp), span(e.Preflight))
	for _, p := range e.Phases {
		s += fmt.Sprintf(", level %d %s to %s", p.Level, span(p.Least), span(p.Most))
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
		return s + "; more than the time limit of " + span(e.Limit)
	}
	return s + "; within the time limit of " + span(e.Limit)
}

func span(seconds float64) string {
	s := time.Duration(math.Ceil(seconds) * float64(time.Second)).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// time compares the job's wall clock with bring-up and phases.
func (c *checker) time() {
	r := c.r
	if r.HealthWindowSeconds() < 1800 && r.WorkerNodes() >= 8 {
		c.report("health-window", "health_check.max_attempts", "max_attempts: 300",
			"servers get %d s to come up; %d nodes need 20 to 30 minutes", r.HealthWindowSeconds(), r.WorkerNodes()).
			Set("300", false)
	}
	if c.cluster != nil && c.cluster.HealthAttempts > 0 && r.Has("health_check.interval_seconds") &&
		!r.Has("health_check.max_attempts") {
		c.report("health-window", "health_check.interval_seconds", "give max_attempts too",
			"the cluster file's %d attempts are ignored as soon as the recipe has any health_check: "+
				"it is %d attempts now", c.cluster.HealthAttempts, r.HealthAttempts)
	}
	limit, ok := 0, false
	if r.Slurm.TimeLimit != "" {
		if limit, ok = Seconds(r.Slurm.TimeLimit); !ok {
			c.report("time-limit", "slurm.time_limit", "write HH:MM:SS or D-HH:MM:SS",
				"%q is no Slurm time", r.Slurm.TimeLimit).Severity = recipes.Error
		}
	}
	e := EstimateRun(r, c.w)
	if e == nil {
		return
	}
	e.Limit = float64(limit)
	c.out.Estimate = e
	if ok && e.Most > e.Limit {
		has := fmt.Sprintf("%s are %d s", r.Slurm.TimeLimit, limit)
		if !r.Has("slurm.time_limit") {
			has = "not in the recipe, so " + has
		}
		value := e.TimeLimit()
		c.report("time-limit", "slurm.time_limit", "time_limit: \""+value+"\"",
			"%s; health window, build of the client and phases may take %.0f s", has, e.Most).Set(`"`+value+`"`, false)
	}
}

// TimeLimit is a limit that the run fits in, in quarters of an hour, as Slurm has it.
func (e *Estimate) TimeLimit() string {
	const quarter = 900
	s := (int(e.Most) + quarter - 1) / quarter * quarter
	return fmt.Sprintf("%02d:%02d:00", s/3600, s/60%60)
}

// EstimateRun is how long a run of these files takes at most; nil where numbers for
// it are missing. The time limit is left out.
func EstimateRun(r *recipes.Recipe, w *recipes.Workload) *Estimate {
	if w == nil || len(r.Benchmark.Levels) == 0 || r.Benchmark.Type != "agentperf" {
		return nil
	}
	e := &Estimate{Nodes: r.Nodes(), BringUp: float64(r.HealthWindowSeconds()), Preflight: preflightSeconds}
	e.Most = e.BringUp + e.Preflight
	for _, t := range recipes.CheckTimeouts(w, r.Benchmark.Levels) {
		if !t.Known {
			return nil // an estimate from half the numbers is none
		}
		p := PhaseTime{Level: t.Level, Least: min(t.Need, t.Timeout), Most: t.Timeout + w.RequestTimeoutSeconds}
		e.Phases = append(e.Phases, p)
		e.Most += p.Most
	}
	e.NodeHours = e.Most * float64(e.Nodes) / 3600
	return e
}

// Seconds reads a Slurm time: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS.
func Seconds(s string) (int, bool) {
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
