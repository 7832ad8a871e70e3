// Package check says whether a recipe and its workload hold: the rules that
// upstream applies late, some of them after half an hour of model loading, and
// the ones that it does not apply at all. It rests on what recipes has loaded;
// it asks for a file's existence only through the function that it is given.
package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Report is everything that is to be said about one run's files.
type Report struct {
	Diagnostics recipes.Diagnostics    `json:"diagnostics"`
	Timeouts    []recipes.TimeoutCheck `json:"timeouts"`
	// Todos are placeholders that a port left open; they are among the errors too.
	Todos int `json:"todos"`
}

// OK says whether nothing stands against a run.
func (r Report) OK() bool { return r.Diagnostics.Errors() == 0 }

// OnlyTodos says whether open placeholders are all that stands against a run.
func (r Report) OnlyTodos() bool { return r.Diagnostics.Errors() == r.Todos }

// Run checks a loaded recipe, and its workload where there is one (nil: the
// rules that need it are left out).
func Run(r *recipes.Recipe, w *recipes.Workload) Report {
	c := checker{r: r, w: w}
	if r != nil {
		c.topology()
		c.engine()
		c.frontend()
		c.mounts()
		c.benchmark()
		c.time()
		c.placeholders(r.File, r.Leaves())
	}
	if w != nil {
		c.workload()
		c.placeholders(w.File, w.Leaves())
	}
	c.out.Diagnostics.Sort()
	return c.out
}

type checker struct {
	r   *recipes.Recipe
	w   *recipes.Workload
	out Report
}

func (c *checker) add(sev recipes.Severity, path, msg, fix string) {
	c.out.Diagnostics = append(c.out.Diagnostics, c.r.Diag(sev, path, msg, fix))
}

// topology applies upstream's layout rules, which its dry-run and load skip, and
// the divisions that it rounds without a word.
func (c *checker) topology() {
	r := c.r
	disagg, agg := r.Disaggregated(), r.Agg.Given
	switch {
	case !disagg && !agg:
		c.add(recipes.Error, "resources", "no workers: neither prefill and decode nor agg are given", "give nodes and workers of the roles")
	case disagg && agg:
		c.add(recipes.Error, "resources", "prefill or decode and agg workers exclude each other", "remove one of the two layouts")
	case disagg && r.Prefill.Workers == 0 && r.Decode.Workers == 0:
		c.add(recipes.Error, "resources", "0 prefill and 0 decode workers", "give both a number")
	case disagg && (r.Prefill.Workers == 0 || r.Decode.Workers == 0):
		c.add(recipes.Error, "resources", "only one of prefill and decode has workers", "give both, or use the agg fields for an aggregated layout")
	case agg && (r.Agg.Workers == 0 || r.Agg.Nodes == 0):
		c.add(recipes.Error, "resources", "an aggregated layout needs agg nodes and workers", "")
	}
	for _, role := range c.roles() {
		c.role(role.name, role.Role)
	}
}

type namedRole struct {
	name string
	recipes.Role
}

func (c *checker) roles() []namedRole {
	all := []namedRole{{"prefill", c.r.Prefill}, {"decode", c.r.Decode}, {"agg", c.r.Agg}}
	return slices.DeleteFunc(all, func(n namedRole) bool { return !n.Given || n.Workers == 0 })
}

func (c *checker) role(name string, role recipes.Role) {
	r, nodes := c.r, "resources."+name+"_nodes"
	if role.Colocated {
		if r.Prefill.GPUs == 0 || role.GPUs == 0 {
			c.add(recipes.Error, nodes, "decode shares the prefill nodes, and both need their GPUs per worker given", "give gpus of both roles")
		} else if have, want := r.Prefill.Nodes*r.GPUsPerNode, r.Prefill.Workers*r.Prefill.GPUs+role.Workers*role.GPUs; want > have {
			c.add(recipes.Error, nodes, fmt.Sprintf("prefill and decode together want %d GPUs, their nodes have %d", want, have), "")
		}
		return
	}
	if role.Nodes == 0 {
		c.add(recipes.Error, nodes, fmt.Sprintf("%d %s workers on 0 nodes", role.Workers, name), "")
		return
	}
	gpus := r.GPUsPerWorker(role)
	have := role.Nodes * r.GPUsPerNode
	if role.GPUs == 0 && have%role.Workers != 0 {
		c.add(recipes.Error, nodes, fmt.Sprintf("%d GPUs on %d nodes do not divide into %d workers: upstream would drop the rest", have, role.Nodes, role.Workers), "change nodes or workers, or give gpus")
		return
	}
	if gpus*role.Workers > have {
		c.add(recipes.Error, nodes, fmt.Sprintf("%d workers of %d GPUs want %d, %d nodes have %d", role.Workers, gpus, gpus*role.Workers, role.Nodes, have), "")
	}
	if gpus > r.GPUsPerNode && gpus%r.GPUsPerNode != 0 {
		c.add(recipes.Error, nodes, fmt.Sprintf("a worker of %d GPUs does not fill whole nodes of %d", gpus, r.GPUsPerNode), "")
	}
	c.parallelism(name, role, gpus)
}

