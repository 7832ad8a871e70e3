package porter

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/testdata/golden"
)

const sampleDir = "../testdata/bm_agentperf_dsv4_5p1d/c1010"

func port(t testing.TB, dir string, opt Options) *Result {
	t.Helper()
	r, err := Port(t.Context(), dir, opt)
	if err != nil {
		t.Fatalf("Port: %v", err)
	}
	return r
}

func recipeText(t testing.TB, r *Result) string {
	t.Helper()
	b, err := r.RecipeYAML()
	if err != nil {
		t.Fatalf("RecipeYAML: %v", err)
	}
	return string(b)
}

func workloadText(t testing.TB, r *Result) string {
	t.Helper()
	b, err := r.WorkloadYAML()
	if err != nil {
		t.Fatalf("WorkloadYAML: %v", err)
	}
	return string(b)
}

func TestSampleGolden(t *testing.T) {
	t.Parallel()
	one := port(t, sampleDir, Options{Schema: 1, WorkloadOut: "/scratch/out/workload.yaml"})
	two := port(t, sampleDir, Options{WorkloadOut: "/scratch/out/workload.yaml"})
	golden.Equal(t, "testdata/sample.recipe1.yaml", recipeText(t, one))
	golden.Equal(t, "testdata/sample.recipe2.yaml", recipeText(t, two))
	golden.Equal(t, "testdata/sample.workload.yaml", workloadText(t, two))
	golden.Equal(t, "testdata/sample.provenance.txt", two.ProvenanceText())
	if workloadText(t, one) != workloadText(t, two) {
		t.Error("the workload depends on the recipe's layout")
	}
}

func TestSampleFacts(t *testing.T) {
	t.Parallel()
	r := port(t, sampleDir, Options{Schema: 1})
	got := map[string]string{}
	counts := map[string]int{}
	for _, f := range r.Fields {
		got[f.Path] = f.Value
		if len(f.sub) > 0 && f.base != "" {
			counts[f.base]++
		}
	}
	want := map[string]string{
		"resources.prefill_workers": "5", "resources.prefill_nodes": "5", "resources.decode_workers": "1",
		"resources.decode_nodes":  "8",
		"resources.gpus_per_node": "4", "backend.prefill_environment.DYN_TRTLLM_KV_BLOCK_SIZE": `"128"`,
		"backend.decode_environment.UCX_TLS": `"cuda_ipc,cuda_copy,sm,self,tcp"`, "frontend.env.DYN_KV_BLOCK_SIZE": `"128"`,
		"frontend.env.DYN_ROUTER_QUEUE_THRESHOLD": `"None"`, "frontend.env.HOME": `"/tmp"`,
		"model.path":       "/scratch/fsw/portfolios/perf/models/deepseek-v4-pro-nvfp4/hf/hf-0c0ffee_orig",
		"extra_mount":      `["/scratch:/scratch"]`,
		"model.precision":  "fp4",
		"benchmark.type":   "agentperf",
		"name":             "bm-agentperf-dsv4-5p1d",
		"reasoning_effort": "high", "phase_timeout_seconds": "2400.0", "settling_time_seconds": "240.0",
		"power_dcgm_url":                 "null",
		"infra.etcd_nats_dedicated_node": "false", "benchmark.concurrency": "1010", "health_check.max_attempts": "300",
	}
	for path, value := range want {
		if got[path] != value {
			t.Errorf("%s = %s, want %s", path, got[path], value)
		}
	}
	// The launch lines have 35, 34 and 15 variables, without HOME from --export.
	wantCounts := map[string]int{
		"backend.prefill_environment": 30, "backend.decode_environment": 29, "frontend.env": 16,
		"frontend.args": 6, "backend.trtllm_config.prefill": 27, "backend.trtllm_config.decode": 32,
	}
	if diff := cmp.Diff(wantCounts, counts); diff != "" {
		t.Errorf("leaves (-want +got):\n%s", diff)
	}
	for _, gone := range []string{
		"DYN_UCX_TLS", "PATH", "VIRTUAL_ENV", "ETCD_ENDPOINTS", "CUDA_VISIBLE_DEVICES", "LD_PRELOAD", "NIXL_PLUGIN_DIR",
		"DYN_KV_BLOCK_SIZE",
	} {
		if v, there := got["backend.prefill_environment."+gone]; there {
			t.Errorf("%s=%s is still in the prefill environment", gone, v)
		}
	}
}

