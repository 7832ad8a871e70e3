package check

import (
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func (c *checker) benchmark() {
	r := c.r
	if r.Benchmark.Type != schema.AgentPerf {
		return
	}
	for _, f := range []struct{ path, value, what string }{
		{"benchmark.agentperf_client_dir", r.Benchmark.ClientDir, "the client checkout"},
		{"benchmark.agentperf_config", r.Benchmark.ConfigPath, "the workload file"},
	} {
		_, mounted := c.mountOf(f.value)
		switch {
		case f.value == "":
			c.report("agentperf-fields", f.path, "add it", "required by agentperf: the container path of %s", f.what)
		case recipes.ContainerPathProblem(f.value) != "":
			c.report("agentperf-fields", f.path, "write the whole path, from /", "%s", recipes.ContainerPathProblem(f.value))
		case !strings.HasPrefix(f.value, "/TODO/") && !mounted:
			c.report("container-path", f.path, "add an extra_mount that contains it",
				"no mount contains %s, so it may not exist in the container", f.value)
		}
	}
	if len(r.Benchmark.Levels) == 0 && !c.hasInvalidLevels() {
		c.report("agentperf-fields", "benchmark.concurrencies", "set concurrency or concurrencies",
			"no concurrency level is set")
	}
	if r.Has("benchmark.concurrency") && r.Has("benchmark.concurrencies") && len(r.Benchmark.Levels) > 0 {
		d := c.report("coerced", "benchmark.concurrencies", "remove one of the two", "ignored because concurrency is set too")
		d.Unset(false)
	}
	c.clientArguments()
}

// hasInvalidLevels reports whether the recipe sets concurrency levels that could not
// be parsed. The loader reports them.
func (c *checker) hasInvalidLevels() bool {
	return c.r != nil && len(c.r.Benchmark.Levels) == 0 &&
		(c.r.Has("benchmark.concurrency") || c.r.Has("benchmark.concurrencies"))
}

// clientArguments checks what the recipe adds to the client's environment and command line.
func (c *checker) clientArguments() {
	for _, v := range c.r.Benchmark.Env {
		path := "benchmark.env." + v.Name
		if strings.Contains(v.Value, "localhost") || strings.Contains(v.Value, "127.0.0.1") {
			if c.r.Benchmark.Placement != "head" || c.r.Benchmark.Dedicated {
				c.report("localhost", path, "use SRT_FRONTEND_HOST and SRT_FRONTEND_PORT",
					"localhost is not the frontend: the client runs on another node")
			}
		}
		if v.Name != "AGENTPERF_EXTRA_ARGS" {
			continue
		}
		for _, flag := range []string{"--results-dir", "--request-log-path"} {
			if strings.Contains(v.Value, flag) {
				c.report("results-dir", path, "remove it",
					"%s writes the results outside of the run directory, where they would not be found "+
						"and another run could overwrite them", flag)
			}
		}
	}
}
