package porter

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// build makes the fields of both files from what was read.
func (b *builder) build() {
	b.artifactTodos()
	b.head()
	b.topology()
	b.backend()
	b.frontend()
	b.benchmark()
	b.job()
	b.workloadFields()
	b.furtherAnswers()
	b.sortFields()
	b.settle(0)
	n := len(b.res.Todos)
	b.outcome()
	b.prove()
	b.settle(n)
	b.noteAnswers()
	slices.SortStableFunc(b.res.Todos, func(x, y Todo) int { return cmp.Compare(kindRank[x.Kind], kindRank[y.Kind]) })
	if !b.opt.NoDefaultRewrites {
		if n := lustreNotice("/lustre", "/scratch"); n != "" {
			b.res.Notices = append(b.res.Notices, n)
		}
	}
}

var kindRank = map[TodoKind]int{MustFix: 0, Confirm: 1, Note: 2}

// put adds a field, unless the written layout has no place for it.
func (b *builder) put(f Field) {
	f.Path = fieldPath(f)
	if a, ok := b.answers.take(f.File, f.Path); ok {
		for _, part := range f.answered(a) {
			b.place(part)
		}
		return
	}
	b.place(f)
}

func fieldPath(f Field) string { return joinBelow(f.base, f.sub) }

func (b *builder) place(f Field) {
	f.Value, f.Written = flowText(f.node), f.Path
	if f.File == Recipe {
		path, ok := b.table.Translate(f.base, b.opt.Schema)
		if !ok {
			return
		}
		f.written, f.Written = path, joinBelow(path, f.sub)
	}
	b.res.Fields = append(b.res.Fields, f)
}

// recipe adds a field of the recipe.
func (b *builder) recipe(base string, node *yaml.Node, c Class, rule, why string, ev ...Evidence) {
	b.put(Field{File: Recipe, base: base, node: node, Class: c, Rule: rule, Why: why, Evidence: ev})
}

// fixed adds a field of the recipe that every port writes alike.
func (b *builder) fixed(base string, node *yaml.Node, why string) {
	b.recipe(base, node, Default, "fixed", why)
}

// ask opens a question. topic tells the questions about one field apart; it is
// empty for the one that asks for the value itself.
func (b *builder) ask(kind TodoKind, file File, path, topic, message string, ev ...Evidence) {
	b.todo(topic, Todo{Kind: kind, File: file, Path: path, Message: message, Evidence: ev})
}

func pathKeys(dotted string) []*yaml.Node {
	if dotted == "" {
		return nil
	}
	var keys []*yaml.Node
	for k := range strings.SplitSeq(dotted, ".") {
		keys = append(keys, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: k})
	}
	return keys
}

func keys(names ...string) []*yaml.Node {
	out := make([]*yaml.Node, len(names))
	for i, n := range names {
		out[i] = plain(n)
	}
	return out
}

// sortFields brings the fields into the order in which the files are written:
// that of the schema tables, and of the source below a field.
func (b *builder) sortFields() {
	rank := map[string]int{}
	for i, f := range b.table.Fields() {
		rank[f.Name()] = i
	}
	keyRank := map[string]int{}
	for i, f := range b.workload.Fields() {
		keyRank[f.Name()] = i + 1
	}
	order := func(f Field) int {
		if f.File == Recipe {
			return rank[f.base]
		}
		if r := keyRank[f.sub[0].Value]; r > 0 {
			return len(rank) + r
		}
		return len(rank) + len(keyRank) + 1
	}
	slices.SortStableFunc(b.res.Fields, func(x, y Field) int { return cmp.Compare(order(x), order(y)) })
}

// consequences of an artifact that can't be used, where no field says it better.
var consequences = map[string]string{
	nameParams:  "model, image, mounts and concurrency are placeholders",
	nameCommand: "the client checkout is a placeholder and further flags of the client are unknown",
	nameClient:  "client settings that only its banner shows got fallbacks",
	nameJob:     "environments and topology are placeholders",
	nameResults: "the settling time could not be read from the outputs",
}

