package migrate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// sweep makes a recipe a sweep: some values become placeholders.
func (g *generator) sweep() {
	g.add("sweep.level: [[1, 2], [4]]", "sweep.size: [8, 16]")
	for i, f := range g.fields {
		switch {
		case strings.HasSuffix(f.path, ".tensor_parallel_size"):
			g.fields[i].value = `"{size}"`
		case f.path == "benchmark.concurrencies":
			g.fields[i].value = `"{level}"`
		}
	}
	g.add("environment.SIZE: \"{size}\"")
}

// nested returns a generator whose fields are those of several sections of a file.
func nested(seed uint64, sections ...*generator) *generator {
	all := &generator{Rand: rand.New(rand.NewPCG(seed, 2))}
	for i, g := range sections {
		key := []string{"base", "override_a", "zip_override_b"}[i]
		for _, f := range g.fields {
			f.path = key + "." + f.path
			if f.to != "" {
				f.to = key + "." + f.to
			}
			all.fields = append(all.fields, f)
		}
		for _, f := range g.added {
			all.added = append(all.added, field{to: key + "." + f.to, is: f.is})
		}
	}
	all.added = append(all.added, field{to: "base.schema", is: "2"})
	return all
}

// newFamily makes a recipe with an override and a zip override. The fields of the base that depend on
// others are simple.
func newFamily(seed uint64, bench string) *generator {
	base := newRecipe(seed, "trtllm", bench)
	role, mode := "prefill", "prefill"
	for _, f := range base.fields {
		if f.path == "resources.agg_nodes" {
			role, mode = "agg", "aggregated"
		}
	}
	over := &generator{Rand: base.Rand, bench: bench}
	over.add("health_check.max_attempts: 400")
	over.maybe("backend."+mode+`_environment.LEVEL: "DEBUG" -> roles.`+role+".env.LEVEL",
		"backend.trtllm_config."+mode+".extra: {a: [1]} -> roles."+role+".args.extra")
	over.maybe("name: own", "model.precision: fp4")
	over.maybe("benchmark.export_node_metrics: true ->", "benchmark.num_shots: 8 ->")
	over.maybe("observability.scrape_metrics: false ->")
	zip := &generator{Rand: base.Rand, bench: bench}
	zip.add("backend.trtllm_config."+mode+".batch: [8, 16] -> roles."+role+".args.batch", "environment.A: ['1', '2']")
	zip.maybe("benchmark.concurrencies: [[16], [32]]")
	if bench == "gsm8k" {
		over.fields = over.fields[:1] // it reads num_shots
	}
	return nested(seed, base, over, zip)
}

func TestGeneratedSweepsAndFamilies(t *testing.T) {
	t.Parallel()
	n := 0
	for e, engine := range engines {
		for b, bench := range benchmarks {
			g := newRecipe(uint64(5000+100*e+b), engine, bench)
			g.sweep()
			text, comments := g.layout1()
			checkMigration(t, fmt.Sprintf("sweep %s %s", engine, bench), text, comments, braces(g.layout2()))
			n++
		}
	}
	for b, bench := range benchmarks {
		for i := range 6 {
			g := newFamily(uint64(8000+10*b+i), bench)
			text, comments := g.layout1()
			checkMigration(t, fmt.Sprintf("family %s %d", bench, i), text, comments, braces(g.layout2()))
			n++
		}
	}
	t.Logf("%d files", n)
}

const familyHead = `base:
  name: x
  model: {path: /m, container: c, precision: fp8}
  backend: {type: trtllm}
`

