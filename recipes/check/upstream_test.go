package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/layout"
)

// The recipes in testdata/upstream are small cases: srtctl accepts a*.yaml and refuses r*.yaml.

// upstreamNames returns the names of the files.
func upstreamNames() []string {
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("a%d", i+1))
	}
	for i := range 6 {
		names = append(names, fmt.Sprintf("r%d", i+1))
	}
	return names
}

func readUpstream(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "upstream", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// findings returns the findings about all recipes of a file that match a selector, and their number.
func findings(t *testing.T, text, selector string) (n int, found recipes.Diagnostics) {
	t.Helper()
	all, found := recipes.Variants("r.yaml", []byte(text), selector)
	for _, v := range all {
		r, _, more := recipes.Select("r.yaml", []byte(text), v.Selector)
		if r == nil {
			t.Fatalf("%s: %v", v.Selector, more)
		}
		found = append(append(found, more...), Run(Files{Recipe: r}, Host{}).Diagnostics...)
	}
	return len(all), found
}

func TestUpstreamAccepts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, selector string
		recipes        int
		notRun         bool // read, but not run here: one note
		warnings       int
	}{
		{"a1", "base", 1, true, 0},
		{"a1", "override_big", 1, true, 0},
		{"a1", "zip_override_lv", 2, true, 0},
		{"a1", "zip_override_lv[1]", 1, true, 0},
		{"a1", "", 3, true, 0},
		{"a2", "", 1, true, 0},
		{"a3", "", 1, false, 1}, // observability affects the measurement
		{"a4", "", 1, true, 0},
		{"a5", "", 1, true, 0},
		{"a6", "", 1, true, 0},
		{"a7", "", 1, false, 0},
		{"a8", "", 1, false, 0},
		{"a9", "", 1, false, 0},
		{"a10", "", 1, false, 0},
		{"a11", "", 1, false, 0},
		{"a12", "", 1, false, 0},
	} {
		t.Run(strings.TrimSuffix(c.name+" "+c.selector, " "), func(t *testing.T) {
			t.Parallel()
			n, found := findings(t, readUpstream(t, c.name), c.selector)
			if n != c.recipes || found.Errors() > 0 || found.Warnings() > c.warnings*n {
				t.Errorf("%d recipes, want %d with at most %d warnings and no error: %v", n, c.recipes, c.warnings, found)
			}
			notes := 0
			for _, d := range found {
				if d.Rule == "not-run-here" && d.Severity == recipes.Note {
					notes++
				}
			}
			if want := map[bool]int{true: n}[c.notRun]; notes != want {
				t.Errorf("%d notes that it is not run here, want %d: %v", notes, want, found)
			}
		})
	}
}

