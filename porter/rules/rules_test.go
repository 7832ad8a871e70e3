package rules

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

func TestRewrites(t *testing.T) {
	t.Parallel()
	rs := append(Rewrites{{"/lustre/fast/", "/fast/"}, {"", "/never"}, {"/same", "/same"}}, DefaultRewrites...)
	for in, want := range map[string]string{
		"/lustre/fast/a": "/fast/a", "/lustre/a": "/scratch/a", "/lustre": "/scratch", "/lustre2/a": "/lustre2/a",
		"x/lustre/a": "x/lustre/a", "": "", "/same/x": "/same/x",
	} {
		if got, _ := rs.Apply(in); got != want {
			t.Errorf("%s → %s, want %s", in, got, want)
		}
	}
}

func TestFindInside(t *testing.T) {
	t.Parallel()
	rs := Rewrites(DefaultRewrites)
	for in, want := range map[string]string{"--dir=/lustre/x": "/lustre/", "/scratch/x": "", "": ""} {
		if got := rs.FindInside(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestMounts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/lustre:/lustre,/scratch:/scratch": "/scratch:/scratch", "/a:/lustre/b:ro, /c": "/a:/scratch/b:ro /c", "": "",
	} {
		if got := strings.Join(Rewrites(DefaultRewrites).Mounts(in), " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Strings of a value are rewritten at any depth, and the value itself is kept.
func TestNode(t *testing.T) {
	t.Parallel()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte("{a: /lustre/x, b: [/lustre/y, 1]}"), &n); err != nil {
		t.Fatal(err)
	}
	out, rule := Rewrites(DefaultRewrites).Node(n.Content[0])
	text, err := yaml.Marshal(out)
	if err != nil || string(text) != "{a: /scratch/x, b: [/scratch/y, 1]}\n" || rule != "rewrite /lustre/ → /scratch/" {
		t.Errorf("%s by %q, %v", text, rule, err)
	}
	if n.Content[0].Content[1].Value != "/lustre/x" {
		t.Error("the original was changed")
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		process Process
		name    string
		action  Action
		to      string
	}{
		{Worker, "DYN_KV_BLOCK_SIZE", Rename, "DYN_TRTLLM_KV_BLOCK_SIZE"},
		{Frontend, "DYN_KV_BLOCK_SIZE", "", ""},
		{Frontend, "HOME", Drop, ""},
		{Worker, "DYN_LOG", "", ""},
	} {
		if r := VariableOf(c.process, c.name); r.Action != c.action || r.To != c.to {
			t.Errorf("%s of %s: %+v", c.name, c.process, r)
		}
	}
	renames := Renames(Worker, []harness.Var{{Name: "A"}, {Name: "DYN_UCX_TLS"}})
	if len(renames) != 1 || renames["UCX_TLS"] != "DYN_UCX_TLS" {
		t.Errorf("renames %v", renames)
	}
	if added := Added(Frontend); len(added) != 1 || added[0].Name != "HOME" || added[0].To != "/tmp" {
		t.Errorf("added to the frontend: %+v", added)
	}
	if !IsDropped("PATH") || IsDropped("DYN_UCX_TLS") || IsDropped("A") {
		t.Error("which variables are dropped")
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	if r := FlagOf("--mpi"); r.Action != MustMatch || r.Expected != "pmix" {
		t.Errorf("--mpi: %+v", r)
	}
	if r := FlagOf("--gres"); r.Action != "" {
		t.Error("--gres has a rule")
	}
	for name, want := range map[string]bool{"dyn-tool-call-parser": true, "dyn-parser-x": false, "router-mode": false} {
		if IsParserFlag(name) != want {
			t.Errorf("%s: a flag of a parser: %v", name, !want)
		}
	}
}
