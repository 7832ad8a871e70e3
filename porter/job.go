package porter

import (
	"fmt"
	"path"
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

const modelField = "model.path"

// jobFields sets the fields of name, model and image.
func (p *porting) jobFields() {
	if p.opt.Schema == 2 {
		p.setRecipe("schema", integer(2), fixed("the layout that current srtctl loads"))
	}
	p.nameField()
	p.pathField(modelField, "MODEL_PATH", "/TODO/model", func(l *harness.Launch) (string, Evidence) {
		return l.Model, l.At("model", l.Model, 0)
	})
	p.pathField("model.container", "CONTAINER_IMAGE", "/TODO/image.sqsh", func(l *harness.Launch) (string, Evidence) {
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

// launched is a value that launch lines show.
type launched struct {
	text string
	at   []Evidence
}

// launchedValues returns the different values that the launch lines show. get returns an empty text for a
// line that shows none.
func (in *input) launchedValues(get func(*harness.Launch) (string, Evidence)) []launched {
	var out []launched
	for _, l := range in.run.Launches.All() {
		text, ev := get(l)
		if text == "" {
			continue
		}
		i := slices.IndexFunc(out, func(o launched) bool { return o.text == text })
		if i < 0 {
			i, out = len(out), append(out, launched{text: text})
		}
		out[i].at = append(out[i].at, ev)
	}
	return out
}

// preferLaunched returns the value of a variable of job_params.env, or the one that all launch lines show
// instead, since they were executed. at is empty if there is no value.
func preferLaunched(param harness.Value, shown []launched) (text string, at []Evidence) {
	switch {
	case len(shown) == 1 && shown[0].text != param.Text:
		return shown[0].text, shown[0].at[:min(len(shown[0].at), 4)]
	case param.Text != "":
		return param.Text, evidence(param.At)
	}
	return "", nil
}

// pathField sets a path from job_params.env and the launch lines.
func (p *porting) pathField(base, variable, todo string, get func(*harness.Launch) (string, Evidence)) {
	param := p.run.Params[variable]
	shown := p.launchedValues(get)
	old, at := preferLaunched(param, shown)
	if old == "" {
		p.missingPath(base, variable, todo, shown)
		return
	}
	text, from := p.rewritePath(old, at...)
	p.setRecipe(base, plain(text), from)
	p.askVariable(base, text, at[0])
	for _, other := range shown {
		if param.Text == "" || other.text == param.Text {
			continue
		}
		written := ""
		if other.text == old {
			written = ", which is written"
		}
		both := append(evidence(param.At), other.at[:min(len(other.at), maxEvidence-1)]...)
		p.ask(Confirm, Recipe, base, "launched", both,
			"%s is %s in %s, but %d of %d launches show %s%s: confirm which one is right", variable, param.Text,
			harness.JobParams, len(other.at), len(p.run.Launches.All()), other.text, written)
	}
	if v := p.run.Banner.Values["Model"]; base == modelField && path.IsAbs(v.Text) && v.Text != old {
		p.ask(Confirm, Recipe, base, "banner", append(evidence(v.At), at...),
			"the banner shows the model %s, but %s shows %s, which is written: confirm which one is right",
			safetext.Clip(v.Text, 120), at[0].Artifact, safetext.Clip(old, 120))
	}
}

// missingPath asks for a path that no artifact shows, or that launch lines show differently.
func (p *porting) missingPath(base, variable, todo string, shown []launched) {
	p.setRecipe(base, plain(todo), placeholder(variable+" was not found"))
	t := Todo{
		Kind: MustFix, File: Recipe, Path: base,
		Message: fmt.Sprintf("%s is not in %s: give the path", variable, harness.JobParams),
	}
	var values []string
	for _, o := range shown {
		rewritten, _ := p.rewrites.Apply(o.text)
		t.Candidates = append(t.Candidates, Candidate{Value: rewritten})
		t.Evidence = append(t.Evidence, o.at[0])
		values = append(values, o.text)
	}
	if len(values) > 0 {
		t.Message += "; launch lines show " + shortList(values)
	}
	p.addTodo("", t)
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
	model := p.res.Fields[slices.IndexFunc(p.res.Fields, func(f Field) bool { return f.Path == modelField })]
	switch {
	case model.Class == Missing:
		p.setRecipe(field, plain("fp8"), placeholder("the model's path is unknown"))
		p.ask(Confirm, Recipe, field, "", nil, "unknown without the model's path: confirm (it is only a label)")
	case strings.Contains(strings.ToLower(model.Value), "fp4"):
		p.setRecipe(field, plain("fp4"), inferred("the model's path contains fp4", why, model.Evidence...))
	default:
		p.setRecipe(field, plain("fp8"), inferred("the model's path does not contain fp4", why, model.Evidence...))
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

// mountList sets the mounts from job_params.env and the launch lines.
func (p *porting) mountList() {
	const field = "extra_mount"
	param := p.run.Params["CONTAINER_MOUNTS"]
	old, at := p.oldMounts()
	if old == "" {
		t := Todo{
			Kind: MustFix, File: Recipe, Path: field,
			Message: "CONTAINER_MOUNTS is not in job_params.env: add the mounts that the paths of this recipe need",
		}
		for _, o := range p.launchedValues(mountsOf) {
			t.Evidence = append(t.Evidence, o.at[0])
			t.Candidates = append(t.Candidates, Candidate{Value: yamldoc.Text(quotedList(p.rewrites.Mounts(o.text)))})
		}
		p.addTodo("", t)
		return
	}
	for _, l := range p.run.Launches.All() {
		if l.Mounts.Value != "" && param.Text != "" && l.Mounts.Value != param.Text {
			p.askOnce("mounts "+l.Mounts.Value, l.Name(), Todo{
				Kind: Confirm, File: Recipe, Path: field, Evidence: evidence(l.OptionAt(l.Mounts)), Steps: []string{l.Name()},
				Message: fmt.Sprintf("launched with the mounts %s, not with CONTAINER_MOUNTS: confirm which ones are right",
					safetext.Clip(l.Mounts.Value, 120)),
			})
		}
	}
	list, given := p.rewrites.Mounts(old), strings.Split(old, ",")
	more, conflicts := p.clientMounts(list)
	p.askClientMounts(more, conflicts)
	list = append(list, more...)
	same := len(list) == len(given)
	for _, m := range list {
		same = same && slices.Contains(given, m)
		if !strings.Contains(m, ":") {
			p.ask(MustFix, Recipe, field, m, at, "%s has no container path: write host:container", m)
		}
	}
	from := copied(at...)
	if !same {
		from = translated("prefixes rewritten, duplicates removed", rules.WhyRewrite, at...)
	}
	if len(more) > 0 {
		from = translated("prefixes rewritten, duplicates removed; with the mounts of the client", rules.WhyRewrite,
			append(at, p.run.Client.Launch.OptionAt(p.run.Client.Launch.Mounts))...)
	}
	p.setRecipe(field, quotedList(list), from)
}

func mountsOf(l *harness.Launch) (string, Evidence) { return l.Mounts.Value, l.OptionAt(l.Mounts) }

// oldMounts returns the mounts of the old containers.
func (in *input) oldMounts() (text string, at []Evidence) {
	return preferLaunched(in.run.Params["CONTAINER_MOUNTS"], in.launchedValues(mountsOf))
}