// TestUpstreamRefuses checks each cause alone: others mends the other causes of the file, right the cause
// itself. Both are texts to replace and their replacements.
func TestUpstreamRefuses(t *testing.T) {
	t.Parallel()
	const (
		kind    = "  - {name: a, type: redis}\n"
		probes  = "  - {name: b, command: [x], readiness: {port: 1, log: {pattern: up}}}\n"
		options = "  - {name: nats, type: nats, options: {max_payload: 24}}\n"
		second  = "  - {name: nats, type: nats}\n"
		local   = ", numa_memory_bind: local"
		events  = ", kv_events: true"
		text    = `, critical: "no"`
	)
	for _, c := range []struct {
		name, file    string
		others, right []string
		rule, path    string
	}{
		{
			"window", "r1", nil,
			[]string{"enabled: true", "enabled: true, nsys: {enabled: false}"},
			"nsys-window",
			"observability.enabled",
		},
		{
			"role engines", "r2", nil,
			[]string{"roles:", "engine: trtllm\nroles:", ", engine: trtllm}", "}", ", engine: {type: trtllm}}", "}"},
			"role-engine", "roles.prefill.engine.type",
		},
		{"no place", "r3", nil, []string{"workers: 3", "workers: 2"}, "colocate", "roles.decode.nodes"},
		{
			"two sources", "r4",
			[]string{"rev: main", "rev: v1.4.2"},
			[]string{`, pypi: "1.4.2"`, ""},
			"dynamo-source",
			"dynamo.source.pypi",
		},
		{
			"moving branch", "r4",
			[]string{`, pypi: "1.4.2"`, ""},
			[]string{"rev: main", "rev: v1.4.2"},
			"dynamo-source",
			"dynamo.source.rev",
		},
		{"unknown kind", "r5", []string{probes, "", options, ""}, []string{"redis", "etcd"}, "type", "services[0].type"},
		{
			"two probes", "r5",
			[]string{kind, "", options, ""},
			[]string{"port: 1, ", ""},
			"services",
			"services[0].readiness",
		},
		{
			"unknown option", "r5",
			[]string{kind, "", probes, "", second, ""},
			[]string{"max_payload:", "max_payload_mb:"},
			"services", "services[0].options",
		},
		{
			"doubled name", "r5",
			[]string{kind, "", probes, "", "max_payload:", "max_payload_mb:"},
			[]string{second, ""},
			"services", "services[1].name",
		},
		{
			"local", "r6",
			[]string{events, "", text, ""},
			[]string{local, local + ", numa_cpu_bind: true"},
			"engine-fields",
			"engine.numa_memory_bind",
		},
		{"KV events", "r6", []string{local, "", text, ""}, []string{events, ""}, "engine-fields", "roles.prefill.kv_events"},
		{
			"text for bool", "r6",
			[]string{local, "", events, ""},
			[]string{text, ", critical: false"},
			"type",
			"roles.decode.critical",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := readUpstream(t, c.file)
			if _, found := findings(t, all, ""); found.Errors() == 0 {
				t.Error("the whole file is accepted")
			}
			alone := replaceAll(t, all, c.others)
			_, found := findings(t, alone, "")
			errs := slices.DeleteFunc(found, func(d recipes.Diagnostic) bool { return d.Severity != recipes.Error })
			if !slices.ContainsFunc(errs, func(d recipes.Diagnostic) bool { return d.Rule == c.rule && d.Path == c.path }) ||
				slices.ContainsFunc(errs, func(d recipes.Diagnostic) bool { return d.Rule != c.rule }) {
				t.Errorf("want errors of %s at %s alone, got %v", c.rule, c.path, errs)
			}
			if _, found := findings(t, replaceAll(t, alone, c.right), ""); found.Errors() > 0 {
				t.Errorf("the right value is refused: %v", found)
			}
		})
	}
}

func replaceAll(t *testing.T, text string, pairs []string) string {
	t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not in\n%s", pairs[i], text)
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// The pools of services are nodes in addition to those of workers.
func TestPoolsAreNodes(t *testing.T) {
	t.Parallel()
	pool := "services:\n  - {name: box, nodes: 2, command: [x]}\n" +
		"  - {name: idle, nodes: 5, enabled: false, command: [x]}\n"
	for name, want := range map[string]struct {
		text  string
		nodes int
	}{
		"services only": {readUpstream(t, "a5"), 3},
		"beside workers": {
			strings.Replace(readUpstream(t, "a3"), "prefill: {nodes: 1", "prefill: {nodes: 3", 1) + pool, 6,
		},
	} {
		r, found := recipes.ParseRecipe("r.yaml", []byte(want.text))
		if found.Errors() > 0 {
			t.Fatal(found)
		}
		if l, err := layout.New(r); r.Nodes() != want.nodes || err != nil || l.Nodes != want.nodes {
			t.Errorf("%s: %d nodes, layout %+v, %v, want %d", name, r.Nodes(), l, err, want.nodes)
		}
	}
}

// Upper case matters only for the types of GPUs whose memory is bound by default.
func TestUpperCaseGPUTypes(t *testing.T) {
	t.Parallel()
	for gpu, want := range map[string]bool{
		"GB200": true, "Gb300": true, "VRNVL72": true, "H100": false, "vrnvl72": false,
	} {
		r, found := recipes.ParseRecipe("r.yaml", []byte(strings.Replace(readUpstream(t, "a11"), "vrnvl72", gpu, 1)))
		if found.Errors() > 0 {
			t.Fatal(found)
		}
		reported := slices.ContainsFunc(Run(Files{Recipe: r}, Host{}).Diagnostics, func(d recipes.Diagnostic) bool {
			return d.Rule == "gpu-type-case"
		})
		if reported != want {
			t.Errorf("%s: reported: %v, want %v", gpu, reported, want)
		}
	}
}
