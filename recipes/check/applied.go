package check

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// notRunHere reports that this program can read the recipe but not run it, in one finding.
func (c *checker) notRunHere() {
	r := c.r
	var what []string
	path := "benchmark.type"
	if _, runs := c.Backends.For(r); !runs {
		switch {
		case r.Frontend.Type == schema.NoFrontend:
			what = append(what, "a job of services")
			path = "frontend.type"
		case r.Sidecar:
			what = append(what, r.Engine.Type+" with a sidecar")
			path = "dynamo.sidecar"
		default:
			what = append(what, fmt.Sprintf("%s behind %s", r.Engine.Type, r.Frontend.Type))
			path = "backend.type"
		}
	}
	if r.Benchmark.Type != schema.AgentPerf {
		what = append(what, "benchmark "+r.Benchmark.Type)
	}
	if c.runsHere = len(what) == 0; !c.runsHere {
		c.report("not-run-here", path, "", "can be read but not run here: %s; this program runs only %s with %s",
			strings.Join(what, ", "), c.Backends, schema.AgentPerf)
	}
}

// notApplied reports the fields that a plan does not apply: in one warning those because of which the
// figures of a run differ, in one note the others.
func (c *checker) notApplied() {
	groups := map[recipes.Severity][]recipes.Unapplied{}
	for _, u := range c.r.Unapplied() {
		switch {
		case u.Field.Rule != "": // reported by that rule
		case u.Field.Figures:
			groups[recipes.Warning] = append(groups[recipes.Warning], u)
		default:
			groups[recipes.Note] = append(groups[recipes.Note], u)
		}
	}
	for _, severity := range []recipes.Severity{recipes.Warning, recipes.Note} {
		fields := groups[severity]
		if len(fields) == 0 {
			continue
		}
		texts := make([]string, 0, len(fields))
		for _, u := range fields {
			texts = append(texts, fmt.Sprintf("%s (%s)", c.r.Position(u.Name).Path, u.Reason))
		}
		message := "not applied by plans of this program: %s"
		if severity == recipes.Warning {
			message = "not applied by plans of this program, so the figures may differ from those of srtctl: %s"
		}
		c.report("not-applied", fields[0].Name, "", message, strings.Join(texts, ", ")).Severity = severity
	}
}
