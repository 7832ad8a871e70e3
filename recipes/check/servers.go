package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// sweep notes values of engine configurations that come from a sweep.
func (c *checker) sweep() {
	swept := c.r.SweptText()
	if len(swept) == 0 {
		return
	}
	texts := make([]string, 0, len(swept))
	for _, l := range swept {
		texts = append(texts, l.Value)
	}
	at := swept[0].Position
	c.add("sweep-text", recipes.Diagnostic{
		File: c.r.File, Line: at.Line, Column: at.Column, Path: at.Path, Severity: c.severity["sweep-text"],
		Message: "the engine gets values of the sweep as text, as srtctl inserts them: " + strings.Join(texts, ", "),
	})
}

func (c *checker) engine() {
	r := c.r
	if g := r.GPUType; g != strings.ToLower(g) && slices.Contains(schema.MemoryBoundGPUs(), strings.ToLower(g)) {
		d := c.report("gpu-type-case", "resources.gpu_type", "use "+strings.ToLower(g),
			"%q is not lower case: srtctl silently omits NUMA memory binding", g)
		d.Set(strings.ToLower(g), true)
	}
	if r.Observability {
		c.report("observability", "observability.enabled", "set it to false for measurements",
			"debug logs, request traces and metrics affect the measurement").
			Set("false", false)
	}
	if r.Engine.PublishEvents {
		fix := "set it to false for measurements: workers then publish nothing"
		if r.Engine.PublishMetrics {
			fix = "set it to false for measurements: workers then publish metrics only, which publish_metrics: false turns off"
		}
		c.report("observability", "backend.publish_events_and_metrics", fix,
			"publishing events reduces performance").Set("false", false)
	}
	if strings.HasPrefix(r.ModelPath, "hf:") {
		for _, role := range c.roles() {
			_, own := role.Env.Get("HF_HOME")
			if _, all := r.Environment.Get("HF_HOME"); !own && !all {
				c.report("hf-home", "model.path", "set HF_HOME to a shared directory in the workers' environment",
					"the %s workers have no HF_HOME: each of them downloads %s", role.Name, r.ModelPath)
				break
			}
		}
	}
}

// environment checks the order in which environments are applied.
func (c *checker) environment() {
	r := c.r
	for _, v := range r.Environment {
		for _, role := range c.roles() {
			if own, ok := role.Env.Get(v.Name); ok && own != v.Value {
				c.report("env-override", recipes.Join("environment", v.Name), "set it in one place",
					"overrides the different value of the %s workers: "+
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
		if _, ok := r.Decode.Env.Get(variable); ok { // the workers have it already
			d.Unset(true)
		}
	}
	if r.Frontend.Multiple && c.runsHere && r.WorkerNodes() > 1 {
		c.report("multiple-frontends", "frontend.enable_multiple_frontends", "set it to false",
			"not applied by plans of this program, which start one frontend; with srtctl, requests pass through nginx and "+
				"several frontends: bodies are limited to 45 MB, and router state is split").Set("false", false)
	}
	if r.Dynamo.Install && c.runsHere {
		c.report("dynamo-install", "dynamo.install", "set it to false for dynamo images",
			"not applied by plans of this program: the image must contain dynamo; srtctl installs it in each container, "+
				"which needs internet access").Set("false", false)
	}
}

// natsPayloadMB is the NATS payload limit that long prompts need, and bytesPerToken an upper bound for the
// size of a prompt in a message.
const (
	natsPayloadMB = 24
	bytesPerToken = 10
)

// hasLongPrompts reports whether prompts may be larger than a NATS message. Those of agentperf grow with the
// conversation.
func (c *checker) hasLongPrompts() bool {
	b, limit := c.r.Benchmark, max(1, c.r.NATSPayloadMB)
	return b.Type == schema.AgentPerf && limit < natsPayloadMB || b.ISL*bytesPerToken > limit<<20
}

// notStarted warns of etcd and NATS that are disabled although the servers need them.
func (c *checker) notStarted() {
	r := c.r
	needed := map[schema.Role]string{schema.Etcd: "ETCD_ENDPOINTS"}
	if r.Dynamo.RequestPlane == recipes.NATSPlane || r.Dynamo.EventPlane == recipes.NATSPlane {
		needed[schema.NATS] = "NATS_SERVER"
	}
	for kind, variable := range needed {
		in := r.Infra(kind)
		if _, elsewhere := r.Environment.Get(variable); in.Starts || in.External != "" || elsewhere {
			continue
		}
		c.report("services", in.Path+".enabled", "enable it, or give the address of a running one as external",
			"the servers need %s, but it is not started", kind).Severity = recipes.Warning
	}
}

func (c *checker) infra() {
	r := c.r
	if c.runsHere {
		c.notStarted()
	}
	if r.DedicatedInfra {
		path := "infra.etcd_nats_dedicated_node"
		if r.Schema == 2 {
			path = "services"
		}
		c.report("dedicated-infra", path, "", "etcd and NATS get a dedicated node: the job needs %d nodes", r.Nodes())
	}
	if r.Dynamo.RequestPlane == recipes.NATSPlane && r.Infra(schema.NATS).External == "" && c.hasLongPrompts() {
		d := c.report("nats-payload", "dynamo.request_plane", "set a payload limit of 24 MB or more, or use tcp",
			"NATS carries messages of at most %d MB, but long prompts are larger", max(1, r.NATSPayloadMB))
		if r.Schema == 1 {
			d.Edit = &recipes.Edit{
				Op: recipes.OpSet, Path: r.Position("infra.nats_max_payload_mb").Path, Value: fmt.Sprint(natsPayloadMB),
			}
		}
	}
}
