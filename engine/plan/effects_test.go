package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/testdata/golden"
)

const effectsRecipe = `schema: 2
name: x
model: {path: /m, container: /c.sqsh, precision: fp4}
resources: {gpu_type: h100, gpus_per_node: 4}
engine: trtllm
roles: {prefill: {nodes: 1, workers: 1}, decode: {nodes: 1, workers: 1}}
benchmark: {type: agentperf, concurrency: 8, agentperf_client_dir: /ap/c, agentperf_config: /ap/w.yaml}
extra_mount: ["/s/ap:/ap"]
`

const (
	noInstall    = "dynamo: {install: false}\n"
	oneFrontend  = "frontend: {enable_multiple_frontends: false}\n"
	natsPlane    = "dynamo: {install: false, request_plane: nats}\n"
	payloadLimit = "services: [{name: nats, type: nats, options: {max_payload_mb: 24}}]\n"
)

// TestEffects compares the plans of recipes with and without fields: what a field changes is in the golden
// file. Check does not say of any of them that it is not applied.
func TestEffects(t *testing.T) {
	t.Parallel()
	plain := noInstall + oneFrontend
	var out strings.Builder
	for _, c := range []struct{ name, before, after string }{
		{"payload limit on the request plane", natsPlane + oneFrontend, natsPlane + oneFrontend + payloadLimit},
		{"payload limit without a plane", plain, plain + payloadLimit},
		{
			"payload limit above what may be pending", plain + payloadLimit,
			plain + "services: [{name: nats, type: nats, options: {max_payload_mb: 65}}]\n",
		},
		{"declared nats", plain, plain + "services: [{name: nats, type: nats}]\n"},
		{"nats by name, of another program", plain, plain + "services: [{name: nats, command: [my-nats], args: [-x]}]\n"},
		{
			"external etcd", natsPlane + oneFrontend,
			natsPlane + oneFrontend + "services: [{name: etcd, type: etcd, external: 'http://etcd.example:2379'}]\n",
		},
		{
			"external nats", natsPlane + oneFrontend, natsPlane + oneFrontend +
				"services: [{name: bus, type: nats, external: 'nats://nats.example:4222', options: {max_payload_mb: 24}}]\n",
		},
		{
			"disabled etcd and nats", natsPlane + oneFrontend, natsPlane + oneFrontend +
				"services: [{name: etcd, type: etcd, enabled: false}, {name: nats, type: nats, enabled: false}]\n",
		},
		{
			"dedicated etcd and nats", natsPlane + oneFrontend, natsPlane + oneFrontend +
				"services: [{name: etcd, type: etcd, placement: {node: dedicated}}, " +
				"{name: nats, type: nats, placement: {node: dedicated}}]\n",
		},
		{
			"dedicated etcd alone", plain,
			plain + "services: [{name: etcd, type: etcd, placement: {node: dedicated}}]\n",
		},
		{
			"everything dedicated", plain + "benchmark.placement: head\n", noInstall +
				"frontend: {enable_multiple_frontends: false, placement: {node: dedicated}}\n" +
				"benchmark.placement: dedicated\n" +
				"services: [{name: etcd, type: etcd, placement: {node: dedicated}}]\n",
		},
		{
			"worker selection", plain,
			noInstall + "frontend: {enable_multiple_frontends: false, worker_selection: " +
				"{policy: kv, weights: {load: 010, hits: 1e3, on: off}}}\n",
		},
		{"staged model", plain, plain + "model.stage_dir: /nvme/$RAID/stage\n"},
		{"staged model of a job", plain, plain + "model.stage_dir: /nvme/${SLURM_JOB_ID}/stage\n"},
		{
			"staged model behind a link", plain + "resolved: /models/m\n",
			plain + "resolved: /models/rev1/\nmodel.stage_dir: /nvme/stage\n",
		},
		{"model behind a link", plain + "resolved: /models/m\n", plain + "resolved: /models/rev1\n"},
		{
			"named model behind a link", plain + "resolved: /models/m\n",
			plain + "resolved: /models/rev1\nengine.served_model_name: org/m\n",
		},
		{"staged model, with a variable that is not set", plain, plain + "model.stage_dir: $SCR/stage\n"},
		{"model that is not on this machine", plain + "resolved: /models/m\n", plain + "resolved: \n"},
		{
			"observability", plain + "environment: {DYN_LOG: info}\n", plain +
				"environment: {DYN_LOG: info}\nobservability: {enabled: true, nsys: {enabled: false}}\n",
		},
		{
			"observability with values of its own", noInstall + "frontend: {enable_multiple_frontends: false, env: " +
				"{DYN_LOG: warn}}\nargs: {return_perf_metrics: false}\n", noInstall +
				"frontend: {enable_multiple_frontends: false, env: {DYN_LOG: warn}}\nargs: {return_perf_metrics: false}\n" +
				"observability: {enabled: true, nsys: {enabled: false}}\n",
		},
		{
			"arguments of the frontend", plain,
			noInstall + "frontend: {enable_multiple_frontends: false, args: {a: 010, b: 0x10, c: 1_000, d: 12:30:00, " +
				"e: yes, f: off, g: null, h: ~, i: [1, two], j: {x: 1}, k: \"010\", l: 1e3, m: 1.0e+3, n: \"yes\"}}\n",
		},
		{"defaults of the engine config", plain + "args: {backend: trt}\n", plain},
		{
			"statistics of iterations", plain,
			plain + "args: {enable_iter_perf_stats: on, b: 010, A: [1_000, 1e-5], a: {z: ~}}\n",
		},
		{"no metrics", plain, plain + "engine: {type: trtllm, publish_metrics: false}\n"},
		{"events and metrics", plain, plain + "engine: {type: trtllm, publish_events_and_metrics: true}\n"},
		{"neither", plain, plain + "engine: {type: trtllm, publish_metrics: false, publish_events_and_metrics: false}\n"},
		{"CPUs of a GPU", plain, plain + "engine: {type: trtllm, numa_cpu_bind: true}\n"},
		{
			"CPUs and memory of a GPU", plain,
			plain + "engine: {type: trtllm, numa_cpu_bind: true, numa_memory_bind: local}\n",
		},
		{"memory", plain, plain + "engine: {type: trtllm, numa_memory_bind: true}\n"},
	} {
		before, after := effectLines(t, c.before), effectLines(t, c.after)
		fmt.Fprintf(&out, "# %s\n", c.name)
		for _, l := range before {
			if !slices.Contains(after, l) {
				fmt.Fprintf(&out, "- %s\n", l)
			}
		}
		for _, l := range after {
			if !slices.Contains(before, l) {
				fmt.Fprintf(&out, "+ %s\n", l)
			}
		}
	}
	golden.Equal(t, "testdata/effects.txt", out.String())
}

