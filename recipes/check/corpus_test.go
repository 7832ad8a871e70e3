package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// TestCorpus checks recipes of the kinds that are published, all of which srtctl accepts: none has an error,
// most have no warning and none has more than three. They cover both layouts, and all engines, frontends and
// benchmarks.
func TestCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/corpus/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d recipes, %v", len(files), err)
	}
	seen := map[string]map[string]bool{}
	see := func(field, value string) {
		if seen[field] == nil {
			seen[field] = map[string]bool{}
		}
		seen[field][value] = true
	}
	var counts []int
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		variants, found := recipes.Variants(name, data, "")
		for _, v := range variants {
			r, _, more := v.Load(data)
			found = append(append(found, more...), Run(Files{Recipe: r}, Host{}).Diagnostics...)
			see("layout", fmt.Sprint(r.Schema))
			see("backend.type", r.Engine.Type)
			see("frontend.type", r.Frontend.Type)
			see("benchmark.type", r.Benchmark.Type)
		}
		warnings := map[string]bool{} // equal ones of a file's recipes are shown once
		for _, d := range found {
			switch d.Severity {
			case recipes.Error:
				t.Errorf("%s: %v", name, d)
			case recipes.Warning:
				warnings[d.Rule+d.Path+d.Message] = true
			}
		}
		if len(variants) == 0 || len(warnings) > 3 {
			t.Errorf("%s: %d recipes, %d warnings: %v", name, len(variants), len(warnings), found)
		}
		counts = append(counts, len(warnings))
	}
	slices.Sort(counts)
	if median := counts[len(counts)/2]; median != 0 {
		t.Errorf("median of %d warnings: %v", median, counts)
	}
	for _, field := range []string{"backend.type", "frontend.type", "benchmark.type"} {
		f := schema.Recipe(1).Lookup(field).Field
		for _, word := range f.Enum {
			if !seen[field][word] {
				t.Errorf("no recipe with %s: %s", field, word)
			}
		}
	}
	if !seen["layout"]["1"] || !seen["layout"]["2"] {
		t.Errorf("layouts %v", seen["layout"])
	}
	t.Logf("%d recipes: at most %d warnings", len(files), counts[len(counts)-1])
}

// The servers can't run without etcd, and not without NATS if a plane uses it.
func TestDisabledServices(t *testing.T) {
	t.Parallel()
	const off = "services: [{name: etcd, type: etcd, enabled: false}, {name: nats, type: nats, enabled: false}]\n"
	for _, c := range []struct {
		plane, more string
		want        []string
	}{
		{"nats", off, []string{"services[0].enabled", "services[1].enabled"}},
		{"tcp", off, []string{"services[0].enabled"}},
		{"tcp", off + "environment: {ETCD_ENDPOINTS: 'http://x:2379'}\n", nil},
		{"nats", "services: [{name: etcd, type: etcd, external: 'http://x:2379'}]\n", nil},
		{"nats", "", nil},
	} {
		text := strings.Replace(readUpstream(t, "a10"), "request_plane: nats", "request_plane: "+c.plane, 1)
		head, rest, _ := strings.Cut(text, "services:\n")
		_, rest, _ = strings.Cut(rest, "benchmark:")
		_, found := findings(t, head+c.more+"benchmark:"+rest, "")
		var got []string
		for _, d := range found {
			if d.Rule == "services" {
				got = append(got, d.Path)
				if d.Severity != recipes.Warning {
					t.Errorf("%v is no warning", d)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: findings at %v, want %v", c.plane, c.more, got, c.want)
		}
	}
}

// Etcd on a node of workers is not planned so, and neither is a second one; check says it.
func TestServicesNotApplied(t *testing.T) {
	t.Parallel()
	const etcd = "{name: etcd, type: etcd, placement: {node: "
	for services, want := range map[string]string{
		etcd + "head}}":                                 "",
		etcd + "infra}}":                                "",
		etcd + "decode}}":                               "services[0].placement.node",
		etcd + "workers}}":                              "services[0].placement.node",
		etcd + "head}}, {name: b, type: etcd}":          "services[1]",
		etcd + "head}}, {name: b, type: nats}":          "",
		"{name: a, command: [x]}, {name: b, type: gms}": "services[0]",
	} {
		text := strings.Replace(readUpstream(t, "a3"), "observability:\n  enabled: true\n  nsys: {enabled: false}",
			"services: ["+services+"]", 1)
		_, found := findings(t, text, "")
		got := ""
		for _, d := range found {
			if d.Rule == "not-applied" && d.Severity == recipes.Note {
				got += d.Path
			}
		}
		if got != want {
			t.Errorf("%s: reported %q, want %q: %v", services, got, want, found)
		}
	}
}
