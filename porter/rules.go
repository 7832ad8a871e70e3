package porter

import (
	"strings"
)

// Rewrite replaces the beginning of a path. Old and New usually end in a slash,
// so that /lustre/ leaves /lustre2 alone; the bare folder (/lustre) is rewritten
// as well.
type Rewrite struct{ Old, New string }

// defaultRewrites holds on clusters where /lustre is a root symlink to the same
// place as /scratch and containers mount only the latter.
var defaultRewrites = []Rewrite{{"/lustre/", "/scratch/"}}

const whyRewrite = "containers mount only the new prefix"

// rewrites is the ordered list of a port; the first match wins.
type rewrites []Rewrite

// apply rewrites the beginning of s. rule names what was done; it is empty if
// nothing was.
func (rs rewrites) apply(s string) (out, rule string) {
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

// inside finds an old prefix that stands within a value, where no rule reaches.
func (rs rewrites) inside(s string) string {
	for _, r := range rs {
		if r.Old != "" && r.Old != r.New && strings.Contains(s, r.Old) {
			return r.Old
		}
	}
	return ""
}

// envRule is one row of the table of environment translations.
type envRule struct {
	on   string // worker, frontend, or both
	verb string // rename, drop or add
	name string
	to   string // new name of a rename, value of an add
	why  string
}

const (
	onWorker   = "worker"
	onFrontend = "frontend"
	onBoth     = "both"
)

const managed = "srt-slurm or the image manages it"

var envRules = []envRule{
	{onWorker, "rename", "DYN_KV_BLOCK_SIZE", "DYN_TRTLLM_KV_BLOCK_SIZE", "only the harness understood the old name; without it dynamo silently falls back to a wrong block size"},
	{onWorker, "rename", "DYN_UCX_TLS", "UCX_TLS", "the harness script exported it under this name"},
	{onBoth, "drop", "CUDA_VISIBLE_DEVICES", "", managed},
	{onBoth, "drop", "ETCD_ENDPOINTS", "", managed},
	{onBoth, "drop", "PATH", "", managed},
	{onBoth, "drop", "LD_PRELOAD", "", managed},
	{onBoth, "drop", "VIRTUAL_ENV", "", managed},
	{onBoth, "drop", "NIXL_PLUGIN_DIR", "", managed},
	{onBoth, "drop", "HOME", "", managed},
	{onWorker, "add", "DYN_LOG", "info", "the default filter is noisier than the harness's"},
	{onFrontend, "add", "HOME", "/tmp", "the image's HOME is read-only"},
}

// ruleFor finds the rename or drop of a variable.
func ruleFor(on, name string) (envRule, bool) {
	for _, r := range envRules {
		if r.verb != "add" && r.name == name && (r.on == on || r.on == onBoth) {
			return r, true
		}
	}
	return envRule{}, false
}

// isParserFlag says whether a frontend flag would keep the frontend from
// starting; the parsers are set in the workers' environment.
func isParserFlag(name string) bool {
	return strings.HasPrefix(name, "dyn-") && strings.HasSuffix(name, "-parser")
}