// leafPaths returns the paths of the leaves of written YAML. A list is one leaf.
func leafPaths(t *testing.T, text string) []string {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("written YAML: %v", err)
	}
	var out []string
	var walk func(keys []*yaml.Node, n *yaml.Node)
	walk = func(keys []*yaml.Node, n *yaml.Node) {
		if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
			out = append(out, yamldoc.Join("", keys))
			return
		}
		for i := 0; i < len(n.Content); i += 2 {
			walk(append(keys[:len(keys):len(keys)], n.Content[i]), n.Content[i+1])
		}
	}
	walk(nil, doc.Content[0])
	return out
}

// checkRows compares the leaves of both files with the fields, and all evidence with the artifacts.
func checkRows(t *testing.T, dir string, r *Result) {
	t.Helper()
	fields := map[File][]string{}
	for _, f := range r.Fields {
		fields[f.File] = append(fields[f.File], f.Written)
		if f.Class == "" || f.Class != Default && f.Class != Missing && f.Class != Guessed && len(f.Evidence) == 0 {
			t.Errorf("%s: class %q without evidence", f.Path, f.Class)
		}
		if f.Class != Copied && f.Rule == "" {
			t.Errorf("%s: class %s without a rule", f.Path, f.Class)
		}
		for _, ev := range f.Evidence {
			checkEvidence(t, dir, f.Path, ev)
		}
	}
	for _, td := range r.Todos {
		for _, ev := range td.Evidence {
			checkEvidence(t, dir, td.Path, ev)
		}
	}
	for file, text := range map[File]string{Recipe: recipeText(t, r), Workload: workloadText(t, r)} {
		if diff := cmp.Diff(leafPaths(t, text), sortedLike(leafPaths(t, text), fields[file])); diff != "" {
			t.Errorf("%s: leaves and rows differ (-written +rows):\n%s", file, diff)
		}
	}
}

// sortedLike sorts rows in the order of the written file, which may differ from that of the table.
func sortedLike(order, rows []string) []string {
	left := map[string]int{}
	for _, r := range rows {
		left[r]++
	}
	var out []string
	for _, o := range order {
		if left[o] > 0 {
			left[o]--
			out = append(out, o)
		}
	}
	for r, n := range left {
		for range n {
			out = append(out, r)
		}
	}
	return out
}

// readArtifact reads a file, which may be compressed.
func readArtifact(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return data, err
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if data, err = io.ReadAll(r); errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // cut off
	}
	return data, err
}

func checkEvidence(t *testing.T, dir, path string, ev Evidence) {
	t.Helper()
	if ev.Line == 0 {
		return
	}
	data, err := readArtifact(ArtifactPath(dir, ev.Artifact))
	if err != nil {
		t.Errorf("%s: evidence in %s: %v", path, ev.Artifact, err)
		return
	}
	lines := strings.Split(string(data), "\n")
	if ev.Line > len(lines) {
		t.Errorf("%s: evidence on line %d of %s, which has %d", path, ev.Line, ev.Artifact, len(lines))
		return
	}
	line := lines[ev.Line-1]
	if ev.Column > 0 && !strings.HasPrefix(line[min(ev.Column-1, len(line)):], ev.Raw) {
		t.Errorf("%s: %s:%d:%d is not %q", path, ev.Artifact, ev.Line, ev.Column, ev.Raw)
	}
	if ev.Column == 0 && ev.Raw != "" && ev.Key != "run.py" {
		t.Logf("%s: %s:%d %s has no column for %q", path, ev.Artifact, ev.Line, ev.Key, ev.Raw)
	}
}

