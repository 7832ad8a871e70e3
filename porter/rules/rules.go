// Package rules holds the tables of a port: what becomes of a path, a variable and an srun flag of
// the old run in the new job. The port writes by them, and the proof explains by them.
package rules

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// Process is what a launch line starts.
type Process string

// The processes whose environments are carried over.
const (
	Worker   Process = "worker"
	Frontend Process = "frontend"

	both Process = "both"
)

// Verb is what becomes of a variable or a flag.
type Verb string

// The verbs of variables.
const (
	Rename Verb = "rename"
	Drop   Verb = "drop"
	add    Verb = "add"
)

// Variable is one row of the table of environment translations.
type Variable struct {
	on   Process
	Verb Verb
	Name string
	To   string // new name of a rename, value of an added one
	Why  string
}

const managed = "srt-slurm or the image manages it"

var variables = []Variable{
	{
		Worker, Rename, "DYN_KV_BLOCK_SIZE", "DYN_TRTLLM_KV_BLOCK_SIZE",
		"only the harness understood the old name; without it dynamo silently falls back to a wrong block size",
	},
	{Worker, Rename, "DYN_UCX_TLS", "UCX_TLS", "the harness script exported it under this name"},
	{both, Drop, "CUDA_VISIBLE_DEVICES", "", managed},
	{both, Drop, "ETCD_ENDPOINTS", "", managed},
	{both, Drop, "PATH", "", managed},
	{both, Drop, "LD_PRELOAD", "", managed},
	{both, Drop, "VIRTUAL_ENV", "", managed},
	{both, Drop, "NIXL_PLUGIN_DIR", "", managed},
	{both, Drop, "HOME", "", managed},
	{Worker, add, "DYN_LOG", "info", "the default filter is noisier than the harness's"},
	{Frontend, add, "HOME", "/tmp", "the image's HOME is read-only"},
}

func (v Variable) of(p Process) bool { return v.on == p || v.on == both }

// VariableOf finds the rename or drop of a variable; one that stays has no verb.
func VariableOf(p Process, name string) Variable {
	for _, r := range variables {
		if r.Verb != add && r.Name == name && r.of(p) {
			return r
		}
	}
	return Variable{}
}

// Dropped says whether a variable of a worker is not carried over.
func Dropped(name string) bool { return VariableOf(Worker, name).Verb == Drop }

// Added lists the variables that a process gets where the old launch gave none.
func Added(p Process) []Variable {
	return slices.DeleteFunc(slices.Clone(variables), func(r Variable) bool { return r.Verb != add || !r.of(p) })
}

// Renames maps the new names of a launch's variables to the old ones.
func Renames(p Process, vars []harness.Var) map[string]string {
	out := map[string]string{}
	for _, v := range vars {
		if r := VariableOf(p, v.Name); r.Verb == Rename {
			out[r.To] = v.Name
		}
	}
	return out
}

// WhyReplaced is why a variable is left out whose name another one gets.
const WhyReplaced = "the harness script exported that one over it"

// IsParserFlag says whether a frontend flag would keep the frontend from
// starting; the parsers are set in the workers' environment.
func IsParserFlag(name string) bool {
	return strings.HasPrefix(name, "dyn-") && strings.HasSuffix(name, "-parser")
}

// WhyNoParser is why such a flag is left out.
const WhyNoParser = "the frontend refuses to start with it; parsers are set in the workers' environment"

// SrunOptions is the recipe's field of srun flags for all steps alike.
const SrunOptions = "srun_options"

// Flag is one row of the table of srun flags: what becomes of a flag of the old
// launch line in the new job.
type Flag struct {
	Verb Verb
	Why  string
	Want string // value that the new job gives, where it is always the same
}

// The verbs of flags, and [Drop]. What is the same must have the same value in the new job; what
// moves has one that the new job's own rules give; what is compared apart is a matter of its own.
const (
	Same  Verb = "same"
	Move  Verb = "move"
	Apart Verb = "apart"
)

