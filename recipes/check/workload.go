package check

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

func (c *checker) workload() {
	if u, err := url.Parse(c.w.BaseURL); c.w.BaseURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		c.workloadDiag(recipes.Error, "base_url", fmt.Sprintf("%q is no URL: the client validates it before it is overridden", c.w.BaseURL), "http://placeholder:8000/v1")
	}
	levels := c.w.Levels
	if c.r != nil && len(c.r.Benchmark.Levels) > 0 {
		levels = c.r.Benchmark.Levels
	}
	c.out.Timeouts = recipes.CheckTimeouts(c.w, levels)
	for _, t := range c.out.Timeouts {
		c.timeout(t)
	}
	if len(c.out.Timeouts) > 0 && len(c.out.Timeouts[0].Assumed) > 0 {
		c.workloadDiag(recipes.Note, "phase_timeout_seconds", "the timeout rule rests on assumed values: "+c.assumed(c.out.Timeouts[0].Assumed), "write them down")
	}
}

func (c *checker) assumed(keys []string) string {
	var parts []string
	for _, q := range []recipes.Quantity{c.w.PhaseTimeout, c.w.SpawnRate, c.w.Settling, c.w.MinMeasurement} {
		for _, k := range keys {
			if q.Key == k {
				parts = append(parts, k+" "+q.Text)
			}
		}
	}
	return strings.Join(parts, ", ")
}

func (c *checker) timeout(t recipes.TimeoutCheck) {
	switch {
	case !t.Known:
		c.workloadDiag(recipes.Error, "phase_timeout_seconds", t.Sentence(), "")
	case !t.OK:
		fixes := make([]string, 0, len(t.Fixes))
		for _, k := range t.Fixes {
			fixes = append(fixes, k.String())
		}
		c.workloadDiag(recipes.Error, "phase_timeout_seconds", t.Sentence(), "any one of: "+strings.Join(fixes, "; "))
	}
}

func (c *checker) workloadDiag(sev recipes.Severity, key, msg, fix string) {
	c.out.Diagnostics = append(c.out.Diagnostics, c.w.Diag(sev, key, msg, fix))
}

// Seconds reads a Slurm time: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or
// D-HH:MM:SS.
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