func TestSampleFieldsMatchFiles(t *testing.T) {
	t.Parallel()
	for _, schema := range []int{1, 2} {
		r := port(t, sampleDir, Options{Schema: schema, WorkloadOut: "w.yaml"})
		checkRows(t, sampleDir, r)
	}
}

func TestSampleColumns(t *testing.T) {
	t.Parallel()
	without := 0
	for _, f := range port(t, sampleDir, Options{}).Fields {
		for _, ev := range f.Evidence {
			if ev.Line > 0 && ev.Column == 0 && ev.Raw != "" && f.node.Kind == yaml.ScalarNode {
				without++
				t.Logf("%s: %s:%d %q", f.Path, ev.Artifact, ev.Line, ev.Raw)
			}
		}
	}
	if without > 0 {
		t.Errorf("%d pieces of evidence have no column", without)
	}
}

func TestSampleValuesAreStrings(t *testing.T) {
	t.Parallel()
	var recipe struct {
		Roles map[string]struct {
			Env map[string]any `yaml:"env"`
		} `yaml:"roles"`
		Frontend struct {
			Env map[string]any `yaml:"env"`
		} `yaml:"frontend"`
	}
	if err := yaml.Unmarshal([]byte(recipeText(t, port(t, sampleDir, Options{}))), &recipe); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, env := range []map[string]any{recipe.Roles["prefill"].Env, recipe.Roles["decode"].Env, recipe.Frontend.Env} {
		for k, v := range env {
			n++
			if _, ok := v.(string); !ok {
				t.Errorf("%s is a %T", k, v)
			}
		}
	}
	if n != 75 {
		t.Errorf("%d variables, want 75", n)
	}
}

func TestSampleDatasets(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join(sampleDir, "datasets"))
	if err != nil {
		t.Fatal(err)
	}
	r := port(
		t,
		sampleDir,
		Options{DatasetRoots: []string{root}, PathRewrites: []rules.Rewrite{{Old: root + "/", New: "/data/"}}},
	)
	text := workloadText(t, r)
	for _, want := range []string{
		"trajectory_path: /data/coding-agent-scenario_v2_500traj.jsonl # inferred: ",
		"user_assignments_path: /data/500-sample-user-trajectory-assignments-20k.json # inferred: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("workload does not contain %q:\n%s", want, text)
		}
	}
	for _, td := range r.Todos {
		if td.Kind == MustFix && td.File == Workload {
			t.Errorf("open question %q", td.Message)
		}
	}
}

func TestSampleIsDeterministic(t *testing.T) {
	t.Parallel()
	copied := filepath.Join(t.TempDir(), "bm_agentperf_dsv4_5p1d", "c1010")
	if err := os.CopyFS(copied, os.DirFS(sampleDir)); err != nil {
		t.Fatal(err)
	}
	a, err := port(t, sampleDir, Options{WorkloadOut: "/w.yaml"}).ProvenanceJSON()
	if err != nil {
		t.Fatal(err)
	}
	b, err := port(t, copied, Options{WorkloadOut: "/w.yaml"}).ProvenanceJSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Error("two copies of one directory give different reports")
	}
	var doc struct {
		Version int
		Summary map[Class]int
		Fields  []struct {
			File, Path, Canonical, Value, Class string
			Evidence                            []Evidence
		}
	}
	if err := json.Unmarshal(a, &doc); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range doc.Summary {
		sum += n
	}
	if doc.Version != 1 || sum != len(doc.Fields) || sum != 186 {
		t.Errorf("version %d, %d fields in the summary, %d rows, want 1, 186, 186", doc.Version, sum, len(doc.Fields))
	}
}