// effectLines returns the lines of a plan of a recipe with more fields.
func effectLines(t *testing.T, more string) []string {
	t.Helper()
	text, resolved := effectsText(more)
	r, found := recipes.ParseRecipe("r.yaml", []byte(text))
	if found.Errors() > 0 {
		t.Fatalf("%s%v", text, found)
	}
	for _, d := range append(found, check.Run(check.Files{Recipe: r}, check.Host{}).Diagnostics...) {
		if d.Rule == "not-applied" {
			t.Errorf("%s: %v", more, d)
		}
	}
	(&recipes.Cluster{}).Apply(r, func(name string) string { return map[string]string{"RAID": "md0"}[name] })
	p := build(t, Request{Recipe: r, ResolvedModel: resolved, Target: Slurm, OutputDir: "/out"})
	var out []string
	for _, s := range p.Substitutions {
		out = append(out, fmt.Sprintf("note %s: %s → %s (%s)", s.What, s.From, s.To, s.Why))
	}
	for _, n := range p.Nodes {
		out = append(out, "node "+n.Name+": "+strings.Join(n.Roles, ", "))
	}
	for _, m := range p.Mounts {
		out = append(out, fmt.Sprintf("mount %s : %s (%s)", m.Host, m.Container, m.Source))
	}
	for _, f := range p.Files {
		if f.Content == numaScript {
			out = append(out, fmt.Sprintf("file %s (%s)", f.Path, f.Source))
			continue
		}
		for _, d := range f.Defaults {
			out = append(out, fmt.Sprintf("file %s default: %s: %s", f.Path, d.Key, d.Value))
		}
		for line := range strings.Lines(f.Content) {
			out = append(out, fmt.Sprintf("file %s (%s): %s", f.Path, f.Source, strings.TrimSuffix(line, "\n")))
		}
	}
	for _, s := range p.Steps {
		out = append(out, fmt.Sprintf("step %s on %v: %s", s.Name, s.Nodes, CommandLine(s.Argv)))
		if s.Ready.Probe != ProbeNone {
			out = append(out, fmt.Sprintf("step %s ready: %s", s.Name, s.Ready.Target))
		}
		for _, v := range s.Env {
			out = append(out, fmt.Sprintf("step %s env %s=%s (%s)", s.Name, v.Name, v.Value, v.Origin))
		}
	}
	return out
}

