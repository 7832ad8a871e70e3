package porter

import (
	"path/filepath"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// Fields of a single concurrency level and of several.
const (
	levelField  = "benchmark.concurrency"
	levelsField = "benchmark.concurrencies"
)

// benchmarkFields sets the fields of the benchmark client.
func (p *porting) benchmarkFields() {
	p.setRecipe("observability.enabled", boolean(false), fixed("it would affect the measurement"))
	p.setRecipe("benchmark.type", plain("agentperf"), fixed("the harness's client"))
	p.clientPlacement()
	if list, from := p.concurrency(); len(list) == 1 {
		p.setRecipe(levelField, list[0], from)
	} else {
		p.setRecipe(levelsField, flowList(list...), from)
	}
	p.clientDir()
	p.clientConfig()
	p.clientFields()
}

// concurrency returns the concurrency levels from job_params.env, a log or a command, or else the name of
// the directory.
func (p *porting) concurrency() ([]*yaml.Node, origin) {
	if v, ok := p.run.Params["CONCURRENCIES"]; ok {
		if _, valid := parseLevels(v.Text); !valid {
			p.ask(Confirm, Recipe, levelField, "levels", evidence(v.At),
				"CONCURRENCIES is %q, which is not a list of concurrency levels", safetext.Clip(v.Text, 40))
		}
	}
	claims := p.levelClaims()
	if len(claims) == 0 {
		p.ask(MustFix, Recipe, levelField, "", nil, "no artifact shows the concurrency: set it")
		return []*yaml.Node{integer(1)}, placeholder("")
	}
	switch c := claims[0]; {
	case c.at.Key == "CONCURRENCIES":
		return c.levels, copied(c.at)
	case c.at.Artifact == ".":
		p.ask(Confirm, Recipe, levelField, "", evidence(c.at),
			"taken from the directory's name; no artifact shows it: confirm")
		return c.levels, origin{Guessed, "from the directory's name", "", []Evidence{c.at}}
	default:
		return c.levels, inferred(c.text, "", c.at)
	}
}

// parseLevels parses concurrency levels such as "64 1010", "64,1010" or "[64, 1010]".
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

func (p *porting) clientDir() {
	const base = "benchmark.agentperf_client_dir"
	dir := p.run.Client.Checkout
	if dir.Text == "" {
		p.setRecipe(base, plain("/TODO/agentperf-client"), placeholder("client_cmds_base.sh shows no cd before run.py"))
		p.ask(MustFix, Recipe, base, "", nil,
			"the client checkout is unknown: give the container path of a pinned checkout")
		return
	}
	text, from := p.rewritePath(dir.Text, dir.At)
	p.setRecipe(base, plain(text), from)
	what := "confirm that the compute containers can read it"
	if bad := recipes.ContainerPathProblem(text); bad != "" {
		p.ask(MustFix, Recipe, base, "", evidence(dir.At), "client checkout: %s: give its container path", bad)
		return
	}
	if !p.isMounted(text) {
		what = "no extra_mount covers it: mount it"
	}
	p.ask(Confirm, Recipe, base, "readable", evidence(dir.At), "pinned client checkout: %s", what)
}

func (p *porting) clientConfig() {
	const base = "benchmark.agentperf_config"
	if p.opt.WorkloadOut == "" {
		p.setRecipe(base, plain("/TODO/workload.yaml"), placeholder("the workload file has no path yet"))
		p.ask(MustFix, Recipe, base, "", nil, "give the container path of the workload file")
		return
	}
	abs, err := filepath.Abs(p.opt.WorkloadOut)
	if err != nil {
		abs = p.opt.WorkloadOut
	}
	text, from := p.rewritePath(abs, Evidence{Artifact: "command line", Key: "--workload-out", Raw: abs})
	p.setRecipe(base, plain(text), from)
	what := "confirm that the containers see the workload file at this path"
	if !p.isMounted(text) {
		what = "no extra_mount covers the workload file: mount its directory, or write it to a mounted one"
	}
	p.ask(Confirm, Recipe, base, "visible", nil, "%s", what)
}
