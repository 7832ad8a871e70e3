package yamldoc

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1": "1", "2400.0": "2400.0", "null": "null", "[1, [a, 'b']]": "[1, [a, 'b']]", "{a: 1, b: [x]}": "{a: 1, b: [x]}",
		`"q\"q"`: `"q\"q"`, "a b: c": "{a b: c}", "~": "~", "''": "''",
	} {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(in), &n); err != nil {
			t.Fatal(err)
		}
		if got := Text(n.Content[0]); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestCutFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want, problem string }{
		{"a: 1\nb: 12\n", "a=1 b=12", ""},
		{"a: 1\nb: 12", "a=1", "2: the last line has no line ending, so the file may have been cut; not read: b: 12"},
		{"a: 1\nstream_inter", "a=1", "2: …not read: stream_inter"},
		{"a: 1\nb:\n- 1\n- 2", "a=1", "4: …not read: - 2, which belongs to b"},
		{"a: 1\nb:\n  - 1\n  - 2", "a=1", "4: …which belongs to b"},
		{"a: 1\nb:\n  c: 1\n  d: 2", "a=1 b.c=1", "4: …not read: d: 2"},
		{"a: 1\nb:\n  c", "a=1", "3: …which belongs to b"},
		{"a: 1\nb: x\n  y", "a=1", "3: …which belongs to b"},
		{"a: 1\nb: [1, 2]", "a=1 b=[1, 2]", ""},
		{`{"a": 1, "b": {"c": 2}}`, "a=1 b.c=2", ""},
		{"a: 1\nb: 'x'", "a=1 b='x'", ""},
		{"a: !!python/object:os {b: 1}\n", "a.b=1", "1: the tag \"!!python/object:os\" is not one of YAML itself…stands for"},
		{"a: [1, !local x]\n", "a=[1, !local x]", "1: the tag \"!local\" is not one of YAML itself…stands for"},
		{"!key a: 1\n", "a=1", "1: the tag \"!key\" is not one of YAML itself…stands for"},
		{"a: !!float 1\n", "a=!!float 1", ""},
		{"a: 1\nb: [1,\n  2,\n  3", "a=1", "2: …not read: b: [1, 2, 3"},
		{"a: 1\nb: \"x\n  y", "a=1", "2: …not read: b: \"x y"},
		{"a: 1\n# the end", "a=1", ""},
		{"a: 1\r\nb: 2", "a=1", "2: …not read: b: 2"},
	} {
		d, err := Read(strings.NewReader(c.in))
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		var got []string
		for _, l := range d.Leaves {
			got = append(got, l.Path()+"="+Text(l.Node))
		}
		problem := ""
		for _, p := range d.Problems {
			problem += fmt.Sprintf("%d: %s", p.Line, p.Text)
		}
		before, after, _ := strings.Cut(c.problem, "…")
		if strings.Join(got, " ") != c.want || !strings.HasPrefix(problem, before) || !strings.HasSuffix(problem, after) ||
			(problem == "") != (c.problem == "") {
			t.Errorf("%q: %q, problem %q; want %q, %q", c.in, got, problem, c.want, c.problem)
		}
	}
	if _, err := Read(strings.NewReader("max_batch_size: 12")); err == nil {
		t.Error("a file of one cut line was read")
	}
}