func (b *builder) artifactTodos() {
	for _, a := range b.res.Artifacts {
		what, ours := consequences[a.Name]
		if a.Problem != "" && ours {
			b.ask(Confirm, "", "", a.Name, fmt.Sprintf("%s: %s: %s", a.Name, a.Problem, what), Evidence{Artifact: a.Name})
		} else if a.Problem != "" && a.Present {
			b.ask(Confirm, "", "", a.Name, fmt.Sprintf("%s: %s", a.Name, a.Problem), Evidence{Artifact: a.Name})
		}
	}
}

// moved rewrites a path and says how: a copy if no rule applies.
func (b *builder) moved(s string) (string, Class, string, string) {
	out, rule := b.rewrites.apply(s)
	if rule == "" {
		return out, Copied, "", ""
	}
	return out, Translated, rule, whyRewrite
}

func (b *builder) head() {
	if b.opt.Schema == 2 {
		b.fixed("schema", integer(2), "the layout that today's srtctl loads")
	}
	b.name()
	b.fromParams("model.path", "MODEL_PATH", "/TODO/model", func(l *launch) (string, Evidence) { return l.model, l.ev("model", l.model, 0) })
	b.fromParams("model.container", "CONTAINER_IMAGE", "/TODO/image.sqsh", func(l *launch) (string, Evidence) { return l.image.value, l.optionEv(l.image) })
	b.precision()
	b.backendKind()
}

func (b *builder) name() {
	dir := filepath.Base(b.run.path)
	if isRunName(dir) {
		dir = filepath.Base(filepath.Dir(b.run.path))
	}
	name := jobName(dir)
	ev := Evidence{Artifact: ".", Key: "directory", Raw: dir}
	if name == "" {
		b.recipe("name", plain("agentperf-ported-run"), Default, "fallback", "the directory's name holds no letter", ev)
		return
	}
	if name == dir {
		b.recipe("name", plain(name), Copied, "", "", ev)
		return
	}
	b.recipe("name", plain(name), Translated, "letters, digits and - only", "Slurm job name and label of the run", ev)
}

// jobName keeps letters, digits and hyphens; any run of others becomes one
// hyphen. At most 64 bytes, with no hyphen at either end.
func jobName(s string) string {
	var out strings.Builder
	inRun := false
	for _, r := range s {
		kept := r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if kept {
			out.WriteRune(r)
		} else if !inRun {
			out.WriteByte('-')
		}
		inRun = !kept
	}
	name := strings.Trim(out.String(), "-")
	return strings.TrimRight(name[:min(len(name), 64)], "-")
}

// fromParams takes a path from job_params.env. Where it is absent, what a launch
// line shows is offered as an answer, not taken.
func (b *builder) fromParams(base, variable, placeholder string, shown func(*launch) (string, Evidence)) {
	v, ok := b.params.vars[variable]
	var other string // what launch lines show, where that is something else
	var otherAt []Evidence
	launches := b.launches.all()
	for _, l := range launches {
		if o, ev := shown(l); o != "" && o != v.value {
			other, otherAt = o, append(otherAt, ev)
		}
	}
	if !ok || v.value == "" {
		t := Todo{Kind: MustFix, File: Recipe, Path: base, Message: fmt.Sprintf("%s is not in %s: give the path", variable, nameParams)}
		b.recipe(base, plain(placeholder), Missing, "placeholder", variable+" was not found")
		if other != "" {
			moved, _ := b.rewrites.apply(other)
			t.Evidence, t.Candidates = otherAt[:min(len(otherAt), 16)], []Candidate{{Value: moved}}
			t.Message += "; a launch line shows " + moved
		}
		b.todo("", t)
		return
	}
	text, class, rule, why := b.moved(v.value)
	b.recipe(base, plain(text), class, rule, why, v.at)
	if other != "" {
		b.ask(Confirm, Recipe, base, "launched", fmt.Sprintf("%s is %s in %s, but %d of %d launches show %s: confirm which one", variable, v.value, nameParams, len(otherAt), len(launches), other), append([]Evidence{v.at}, otherAt[:min(len(otherAt), 16)]...)...)
	}
	b.askVariable(Recipe, base, text, v.at)
}