// parallelism: TP × PP is the number of ranks of a TRT-LLM worker; upstream does not verify it.
func (c *checker) parallelism(name string, role recipes.Role, gpus int) {
	tp, ok := role.ArgInt("tensor_parallel_size")
	if c.r.Engine.Type != "trtllm" || !ok {
		return
	}
	pp, ok := role.ArgInt("pipeline_parallel_size")
	if !ok {
		pp = 1
	}
	if tp*pp != gpus {
		cfg := "backend.trtllm_config." + name
		if name == "agg" {
			cfg = "backend.trtllm_config.aggregated"
		}
		c.add(recipes.Error, cfg, fmt.Sprintf("tensor_parallel_size %d × pipeline_parallel_size %d = %d, and a %s worker has %d GPUs", tp, pp, tp*pp, name, gpus), "make them equal")
	}
}

func (c *checker) engine() {
	r := c.r
	if g := r.GPUType; g != "" && g != strings.ToLower(g) {
		c.add(recipes.Warning, "resources.gpu_type", fmt.Sprintf("%q is not lower case: NUMA memory binding is silently lost", g), "write "+strings.ToLower(g))
	}
	if r.Observability {
		c.add(recipes.Warning, "observability.enabled", "debug logs and metrics change what is measured", "set it to false for measured runs")
	}
	if r.Engine.PublishEvents {
		c.add(recipes.Warning, "backend.publish_events_and_metrics", "publishing events costs performance", "")
	}
	for _, v := range r.Environment {
		for _, role := range c.roles() {
			if own, ok := role.Env.Get(v.Name); ok && own != v.Value {
				c.add(recipes.Warning, "environment."+v.Name, fmt.Sprintf("beats the value %q of the %s workers: the global environment is applied last", own, role.name), "give it in one place")
			}
		}
	}
	if r.Engine.Type != "trtllm" || r.Frontend.Type != "dynamo" {
		c.add(recipes.Warning, "backend.type", fmt.Sprintf("%s behind a %s frontend can be read, not run here: only trtllm behind dynamo is", r.Engine.Type, r.Frontend.Type), "")
	}
}

var parserFlag = regexp.MustCompile(`^dyn-.*-parser$`)

func (c *checker) frontend() {
	r := c.r
	for _, f := range r.Frontend.Args {
		if parserFlag.MatchString(strings.TrimPrefix(f.Name, "--")) {
			c.add(recipes.Error, "frontend.args."+f.Name, "the frontend refuses to start with this flag", "set DYN_TOOL_CALL_PARSER or DYN_REASONING_PARSER in the workers' environment")
		}
	}
	if r.Frontend.Multiple && r.Benchmark.Type == "agentperf" && r.WorkerNodes() > 1 {
		c.add(recipes.Warning, "frontend.enable_multiple_frontends", "nginx and several frontends stand in the path: a 45 MB body limit, and router state split over them", "set it to false")
	}
	if r.Dynamo.Install {
		c.add(recipes.Warning, "dynamo.install", "dynamo is installed into each container before the start, which needs egress", "set it to false for dynamo images")
	}
}

