package check

import (
	"net/url"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

func (c *checker) benchmark() {
	r := c.r
	if r.Benchmark.Type != "agentperf" {
		c.report("not-run-here", "benchmark.type", "",
			"benchmark %s can be read, not run here: only agentperf is", r.Benchmark.Type)
		return
	}
	for _, f := range []struct{ path, value, what string }{
		{"benchmark.agentperf_client_dir", r.Benchmark.ClientDir, "the client checkout"},
		{"benchmark.agentperf_config", r.Benchmark.ConfigPath, "the workload file"},
	} {
		_, covered := c.covering(f.value)
		switch {
		case f.value == "":
			c.report("agentperf-fields", f.path, "add it", "required by agentperf, and not given: container path of %s", f.what)
		case !strings.HasPrefix(f.value, "/"):
			c.report("agentperf-fields", f.path, "begin it with /", "%q is no absolute container path", f.value)
		case !strings.HasPrefix(f.value, "/TODO/") && !covered:
			c.report("container-path", f.path, "add an extra_mount",
				"no mount of the recipe covers %s: the container may not see it", f.value)
		}
	}
	if len(r.Benchmark.Levels) == 0 && !c.unreadLevels() {
		c.report("agentperf-fields", "benchmark.concurrencies", "give concurrency or concurrencies",
			"no concurrency level is given")
	}
	if r.Has("benchmark.concurrency") && r.Has("benchmark.concurrencies") && len(r.Benchmark.Levels) > 0 {
		d := c.report("coerced", "benchmark.concurrencies", "remove one of the two", "concurrency is given too, and wins")
		d.Unset(false)
	}
	c.clientArguments()
}

// unreadLevels says whether the recipe gives levels that could not be read, which
// is reported where they stand.
func (c *checker) unreadLevels() bool {
	return c.r != nil && len(c.r.Benchmark.Levels) == 0 &&
		(c.r.Has("benchmark.concurrency") || c.r.Has("benchmark.concurrencies"))
}

// clientArguments: what the recipe adds to the client's command line can undo
// what the run relies on.
func (c *checker) clientArguments() {
	for _, v := range c.r.Benchmark.Env {
		path := "benchmark.env." + v.Name
		if strings.Contains(v.Value, "localhost") || strings.Contains(v.Value, "127.0.0.1") {
			if c.r.Benchmark.Placement != "head" || c.r.Benchmark.Dedicated {
				c.report("localhost", path, "use SRT_FRONTEND_HOST and SRT_FRONTEND_PORT",
					"the client runs on another node than the frontend: localhost is not it")
			}
		}
		if v.Name != "AGENTPERF_EXTRA_ARGS" {
			continue
		}
		for _, flag := range []string{"--results-dir", "--request-log-path"} {
			if strings.Contains(v.Value, flag) {
				c.report("results-dir", path, "remove it",
					"%s takes the results out of the run's own folder: "+
						"two runs could share it, and nothing here would find them", flag)
			}
		}
	}
}

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
		c.reportWorkload("phase-timeout", "phase_timeout_seconds", "", "%s", t.Summary())
	case !t.OK:
		fixes := make([]string, 0, len(t.Fixes))
		for _, k := range t.Fixes {
			fixes = append(fixes, k.String())
		}
		d := c.reportWorkload("phase-timeout", "phase_timeout_seconds", "any one of: "+strings.Join(fixes, "; "),
			"%s", t.Summary())
		d.Set(t.Fixes[0].Value, false)
	}
}
