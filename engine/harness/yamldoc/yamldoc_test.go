package yamldoc

import (
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
