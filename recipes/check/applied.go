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

// notApplied reports the fields of recipe and cluster file that a plan does not apply.
func (c *checker) notApplied() {
	c.reportNotApplied(c.r.Unapplied(), func(u recipes.Unapplied) string { return c.r.Position(u.Name).Path },
		func(path, message string) recipes.Diagnostic { return c.r.Diag(recipes.Note, path, message, "") })
	if c.cluster != nil {
		c.reportNotApplied(c.cluster.Unapplied(), func(u recipes.Unapplied) string { return u.Name },
			func(path, message string) recipes.Diagnostic { return c.cluster.Diag(recipes.Note, path, message, "") })
	}
}

// reportNotApplied adds a warning about the fields because of which the figures of a run differ, and a
// note about the others. at and diag return the path of a field in the file and a finding about it.
func (c *checker) reportNotApplied(
	all []recipes.Unapplied, at func(recipes.Unapplied) string, diag func(name, message string) recipes.Diagnostic,
) {
	groups := map[recipes.Severity][]recipes.Unapplied{}
	for _, u := range all {
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
			texts = append(texts, fmt.Sprintf("%s (%s)", at(u), u.Reason))
		}
		message := "not applied by plans of this program: "
		if severity == recipes.Warning {
			message = "not applied by plans of this program, so the figures may differ from those of srtctl: "
		}
		c.add("not-applied", diag(fields[0].Name, message+strings.Join(texts, ", "))).Severity = severity
	}
}
