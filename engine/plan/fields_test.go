package plan_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// bases are the recipes in which each field is set, by layout.
var bases = map[int]string{
	1: `name: x
model: {path: /m, container: /c.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4, prefill_nodes: 1, prefill_workers: 1, decode_nodes: 2, decode_workers: 1}
backend: {type: trtllm}
`,
	2: `schema: 2
name: x
model: {path: /m, container: /c.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4}
engine: {type: trtllm}
roles: {prefill: {nodes: 1, workers: 1}, decode: {nodes: 2, workers: 1}}
`,
}

const commonBase = `frontend: {enable_multiple_frontends: false}
dynamo: {install: false}
benchmark: {type: agentperf, concurrency: 8, agentperf_client_dir: /ap/c, agentperf_config: /ap/w.yaml}
extra_mount: ["/s/ap:/ap"]
`

// Companions that several fields need: aggregated workers, dedicated nodes, a profiler.
var (
	aggregated = []string{"roles.prefill", "-", "roles.decode", "-", "roles.agg", "{nodes: 1, workers: 1}"}
	dedicated  = []string{"benchmark.placement.node", "dedicated", "frontend.placement.node", "dedicated"}
	timed      = []string{"profiling.type", "nsys-time", "profiling.delay_secs", "1", "profiling.duration_secs", "1"}
)

// companions are the fields that the fields with a prefix need to be valid or to have an effect, as paths
// of layout 2 and YAML values. "-" removes a field.
var companions = map[string][]string{
	"benchmark.colocate_with_frontend":         dedicated,
	"benchmark.concurrencies":                  {"benchmark.concurrency", "-", "benchmark.concurrencies", "[4]"},
	"dynamo.sidecar":                           aggregated,
	"dynamo.source.git":                        {"dynamo.source.rev", "v1"},
	"dynamo.source.patches":                    {"dynamo.source.rev", "v1"},
	"dynamo.source.sha":                        {"dynamo.source.rev", "v1"},
	"observability.enabled":                    {"observability.nsys.enabled", "false"},
	"observability.nsys.":                      append([]string{"observability.enabled", "true"}, timed...),
	"profiling.":                               timed,
	"reporting.ai_analysis.":                   {"reporting.ai_analysis.enabled", "true"},
	"resources.spread_workers":                 {"roles.prefill", "{nodes: 2, workers: 2, gpus: 2}"},
	"roles.agg.":                               aggregated,
	"services[].":                              {"services", "[{name: nats, type: nats}]"},
	"services[].external":                      {"services", "[{name: etcd, type: etcd}]"},
	"services[].type":                          {"services", "[{name: n, command: [x]}]"},
	"telemetry.":                               {"telemetry.enabled", "true"},
	"telemetry.collector_join_timeout_seconds": {"telemetry.request_timeout_seconds", "0.01"},
	"telemetry.cpu_power.":                     {"telemetry.cpu_power.enabled", "true"},
}

// structural are the fields that the walk does not set alone, with the reason.
var structural = map[string]string{
	"schema":                    "it is the layout of the file",
	"services[].name":           "it identifies the service",
	"services[].placement.pool": "it names a service with nodes",
	"preflight":                 "check looks for the model and the image on this machine, or does not",
	"output_dir":                "a submission uses it as the parent of run directories",
}

// TestEveryFieldIsAppliedOrReported walks the table of fields. A value other than the default changes the
// plan of a field that plans apply. For any other field, check says that it is not applied.
func TestEveryFieldIsAppliedOrReported(t *testing.T) {
	t.Parallel()
	counts := map[schema.Use]int{}
	seen := map[string]bool{}
	for _, version := range []int{2, 1} {
		for _, f := range schema.Recipe(version).Fields() {
			path := f.Path(version)
			if path == "" || structural[path] != "" {
				continue
			}
			if n := schema.Recipe(version).Lookup(path); f.Kind.IsBlock() && len(n.Children) > 0 && f.Like == "" {
				continue // its fields are set one by one
			}
			walkField(t, version, f, path)
			if !seen[f.Name()] {
				seen[f.Name()] = true
				use, _ := f.Use()
				counts[use]++
			}
		}
	}
	t.Logf("recipe: %d fields: %d applied, %d not applied, %d not ours; set in no walk: %d", len(seen),
		counts[schema.Applied], counts[schema.NotApplied], counts[schema.NotOurs], len(structural))
	if counts[schema.Applied] < 60 || len(seen) < 300 {
		t.Errorf("too few fields: %v of %d", counts, len(seen))
	}
}

