package check

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func (c *checker) engine() {
	r := c.r
	if g := r.GPUType; g != "" && g != strings.ToLower(g) {
		d := c.report("gpu-type-case", "resources.gpu_type", "write "+strings.ToLower(g),
			"%q is not lower case: NUMA memory binding is silently lost", g)
		d.Set(strings.ToLower(g), true)
	}
	if r.Observability {
		c.report("observability", "observability.enabled", "set it to false for measured runs",
			"debug logs and metrics change what is measured").Set("false", false)
	}
	if r.Engine.PublishEvents {
		c.report("observability", "backend.publish_events_and_metrics", "set it to false for measured runs",
			"publishing events costs performance").Set("false", false)
	}
	if _, runs := c.Backends.For(r); !runs {
		c.report("not-run-here", "backend.type", "",
			"%s behind a %s frontend can be read, not run here: only %s is", r.Engine.Type, r.Frontend.Type, c.Backends)
	}
	if strings.HasPrefix(r.ModelPath, "hf:") {
		for _, role := range c.roles() {
			_, own := role.Env.Get("HF_HOME")
			if _, all := r.Environment.Get("HF_HOME"); !own && !all {
				c.report("hf-home", "model.path", "set HF_HOME in their environment to a folder that all share",
					"the %s workers have no HF_HOME: each of them downloads %s", role.Name, r.ModelPath)
				break
			}
		}
	}
}

// environment: what variables become is not what people expect.
func (c *checker) environment() {
	r := c.r
	for _, v := range r.Environment {
		for _, role := range c.roles() {
			if own, ok := role.Env.Get(v.Name); ok && own != v.Value {
				c.report("env-override", recipes.Join("environment", v.Name), "give it in one place",
					"beats the value of the %s workers, which is another: "+
						"the global environment is applied last", role.Name)
			}
		}
	}
}

var parserFlag = regexp.MustCompile(`^dyn-.*-parser$`)

func (c *checker) frontend() {
	r := c.r
	for _, f := range r.Frontend.Args {
		name := strings.TrimPrefix(f.Name, "--")
		if !parserFlag.MatchString(name) {
			continue
		}
		variable := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		d := c.report("parser-flag", recipes.Join("frontend.args", f.Name), "set "+variable+" in the workers' environment",
			"the frontend refuses to start with this flag")
		if _, ok := r.Decode.Env.Get(variable); ok { // it is where it belongs already
			d.Unset(true)
		}
	}
	if r.Frontend.Multiple && r.Benchmark.Type == "agentperf" && r.WorkerNodes() > 1 {
		c.report("multiple-frontends", "frontend.enable_multiple_frontends", "set it to false",
			"nginx and several frontends stand in the path: a 45 MB body limit, and router state split over them").
			Set("false", false)
	}
	if r.Dynamo.Install && r.Frontend.Type == schema.Dynamo {
		c.report("dynamo-install", "dynamo.install", "set it to false for dynamo images",
			"dynamo is installed into each container before the start, which needs egress").Set("false", false)
	}
}

// natsPayloadMB is what long prompts need of NATS.
const natsPayloadMB = 24

func (c *checker) infra() {
	r := c.r
	if r.DedicatedInfra {
		where := "infra.etcd_nats_dedicated_node"
		if r.Schema == 2 {
			where = "services"
		}
		c.report("dedicated-infra", where, "", "etcd and NATS have a node of their own: the job takes %d nodes", r.Nodes())
	}
	if r.Dynamo.RequestPlane == recipes.NATSPlane && r.NATSPayloadMB < natsPayloadMB {
		d := c.report("nats-payload", "dynamo.request_plane", "a payload limit of 24 MB or more, or tcp",
			"NATS carries messages of at most %d MB, and long prompts are larger", max(1, r.NATSPayloadMB))
		if r.Schema == 1 {
			d.Edit = &recipes.Edit{
				Op: recipes.OpSet, Path: r.Position("infra.nats_max_payload_mb").Path, Value: fmt.Sprint(natsPayloadMB),
			}
		}
	}
}

// job checks what belongs to no part of the run alone.
func (c *checker) job() {
	r := c.r
	if r.Has("output.log_dir") {
		c.report("no-effect", "output.log_dir", "remove it; apply --output-dir says where runs go",
			"is read and not used").Unset(true)
	}
	if r.Telemetry && r.Benchmark.Type != "sa-bench" {
		c.report("telemetry", "telemetry", "remove it",
			"srtctl refuses it with %s: only sa-bench works with it", r.Benchmark.Type)
	}
	if c.cluster == nil {
		return
	}
	if n := c.cluster.GPUsPerNode; n > 0 && r.Schema == 1 && !r.Has("resources.gpus_per_node") {
		c.report("cluster-gpus", "resources.gpus_per_node", "write it in the recipe",
			"%d of the cluster file: srtctl of layout 1 does not apply it and takes 4", n).Set(fmt.Sprint(n), false)
	}
	if nodes := r.Nodes(); c.cluster.SegmentDirective && nodes > rackNodes &&
		strings.HasPrefix(strings.ToLower(r.GPUType), "gb") {
		c.report("segment", "resources", "use_segment_sbatch_directive: false in the cluster file",
			"--segment=%d asks for more nodes in one block than the %d of a rack: "+
				"sbatch may refuse it, or wait for ever", nodes, rackNodes)
	}
}

// rackNodes is how many nodes of 4 GPUs an NVL72 rack has.
const rackNodes = 18