var flags = map[string]Flag{
	"--nodes":                   {Verb: Same, Want: "1"}, // of a service
	"--ntasks":                  {Verb: Same, Want: "1"},
	"--overlap":                 {Verb: Same},
	"--no-container-mount-home": {Verb: Same},
	"--mpi":                     {Verb: Same, Want: "pmix"},
	"--container-image":         {Verb: Apart},
	"--nodelist":                {Verb: Move, Why: "the nodes are those of the new allocation"},
	"--cpu-bind":                {Verb: Move, Why: "srt-slurm binds workers by its own means"},
	"--oversubscribe":           {Verb: Move, Why: "srt-slurm sets it for workers"},
	"--kill-on-bad-exit":        {Verb: Move, Why: "srt-slurm sets it for workers"},
	"--export":                  {Verb: Apart},
	"--container-mounts":        {Verb: Apart},
	"--job-name":                {Verb: Move, Why: "each step has its own name"},
	"--output":                  {Verb: Move, Why: "each step has its own log"},
	"--error":                   {Verb: Move, Why: "each step has its own log"},
	"--label":                   {Verb: Drop, Why: "each step has its own log"},
	"--container-name":          {Verb: Drop, Why: "each step has a container of its own"},
	"--unbuffered":              {Verb: Drop, Why: "a matter of display"},
}

// FlagOf is the rule of an srun flag, by its long name; one that no rule knows has no verb.
func FlagOf(name string) Flag { return flags[name] }

// Rewrite replaces the beginning of a path. Old and New usually end in a slash, so that /lustre/
// leaves /lustre2 alone; the bare folder (/lustre) is rewritten as well.
type Rewrite struct{ Old, New string }

// DefaultRewrites holds on clusters where /lustre is a root symlink to the same
// place as /scratch and containers mount only the latter.
var DefaultRewrites = []Rewrite{{"/lustre/", "/scratch/"}}

// WhyRewrite is why a path is rewritten.
const WhyRewrite = "containers mount only the new prefix"

// Rewrites is the ordered list of a port; the first match wins.
type Rewrites []Rewrite

// Apply rewrites the beginning of s. rule names what was done; it is empty if nothing was.
func (rs Rewrites) Apply(s string) (out, rule string) {
	for _, r := range rs {
		if r.Old == "" {
			continue
		}
		switch rest, ok := strings.CutPrefix(s, r.Old); {
		case ok:
			out = r.New + rest
		case s == strings.TrimSuffix(r.Old, "/") && s != "":
			out = strings.TrimSuffix(r.New, "/")
		default:
			continue
		}
		if out == s {
			return s, ""
		}
		return out, "rewrite " + r.Old + " → " + r.New
	}
	return s, ""
}

// Inside finds an old prefix that stands within a value, where no rule reaches.
func (rs Rewrites) Inside(s string) string {
	for _, r := range rs {
		if r.Old != "" && r.Old != r.New && strings.Contains(s, r.Old) {
			return r.Old
		}
	}
	return ""
}

// Node rewrites the strings of a YAML value; the original stays as it is.
func (rs Rewrites) Node(n *yaml.Node) (out *yaml.Node, rule string) {
	if n.Kind == yaml.ScalarNode {
		if n.Tag != "!!str" {
			return n, ""
		}
		text, rule := rs.Apply(n.Value)
		if rule == "" {
			return n, ""
		}
		c := *n
		c.Value = text
		return &c, rule
	}
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, k := range n.Content {
		var did string
		c.Content[i], did = rs.Node(k)
		if did != "" && !strings.Contains(rule, did) {
			rule = Join(rule, did)
		}
	}
	return &c, rule
}

// Mounts rewrites both sides of each mount of a comma-separated list, each once: the paths that the
// recipe holds are rewritten as well, so that is where the containers look.
func (rs Rewrites) Mounts(list string) []string {
	var out []string
	for m := range strings.SplitSeq(list, ",") {
		parts := strings.Split(strings.TrimSpace(m), ":")
		for i := range min(2, len(parts)) {
			parts[i], _ = rs.Apply(parts[i])
		}
		if m = strings.Join(parts, ":"); m != "" && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// Join puts two rules or reasons, either of which may be empty, behind one another.
func Join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
