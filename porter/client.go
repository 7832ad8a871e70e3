package porter

import (
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

const clientEnv = "benchmark.env"

// clientFields sets what the client's command shows: environment, image and flags. Its mounts are among
// those of all steps.
func (p *porting) clientFields() {
	client := &p.run.Client
	if len(client.Runs) == 0 {
		p.askClientRun()
		return
	}
	env := environment{p, rules.Client, clientEnv}
	env.fields(client.Env())
	if l := client.Launch; l != nil {
		env.askBareNames(l)
		p.clientImage(l)
		for _, text := range l.Problems {
			p.ask(Confirm, "", "", "client launch", evidence(l.At("", "", 0)), "client: %s", text)
		}
	}
	p.clientFlags()
}

// askClientRun asks about a client script that was read, but does not show how the client was run.
func (p *porting) askClientRun() {
	for _, a := range p.run.Artifacts {
		if strings.TrimSuffix(a.Name, ".gz") != harness.ClientScript || !a.Present || a.Problem != "" ||
			len(a.Problems) > 0 && len(p.run.Client.Commands) == 0 {
			continue
		}
		p.ask(Confirm, "", "", "client command", evidence(Evidence{Artifact: a.Name}),
			"%s runs no run.py, so the flags, the environment, the image and the mounts of the client are unknown: add what "+
				"the new job needs", a.Name)
	}
}

// clientImage sets the client's image if it was not that of the servers.
func (p *porting) clientImage(l *harness.Launch) {
	servers, _ := preferLaunched(p.run.Params["CONTAINER_IMAGE"], p.launchedValues(
		func(l *harness.Launch) (string, Evidence) { return l.Image.Value, l.OptionAt(l.Image) }))
	if l.Image.Value == "" || l.Image.Value == servers {
		return
	}
	const base = "benchmark.container_image"
	text, from := p.rewritePath(l.Image.Value, l.OptionAt(l.Image))
	p.setRecipe(base, plain(text), from)
	p.askVariable(base, text, l.OptionAt(l.Image))
}

// clientFlags passes other flags of the old client command to the bench step, which splits them at
// spaces and does not support quotes.
func (p *porting) clientFlags() {
	const variable = "AGENTPERF_EXTRA_ARGS"
	client := p.run.Client
	if len(client.Flags) == 0 {
		return
	}
	p.askVariable(clientEnv+"."+variable, strings.Join(client.Flags, " "), client.FlagsAt)
	for _, w := range client.Flags {
		if w == "" || strings.ContainsAny(w, " \t\n") {
			p.ask(MustFix, Recipe, clientEnv+"."+variable, "spaces", evidence(client.FlagsAt),
				"the client's argument %q can't be passed on: the bench step splits at spaces", safetext.Clip(w, 60))
		}
	}
	p.setRecipeEntry(clientEnv, variable, quoted(strings.Join(client.Flags, " ")),
		translated("flags of the old client command", "the bench step sets the other flags", client.FlagsAt))
}

// clientMounts returns the mounts of the client that the servers did not have, and those of them that
// conflict with one of the servers.
func (in *input) clientMounts(servers []string) (more, conflicts []string) {
	l := in.run.Client.Launch
	if l == nil || l.Mounts.Value == "" {
		return nil, nil
	}
	side := func(m string, i int) string {
		parts := strings.Split(m, ":")
		return parts[min(i, len(parts)-1)]
	}
	for _, m := range in.rewrites.Mounts(l.Mounts.Value) {
		replaces := func(s string) bool { return side(s, 0) == side(m, 0) || side(s, 1) == side(m, 1) }
		switch {
		case slices.Contains(servers, m):
		case slices.ContainsFunc(servers, replaces):
			conflicts = append(conflicts, m)
		default:
			more = append(more, m)
		}
	}
	return more, conflicts
}

// askClientMounts asks about the mounts that only the client had.
func (p *porting) askClientMounts(more, conflicts []string) {
	const field = "extra_mount"
	if len(more)+len(conflicts) == 0 {
		return
	}
	l := p.run.Client.Launch
	if len(conflicts) > 0 {
		p.ask(Confirm, Recipe, field, "client", evidence(l.OptionAt(l.Mounts)),
			"the client was launched with %s, where the servers had another mount, but all steps of a recipe have the same "+
				"mounts: check which one is needed", safetext.Clip(strings.Join(conflicts, ", "), 120))
		return
	}
	p.ask(Note, Recipe, field, "client", evidence(l.OptionAt(l.Mounts)),
		"only the client had the mount %s; in the new job all steps have it", safetext.Clip(strings.Join(more, ", "), 120))
}

// askTokens asks about the parts of launch lines and of the client script for which a recipe has no place, once
// per decision.
func (p *porting) askTokens() {
	for _, l := range p.run.Launches.All() {
		for _, t := range l.Tokens() {
			if f := rules.Of(l, t); t.Overridden == "" {
				p.askFate(f, l.Name(), l.At(t.Name, t.Source, t.Offset))
			}
		}
	}
	for i := range p.run.Launches.Beside {
		b := &p.run.Launches.Beside[i]
		for _, t := range b.Tokens() {
			at := b.At(t.Name, harness.Word{Source: t.Source, Offset: t.Offset})
			p.askFate(rules.OfCommand(b.Command, harness.JobLog), "", at)
		}
	}
	client := &p.run.Client
	if len(client.Runs) == 0 {
		return
	}
	for _, t := range client.Tokens() {
		if t.Overridden != "" {
			continue
		}
		launch := ""
		if client.IsLaunch(t.Command) || client.IsRun(t.Command) {
			launch = "client"
		}
		p.askFate(rules.OfClient(client, t), launch, t.At)
	}
}

// askFate asks what becomes of a token. launch is empty for one that belongs to no launch.
func (p *porting) askFate(f rules.Fate, launch string, at Evidence) {
	if f.Action != rules.Ask {
		return
	}
	decision := "token " + f.Topic
	t := Todo{Kind: Confirm, Message: f.Text, Evidence: evidence(at)}
	if i, asked := p.groups[decision]; asked && slices.ContainsFunc(p.res.Todos[i].Evidence, func(ev Evidence) bool {
		return ev.Artifact == at.Artifact && ev.Line == at.Line
	}) {
		t.Evidence = nil // the first word is enough
	}
	if f.Urgent {
		t.Kind = MustFix
	}
	if launch != "" {
		t.Steps = []string{launch}
	}
	p.askOnce(decision, f.Topic, t)
}
