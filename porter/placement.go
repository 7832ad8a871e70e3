package porter

import (
	"slices"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// clientPlacement sets the node of the client: that of the worker whose first node the old client shared.
func (p *porting) clientPlacement() {
	const base = "benchmark.client_placement"
	value, why := "last_decode", "away from frontend and prefill workers, which are busiest"
	if p.run.Aggregated {
		value, why = "head", "the only placement without decode workers"
	}
	node, at := p.run.ClientNode()
	if node == "" {
		p.setRecipe(base, plain(value), fixed(why))
		if len(at) > 0 {
			p.ask(Confirm, Recipe, base, "", at, "confirm where the client runs; it ran on %s, but job.log does not show "+
				"the nodes of the job", safetext.Clip(at[0].Raw, 60))
			return
		}
		p.ask(Confirm, Recipe, base, "", nil, "confirm where the client runs; the run directory does not record it")
		return
	}
	for _, c := range p.placements() {
		if c.node == node {
			at = append(at, c.at)
			p.setRecipe(base, plain(c.value), inferred("the client ran on the first node of "+c.worker, "", at...))
			return
		}
	}
	p.setRecipe(base, plain(value), fixed(why))
	what := "no worker used; give it a dedicated node if that matters"
	for _, r := range p.run.Roles() {
		for _, l := range p.run.Launches.Workers[r] {
			if slices.Contains(l.Hosts, node) {
				what, at = l.Name()+" used, and which a recipe can't select", append(at, l.OptionAt(l.Nodelist))
			}
		}
	}
	p.ask(Confirm, Recipe, base, "", at[:min(len(at), maxEvidence)],
		"confirm where the client runs; it ran on %s, which %s", safetext.Clip(node, 80), what)
}

// placement is a value of the field and the node that it selects.
type placement struct {
	value, node, worker string
	at                  Evidence
}

// placements returns the nodes of the old run that the values select, the preferred value first.
func (p *porting) placements() []placement {
	var out []placement
	add := func(value string, r schema.Role, last bool) {
		ws := p.run.Launches.Workers[r]
		if len(ws) == 0 {
			return
		}
		l := ws[0]
		if last {
			l = ws[len(ws)-1]
		}
		if len(l.Hosts) > 0 {
			out = append(out, placement{value, l.Hosts[0], l.Name(), l.OptionAt(l.Nodelist)})
		}
	}
	add("last_decode", schema.Decode, true)
	add("first_decode", schema.Decode, false)
	add("head", p.run.Roles()[0], false)
	return out
}
