package srtctlschema

import (
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
)

const schemaText = `{
  "$defs": {
    "Role": {"type": "object", "additionalProperties": false, "properties": {
      "nodes": {"type": "integer"}, "args": {"anyOf": [{"type": "object"}, {"type": "null"}]}}},
    "Service": {"type": "object", "additionalProperties": false, "properties": {
      "name": {"type": "string"}, "env": {"type": "object", "additionalProperties": {"type": "string"}}}},
    "A": {"type": "object", "additionalProperties": false, "properties": {"type": {"const": "a"}, "x": {}}},
    "B": {"type": "object", "additionalProperties": false, "properties": {"type": {"const": "b"}, "y": {}}},
    "Self": {"$ref": "#/$defs/Self"},
    "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"$ref": "#"}]}
  },
  "type": "object", "additionalProperties": false,
  "properties": {
    "name": {"type": "string"},
    "roles": {"type": "object", "patternProperties": {"^(prefill|decode)$": {"$ref": "#/$defs/Role"}},
      "additionalProperties": false},
    "services": {"type": "array", "items": {"$ref": "#/$defs/Service"}},
    "engine": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/A"}, {"oneOf": [{"$ref": "#/$defs/B"}]}]},
    "labels": {"type": ["object", "null"]},
    "free": true, "none": false,
    "all": {"allOf": [{"$ref": "#/$defs/A"}]},
    "loop": {"$ref": "#/$defs/Loop"},
    "lost": {"$ref": "#/$defs/Lost"},
    "self": {"$ref": "#/$defs/Self"}
  }
}`

func TestAccepts(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(schemaText))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"name": true, "nam": false, "name.x": false, "roles.prefill.nodes": true, "roles.prefill.node": false,
		"roles.agg": false, "roles.decode.args.a.b": true, "services[0].name": true, "services[3].nam": false,
		"services.name": false, "services[0].env.X": true, "services[0].env.X.y": false, "engine.x": true, "engine.y": true,
		"engine.z": false, "labels.a": true, "free.a[0].b": true, "none.a": false, "all.x": true, "all.y": false,
		"loop.name": true, "loop.loop.roles": true, "loop.nam": false, "lost.x": false,
		"self.x": false, "self": true,
	} {
		elements, err := recipes.SplitPath(path)
		if err != nil {
			t.Fatal(err)
		}
		unknown := path == "lost.x" || path == "self.x"
		if got, known := s.Accepts(elements); got != want || known == unknown {
			t.Errorf("%s: %v, want %v; known %v", path, got, want, known)
		}
	}
}

func TestParseRefusesOtherOutput(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "usage: srtctl", "{}", "[]", "true", `{"type": 5}`, `{"properties": {}}`, `{"$ref": "#"}`,
	} {
		if s, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q is accepted: %+v", text, s)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(schemaText))
	if err != nil {
		t.Fatal(err)
	}
	unknown := func(file, path string) recipes.Diagnostic {
		return recipes.Diagnostic{
			File: file, Path: path, Severity: recipes.Error, Rule: recipes.UnknownField, Message: recipes.Unknown + "; more",
			Fix: "correct it, or ask an installed srtctl: check --srtctl", Edit: &recipes.Edit{},
		}
	}
	found := recipes.Diagnostics{
		unknown("r.yaml", "free.a"), unknown("r.yaml", "nam"), unknown("r.yaml", "override_big.roles.prefill.args.x"),
		unknown("r.yaml", "zip_override_x.engine.z"), unknown("c.yaml", "free.a"),
		{File: "r.yaml", Path: "name", Severity: recipes.Error, Message: "expected string"},
	}
	s.Judge("r.yaml", found)
	for i, want := range []string{
		"warning: free.a: unknown to this version; the installed srtctl accepts it",
		"error: nam: unknown to this version; more; the installed srtctl refuses it too",
		"warning: override_big.roles.prefill.args.x: unknown to this version; the installed srtctl accepts it",
		"error: zip_override_x.engine.z: unknown to this version; more; the installed srtctl refuses it too",
		"error: free.a: unknown to this version; more",
		"error: name: expected string",
	} {
		if got := found[i].String(); got != found[i].File+": "+want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
		if i == 1 && found[i].Fix != "correct it" {
			t.Errorf("fix of a refused key: %q", found[i].Fix)
		}
		accepted, noFix := found[i].Severity == recipes.Warning, found[i].Edit == nil && found[i].Fix == ""
		if accepted != noFix && i < 5 {
			t.Errorf("%d: fix %q, edit %v", i, found[i].Fix, found[i].Edit)
		}
	}
}