// askVariable asks about a shell variable that is left in a value.
func (b *builder) askVariable(f File, path, text string, ev Evidence) {
	if i := strings.IndexByte(text, '$'); i >= 0 && i+1 < len(text) && (text[i+1] == '{' || text[i+1] == '(' || isNameByte(text[i+1], true)) {
		b.ask(Confirm, f, path, "variable", "holds a shell variable, which is kept as text: replace it by its value", ev)
	}
}

func (b *builder) precision() {
	v, ok := b.params.vars["MODEL_PATH"]
	switch {
	case !ok:
		b.recipe("model.precision", plain("fp8"), Missing, "placeholder", "the model's path is not known")
		b.ask(Confirm, Recipe, "model.precision", "", "can't be told without the model's path: confirm (a label only)")
	case strings.Contains(strings.ToLower(v.value), "fp4"):
		b.recipe("model.precision", plain("fp4"), Inferred, "the model's path holds fp4", "a label only; the run directory does not state it", v.at)
	default:
		b.recipe("model.precision", plain("fp8"), Inferred, "the model's path does not hold fp4", "a label only; the run directory does not state it", v.at)
	}
}

func (b *builder) backendKind() {
	v, ok := b.params.vars["SERVER_BACKEND"]
	switch {
	case !ok:
		b.ask(Confirm, Recipe, "backend.type", "backend", "SERVER_BACKEND is not in job_params.env: confirm that the servers ran under dynamo; nothing else can be ported whole")
	case v.value != "dynamo":
		b.ask(MustFix, Recipe, "backend.type", "backend", fmt.Sprintf("SERVER_BACKEND is %q, and only dynamo can be ported whole: check frontend and workers by hand", clip(v.value, 40)), v.at)
	}
	for _, p := range []struct{ name, say string }{
		{"NSYS_ENABLED", "the old run was profiled with nsys; the recipe does not profile"},
		{"COLLECT_POWER", "the old run collected power; the recipe does not"},
		{"ENABLE_METRICS_POLL", "the old run polled server metrics; the recipe does not"},
	} {
		if v, ok := b.params.vars[p.name]; ok && (v.value == "1" || strings.EqualFold(v.value, "true")) {
			b.ask(Note, "", "", p.name, p.say, v.at)
		}
	}
}

// job adds what belongs to the whole job.
func (b *builder) job() {
	b.mounts()
	if n := b.nodeCount(); n >= 8 {
		b.recipe("health_check.max_attempts", integer(300), Default, "advice",
			fmt.Sprintf("not ported: bringing up %d nodes takes 20 to 30 minutes, the default window is 30", n))
	}
}

func (b *builder) mounts() {
	v, ok := b.params.vars["CONTAINER_MOUNTS"]
	if !ok || v.value == "" {
		t := Todo{Kind: MustFix, File: Recipe, Path: "extra_mount", Message: "CONTAINER_MOUNTS is not in job_params.env: add the mounts that the paths of this recipe need"}
		if b.launches.frontend != nil && b.launches.frontend.mounts.value != "" {
			l := b.launches.frontend
			t.Evidence, t.Candidates = []Evidence{l.optionEv(l.mounts)}, []Candidate{{Value: flowText(b.mountList(l.mounts.value))}}
		}
		b.todo("", t)
		return
	}
	b.askMounts(v.value)
	list := b.mountList(v.value)
	same := len(list.Content) == strings.Count(v.value, ",")+1
	for _, n := range list.Content {
		same = same && strings.Contains(","+v.value+",", ","+n.Value+",")
		if !strings.Contains(n.Value, ":") {
			b.ask(MustFix, Recipe, "extra_mount", n.Value, fmt.Sprintf("%s has no container side: write host:container", n.Value), v.at)
		}
	}
	if same {
		b.recipe("extra_mount", list, Copied, "", "", v.at)
		return
	}
	b.recipe("extra_mount", list, Translated, "rewritten prefixes, duplicates once", whyRewrite, v.at)
}