// TestReadersAcceptTheirFields checks that a field of other engines or benchmarks is valid in a recipe for
// each of them, and refused in layout 2 for this program's own.
func TestReadersAcceptTheirFields(t *testing.T) {
	t.Parallel()
	n := 0
	for _, f := range schema.Recipe(2).Fields() {
		if f.V2 == "" || f.Engines == nil && f.Benchmarks == nil || f.Kind.IsBlock() {
			continue
		}
		errorsWith := func(path, reader string) recipes.Diagnostics {
			doc := newDocument(t, bases[2]+"frontend: {enable_multiple_frontends: false}\ndynamo: {install: false}\n")
			doc.set(t, path, reader)
			doc.set(t, f.V2, exampleOf(f))
			doc.complete(t, 2, f.V2)
			_, found := recipes.ParseRecipe("r.yaml", []byte(doc.text(t)))
			return slices.DeleteFunc(found, func(d recipes.Diagnostic) bool { return d.Severity != recipes.Error })
		}
		for _, of := range []struct {
			path, own string
			readers   []string
		}{{"engine.type", schema.TRTLLM, f.Engines}, {"benchmark.type", schema.AgentPerf, f.Benchmarks}} {
			for _, reader := range of.readers {
				n++
				if found := errorsWith(of.path, reader); len(found) > 0 {
					t.Errorf("%s with %s: %v", f.V2, reader, found)
				}
			}
			strict := strings.HasPrefix(f.V2, "engine.") || strings.HasPrefix(f.V2, "roles.") || of.path == "benchmark.type"
			if len(of.readers) == 0 || slices.Contains(of.readers, of.own) || !strict {
				continue
			}
			if found := errorsWith(of.path, of.own); len(found) != 1 || !strings.HasPrefix(f.V2, found[0].Path) {
				t.Errorf("%s with %s: %v, want one error", f.V2, of.own, found)
			}
		}
	}
	if n < 70 {
		t.Errorf("only %d pairs", n)
	}
}

// TestEveryClusterFieldIsAppliedOrReported does the same for the fields of the cluster file.
func TestEveryClusterFieldIsAppliedOrReported(t *testing.T) {
	t.Parallel()
	doc := newDocument(t, bases[2]+commonBase)
	doc.set(t, "resources.gpu_type", "-")
	doc.set(t, "resources.gpus_per_node", "-")
	base := runWith(t, doc.text(t), "{}")
	counts := map[schema.Use]int{}
	for _, f := range schema.Cluster().Fields() {
		path := f.V1
		if structural[path] != "" {
			continue
		}
		use, _ := f.Use()
		counts[use]++
		changed := runWith(t, doc.text(t), path+": "+exampleOf(f))
		reported := slices.ContainsFunc(changed.findings, func(d recipes.Diagnostic) bool { return reports(d, f, path) })
		if differs := changed.plan != base.plan; differs != (use == schema.Applied) || reported != (use != schema.Applied) {
			t.Errorf("%s: %s (%s): the plan differs: %v, check says so: %v\n%v", path, exampleOf(f), use, differs, reported,
				changed.findings)
		}
	}
	t.Logf("cluster file: %d applied, %d not applied, %d not ours", counts[schema.Applied], counts[schema.NotApplied],
		counts[schema.NotOurs])
}

// outcome is the plan of a recipe with the findings about it.
type outcome struct {
	plan     string
	notRun   bool // there is no plan
	findings recipes.Diagnostics
}

