package porter

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// jobFields decides name, model and image.
func (p *porting) jobFields() {
	if p.opt.Schema == 2 {
		p.recipe("schema", integer(2), fixed("the layout that today's srtctl loads"))
	}
	p.nameField()
	p.fromParams("model.path", "MODEL_PATH", "/TODO/model", func(l *harness.Launch) (string, Evidence) {
		return l.Model, l.At("model", l.Model, 0)
	})
	p.fromParams("model.container", "CONTAINER_IMAGE", "/TODO/image.sqsh", func(l *harness.Launch) (string, Evidence) {
		return l.Image.Value, l.OptionAt(l.Image)
	})
	p.precision()
	p.backendKind()
}

func (p *porting) nameField() {
	dir := filepath.Base(p.run.Dir)
	if harness.IsRunName(dir) {
		dir = filepath.Base(filepath.Dir(p.run.Dir))
	}
	ev := Evidence{Artifact: ".", Key: "directory", Raw: dir}
	switch name := jobName(dir); name {
	case "":
		p.recipe("name", plain("agentperf-ported-run"), fallback("the directory's name holds no letter", ev))
	case dir:
		p.recipe("name", plain(name), copied(ev))
	default:
		p.recipe("name", plain(name), translated("letters, digits and - only", "Slurm job name and label of the run", ev))
	}
}

var notInJobName = regexp.MustCompile(`[^-0-9A-Za-z]+`)

// jobName keeps letters, digits and hyphens; any run of others becomes one
// hyphen. At most 64 bytes, with no hyphen at either end.
func jobName(s string) string {
	name := strings.Trim(notInJobName.ReplaceAllString(s, "-"), "-")
	return strings.TrimRight(name[:min(len(name), 64)], "-")
}

// fromParams takes a path from job_params.env. Where it is absent, what a launch
// line shows is offered as an answer, not taken.
func (p *porting) fromParams(base, variable, todo string, shown func(*harness.Launch) (string, Evidence)) {
	v := p.run.Params[variable]
	var other string // what launch lines show, where that is something else
	var otherAt []Evidence
	launches := p.run.Launches.All()
	for _, l := range launches {
		if o, ev := shown(l); o != "" && o != v.Text {
			other, otherAt = o, append(otherAt, ev)
		}
	}
	few := otherAt[:min(len(otherAt), 16)]
	if v.Text == "" {
		t := Todo{
			Kind: MustFix, File: Recipe, Path: base,
			Message: fmt.Sprintf("%s is not in %s: give the path", variable, harness.JobParams),
		}
		p.recipe(base, plain(todo), placeholder(variable+" was not found"))
		if other != "" {
			moved, _ := p.rewrites.Apply(other)
			t.Evidence, t.Candidates = few, []Candidate{{Value: moved}}
			t.Message += "; a launch line shows " + moved
		}
		p.todo("", t)
		return
	}
	text, from := p.moved(v.Text, v.At)
	p.recipe(base, plain(text), from)
	if other != "" {
		p.ask(Confirm, Recipe, base, "launched", append([]Evidence{v.At}, few...),
			"%s is %s in %s, but %d of %d launches show %s: confirm which one", variable, v.Text, harness.JobParams,
			len(otherAt), len(launches), other)
	}
	p.askVariable(base, text, v.At)
}

// askVariable asks about a shell variable that is left in a value of the recipe.
func (d *draft) askVariable(path, text string, ev Evidence) {
	i := strings.IndexByte(text, '$')
	if i < 0 || i+1 == len(text) {
		return
	}
	c := text[i+1]
	if c == '{' || c == '(' || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		d.ask(Confirm, Recipe, path, "variable", evidence(ev),
			"holds a shell variable, which is kept as text: replace it by its value")
	}
}

