package porter

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// askDisagreements asks where artifacts contradict each other, and shows both places.
func (p *porting) askDisagreements() {
	p.askLevels()
	p.askOutputs()
	p.askEndpoint()
	p.askNodes()
	p.askRanks()
	p.askClientFlags()
}

// claim is what a place says about the concurrency levels.
type claim struct {
	text    string
	levels  []*yaml.Node
	at      Evidence
	partial bool // it may be about one of several levels
}

// levelClaims returns what each place says about the concurrency levels, the most reliable first.
func (p *porting) levelClaims() []claim {
	var out []claim
	add := func(text, value string, at Evidence, partial bool) {
		if levels, ok := parseLevels(strings.ReplaceAll(value, "x", " ")); ok {
			out = append(out, claim{text, levels, at, partial})
		}
	}
	if v := p.run.Params["CONCURRENCIES"]; v.Text != "" {
		add(fmt.Sprintf("CONCURRENCIES is %q", safetext.Clip(v.Text, 40)), v.Text, v.At, false)
	}
	if v := p.run.Banner.Values["Concurrencies"]; v.Text != "" {
		add("the banner shows "+safetext.Clip(v.Text, 40), v.Text, v.At, false)
	}
	if v := p.run.Client.Levels; v.Text != "" {
		add("the client's command has --concurrencies "+safetext.Clip(v.Text, 40), v.Text, v.At, false)
	}
	seen := map[string]bool{}
	for _, r := range p.run.Roles() {
		for _, l := range p.run.Launches.Workers[r] {
			if w := l.Levels; w.Text != "" && !seen[w.Text] {
				seen[w.Text] = true
				add(fmt.Sprintf("%s was launched for %s", l.Name(), safetext.Clip(w.Text, 40)), w.Text,
					l.WordAt("concurrency", w), true)
			}
		}
	}
	for _, v := range p.run.Stems {
		if s, ok := harness.ParseStem(v.Text); ok && !seen[strconv.Itoa(s.Concurrency)+"u"] {
			seen[strconv.Itoa(s.Concurrency)+"u"] = true
			add(fmt.Sprintf("an output was written for %du", s.Concurrency), strconv.Itoa(s.Concurrency), v.At, true)
		}
	}
	if dir := filepath.Base(p.run.Real); harness.IsRunName(dir) {
		add("the directory is named "+dir, dir[1:], Evidence{Artifact: ".", Key: "directory", Raw: dir}, true)
	}
	return out
}

// askLevels asks about the concurrency levels if some place says something else than the first one. Outputs
// and the name of the directory show one of several levels.
func (p *porting) askLevels() {
	all := p.levelClaims()
	if len(all) < 2 {
		return
	}
	first := all[0]
	var other []string
	at := evidence(first.at)
	same := func(a, b *yaml.Node) bool { return a.Value == b.Value }
	for _, c := range all[1:] {
		isPart := c.partial && len(c.levels) == 1 &&
			slices.ContainsFunc(first.levels, func(l *yaml.Node) bool { return same(l, c.levels[0]) })
		if !isPart && !slices.EqualFunc(c.levels, first.levels, same) {
			other, at = append(other, c.text), append(at, c.at)
		}
	}
	if len(other) == 0 {
		return
	}
	p.ask(Confirm, Recipe, levelField, "disagrees", at[:min(len(at), maxEvidence)],
		"%s, but %s: confirm which one is right", first.text, shortList(other))
}

// askOutputs asks about settings that the names of the outputs show differently.
func (p *porting) askOutputs() {
	const key = "phase_timeout_seconds"
	i := slices.IndexFunc(p.res.Fields, func(f Field) bool { return f.File == Workload && f.Path == key })
	if i < 0 || len(p.res.Fields[i].Evidence) == 0 || p.res.Fields[i].Evidence[0].Artifact == "answer" {
		return
	}
	field := p.res.Fields[i]
	var other []string
	at := evidence(field.Evidence[0])
	agree := false
	for _, v := range p.run.Stems {
		s, ok := harness.ParseStem(v.Text)
		text := strconv.FormatFloat(s.Timeout, 'f', -1, 64)
		switch {
		case !ok:
		case sameNumber(text, field.Value):
			agree = true
		case !slices.Contains(other, text):
			other, at = append(other, text), append(at, v.At)
		}
	}
	if len(other) == 0 {
		return
	}
	kind := Confirm
	if agree {
		kind = Note // outputs of an earlier start
	}
	p.ask(kind, Workload, key, "outputs", at[:min(len(at), maxEvidence)],
		"%s shows %s, but the names of outputs show a phase of %s s: confirm that the outputs are those of an earlier start",
		strings.Trim(where(field.Evidence[0]), "()"), field.Value, shortList(other))
}

