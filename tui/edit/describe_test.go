package edit

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func TestPathAt(t *testing.T) {
	t.Parallel()
	lines := strings.Split(`# head
model:
  path: /m
roles:
  prefill:
    env:
      "A.B": "1"

      # why
      C: [1,
        2]
    list:
      - one
      - two
  decode: {nodes: 1}
broken
extra_mount:
- a:b
`, "\n")
	for row, want := range []string{
		"", "model", "model/path", "roles", "roles/prefill", "roles/prefill/env", "roles/prefill/env/A.B", "", "",
		"roles/prefill/env/C", "roles/prefill/env/C", "roles/prefill/list", "roles/prefill/list", "roles/prefill/list",
		"roles/decode", "", "extra_mount", "extra_mount", "",
	} {
		if got := strings.Join(pathAt(lines, row), "/"); got != want && want != "" {
			t.Errorf("line %d %q: path %q, want %q", row+1, lines[row], got, want)
		}
	}
	if got := pathAt(nil, 3); got != nil {
		t.Errorf("without lines: %v", got)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		table      *schema.Table
		path, want string
	}{
		{schema.Workload(), "phase_timeout_seconds", "phase_timeout_seconds|float > 0, s|"},
		{schema.Workload(), "phase_timout_seconds", "unknown key|did you mean phase_timeout_seconds?"},
		{schema.Recipe(2), "roles", "keys: agg, decode, prefill"},
		{schema.Recipe(2), "roles.prefill.nodez", "unknown key in roles.prefill"},
		{schema.Recipe(2), "roles.prefill.env.UCX_TLS", "in roles.prefill.env: "},
		{schema.Recipe(1), "resources.gpus_per_node", "default 4"},
		{schema.Recipe(2), "identity.model", "keys: repo, revision|not applied: it is not verified"},
		{schema.Recipe(2), "dynamo.source.sha", "4 to 40 hexadecimal digits"},
		{schema.Recipe(2), "engine.connector", "not ours: only for engine vllm, atom"},
	} {
		f, ok := describeField(c.table, strings.Split(c.path, "."))
		got := strings.Join(append([]string{f.path, f.kind, f.doc}, f.extra...), "|")
		if !ok || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, text string }{
		{"a: 1\nb: 2\n", "a: 1\nb: 3\n", "3"},
		{"a", "a", ""},
		{"", "a", "a"},
		{"aa", "aaa", "a"},
		{"a\r\nb", "a\r\nc\r\nb", "c\r\n"},
	} {
		from, to, text := changedRange(c.a, c.b)
		if text != c.text {
			t.Errorf("%q to %q: %v %v %q", c.a, c.b, from, to, text)
		}
	}
}

func TestListedErrorsComeFirst(t *testing.T) {
	t.Parallel()
	got := sortFindings(recipes.Diagnostics{
		{File: "r", Line: 1, Severity: recipes.Note},
		{File: "w", Line: 2, Severity: recipes.Error},
		{File: "c", Line: 3, Severity: recipes.Warning},
	}, "r", "w")
	if len(got) != 3 || got[0].side != workload || got[1].side != -1 || got[2].side != recipe {
		t.Errorf("%v", got)
	}
	if m := lineMarks(got, workload); len(m) != 1 {
		t.Errorf("marks %v", m)
	}
}

// At any size the parts fit into the body.
func TestLayout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w, h         int
		text, list   int // heights
		both, doc    bool
		docIsAColumn bool
	}{
		{60, 12, 5, 2, false, false, false},
		{80, 20, 10, 4, false, true, false},
		{120, 36, 24, 7, false, true, true},
		{200, 56, 40, 11, true, true, true},
	} {
		b := layout(c.w, c.h, true)
		heights := b.text[0].h != c.text || b.list.h != c.list
		if heights || b.sideBySide != c.both || b.desc.h > 0 != c.doc || b.desc.h > 1 != c.docIsAColumn {
			t.Errorf("%dx%d: %+v", c.w, c.h, b)
		}
	}
	for w := 0; w < 220; w += 7 {
		for h := range 60 {
			b := layout(w, h, true)
			for _, r := range []rect{b.text[0], b.text[1], b.list, b.desc} {
				if r.w < 0 || r.h < 0 || r.x+r.w > w || r.h > 0 && r.y+r.h > max(h, 6) {
					t.Fatalf("%dx%d: %+v is outside of %+v", w, h, r, b)
				}
			}
		}
	}
}
