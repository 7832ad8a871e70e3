package schema

import (
	"strings"
	"testing"
)

func TestFieldsAreComplete(t *testing.T) {
	t.Parallel()
	for name, table := range map[string]*Table{"recipe": Recipe(2), "workload": Workload(), "cluster": Cluster()} {
		seen := map[string]bool{}
		for _, f := range table.Fields() {
			if f.Doc == "" || f.Name() == "" || f.Kind == "" {
				t.Errorf("%s %s: doc or kind is missing", name, f.Name())
			}
			if seen[f.V1] && f.V1 != "" {
				t.Errorf("%s %s: duplicate path", name, f.V1)
			}
			seen[f.V1] = true
			for _, text := range []string{f.Doc, f.Pitfall} {
				if strings.HasSuffix(text, ".") || strings.Contains(text, "|") {
					t.Errorf("%s %s: must have no full stop at the end and no bar: %q", name, f.Name(), text)
				}
			}
		}
	}
	if w := Workload().Fields(); w[PortedWorkloadKeys-1].V1 != "power_dcgm_url" {
		t.Errorf("the last ported key is %s", w[PortedWorkloadKeys-1].V1)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version    int
		path, name string // canonical name of the field; "-": no such path; empty: a mapping
	}{
		{1, "resources.prefill_nodes", "resources.prefill_nodes"},
		{2, "roles.prefill.nodes", "resources.prefill_nodes"},
		{2, "roles.prefill.env.UCX_TLS", "backend.prefill_environment"},
		{2, "roles.prefill.args.a.b[0].c", "backend.trtllm_config.prefill"},
		{2, "extra_mount[3]", "extra_mount"},
		{2, "roles.decode", ""},
		{2, "", ""},
		{1, "roles.prefill", "-"},
		{2, "name.x", "-"},
		{2, "roles.prefil.nodes", "-"},
	} {
		n := Recipe(c.version).Lookup(c.path)
		got := "-"
		if n != nil {
			got = ""
			if n.Field != nil {
				got = n.Field.Name()
			}
		}
		if got != c.name {
			t.Errorf("layout %d, %q: got %q, want %q", c.version, c.path, got, c.name)
		}
	}
	if fs := Recipe(2).FieldsUnder("health_check"); len(fs) != 4 || fs[0].V2 != "health_check.max_attempts" {
		t.Errorf("fields under health_check: %+v", fs)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"prefil_workers": "prefill_workers", "Prefill_Workers": "prefill_workers", "zzzz": "",
	} {
		if got := Nearest(word, []string{"decode_workers", "prefill_workers", "nodes"}); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