func walkField(t *testing.T, version int, f schema.Field, path string) {
	t.Helper()
	before := newDocument(t, bases[version]+commonBase)
	for _, prefix := range slices.Sorted(maps.Keys(companions)) {
		key := f.V2
		if key == "" {
			key = f.V1
		}
		if strings.HasPrefix(key, prefix) {
			before.apply(t, version, companions[prefix])
		}
	}
	after := newDocument(t, before.text(t))
	after.set(t, path, exampleOf(f))
	after.complete(t, version, path)
	base, changed := run(t, before.text(t)), run(t, after.text(t))
	use, _ := f.Use()
	switchedOff := isOff(version, path, exampleOf(f))
	reported := slices.ContainsFunc(changed.findings, func(d recipes.Diagnostic) bool { return reports(d, f, path) })
	differs := changed.plan != base.plan && !changed.notRun
	fail := func(what string) {
		t.Errorf("layout %d, %s: %s (%s): %s\n%v", version, path, exampleOf(f), use, what, changed.findings)
	}
	switch {
	case base.notRun:
		fail("the recipe without it has no plan")
	case use == schema.Applied && !differs && !(changed.notRun && reported):
		fail("the plan does not change")
	case use == schema.Applied && differs && reported:
		fail("the plan changes, but check says that it is not applied")
	case use != schema.Applied && differs:
		fail("the plan changes")
	case use != schema.Applied && !reported && !switchedOff:
		fail("the plan does not change, and check does not say so")
	}
}

// reports whether a finding says that a field is not applied or refused.
func reports(d recipes.Diagnostic, f schema.Field, path string) bool {
	instance := strings.ReplaceAll(path, "[]", "[0]")
	if d.Severity == recipes.Error && strings.HasPrefix(d.Path, instance+".") {
		return true
	}
	says := d.Rule == "not-applied" || d.Rule == "not-run-here" || d.Severity == recipes.Error ||
		f.Rule != "" && d.Rule == f.Rule
	for up := range schema.PathAndParents(instance) {
		if says && (d.Path == up || strings.Contains(d.Message, up+" (") || strings.HasSuffix(up, "[0]") &&
			strings.Contains(d.Message, strings.TrimSuffix(up, "[0]")+" (")) {
			return true
		}
	}
	return f.Rule != "" && d.Rule == f.Rule
}

// isOff reports whether a value switches off a block that plans do not apply anyway.
func isOff(version int, path, text string) bool {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return false
	}
	block := schema.Recipe(version).Lookup(path[:i])
	return block != nil && block.Field != nil && block.Field.Switch == path[i+1:] && (text == "false" || text == "none")
}

func run(t *testing.T, text string) outcome {
	t.Helper()
	return runWith(t, text, "{}")
}

