package check

import (
	"net/url"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

func (c *checker) workload() {
	if u, err := url.Parse(c.w.BaseURL); c.w.BaseURL != "" &&
		(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		c.reportWorkload("placeholder-url", "base_url", "http://placeholder:8000/v1",
			"%q is no URL: the client validates it before it is overridden", c.w.BaseURL)
	}
	c.assignments()
	if c.unreadLevels() {
		return // those of the workload are not what would run
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
		c.reportWorkload("phase-timeout", "phase_timeout_seconds", "write them down",
			"the timeout rule rests on assumed values: %s", c.assumed(c.out.Timeouts[0].Assumed)).Severity = recipes.Note
	}
}

func (c *checker) assumed(keys []string) string {
	var parts []string
	for _, k := range keys {
		parts = append(parts, k+" "+c.w.Quantity(k).Text)
	}
	return strings.Join(parts, ", ")
}

func (c *checker) timeout(t recipes.TimeoutCheck) {
	switch {
	case !t.Known:
		c.reportWorkload("phase-timeout", "phase_timeout_seconds", "", "%s", t.Sentence())
	case !t.OK:
		fixes := make([]string, 0, len(t.Fixes))
		for _, k := range t.Fixes {
			fixes = append(fixes, k.String())
		}
		d := c.reportWorkload("phase-timeout", "phase_timeout_seconds", "any one of: "+strings.Join(fixes, "; "),
			"%s", t.Sentence())
		d.Set(t.Fixes[0].Value, false)
	}
}