// Fields of an override whose meaning depends on the base.
func TestOverridesThatDependOnTheBase(t *testing.T) {
	t.Parallel()
	const (
		resources = "  resources: {gpus_per_node: 4, prefill_nodes: 2, decode_workers: 1, "
		roles     = resources + "prefill_workers: 2, decode_nodes: 1}\n"
		colocate  = resources + "prefill_workers: 3, decode_nodes: 0}\n"
		nodes     = "nodes: 2, workers: 2}, decode: {nodes: 1, workers: 1}"
	)
	for _, c := range []struct{ name, in, base, overrides string }{
		{
			"no dedicated node any more", roles + "  frontend: {dedicated_node: true}\n" +
				"override_a: {frontend: {dedicated_node: false}}\n",
			"roles: {prefill: {" + nodes + "}, frontend: {placement: {node: dedicated}}",
			"override_a: {frontend: {placement: {node: head}}}",
		},
		{
			"placement instead of a dedicated node", roles + "  benchmark: {client_dedicated_node: true}\n" +
				"override_a:\n  benchmark:\n    client_placement: last_decode\n    client_dedicated_node: false # not any more\n",
			"roles: {prefill: {" + nodes + "}, benchmark: {placement: {node: dedicated}}",
			"override_a: {benchmark: {placement: {node: last_decode}}}",
		},
		{
			"placement beside a dedicated node", roles + "  benchmark: {client_dedicated_node: true}\n" +
				"override_a: {benchmark: {client_placement: head, isl: 5}}\n",
			"roles: {prefill: {" + nodes + "}, benchmark: {placement: {node: dedicated}}",
			"override_a: {}",
		},
		{
			"revision instead of a release", roles + "  dynamo: {version: \"1.2.0\"}\noverride_a: {dynamo: {hash: 0123abcd}}\n" +
				"override_b: {dynamo: {wheel: \"1.3.0\"}}\noverride_c: {dynamo: {top_of_tree: true}}\n",
			"roles: {prefill: {" + nodes + "}, dynamo: {source: {pypi: \"1.2.0\"}}",
			"override_a: {dynamo: {source: {pypi: null, rev: 0123abcd}}}, override_b: {dynamo: {source: {pypi: null, " +
				"wheel: \"1.3.0\"}}}, override_c: {dynamo: {source: null, top_of_tree: true}}",
		},
		{
			"a payload limit on dedicated nodes", roles + "  infra: {etcd_nats_dedicated_node: true}\n" +
				"override_a:\n  infra:\n    # long prompts\n    nats_max_payload_mb: 24 # MB\n" +
				"override_b: {infra: {etcd_nats_dedicated_node: false}}\n",
			"roles: {prefill: {" + nodes + "}, services: [{name: etcd, type: etcd, placement: {node: dedicated}}, " +
				"{name: nats, type: nats, placement: {node: dedicated}}]",
			"override_a: {services: [{name: etcd, type: etcd, placement: {node: dedicated}}, {name: nats, type: nats, " +
				"placement: {node: dedicated}, options: {max_payload_mb: 24}}]}, override_b: {services: null}",
		},
		{
			"GPUs that the base derives", colocate + "override_a: {resources: {prefill_nodes: 1}}\n" +
				"override_b: {resources: {gpus_per_prefill: 1}}\noverride_c: {health_check: {max_attempts: 5}}\n" +
				"override_d: {resources: {prefill_workers: 1, gpus_per_prefill: 4, gpus_per_decode: 3}}\n" +
				"override_e: {resources: {decode_nodes: 1}}\n",
			"roles: {prefill: {nodes: 2, workers: 3, gpus: 2}, decode: {nodes: colocate, workers: 1, gpus: 2}}",
			"override_a: {roles: {prefill: {nodes: 1, gpus: 1}, decode: {gpus: 1}}}, " +
				"override_b: {roles: {prefill: {gpus: 1}, decode: {gpus: 1}}}, override_c: {health_check: {max_attempts: 5}}, " +
				"override_d: {roles: {prefill: {workers: 1, gpus: 4}, decode: {gpus: 3}}}, " +
				"override_e: {roles: {decode: {nodes: 1, gpus: 4}}}",
		},
		{
			"the layout next to base", roles + "schema: 1 # old\nzip_override_a:\n  resources:\n" +
				"    decode_nodes: [0, 2] # both\n    prefill_nodes: [2, 2]\n" +
				"    gpus_per_prefill: 2\n    gpus_per_decode: [2, 2]\n",
			"roles: {prefill: {" + nodes + "}",
			"zip_override_a: {roles: {decode: {nodes: [colocate, 2], gpus: [2, 2]}, prefill: {nodes: [2, 2], gpus: 2}}}",
		},
	} {
		want := "{base: {schema: 2, name: x, model: {path: /m, container: c, precision: fp8}, engine: {type: trtllm}, " +
			"resources: {gpus_per_node: 4}, " + c.base + "}, " + c.overrides + "}"
		checkMigration(t, c.name, familyHead+c.in, nil, want)
	}
}

