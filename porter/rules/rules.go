// Package rules holds the tables of a port: how paths, environment variables and srun flags of the
// old run are carried over to the new job. The port applies them; the proof uses them to explain
// differences.
package rules

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// Process is the kind of process that a launch line starts.
type Process string

// The processes whose environments are carried over.
const (
	Worker   Process = "worker"
	Frontend Process = "frontend"
	Client   Process = "client"

	both Process = "both" // worker and frontend
)

// Action is how a variable or a flag is carried over.
type Action string

// The actions on variables.
const (
	Rename Action = "rename"
	Drop   Action = "drop"
	Ask    Action = "ask" // a person must decide
	add    Action = "add"
)

// Variable is one row of the table of environment translations.
type Variable struct {
	on     Process
	Action Action
	Name   string
	To     string // new name of a rename, value of an added one
	Why    string
}

const whyManaged = "set by srt-slurm or the image"

var variables = []Variable{
	{
		Worker, Rename, "DYN_KV_BLOCK_SIZE", "DYN_TRTLLM_KV_BLOCK_SIZE",
		"only the harness reads the old name; without the new one dynamo silently uses a wrong block size",
	},
	{Worker, Rename, "DYN_UCX_TLS", "UCX_TLS", "the harness script exported it under this name"},
	{both, Drop, "CUDA_VISIBLE_DEVICES", "", whyManaged},
	{both, Drop, "ETCD_ENDPOINTS", "", whyManaged},
	{both, Drop, "PATH", "", whyManaged},
	{both, Drop, "LD_PRELOAD", "", whyManaged},
	{both, Drop, "VIRTUAL_ENV", "", whyManaged},
	{both, Drop, "NIXL_PLUGIN_DIR", "", whyManaged},
	{both, Drop, "HOME", "", whyManaged},
	{Worker, add, "DYN_LOG", "info", "the default log level is more verbose than the harness's"},
	{Frontend, add, "HOME", "/tmp", "the image's HOME is read-only"},
	{Client, Drop, "RUNTIME", "", whyBenchStep},
	{Client, Drop, "HOME", "", whyBenchStep},
	{Client, Drop, "CARGO_HOME", "", whyBenchStep},
	{Client, Drop, "RUSTUP_HOME", "", whyBenchStep},
	{Client, Drop, "CARGO_TARGET_DIR", "", whyBenchStep},
	{Client, Drop, "UV_PROJECT_ENVIRONMENT", "", whyBenchStep},
	{Client, Drop, "UV_CACHE_DIR", "", whyBenchStep},
	{Client, Drop, "TIKTOKEN_CACHE_DIR", "", whyBenchStep},
	{Client, Drop, "PYTHONPYCACHEPREFIX", "", whyBenchStep},
	{Client, Drop, "PATH", "", whyBenchStep},
	{Client, Drop, "VIRTUAL_ENV", "", whyBenchStep},
	{Client, Drop, "AGENTPERF_EXTRA_ARGS", "", "only the bench step reads it"},
}

const whyBenchStep = "the bench step gives the client a runtime directory of its own"

func (v Variable) of(p Process) bool { return v.on == p || v.on == both && p != Client }

// VariableOf returns the rename or drop rule of a variable. Action is empty for a variable that is
// carried over unchanged.
func VariableOf(p Process, name string) Variable {
	for _, r := range variables {
		if r.Action != add && r.Name == name && r.of(p) {
			return r
		}
	}
	return Variable{}
}

// IsDropped reports whether a variable of a worker is not carried over.
func IsDropped(name string) bool { return VariableOf(Worker, name).Action == Drop }

// Added returns the variables that a process gets in addition to those of the old launch.
func Added(p Process) []Variable {
	return slices.DeleteFunc(slices.Clone(variables), func(r Variable) bool { return r.Action != add || !r.of(p) })
}

// Renames maps the new names of renamed variables to their old names.
func Renames(p Process, vars []harness.Var) map[string]string {
	out := map[string]string{}
	for _, v := range vars {
		if r := VariableOf(p, v.Name); r.Action == Rename {
			out[r.To] = v.Name
		}
	}
	return out
}

// WhyReplaced is why a variable is dropped when another one is renamed to its name.
const WhyReplaced = "the harness script overwrote it with that variable"

// IsParserFlag reports whether a frontend flag selects a parser. The frontend does not start with
// such a flag; parsers are set in the workers' environment.
func IsParserFlag(name string) bool {
	return strings.HasPrefix(name, "dyn-") && strings.HasSuffix(name, "-parser")
}

// WhyParserFlag is why a parser flag is dropped.
const WhyParserFlag = "the frontend refuses to start with it; parsers are set in the workers' environment"

