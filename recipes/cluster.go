package recipes

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Cluster is the content of srtslurm.yaml: the defaults of a site for all recipes. If there
// is none, File is empty and the values are the defaults of srt-slurm.
type Cluster struct {
	File string

	Account                        string `path:"default_account"`
	Partition                      string `path:"default_partition"`
	TimeLimit                      string `path:"default_time_limit"`
	GPUsPerNode                    int    `path:"gpus_per_node"` // 0: not set
	GPUType                        string `path:"default_gpu_type"`
	GPUsPerNodeDirective           bool   `path:"use_gpus_per_node_directive"`
	SegmentDirective               bool   `path:"use_segment_sbatch_directive"`
	ExclusiveDirective             bool   `path:"use_exclusive_sbatch_directive"`
	SbatchDirectives               Env    `path:"default_sbatch_directives"`
	HealthAttempts, HealthInterval int    // 0: not set
	OutputDir                      string `path:"output_dir"`
	ModelPaths                     Env    `path:"model_paths"`
	Containers                     Env    `path:"containers"`
	Mounts                         Env    `path:"default_mounts"`
	SrtctlRoot                     string `path:"srtctl_root"`
	HetJobs                        bool   `path:"use_het_jobs"` // default of resources.het_jobs
	Preflight                      bool   `path:"preflight"`    // check on the login node that model and image exist

	doc       *Document
	positions map[string]Position // by path
}

// Diag returns a finding about a path of the file.
func (c *Cluster) Diag(sev Severity, path, message, fix string) Diagnostic {
	at, ok := c.positions[path]
	if !ok {
		at = fileStart
	}
	at.Path = path
	return at.diagnostic(c.File, sev, message, fix)
}

// FindCluster returns the path of the cluster file: $SRTSLURM_CONFIG, or else srtslurm.yaml
// in dir or up to two directories above it. The path is empty if there is no such file. It
// is an error if the variable names a missing file, which srt-slurm ignores silently.
func FindCluster(dir string, getenv func(string) string) (string, error) {
	if p := getenv("SRTSLURM_CONFIG"); p != "" {
		if _, err := os.Stat(p); err != nil {
			return "", problem.Errorf(problem.EnvironmentInvalid,
				"find cluster file from SRTSLURM_CONFIG: %w; correct or unset the variable", err)
		}
		return p, nil
	}
	for range 3 {
		p := filepath.Join(dir, "srtslurm.yaml")
		if _, err := os.Stat(p); err == nil {
			return p, nil
		} else if !os.IsNotExist(err) {
			return "", fmt.Errorf("find cluster file: %w", err)
		}
		dir = filepath.Join(dir, "..")
	}
	return "", nil
}

// LoadCluster reads a cluster file; an empty path gives the defaults. Errors in its content are
// returned as diagnostics. srt-slurm ignores such a file with a warning that is easy to miss.
func LoadCluster(path string) (*Cluster, Diagnostics, error) {
	if path == "" {
		c, _ := ParseCluster("", []byte("{}"))
		return c, nil, nil
	}
	data, err := Read(path)
	if err != nil {
		return nil, nil, fmt.Errorf("load cluster file: %w", err)
	}
	c, diags := ParseCluster(path, data)
	return c, diags, nil
}

// ParseCluster is like [LoadCluster] but parses data.
func ParseCluster(file string, data []byte) (*Cluster, Diagnostics) {
	doc, diags := Parse(file, data)
	if doc.Root == nil {
		return nil, diags
	}
	v := readValues(doc, schema.Cluster(), strictness{reader: "srtctl", unknownKeys: Error})
	c := &Cluster{File: file, doc: doc, positions: v.positions}
	maps.Copy(c.positions, v.mapPositions)
	v.fill(c)
	for _, kv := range pairs(v.byName["default_health_check"].node) {
		if r, ok := parseNumber(resolveAlias(kv[1])); ok && r.IsInt() {
			switch n := int(r.Num().Int64()); kv[0].Value {
			case "max_attempts":
				c.HealthAttempts = n
			case "interval_seconds":
				c.HealthInterval = n
			}
		}
	}
	for _, key := range []string{"launcher", "docker_args"} {
		if v.has(key) {
			v.add(Warning, v.positions[key], key, "only a branch of srtctl knows this key: others ignore the whole file",
				"remove it, unless your srtctl has it")
		}
	}
	diags = append(diags, v.diags...)
	for i := range diags {
		diags[i].Rule = "cluster-file"
	}
	diags.Sort()
	return c, diags
}

// Apply fills the fields that the recipe omits with the defaults of the site and replaces
// aliases of models and containers, and variables in paths. It returns the changes for display.
func (c *Cluster) Apply(r *Recipe, getenv func(string) string) []Change {
	var changes []Change
	note := func(field string, from, to any, origin string) {
		changes = append(changes, Change{Field: field, From: fmt.Sprint(from), To: fmt.Sprint(to), Origin: origin})
	}
	set := func(field string, to *string, value, origin string) {
		if value != "" && *to != value {
			note(field, *to, value, origin)
			*to = value
		}
	}
	fill := func(field string, to *string, site, env, last string) {
		if r.Has(field) {
			return
		}
		for _, v := range []struct{ value, origin string }{{site, c.File}, {getenv(env), "$" + env}, {last, "default"}} {
			if v.value != "" {
				set(field, to, v.value, v.origin)
				return
			}
		}
	}
	fill("slurm.account", &r.Slurm.Account, c.Account, "SLURM_ACCOUNT", "default")
	fill("slurm.partition", &r.Slurm.Partition, c.Partition, "SLURM_PARTITION", "default")
	fill("slurm.time_limit", &r.Slurm.TimeLimit, c.TimeLimit, "", "01:00:00")
	fill("resources.gpu_type", &r.GPUType, c.GPUType, "", "")
	if !r.Has("resources.gpus_per_node") && c.GPUsPerNode > 0 {
		note("resources.gpus_per_node", r.GPUsPerNode, c.GPUsPerNode, c.File)
		r.GPUsPerNode = c.GPUsPerNode
	}
	if !r.Has("health_check.max_attempts") && !r.Has("health_check.interval_seconds") && c.HealthAttempts > 0 {
		note("health_check.max_attempts", r.HealthAttempts, c.HealthAttempts, c.File)
		r.HealthAttempts = c.HealthAttempts
		if c.HealthInterval > 0 {
			r.HealthIntervalSeconds = c.HealthInterval
		}
	}
	alias := func(field string, to *string, names Env) {
		if v, ok := names.Get(*to); ok {
			set(field, to, ExpandVariables(v, getenv), c.File)
		}
	}
	alias("model.path", &r.ModelPath, c.ModelPaths)
	alias("model.container", &r.Container, c.Containers)
	for _, role := range []*Role{&r.Prefill, &r.Decode, &r.Agg} {
		alias("roles."+string(role.Name)+".container", &role.Container, c.Containers)
	}
	alias("benchmark.container_image", &r.Benchmark.Image, c.Containers)
	r.expandPaths(getenv, set)
	return changes
}

// Change is a value of a recipe that the cluster file or the environment has set.
type Change struct {
	Field  string `json:"field"`
	From   string `json:"from"`
	To     string `json:"to"`
	Origin string `json:"origin"`
}