// runWith checks and plans a recipe with a cluster file.
func runWith(t *testing.T, text, cluster string) outcome {
	t.Helper()
	r, found := recipes.ParseRecipe("r.yaml", []byte(text))
	c, more := recipes.ParseCluster("c.yaml", []byte(cluster))
	found = append(found, more...)
	if r == nil || c == nil {
		t.Fatalf("%s\n%s\n%v", text, cluster, found)
	}
	c.Apply(r, func(string) string { return "" })
	o := outcome{findings: append(found, check.Run(check.Files{Recipe: r, Cluster: c}, check.Host{}).Diagnostics...)}
	p, err := plan.Build(plan.Request{Recipe: r, Cluster: c, Target: plan.Slurm, OutputDir: "/out"})
	if err != nil {
		o.notRun = true
		return o
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	o.plan = string(data)
	return o
}

// exampleOf returns a value of a field that differs from its default, as YAML text.
func exampleOf(f schema.Field) string {
	if f.Example != "" {
		return f.Example
	}
	for _, word := range f.Enum {
		if word != f.Default {
			return word
		}
	}
	number := max(2, int(f.Min)+1)
	if f.Default == fmt.Sprint(number) {
		number++
	}
	text := map[schema.Format]string{
		"": "other", schema.NotBlank: "other", schema.AbsolutePath: "/other", schema.SubPath: "other",
		schema.Pattern: "other", schema.VariableName: "OTHER", schema.CommitID: "abcdef0",
	}[f.Format]
	switch f.Kind {
	case schema.Bool:
		return fmt.Sprint(f.Default != "true")
	case schema.BoolOrStr, schema.BoolOrMap:
		return "true"
	case schema.Int, schema.Float, schema.NodeCount, schema.IntOrStr:
		return fmt.Sprint(number)
	case schema.StrMap, schema.FreeMap, schema.Block, schema.WordOrBlock, schema.Opaque:
		return `{a: b}`
	case schema.ListMap:
		return `{a: [1]}`
	case schema.StrList:
		return "[" + text + "]"
	case schema.IntList, schema.Levels, schema.FloatsOrStr:
		return "[2, 3]"
	}
	return text
}

// document is a recipe as a tree that fields can be set in.
type document struct{ root map[string]any }

func newDocument(t *testing.T, text string) *document {
	t.Helper()
	d := &document{}
	if err := yaml.Unmarshal([]byte(text), &d.root); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

func (d *document) text(t *testing.T) string {
	t.Helper()
	data, err := yaml.Marshal(d.root)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// apply sets the companions of a field, given as paths of layout 2 and values.
func (d *document) apply(t *testing.T, version int, pairs []string) {
	t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		path, text := pairs[i], pairs[i+1]
		if version == 1 {
			var fields map[string]any
			if role, ok := strings.CutPrefix(path, "roles."); ok && !strings.Contains(role, ".") {
				if text != "-" {
					if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
						t.Fatal(err)
					}
				}
				for _, f := range schema.Recipe(1).Fields() {
					key, ok := strings.CutPrefix(f.V2, path+".")
					if v, given := fields[key]; ok && f.V1 != "" && (given || text == "-") {
						value := "-"
						if given {
							value = fmt.Sprint(v)
						}
						d.set(t, f.V1, value)
					}
				}
				continue
			}
			n := schema.Recipe(2).Lookup(path)
			if n == nil || n.Field == nil || n.Field.V1 == "" {
				continue // layout 1 does not have it
			}
			if path = n.Field.V1; text == "dedicated" {
				path, text = map[string]string{
					"benchmark.client_placement":      "benchmark.client_dedicated_node",
					"frontend.orchestrator_placement": "frontend.dedicated_node",
				}[path], "true"
			}
		}
		d.set(t, path, text)
	}
}

// complete adds the required fields of the blocks that contain a path.
func (d *document) complete(t *testing.T, version int, path string) {
	t.Helper()
	table := schema.Recipe(version)
	for up := range schema.PathAndParents(path) {
		n := table.Lookup(up)
		if n == nil || n.Field == nil || !n.Field.Kind.IsBlock() || len(n.Children) == 0 {
			continue
		}
		for key, child := range n.Children {
			if at := up + "." + key; child.Field != nil && child.Field.Required && !d.has(at) {
				d.set(t, at, exampleOf(*child.Field))
				d.complete(t, version, at)
			}
		}
	}
}

func (d *document) has(path string) bool {
	var at any = d.root
	for key := range strings.SplitSeq(path, ".") {
		key, list := strings.CutSuffix(key, "[]")
		m, ok := at.(map[string]any)
		if !ok || m[key] == nil {
			return false
		}
		at = m[key]
		if l, ok := at.([]any); ok && list {
			at = l[0]
		}
	}
	return true
}

// set sets the field at a path to a YAML value; "-" removes it.
func (d *document) set(t *testing.T, path, text string) {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	keys := strings.Split(path, ".")
	at := d.root
	for _, key := range keys[:len(keys)-1] {
		key, list := strings.CutSuffix(key, "[]")
		if list {
			if _, ok := at[key].([]any); !ok {
				at[key] = []any{map[string]any{}}
			}
			at = at[key].([]any)[0].(map[string]any)
			continue
		}
		if word, ok := at[key].(string); ok && key == "engine" {
			at[key] = map[string]any{"type": word}
		}
		if _, ok := at[key].(map[string]any); !ok {
			at[key] = map[string]any{}
		}
		at = at[key].(map[string]any)
	}
	last := keys[len(keys)-1]
	if text == "-" {
		delete(at, last)
		return
	}
	at[last] = value
}