// mountList rewrites both sides of each mount: the paths that the recipe holds
// are rewritten as well, so that is where the containers look.
func (b *builder) mountList(text string) *yaml.Node {
	var items []*yaml.Node
	seen := map[string]bool{}
	for m := range strings.SplitSeq(text, ",") {
		parts := strings.Split(strings.TrimSpace(m), ":")
		for i := range min(2, len(parts)) {
			parts[i], _ = b.rewrites.apply(parts[i])
		}
		if m = strings.Join(parts, ":"); m != "" && !seen[m] {
			seen[m] = true
			items = append(items, quoted(m))
		}
	}
	return flowList(items...)
}

// mounted says whether one of the recipe's mounts covers a container path.
func (b *builder) mounted(p string) bool {
	for _, m := range b.mountList(b.params.vars["CONTAINER_MOUNTS"].value).Content {
		parts := strings.Split(m.Value, ":")
		if dir := parts[min(1, len(parts)-1)]; p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}

// levels reads concurrency levels: "64 1010", "64,1010" or "[64, 1010]".
func levels(s string) ([]*yaml.Node, error) {
	var out []*yaml.Node
	for _, w := range strings.FieldsFunc(strings.Trim(s, "[] "), func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || len(out) == 1000 {
			return nil, fmt.Errorf("%q is no list of concurrency levels", clip(s, 40))
		}
		out = append(out, integer(n))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no concurrency level in %q", clip(s, 40))
	}
	return out, nil
}

func sameLevels(a, b []*yaml.Node) bool {
	return slices.EqualFunc(a, b, func(x, y *yaml.Node) bool { return x.Value == y.Value })
}

// concurrency finds the levels: job_params.env, else the banner, else the name
// of the directory, which is a guess.
func (b *builder) concurrency() (list []*yaml.Node, c Class, rule string, ev []Evidence) {
	shown, atBanner := b.banner.values["Concurrencies"]
	banner, bannerErr := levels(shown.value)
	if v, ok := b.params.vars["CONCURRENCIES"]; ok {
		if list, err := levels(v.value); err == nil {
			if atBanner && bannerErr == nil && !sameLevels(list, banner) {
				b.ask(Confirm, Recipe, "benchmark.concurrency", "banner", fmt.Sprintf("CONCURRENCIES is %q, the banner shows %s: confirm which one", v.value, shown.value), v.at, shown.at)
			}
			return list, Copied, "", []Evidence{v.at}
		}
		b.ask(Confirm, Recipe, "benchmark.concurrency", "levels", fmt.Sprintf("CONCURRENCIES is %q, which is no list of levels", clip(v.value, 40)), v.at)
	}
	if bannerErr == nil {
		return banner, Inferred, "from the client's banner", []Evidence{shown.at}
	}
	if dir := path.Base(b.run.source()); isRunName(dir) {
		ev := Evidence{Artifact: ".", Key: "directory", Raw: dir}
		b.ask(Confirm, Recipe, "benchmark.concurrency", "", "taken from the directory's name, nothing else shows it: confirm", ev)
		n, _ := strconv.Atoi(dir[1:])
		return []*yaml.Node{integer(n)}, Guessed, "from the directory's name", []Evidence{ev}
	}
	b.ask(MustFix, Recipe, "benchmark.concurrency", "", "no artifact shows the concurrency: set it")
	return []*yaml.Node{integer(1)}, Missing, "placeholder", nil
}
