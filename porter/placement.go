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
	what, used := p.userOf(node)
	if used == nil {
		what += "; give it a dedicated node if that matters"
	} else {
		what, at = what+", and which a recipe can't select", append(at, used...)
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
	add(onHead, p.run.Roles()[0], false)
	return out
}

// frontendPlacement sets the node of the frontend, unless it ran on the one where a recipe places it anyway. It asks
// if a recipe can't select the node.
func (p *porting) frontendPlacement() {
	const base = "frontend.orchestrator_placement"
	l := p.run.Launches.Frontend
	if l == nil || len(l.Hosts) == 0 || p.run.Launches.WorkerCount() == 0 {
		return
	}
	node, at := l.Hosts[0], evidence(l.OptionAt(l.Nodelist))
	for _, c := range slices.Backward(p.placements()) {
		switch {
		case c.node != node:
		case c.value == onHead:
			return
		default:
			p.setRecipe(base, plain(c.value), inferred("the frontend ran on the first node of "+c.worker, "",
				append(at, c.at)...))
			return
		}
	}
	user, used := p.userOf(node)
	head, first := p.headNode()
	at = slices.Concat(at, used, first)
	p.setRecipe(base, plain(onHead), fallback("no placement selects the node of the old frontend", at...))
	p.ask(Confirm, Recipe, base, "", at,
		"the frontend ran on %s, which %s; in the new job it runs on %s: confirm, or give it another node",
		safetext.Clip(node, 80), user, head)
}

// onHead is the placement on the first node of a job.
const onHead = "head"

// userOf describes which worker ran on a node.
func (p *porting) userOf(node string) (text string, at []Evidence) {
	for _, r := range p.run.Roles() {
		for _, l := range p.run.Launches.Workers[r] {
			if slices.Contains(l.Hosts, node) {
				return l.Name() + " used", evidence(l.OptionAt(l.Nodelist))
			}
		}
	}
	return "no worker used", nil
}

// headNode describes the first node of the new job, with its name in the old one.
func (p *porting) headNode() (text string, at []Evidence) {
	for _, c := range p.placements() {
		if c.value == onHead {
			return "the first node of " + c.worker + " (" + safetext.Clip(c.node, 80) + " in the old run)", evidence(c.at)
		}
	}
	return "the first node of the job", nil
}
