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
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// jobFields sets the fields of name, model and image.
func (p *porting) jobFields() {
	if p.opt.Schema == 2 {
		p.setRecipe("schema", integer(2), fixed("the layout that current srtctl loads"))
	}
	p.nameField()
	p.pathFromParams("model.path", "MODEL_PATH", "/TODO/model", func(l *harness.Launch) (string, Evidence) {
		return l.Model, l.At("model", l.Model, 0)
	})
	p.pathFromParams("model.container", "CONTAINER_IMAGE", "/TODO/image.sqsh", func(l *harness.Launch) (string, Evidence) {
		return l.Image.Value, l.OptionAt(l.Image)
	})
	p.precision()
	p.askBackend()
}

func (p *porting) nameField() {
	dir := filepath.Base(p.run.Real)
	if harness.IsRunName(dir) {
		dir = filepath.Base(filepath.Dir(p.run.Real))
	}
	ev := Evidence{Artifact: ".", Key: "directory", Raw: dir}
	switch name := jobName(dir); name {
	case "":
		p.setRecipe("name", plain("agentperf-ported-run"), fallback("the directory's name contains no letter or digit", ev))
	case dir:
		p.setRecipe("name", plain(name), copied(ev))
	default:
		p.setRecipe("name", plain(name), translated("letters, digits and - only", "Slurm job name and label of the run", ev))
	}
}

var notInJobName = regexp.MustCompile(`[^-0-9A-Za-z]+`)

// jobName converts s to a job name of at most 64 letters, digits and hyphens, without a hyphen at
// either end. A sequence of other characters becomes one hyphen.
func jobName(s string) string {
	name := strings.Trim(notInJobName.ReplaceAllString(s, "-"), "-")
	return strings.TrimRight(name[:min(len(name), 64)], "-")
}

// pathFromParams sets a path from job_params.env. If it is missing there, the path in a launch line
// is a candidate for the answer.
func (p *porting) pathFromParams(base, variable, todo string, shown func(*harness.Launch) (string, Evidence)) {
	v := p.run.Params[variable]
	var other string // a different value in launch lines
	var otherAt []Evidence
	launches := p.run.Launches.All()
	for _, l := range launches {
		if o, ev := shown(l); o != "" && o != v.Text {
			other, otherAt = o, append(otherAt, ev)
		}
	}
	firstFew := otherAt[:min(len(otherAt), 16)]
	if v.Text == "" {
		t := Todo{
			Kind: MustFix, File: Recipe, Path: base,
			Message: fmt.Sprintf("%s is not in %s: give the path", variable, harness.JobParams),
		}
		p.setRecipe(base, plain(todo), placeholder(variable+" was not found"))
		if other != "" {
			rewritten, _ := p.rewrites.Apply(other)
			t.Evidence, t.Candidates = firstFew, []Candidate{{Value: rewritten}}
			t.Message += "; a launch line shows " + rewritten
		}
		p.addTodo("", t)
		return
	}
	text, from := p.rewritePath(v.Text, v.At)
	p.setRecipe(base, plain(text), from)
	if other != "" {
		p.ask(Confirm, Recipe, base, "launched", append([]Evidence{v.At}, firstFew...),
			"%s is %s in %s, but %d of %d launches show %s: confirm which one is right", variable, v.Text, harness.JobParams,
			len(otherAt), len(launches), other)
	}
	p.askVariable(base, text, v.At)
}

// askVariable asks about a shell variable in a value of the recipe.
func (d *draft) askVariable(path, text string, ev Evidence) {
	if v := recipes.ShellVariable(text); v != "" {
		d.askOnce("variable "+text, "variable", Todo{
			Kind: Confirm, File: Recipe, Path: path, Evidence: evidence(ev),
			Message: fmt.Sprintf("contains %s, which nothing expands; it is kept as text: replace it with its value",
				safetext.Clip(v, 60)),
		})
	}
}

func (p *porting) precision() {
	const field, why = "model.precision", "only a label; the run directory does not record it"
	v, ok := p.run.Params["MODEL_PATH"]
	switch {
	case !ok:
		p.setRecipe(field, plain("fp8"), placeholder("the model's path is unknown"))
		p.ask(Confirm, Recipe, field, "", nil, "unknown without the model's path: confirm (it is only a label)")
	case strings.Contains(strings.ToLower(v.Text), "fp4"):
		p.setRecipe(field, plain("fp4"), inferred("the model's path contains fp4", why, v.At))
	default:
		p.setRecipe(field, plain("fp8"), inferred("the model's path does not contain fp4", why, v.At))
	}
}

func (p *porting) askBackend() {
	params := p.run.Params
	v, ok := params["SERVER_BACKEND"]
	switch {
	case !ok:
		p.ask(Confirm, Recipe, "backend.type", "backend", nil,
			"SERVER_BACKEND is not in job_params.env: confirm that the servers ran under dynamo; no other backend "+
				"can be ported completely")
	case v.Text != "dynamo":
		p.ask(MustFix, Recipe, "backend.type", "backend", evidence(v.At),
			"SERVER_BACKEND is %q, but only dynamo can be ported completely: check the frontend and workers by hand",
			safetext.Clip(v.Text, 40))
	}
	for _, x := range []struct{ name, text string }{
		{"NSYS_ENABLED", "the old run was profiled with nsys; the recipe does not profile"},
		{"COLLECT_POWER", "the old run sampled power; the recipe does not"},
		{"ENABLE_METRICS_POLL", "the old run polled server metrics; the recipe does not"},
	} {
		if v := params[x.name]; v.Text == "1" || strings.EqualFold(v.Text, "true") {
			p.ask(Note, "", "", x.name, evidence(v.At), "%s", x.text)
		}
	}
}

// mounts sets the mounts and the time limit for the start of the servers.
func (p *porting) mounts() {
	p.mountList()
	if n := nodeCount(p.run); n >= 8 {
		p.setRecipe("health_check.max_attempts", integer(300), origin{
			class: Default, rule: "advice",
			why: fmt.Sprintf("not ported: starting %d nodes takes 20 to 30 minutes, and the default limit is 30", n),
		})
	}
}

// nodeCount returns the number of nodes of both roles.
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
		p.addTodo("", t)
		return
	}
	for _, l := range p.run.Launches.All() {
		if l.Mounts.Value != "" && l.Mounts.Value != v.Text {
			p.askOnce("mounts "+l.Mounts.Value, l.Name(), Todo{
				Kind: Confirm, File: Recipe, Path: field, Evidence: evidence(l.OptionAt(l.Mounts)), Steps: []string{l.Name()},
				Message: fmt.Sprintf("launched with the mounts %s, not with CONTAINER_MOUNTS: confirm which ones are right",
					safetext.Clip(l.Mounts.Value, 120)),
			})
		}
	}
	list, given := p.rewrites.Mounts(v.Text), strings.Split(v.Text, ",")
	same := len(list) == len(given)
	for _, m := range list {
		same = same && slices.Contains(given, m)
		if !strings.Contains(m, ":") {
			p.ask(MustFix, Recipe, field, m, evidence(v.At), "%s has no container path: write host:container", m)
		}
	}
	from := copied(v.At)
	if !same {
		from = translated("prefixes rewritten, duplicates removed", rules.WhyRewrite, v.At)
	}
	p.setRecipe(field, quotedList(list), from)
}