// SrunOptions is the recipe field for srun flags that apply to all steps.
const SrunOptions = "srun_options"

// Flag is one row of the table of srun flags: how a flag of the old launch line is carried over.
type Flag struct {
	Action   Action
	Why      string
	Expected string // value in the new job, if it is always the same
	// Same are the values that have the effect of the new job's; any other one must be confirmed. None:
	// every value of a flag that the new job sets itself.
	Same []string
}

// Covers reports whether the rule explains what becomes of a value, without a question.
func (f Flag) Covers(value string) bool {
	switch f.Action {
	case "":
		return false
	case MustMatch:
		return value == f.Expected
	}
	return f.Same == nil || slices.Contains(f.Same, value)
}

// The actions on flags, besides [Drop].
const (
	MustMatch Action = "same"  // must have the same value in the new job
	Managed   Action = "move"  // the new job sets its own value
	Separate  Action = "apart" // compared separately
)

var flags = map[string]Flag{
	"--nodes":                   {Action: MustMatch, Expected: "1"}, // of services; not applied to workers
	"--ntasks":                  {Action: MustMatch, Expected: "1"},
	"--overlap":                 {Action: MustMatch},
	"--no-container-mount-home": {Action: MustMatch},
	"--mpi":                     {Action: MustMatch, Expected: "pmix"},
	"--container-image":         {Action: Separate},
	"--nodelist":                {Action: Managed, Why: "the nodes are those of the new allocation"},
	"--cpu-bind": {
		Action: Managed, Expected: "verbose,none", Same: []string{"none", "verbose,none", "quiet,none", "q,none", "v,none"},
		Why: "srt-slurm starts workers with --cpu-bind=verbose,none",
	},
	"--oversubscribe": {Action: Managed, Why: "srt-slurm sets it for workers"},
	"--kill-on-bad-exit": {
		Action: Managed, Expected: "1", Same: []string{"", "1"}, Why: "srt-slurm sets it for workers",
	},
	"--export":                  {Action: Separate},
	"--container-mounts":        {Action: Separate},
	"--ntasks-per-node":         {Action: Managed, Why: "srt-slurm sets the tasks of a worker"},
	"--job-name":                {Action: Managed, Why: "each step has its own name"},
	"--output":                  {Action: Managed, Why: "each step has its own log"},
	"--error":                   {Action: Managed, Why: "each step has its own log"},
	"--label":                   {Action: Drop, Why: "each step has its own log"},
	"--container-name":          {Action: Drop, Why: "each step has its own container"},
	"--unbuffered":              {Action: Drop, Why: "affects only how output is displayed"},
	"--quiet":                   {Action: Drop, Why: "affects only the messages of srun"},
	"--verbose":                 {Action: Drop, Why: "affects only the messages of srun"},
	"--jobid":                   {Action: Managed, Why: "each step runs in the new job"},
	"--no-container-entrypoint": {Action: MustMatch},
}

// FlagOf returns the rule for an srun flag by its long name. Action is empty for an unknown flag.
func FlagOf(name string) Flag { return flags[name] }

// Rewrite replaces a path prefix. Old and New usually end in a slash, so that /lustre/ does not match
// /lustre2; the directory itself (/lustre) is rewritten as well.
type Rewrite struct{ Old, New string }

// DefaultRewrites apply to clusters where /lustre is a symbolic link to /scratch and containers mount
// only /scratch.
var DefaultRewrites = []Rewrite{{"/lustre/", "/scratch/"}}

// WhyRewrite is why a path is rewritten.
const WhyRewrite = "containers mount only the new prefix"

// Rewrites is an ordered list of rewrites; the first match wins.
type Rewrites []Rewrite

// Apply rewrites the prefix of s. rule names the rewrite; it is empty if none matched.
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

// FindInside returns an old prefix that occurs anywhere in s. Apply does not rewrite it unless s
// begins with it.
func (rs Rewrites) FindInside(s string) string {
	for _, r := range rs {
		if r.Old != "" && r.Old != r.New && strings.Contains(s, r.Old) {
			return r.Old
		}
	}
	return ""
}

// Node rewrites the strings of a copy of a YAML value.
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
		var applied string
		c.Content[i], applied = rs.Node(k)
		if applied != "" && !strings.Contains(rule, applied) {
			rule = Join(rule, applied)
		}
	}
	return &c, rule
}

// Mounts rewrites both sides of each mount of a comma-separated list and removes duplicates. The
// container side is rewritten because the paths in the recipe are.
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

// Join joins two rules or reasons with a semicolon. Either may be empty.
func Join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