// A migration that is not possible is refused with the line of the original.
func TestRefusalsNameTheLine(t *testing.T) {
	t.Parallel()
	const colocated = "resources: {gpus_per_node: 4, prefill_nodes: 2, prefill_workers: \"{n}\", decode_nodes: 0, " +
		"decode_workers: 1}\n"
	for _, c := range []struct{ name, in, want string }{
		{
			"an error", head + "frontend:\n  typ: dynamo\n",
			"migrate r.yaml:4:3: frontend.typ: unknown to this version",
		},
		{"an alias", head + "environment: &e {A: b}\nbackend: *e\n", "migrate r.yaml:4:"},
		{
			"a merge key", head + "environment: {A: b}\nresources:\n  <<: {gpu_type: x}\n  agg_nodes: 1\n  agg_workers: 1\n",
			"migrate r.yaml:5: resources: a merge key",
		},
		{
			"an anchor", head + "resources: &r\n  agg_nodes: 1\n  agg_workers: 1\n",
			"migrate r.yaml:3: resources: an anchor",
		},
		{
			"braces", "{name: x, model: {path: /m, container: c, precision: f}}\n",
			"migrate r.yaml:1: recipe: a mapping in braces",
		},
		{
			"a comment in braces", head + "resources: {agg_nodes: 1, # one\n  agg_workers: 1}\n",
			"migrate r.yaml:4: agg_workers: a comment in braces",
		},
		{
			"KV store", head + "backend:\n  type: sglang\n  mooncake_kv_store: {x: 1}\n",
			"migrate r.yaml:5: backend.mooncake_kv_store: in layout 2, the KV store is a service mooncake-master",
		},
		{
			"KV events of what is no role",
			head + "backend:\n  type: sglang\n  kv_events_config:\n    prefill: true\n    topic: x\n",
			"migrate r.yaml:7: backend.kv_events_config.topic: is not a role (prefill, decode, aggregated)",
		},
		{
			"settings of the mocker", head + "backend:\n  type: mocker\n  mocker_config:\n    speed: 1\n",
			"migrate r.yaml:6: backend.mocker_config.speed: is not a role",
		},
		{
			"a branch", head + "dynamo:\n  install: true\n  hash: main\n",
			"migrate r.yaml:5: dynamo.source.rev: layout 2 refuses it: main moves",
		},
		{
			"observability with agentperf", head + "benchmark: {type: agentperf, concurrency: 1, agentperf_client_dir: /a, " +
				"agentperf_config: /b}\nobservability:\n  enable_otel: false\n  enabled: true\n",
			"migrate r.yaml:6: observability.enabled: layout 2 refuses it: nsys would profile",
		},
		{
			"workers that do not fit", head + "backend: {type: trtllm}\nresources:\n  prefill_nodes: 1\n  prefill_workers: 1\n" +
				"  decode_nodes: 0\n  decode_workers: 1\n",
			"migrate r.yaml:7: resources.decode_nodes: layout 2 refuses it: decode worker 0 needs 4 GPUs",
		},
		{
			"GPUs that differ in a sweep", head + "backend: {type: trtllm}\n" +
				colocated + "sweep: {n: [4, 8]}\n",
			"the GPUs per prefill worker differ between the recipes of the file",
		},
		{
			"a benchmark that changes in an override", familyHead + "  resources: {agg_nodes: 1, agg_workers: 1}\n" +
				"  benchmark:\n    type: sa-bench\n    osl: 5\noverride_a: {benchmark: {type: gpqa}}\n",
			"migrate r.yaml:8: base.benchmark.osl: layout 2 refuses it: gpqa does not read this field",
		},
		{
			"an override that removes the engine", familyHead + "  resources: {agg_nodes: 1, agg_workers: 1}\n" +
				"override_a: {backend: null, frontend: {type: sglang}}\n",
			"",
		},
		{
			"settings that differ in a zip override", familyHead + "  resources: {agg_nodes: 1, agg_workers: 1}\n" +
				"zip_override_a:\n  infra: {nats_max_payload_mb: [8, 16]}\n",
			"migrate r.yaml:7: infra: the settings differ between the recipes of zip_override_a",
		},
		{
			"a placement that differs in a zip override", familyHead + "  resources: {agg_nodes: 1, agg_workers: 1}\n" +
				"zip_override_a:\n  frontend:\n    dedicated_node: [true, false]\n",
			"migrate r.yaml:8: frontend.dedicated_node: differs between the recipes",
		},
	} {
		got, err := Recipe("r.yaml", []byte(c.in))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v\n%s\nwant %q", c.name, err, got.Data, c.want)
		}
	}
}
