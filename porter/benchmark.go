package porter

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// Fields of the concurrency levels: a single one, or several.
const (
	levelField  = "benchmark.concurrency"
	levelsField = "benchmark.concurrencies"
)

// benchmarkFields decides what drives the servers.
func (p *porting) benchmarkFields() {
	p.recipe("observability.enabled", boolean(false), fixed("it would perturb the measurement"))
	p.recipe("benchmark.type", plain("agentperf"), fixed("the client of the harness"))
	const placement = "benchmark.client_placement"
	p.recipe(placement, plain("last_decode"), fixed("away from frontend and prefill, which are busiest"))
	p.ask(Confirm, Recipe, placement, "", nil, "review where the client runs: the harness's own choice is not recorded")
	if list, from := p.concurrency(); len(list) == 1 {
		p.recipe(levelField, list[0], from)
	} else {
		p.recipe(levelsField, flowList(list...), from)
	}
	p.clientDir()
	p.clientConfig()
	p.clientFlags()
}

// concurrency finds the levels: job_params.env, else the banner, else the name
// of the directory, which is a guess.
func (p *porting) concurrency() ([]*yaml.Node, origin) {
	shown := p.run.Banner.Values["Concurrencies"]
	banner, inBanner := parseLevels(shown.Text)
	if v, ok := p.run.Params["CONCURRENCIES"]; ok {
		if list, ok := parseLevels(v.Text); ok {
			if inBanner && !sameLevels(list, banner) {
				p.ask(Confirm, Recipe, levelField, "banner", evidence(v.At, shown.At),
					"CONCURRENCIES is %q, the banner shows %s: confirm which one", v.Text, shown.Text)
			}
			return list, copied(v.At)
		}
		p.ask(Confirm, Recipe, levelField, "levels", evidence(v.At),
			"CONCURRENCIES is %q, which is no list of levels", safetext.Clip(v.Text, 40))
	}
	if inBanner {
		return banner, inferred("from the client's banner", "", shown.At)
	}
	if dir := filepath.Base(p.run.Dir); harness.IsRunName(dir) {
		ev := Evidence{Artifact: ".", Key: "directory", Raw: dir}
		p.ask(Confirm, Recipe, levelField, "", evidence(ev),
			"taken from the directory's name, nothing else shows it: confirm")
		n, _ := strconv.Atoi(dir[1:])
		return []*yaml.Node{integer(n)}, origin{Guessed, "from the directory's name", "", []Evidence{ev}}
	}
	p.ask(MustFix, Recipe, levelField, "", nil, "no artifact shows the concurrency: set it")
	return []*yaml.Node{integer(1)}, placeholder("")
}

// parseLevels reads concurrency levels: "64 1010", "64,1010" or "[64, 1010]".
func parseLevels(s string) (levels []*yaml.Node, ok bool) {
	isSep := func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }
	for _, w := range strings.FieldsFunc(strings.Trim(s, "[] "), isSep) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || len(levels) == 1000 {
			return nil, false
		}
		levels = append(levels, integer(n))
	}
	return levels, len(levels) > 0
}

func sameLevels(a, b []*yaml.Node) bool {
	return slices.EqualFunc(a, b, func(x, y *yaml.Node) bool { return x.Value == y.Value })
}

func (p *porting) clientDir() {
	const base = "benchmark.agentperf_client_dir"
	dir := p.run.Client.Checkout
	if dir.Text == "" {
		p.recipe(base, plain("/TODO/agentperf-client"), placeholder("client_cmds_base.sh shows no cd before run.py"))
		p.ask(MustFix, Recipe, base, "", nil,
			"the client checkout is not known: give the container path of a pinned checkout")
		return
	}
	text, from := p.moved(dir.Text, dir.At)
	p.recipe(base, plain(text), from)
	say := "confirm that the compute containers can read it"
	if !p.mounted(text) {
		say = "no extra_mount covers it: mount it"
	}
	p.ask(Confirm, Recipe, base, "readable", evidence(dir.At), "a pinned checkout: %s", say)
	p.askVariable(base, text, dir.At)
}

func (p *porting) clientConfig() {
	const base = "benchmark.agentperf_config"
	if p.opt.WorkloadOut == "" {
		p.recipe(base, plain("/TODO/workload.yaml"), placeholder("the workload file has no path yet"))
		p.ask(MustFix, Recipe, base, "", nil, "give the container path of the workload file")
		return
	}
	abs, err := filepath.Abs(p.opt.WorkloadOut)
	if err != nil {
		abs = p.opt.WorkloadOut
	}
	text, from := p.moved(abs, Evidence{Artifact: "command line", Key: "--workload-out", Raw: abs})
	p.recipe(base, plain(text), from)
	say := "confirm that the containers see the workload file at this path"
	if !p.mounted(text) {
		say = "no extra_mount covers the workload file: mount its folder, or write it below a mounted one"
	}
	p.ask(Confirm, Recipe, base, "visible", nil, "%s", say)
}

// clientFlags hands further flags of the old client command to the bench step,
// which splits them at spaces and knows no quotes.
func (p *porting) clientFlags() {
	const base, variable = "benchmark.env", "AGENTPERF_EXTRA_ARGS"
	client := p.run.Client
	if len(client.Flags) == 0 {
		return
	}
	for _, w := range client.Flags {
		if w == "" || strings.ContainsAny(w, " \t\n") {
			p.ask(MustFix, Recipe, base+"."+variable, "spaces", evidence(client.FlagsAt),
				"the client's argument %q can't be passed on: the bench step splits at spaces", safetext.Clip(w, 60))
		}
	}
	p.entry(base, variable, quoted(strings.Join(client.Flags, " ")),
		translated("flags of the old client command", "the bench step passes the others itself", client.FlagsAt))
}