func (p *porting) precision() {
	const field, why = "model.precision", "a label only; the run directory does not state it"
	v, ok := p.run.Params["MODEL_PATH"]
	switch {
	case !ok:
		p.recipe(field, plain("fp8"), placeholder("the model's path is not known"))
		p.ask(Confirm, Recipe, field, "", nil, "can't be told without the model's path: confirm (a label only)")
	case strings.Contains(strings.ToLower(v.Text), "fp4"):
		p.recipe(field, plain("fp4"), inferred("the model's path holds fp4", why, v.At))
	default:
		p.recipe(field, plain("fp8"), inferred("the model's path does not hold fp4", why, v.At))
	}
}

func (p *porting) backendKind() {
	params := p.run.Params
	v, ok := params["SERVER_BACKEND"]
	switch {
	case !ok:
		p.ask(Confirm, Recipe, "backend.type", "backend", nil,
			"SERVER_BACKEND is not in job_params.env: confirm that the servers ran under dynamo; nothing else can be "+
				"ported whole")
	case v.Text != "dynamo":
		p.ask(MustFix, Recipe, "backend.type", "backend", evidence(v.At),
			"SERVER_BACKEND is %q, and only dynamo can be ported whole: check frontend and workers by hand",
			safetext.Clip(v.Text, 40))
	}
	for _, x := range []struct{ name, say string }{
		{"NSYS_ENABLED", "the old run was profiled with nsys; the recipe does not profile"},
		{"COLLECT_POWER", "the old run collected power; the recipe does not"},
		{"ENABLE_METRICS_POLL", "the old run polled server metrics; the recipe does not"},
	} {
		if v := params[x.name]; v.Text == "1" || strings.EqualFold(v.Text, "true") {
			p.ask(Note, "", "", x.name, evidence(v.At), "%s", x.say)
		}
	}
}

// mounts decides the mounts, and how long the servers may take to come up.
func (p *porting) mounts() {
	p.mountList()
	if n := nodeCount(p.run); n >= 8 {
		p.recipe("health_check.max_attempts", integer(300), origin{
			class: Default, rule: "advice",
			why: fmt.Sprintf("not ported: bringing up %d nodes takes 20 to 30 minutes, the default window is 30", n),
		})
	}
}

// nodeCount is the number of nodes over both roles.
func nodeCount(run *harness.Run) int {
	hosts := map[string]bool{}
	n := 0
	for _, ls := range run.Launches.Workers {
		for _, l := range ls {
			if len(l.Hosts) == 0 {
				n += l.Nodes
			}
			for _, h := range l.Hosts {
				hosts[h] = true
			}
		}
	}
	return n + len(hosts)
}

func (p *porting) mountList() {
	const field = "extra_mount"
	v := p.run.Params["CONTAINER_MOUNTS"]
	if v.Text == "" {
		t := Todo{
			Kind: MustFix, File: Recipe, Path: field,
			Message: "CONTAINER_MOUNTS is not in job_params.env: add the mounts that the paths of this recipe need",
		}
		if l := p.run.Launches.Frontend; l != nil && l.Mounts.Value != "" {
			shown := yamldoc.Text(quotedList(p.rewrites.Mounts(l.Mounts.Value)))
			t.Evidence, t.Candidates = []Evidence{l.OptionAt(l.Mounts)}, []Candidate{{Value: shown}}
		}
		p.todo("", t)
		return
	}
	for _, l := range p.run.Launches.All() {
		if l.Mounts.Value != "" && l.Mounts.Value != v.Text {
			p.ask(Confirm, Recipe, field, l.Name(), evidence(l.OptionAt(l.Mounts)),
				"%s was launched with the mounts %s, not with CONTAINER_MOUNTS: confirm which ones", l.Name(),
				safetext.Clip(l.Mounts.Value, 120))
		}
	}
	list, given := p.rewrites.Mounts(v.Text), strings.Split(v.Text, ",")
	same := len(list) == len(given)
	for _, m := range list {
		same = same && slices.Contains(given, m)
		if !strings.Contains(m, ":") {
			p.ask(MustFix, Recipe, field, m, evidence(v.At), "%s has no container side: write host:container", m)
		}
	}
	from := copied(v.At)
	if !same {
		from = translated("rewritten prefixes, duplicates once", rules.WhyRewrite, v.At)
	}
	p.recipe(field, quotedList(list), from)
}
