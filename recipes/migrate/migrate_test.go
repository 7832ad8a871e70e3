package migrate

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/testdata/golden"
)

const corpusDir = "../edit/testdata/"

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"block1", "flow1", "ported1", "sglang1", "crlf1", "sweep1", "family1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(corpusDir + name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			got, err := Recipe(name+".yaml", data)
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, "testdata/"+name+".2.yaml", got.Data)
			// All comments are kept.
			for line := range strings.Lines(string(data)) {
				if _, comment, ok := strings.Cut(line, "# "); ok &&
					!strings.Contains(string(got.Data), strings.TrimSpace(comment)) {
					t.Errorf("the comment %q is lost", comment)
				}
			}
		})
	}
}

// The migrated recipe of a port in layout 1 is equivalent to the port in layout 2.
func TestMigratedPortIsEquivalent(t *testing.T) {
	t.Parallel()
	one, err := os.ReadFile("../../porter/testdata/sample.recipe1.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Recipe("r.yaml", one)
	if err != nil {
		t.Fatal(err)
	}
	two, found, err := recipes.Load("../../porter/testdata/sample.recipe2.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, more := recipes.ParseRecipe("r.yaml", got.Data)
	if found.Errors()+more.Errors() > 0 {
		t.Fatal(found, more)
	}
	if d := recipes.DiffRecipes(r, two); d.Identical != d.Total {
		t.Errorf("the recipes differ: %+v", d.Differences)
	}
}

const head = "name: x\nmodel: {path: /m, container: c, precision: fp8}\n"

func TestMovedFields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{
			"colocated decode", head +
				"resources: {prefill_nodes: 1, prefill_workers: 1, gpus_per_prefill: 2, decode_nodes: 0, decode_workers: 1, " +
				"gpus_per_decode: 2}\nbackend: {type: trtllm}\n",
			"resources: {}\nroles:\n  prefill:\n    nodes: 1\n    workers: 1\n    gpus: 2\n  decode:\n    nodes: colocate\n" +
				"    workers: 1\n    gpus: 2\nengine:\n  type: trtllm\n",
		},
		{
			"dedicated nodes", head +
				"frontend:\n  # the API\n  orchestrator_placement: head\n  dedicated_node: true # own\nbenchmark:\n" +
				"  client_dedicated_node: false\n  client_placement: first_decode\n",
			"frontend:\n  # the API\n  placement:\n    node: dedicated # own\nbenchmark:\n" +
				"  placement:\n    node: first_decode\n",
		},
		{
			"dynamo source", head + "dynamo:\n  install: true\n  hash: abc # pinned\n",
			"dynamo:\n  install: true\n  source:\n    rev: abc # pinned\n",
		},
		{
			"payload limit only", head + "infra: {nats_max_payload_mb: 24}\n",
			"services:\n  - name: nats\n    type: nats\n    options: {max_payload_mb: 24}\n",
		},
		{
			"infra without settings", head + "infra: {etcd_nats_dedicated_node: false}\nsetup_script: x.sh\n",
			"setup_script: x.sh\n",
		},
		{"router name", head + "frontend: {type: sglang}\n", "frontend:\n  type: sglang-router\n"},
		{"no field moves", head + "health_check: {max_attempts: 5}\n# end\n", "health_check: {max_attempts: 5}\n# end\n"},
		{"schema line", "# top\nschema: 1\n" + head + "frontend: {type: dynamo}\n", "frontend: {type: dynamo}\n"},
		{
			"unknown keys of another engine",
			head + "backend:\n  type: vllm\n  connector: nixl\n  vllm_config:\n    aggregated: {x: 1}\n",
			"engine:\n  type: vllm\n  connector: nixl\nroles:\n  agg:\n    args: {x: 1}\n",
		},
		{
			"KV events", head + "backend:\n  type: sglang\n  kv_events_config:\n    prefill: true\n",
			"engine:\n  type: sglang\nroles:\n  prefill:\n    kv_events: true\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Recipe("r.yaml", []byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			top := "schema: 2\n"
			if strings.HasPrefix(c.in, "# top\n") {
				top = "# top\n" + top
			}
			if d := cmp.Diff(top+head+c.want, string(got.Data)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestRecipeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, message string }{
		{"layout 2", "schema: 2\n" + head, "already"},
		{"errors", head + "unknown: 1\n", "correct the errors"},
		{"not YAML", "{", "not valid YAML"},
		{"overrides with errors", "base: {name: x}\noverride_a: {name: y}\n", "correct the errors"},
		{
			"alias",
			head + "environment: &e {A: b}\nbackend: {type: trtllm, prefill_environment: *e}\n" +
				"resources: &r {prefill_nodes: 1}\nfrontend: *f\n",
			"not valid YAML",
		},
		{"merge", head + "x: 1\n", "unknown to this version"},
		{"braces", "{name: x, model: {path: /m, container: c, precision: fp8}}\n", "braces"},
		{"KV store", head + "backend: {type: sglang, mooncake_kv_store: {x: 1}}\n", "by hand"},
	} {
		if _, err := Recipe("r.yaml", []byte(c.in)); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.message)
		}
	}
}

func FuzzMigrate(f *testing.F) {
	for _, name := range []string{"block1", "flow1", "sglang1", "crlf1"} {
		data, err := os.ReadFile(corpusDir + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := Recipe("f", data); err == nil {
			if _, err := Recipe("f", got.Data); err == nil {
				t.Errorf("the result is not in layout 2:\n%s", got.Data)
			}
		}
	})
}

// The result is compared with the original: a recipe that is lost or a changed meaning is found, and the
// error names the line of the original.
func TestVerify(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(corpusDir + "family1.yaml")
	if err != nil {
		t.Fatal(err)
	}
	old, err := readRecipes("family1.yaml", data)
	if err != nil || len(old) < 3 {
		t.Fatalf("%d recipes, %v", len(old), err)
	}
	m, err := newMigration("family1.yaml", data, old)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.run()
	if err != nil || m.verify(out) != nil {
		t.Fatal(err, m.verify(out))
	}
	for _, c := range []struct{ name, from, to, want string }{
		{
			"one recipe less", "override_big:", "lock:",
			"family1.yaml:2: recipe: the number of recipes would change from 4 to 3",
		},
		{
			"other nodes", "nodes: 1 # one", "nodes: 2 # one",
			"family1.yaml:9: base.resources.prefill_nodes: its meaning would change",
		},
		{
			"other value", "max_batch_size: 16", "max_batch_size: 17",
			"base.backend.trtllm_config.prefill.max_batch_size: its meaning",
		},
		{"other placement", "node: last_decode", "node: head", "base.benchmark.client_placement: its meaning would change"},
		{
			"a refused value", "type: agentperf", "type: agentperv",
			"family1.yaml:25: base.benchmark.type: layout 2 refuses it: ",
		},
		{"a lost comment", " # both lists at once", "", "family1.yaml:39: comment: # both lists at once would be lost"},
		{"another comment", "# one is enough", "# two", "family1.yaml:9: comment: # one is enough would be lost"},
	} {
		changed := strings.Replace(string(out), c.from, c.to, 1)
		if changed == string(out) {
			t.Fatalf("%q is not in\n%s", c.from, out)
		}
		err := m.verify([]byte(changed))
		if err == nil || !strings.Contains(err.Error(), c.want) || problem.Of(err) != problem.MigrationRefused {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
