package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// gone lists the fields of layout 1 that layout 2 does not have any more.
var gone = []string{
	"observability.scrape_metrics", "observability.scrape_interval_seconds", "observability.scrape_output",
	"observability.build_dashboard", "observability.tachometer.default_frequency", "telemetry.default_frequency",
	"telemetry.provider",
}

// removedFrom returns why layout 2 of a recipe does not have a field of layout 1; empty: it has.
func removedFrom(r *recipes.Recipe, path string) string {
	within := func(name string) bool { return path == name || strings.HasPrefix(path, name+".") }
	if slices.ContainsFunc(gone, within) {
		return "layout 2 does not have it"
	}
	if slices.ContainsFunc(recipes.UnreadBy(r.Benchmark.Type), within) {
		return r.Benchmark.Type + " does not read it, and layout 2 rejects it"
	}
	switch path {
	case "dynamo.version":
		for _, other := range []string{"dynamo.hash", "dynamo.wheel", "dynamo.top_of_tree"} {
			if v := leaf(r, other); v != "" && v != "false" {
				return other + " overrides it"
			}
		}
	case "infra.nats_max_payload_mb":
		if r.Frontend.Type != schema.Dynamo {
			return r.Frontend.Type + " does not use NATS"
		}
	}
	return ""
}

// removed returns why no recipe of the section has a field of layout 1 in layout 2.
func (m *migration) removed(path string) string {
	why := ""
	if !m.section.every(func(r *recipes.Recipe) bool { why = removedFrom(r, path); return why != "" }) {
		return ""
	}
	return why
}

// remove leaves an entry out of the result. Comments above it go to the next entry; one beside it or
// in it stays, with the entry as a comment.
func (m *migration) remove(path, why string, k entry) {
	m.notes = append(m.notes, fmt.Sprintf("%s (line %d) was removed: %s", path, k.node.Line, why))
	m.pending += reindent(k.comments, -k.indent, m.eol)
	if !k.hasComments {
		return
	}
	text := reindent(k.key+":"+k.value, -k.indent, m.eol)
	for line := range strings.Lines(text) {
		m.pending += strings.TrimRight("# "+line, "\r\n ") + m.eol
	}
}
