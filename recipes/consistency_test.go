package recipes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// strictBase is a recipe in layout 2 to which the cases below add fields.
const strictBase = `schema: 2
name: x
model: {path: /m, container: /c.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4}
engine: trtllm
roles: {prefill: {nodes: 1, workers: 1}, decode: {nodes: 1, workers: 1}}
frontend: {enable_multiple_frontends: false}
dynamo: {install: false}
benchmark: {type: agentperf, concurrency: 8, agentperf_client_dir: /ap/c, agentperf_config: /ap/w.yaml}
`

// withFields returns the base with the fields of each document of a text. Mappings are merged.
func withFields(t *testing.T, text string) string {
	t.Helper()
	base := map[string]any{}
	text = strings.NewReplacer("@agg\n", agg, "@none\n", noRoles).Replace(text)
	for part := range strings.SplitSeq(strictBase+"---\n"+text, "---\n") {
		var more map[string]any
		if err := yaml.Unmarshal([]byte(part), &more); err != nil {
			t.Fatalf("%s: %v", part, err)
		}
		base = merged(base, more)
	}
	out, err := yaml.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// merged merges mappings. The text "REMOVE" removes a field.
func merged(base, more map[string]any) map[string]any {
	for key, v := range more {
		a, ok := base[key].(map[string]any)
		b, both := v.(map[string]any)
		switch {
		case v == "REMOVE":
			delete(base, key)
		case ok && both:
			base[key] = merged(a, b)
		default:
			base[key] = v
		}
	}
	return base
}

// Documents of testdata/refused.yaml that several cases share.
const (
	agg     = "roles: {prefill: REMOVE, decode: REMOVE, agg: {nodes: 1, workers: 1}}\n"
	noRoles = "engine: REMOVE\nroles: REMOVE\nbenchmark: REMOVE\n"
)

// TestStrictness checks single faults that srtctl refuses, and that the right value is accepted.
func TestStrictness(t *testing.T) {
	t.Parallel()
	var cases []struct{ Wrong, Right, Rule, Path string }
	readCases(t, "refused.yaml", &cases)
	for _, c := range cases {
		_, found := ParseRecipe("r.yaml", []byte(withFields(t, c.Wrong)))
		if found.Errors() != 1 || !hasError(found, c.Rule, c.Path) {
			t.Errorf("%s: got %v, want one error of %s at %s", c.Wrong, found, c.Rule, c.Path)
		}
		if _, found := ParseRecipe("r.yaml", []byte(withFields(t, c.Right))); found.Errors() > 0 {
			t.Errorf("%s: %v", c.Right, found)
		}
	}
}

// readCases decodes a file of testdata.
func readCases[T any](t *testing.T, name string, to *[]T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, to); err != nil || len(*to) == 0 {
		t.Fatalf("%s: %d cases, %v", name, len(*to), err)
	}
}

func hasError(found Diagnostics, rule, path string) bool {
	for _, d := range found {
		if d.Severity == Error && d.Rule == rule && d.Path == path {
			return true
		}
	}
	return false
}

// TestServices checks single faults of services.
func TestServices(t *testing.T) {
	t.Parallel()
	var cases []struct{ Wrong, Right, Key string }
	readCases(t, "services.yaml", &cases)
	for _, c := range cases {
		path := "services[0]"
		if rest, ok := strings.CutPrefix(c.Key, "1."); ok {
			path, c.Key = "services[1]", rest
		}
		if c.Key != "" {
			path += "." + c.Key
		}
		_, found := ParseRecipe("r.yaml", []byte(withFields(t, "services: ["+c.Wrong+"]")))
		if found.Errors() != 1 || found[0].Path != path || found[0].Rule == "" {
			t.Errorf("%s: got %v, want one error at %s", c.Wrong, found, path)
		}
		if _, found := ParseRecipe("r.yaml", []byte(withFields(t, "services: ["+c.Right+"]"))); found.Errors() > 0 {
			t.Errorf("%s: %v", c.Right, found)
		}
	}
	if _, found := ParseRecipe("r.yaml", []byte(withFields(t, "services: null"))); !hasError(found, "type", "services") {
		t.Errorf("services: null: %v", found)
	}
}