// askEndpoint asks if the client did not use the frontend that was launched.
func (p *porting) askEndpoint() {
	l, v := p.run.Launches.Frontend, p.run.Banner.Values["Base URL"]
	u, err := url.Parse(v.Text)
	if l == nil || err != nil || v.Text == "" || len(l.Args) < 3 {
		return
	}
	host, port := l.Args[1], l.Args[2]
	if u.Hostname() == host.Text && u.Port() == port.Text || strings.ContainsAny(host.Text+port.Text, "$<") {
		return
	}
	p.ask(Confirm, "", "", "endpoint", evidence(v.At, l.WordAt("host", host)),
		"the client used %s, but the frontend was launched on %s:%s: confirm that these launch lines are those of the "+
			"measured "+
			"servers", safetext.Clip(v.Text, 80), safetext.Clip(host.Text, 80), safetext.Clip(port.Text, 20))
}

// askNodes asks about nodes that only the list of the job's nodes or only launch lines name.
func (p *porting) askNodes() {
	ls := &p.run.Launches
	listed := ls.NodeNames()
	if len(listed) == 0 {
		return
	}
	client, _ := p.run.ClientNode()
	used := map[string]bool{client: true}
	var unlisted []string
	at := evidence(ls.Nodes.At)
	for _, l := range ls.All() {
		before := len(unlisted)
		for _, h := range l.Hosts {
			if !used[h] && !slices.Contains(listed, h) {
				unlisted = append(unlisted, h)
			}
			used[h] = true
		}
		if len(unlisted) > before {
			at = append(at, l.OptionAt(l.Nodelist))
		}
	}
	if len(unlisted) > 0 {
		p.ask(Confirm, "", "", "unlisted nodes", at[:min(len(at), maxEvidence)],
			"launch lines name %s, which the list of the job's nodes does not: check "+
				"both", safetext.Clip(namesText(unlisted), 120))
	}
	idle := slices.DeleteFunc(slices.Clone(listed), func(h string) bool { return used[h] })
	if len(idle) > 0 {
		p.ask(Note, "", "", "idle nodes", evidence(ls.Nodes.At),
			"the job had %d nodes, but no launch line names %s; the new job does not have them", len(listed),
			safetext.Clip(namesText(idle), 120))
	}
}

// askRanks asks about settings that another rank of the client showed differently, and shows both places.
func (p *porting) askRanks() {
	b := p.run.Banner
	if len(b.Ranks) == 0 {
		return
	}
	t := Todo{
		Kind: Confirm,
		Message: "the ranks of the client show different settings; those of the rank that shows its settings first are " +
			"written: confirm them",
	}
	for _, v := range b.Ranks {
		first := b.Values[v.At.Key]
		t.Details = append(t.Details, fmt.Sprintf("%s: %s %s, %s %s", v.At.Key,
			safetext.Clip(first.Text, 60), where(first.At), safetext.Clip(v.Text, 60), where(v.At)))
		for _, at := range []Evidence{first.At, v.At} {
			if len(t.Evidence) < maxEvidence && !slices.Contains(t.Evidence, at) {
				t.Evidence = append(t.Evidence, at)
			}
		}
	}
	t.Details = clipDetails(t.Details)
	p.addTodo("ranks", t)
}

// askClientFlags asks about flags of the client that set a key of the workload to another value. The workload has what
// the client shows, and the flags are passed on.
func (p *porting) askClientFlags() {
	for _, fl := range clientSettings(p.run.Client.Flags) {
		i := slices.IndexFunc(p.res.Fields, func(f Field) bool {
			return f.File == Workload && (f.Path == fl.key || f.Path == fl.key+"_seconds")
		})
		if i < 0 || isConstant(p.res.Fields[i]) {
			continue
		}
		f := p.res.Fields[i]
		if harness.CanonicalSetting(fl.value) == harness.CanonicalSetting(f.node.Value) {
			continue
		}
		at := evidence(p.run.Client.FlagsAt)
		place := "the default"
		if len(f.Evidence) > 0 {
			at, place = append(at, f.Evidence[0]), strings.Trim(where(f.Evidence[0]), "()")
		}
		p.ask(Confirm, Workload, f.Path, "flag", at,
			"the client's command has %s %s, but %s shows %s, which is written; the flag is passed on as well: remove the "+
				"wrong one", fl.flag, safetext.Clip(secret.Redact(fl.key, fl.value), 60), place, safetext.Clip(f.Value, 60))
	}
}

// clientSetting is a flag of the client and the key of the workload that it would set.
type clientSetting struct{ flag, key, value string }

// clientSettings returns the flags among arguments, the last one of each name. A flag without a value is true.
func clientSettings(args []string) []clientSetting {
	var out []clientSetting
	for i, arg := range args {
		flag, value, attached := strings.Cut(arg, "=")
		if !strings.HasPrefix(flag, "--") {
			continue
		}
		if !attached {
			value = "true"
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
				value = args[i+1]
			}
		}
		v := clientSetting{flag, strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "_"), value}
		out = append(slices.DeleteFunc(out, func(o clientSetting) bool { return o.key == v.key }), v)
	}
	return out
}