// effectsText returns a recipe with more fields, and the resolved path of its model.
func effectsText(more string) (text, resolved string) {
	text, resolved = effectsRecipe, "/m"
	for line := range strings.Lines(more) {
		if dir, ok := strings.CutPrefix(line, "resolved: "); ok {
			resolved = strings.TrimSpace(dir)
			continue
		}
		if dir, ok := strings.CutPrefix(line, "model.stage_dir: "); ok {
			text = strings.Replace(text, "precision: fp4", "precision: fp4, stage_dir: '"+strings.TrimSpace(dir)+"'", 1)
			continue
		}
		if name, ok := strings.CutPrefix(line, "engine.served_model_name: "); ok {
			text = strings.Replace(text, "engine: trtllm", "engine: {type: trtllm, served_model_name: "+
				strings.TrimSpace(name)+"}", 1)
			continue
		}
		if node, ok := strings.CutPrefix(line, "benchmark.placement: "); ok {
			with := "placement: {node: " + strings.TrimSpace(node) + "}, type: agentperf"
			text = strings.Replace(text, "type: agentperf", with, 1)
			continue
		}
		if args, ok := strings.CutPrefix(line, "args: "); ok {
			text = strings.Replace(text, "workers: 1}", "workers: 1, args: "+strings.TrimSpace(args)+"}", 1)
			continue
		}
		if strings.HasPrefix(line, "engine: ") {
			text = strings.Replace(text, "engine: trtllm\n", line, 1)
			continue
		}
		text += line
	}
	return text, resolved
}

// A job has the nodes of the workers, those of the pools of services that are enabled, and the dedicated ones.
func TestNodesOfJob(t *testing.T) {
	t.Parallel()
	const (
		pools = "services: [{name: a, nodes: 2, command: [x]}, {name: b, nodes: 3, command: [x], enabled: false}," +
			" {name: c, command: [x], placement: {pool: a}}"
		infra = ", {name: etcd, type: etcd, placement: {node: dedicated}}]\n"
	)
	for _, c := range []struct {
		frontend, client, services string
		nodes                      int
		frontendOn, clientOn       int
	}{
		{"head", "head", "", 2, 0, 0},
		{"head", "last_decode", pools + "]\n", 4, 0, 1},
		{"dedicated", "last_decode", pools + "]\n", 5, 0, 2},
		{"head", "dedicated", pools + "]\n", 5, 0, 4},
		{"dedicated", "dedicated", pools + infra, 5, 4, 4},
	} {
		text := effectsRecipe + noInstall + "frontend: {enable_multiple_frontends: false, placement: {node: " + c.frontend +
			"}}\n" + c.services
		text = strings.Replace(text, "type: agentperf", "placement: {node: "+c.client+"}, type: agentperf", 1)
		r, found := recipes.ParseRecipe("r.yaml", []byte(text))
		if found.Errors() > 0 {
			t.Fatalf("%s%v", text, found)
		}
		p := build(t, Request{Recipe: r, Target: Slurm, OutputDir: "/out"})
		lines := fmt.Sprintf("#SBATCH --nodes=%d\n#SBATCH --ntasks=%d\n", c.nodes, 4*c.nodes)
		if len(p.Nodes) != c.nodes || r.Nodes() != c.nodes || !strings.Contains(p.Script, lines) {
			t.Errorf("%+v: %d nodes, script\n%s", c, len(p.Nodes), p.Script)
		}
		if f, cl := step(t, p, "frontend_0").Nodes, step(t, p, "client").Nodes; f[0] != c.frontendOn || cl[0] != c.clientOn {
			t.Errorf("%+v: frontend on %v, client on %v", c, f, cl)
		}
	}
}