func (c *checker) mounts() {
	for _, m := range c.r.ExtraMounts {
		host, container, ok := strings.Cut(m, ":")
		target, _, _ := strings.Cut(container, ":")
		switch {
		case !ok:
			c.add(recipes.Error, "extra_mount", fmt.Sprintf("%q has no colon: want host:container", m), "")
		case target == "/configs" || target == "/model" || target == "/logs":
			c.add(recipes.Error, "extra_mount", fmt.Sprintf("%q hides the built-in %s", m, target), "mount it elsewhere")
		case host == c.r.ModelPath && host != "":
			c.add(recipes.Error, "extra_mount", fmt.Sprintf("%q has the model's host path, which removes the /model mount", m), "")
		}
	}
}

// covered says whether a container path lies below one that is mounted.
func (c *checker) covered(path string) bool {
	targets := []string{"/logs", "/model"}
	for _, m := range c.r.ExtraMounts {
		if _, container, ok := strings.Cut(m, ":"); ok {
			target, _, _ := strings.Cut(container, ":")
			targets = append(targets, target)
		}
	}
	for _, m := range c.r.ContainerMounts {
		targets = append(targets, m.Value)
	}
	return slices.ContainsFunc(targets, func(t string) bool {
		t = strings.TrimRight(t, "/")
		return path == t || strings.HasPrefix(path, t+"/")
	})
}

func (c *checker) benchmark() {
	r := c.r
	if r.Benchmark.Type != "agentperf" {
		c.add(recipes.Warning, "benchmark.type", fmt.Sprintf("benchmark %s can be read, not run here: only agentperf is", r.Benchmark.Type), "")
		return
	}
	for _, f := range []struct{ path, value, what string }{
		{"benchmark.agentperf_client_dir", r.Benchmark.ClientDir, "the client checkout"}, {"benchmark.agentperf_config", r.Benchmark.ConfigPath, "the workload file"},
	} {
		switch {
		case f.value == "":
			c.add(recipes.Error, f.path, "required by agentperf, and not given: container path of "+f.what, "add it")
		case !strings.HasPrefix(f.value, "/"):
			c.add(recipes.Error, f.path, fmt.Sprintf("%q is no absolute container path", f.value), "")
		case !strings.HasPrefix(f.value, "/TODO/") && !c.covered(f.value):
			c.add(recipes.Warning, f.path, fmt.Sprintf("no mount of the recipe covers %s: the container may not see it", f.value), "add an extra_mount")
		}
	}
	if len(r.Benchmark.Levels) == 0 {
		c.add(recipes.Error, "benchmark.concurrencies", "no concurrency level is given", "give concurrency or concurrencies")
	}
	if r.Has("benchmark.concurrency") && r.Has("benchmark.concurrencies") {
		c.add(recipes.Warning, "benchmark.concurrencies", "concurrency is given too, and wins", "remove one of the two")
	}
}

// time compares the job's wall clock with bring-up and phases.
func (c *checker) time() {
	r := c.r
	if r.HealthWindowSeconds() < 1800 && r.WorkerNodes() >= 8 {
		c.add(recipes.Warning, "health_check.max_attempts", fmt.Sprintf("servers get %d s to come up; %d nodes need 20 to 30 minutes", r.HealthWindowSeconds(), r.WorkerNodes()), "max_attempts: 300")
	}
	if c.w == nil || !r.Has("slurm.time_limit") {
		return
	}
	limit, ok := Seconds(r.Slurm.TimeLimit)
	if !ok {
		c.add(recipes.Error, "slurm.time_limit", fmt.Sprintf("%q is no Slurm time", r.Slurm.TimeLimit), "write HH:MM:SS or D-HH:MM:SS")
		return
	}
	phases := c.w.PhaseTimeout.Float() * float64(len(r.Benchmark.Levels))
	if need := phases + float64(r.HealthWindowSeconds()); need > float64(limit) {
		c.add(recipes.Warning, "slurm.time_limit", fmt.Sprintf("%s are %d s; the health window and the phases may take %.0f s", r.Slurm.TimeLimit, limit, need), "raise it")
	}
}

// placeholders finds what a port could not fill in.
func (c *checker) placeholders(file string, leaves []recipes.Leaf) {
	for _, l := range leaves {
		if strings.HasPrefix(l.Value, "/TODO/") {
			c.out.Todos++
			c.out.Diagnostics = append(c.out.Diagnostics, recipes.Diagnostic{
				File: file, Line: l.Place.Line, Column: l.Place.Column, Path: l.Place.Path, Severity: recipes.Error,
				Message: "open placeholder " + l.Value, Fix: "give the real value",
			})
		}
	}
}
