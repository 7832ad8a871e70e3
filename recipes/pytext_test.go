package recipes

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// pythonTexts are values as YAML with their texts in Python.
var pythonTexts = map[string]string{
	"8": "8", "010": "8", "0x10": "16", "0b11": "3", "1_000": "1000", "12:30:00": "45000", "-0": "0", "+7": "7",
	"18446744073709551616": "18446744073709551616", "0o17": "0o17", "1e3": "1e3", "1.0e+3": "1000.0",
	"0.10": "0.1", "1.5": "1.5", "1e-5": "1e-5", "1.0e-5": "1e-05", "1.0e+16": "1e+16",
	"123456789012345680.0": "1.2345678901234568e+17",
	".5":                   "0.5", "3.": "3.0", "1:30.5": "90.5", ".inf": "inf", "-.inf": "-inf", ".nan": "nan",
	"yes": "True", "off": "False", "true": "True", "y": "y", "~": "None", "null": "None", `""`: "",
	"word": "word", `"010"`: "010", "'yes'": "yes", "it's": "it's", "!!str 010": "010",
	"[1, two]": "[1, 'two']", "{x: 1}": "{'x': 1}",
	`["it's", 'a "b"', "both '\"", "t\tn\nb\\"]`: "[\"it's\", 'a \"b\"', 'both \\'\"', 't\\tn\\nb\\\\']",
	"[yes, ~, 0.5, 010, [], {}]":                 "[True, None, 0.5, 8, [], {}]",
	"{a: {b: [on]}, 1: x}":                       "{'a': {'b': [True]}, 1: 'x'}",
	`["é\u0001\u200b\U0001f600"]`:                "['é\\x01\\u200b\U0001f600']",
}

func TestPythonText(t *testing.T) {
	t.Parallel()
	for text, want := range pythonTexts {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(text, err)
		}
		if got := PythonText(doc.Content[0]); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// pythonFiles are files with what PyYAML writes after reading them, apart from indentation and quotes.
var pythonFiles = map[string]string{
	"{b: 010, A: [1_000, 0x1F, 12:30:00], a: {z: ~, on: off}}": "A:\n  - 1000\n  - 31\n  - 45000\n" +
		"a:\n  z: null\n  true: false\nb: 8\n",
	"{10: a, 9: b, -1: c}":                  "-1: c\n9: b\n10: a\n",
	"{b: 1, 2: x, a: 3}":                    "b: 1\n2: x\na: 3\n",
	"# head\nb: 1 # line\na: 2\n":           "a: 2\nb: 1\n",
	"x: &a {k: 1, j: [yes]}\ny: *a\n":       "x:\n  j:\n    - true\n  k: 1\ny:\n  j:\n    - true\n  k: 1\n",
	"b: &a {k: 1, j: 2}\na: {<<: *a, j: 3}": "a:\n  j: 3\n  k: 1\nb:\n  j: 2\n  k: 1\n",
	"{x: 1e-5, y: 1.0e-5, z: 1e3, w: 1.50}": "w: 1.5\nx: \"1e-5\"\ny: 1.0e-05\nz: \"1e3\"\n",
	"{x: .inf, y: -.INF, z: .NaN}":          "x: .inf\ny: -.inf\nz: .nan\n",
	"{x: 1.0e+30, y: 1_0.5, z: 0o17}":       "x: 1.0e+30\ny: 10.5\nz: \"0o17\"\n",
	"x: 18446744073709551616":               "x: 18446744073709551616\n",
	"x: -99_999_999_999_999_999_999_999":    "x: -99999999999999999999999\n",
	"x: 0777777777777777777777777":          "x: 4722366482869645213695\n",
	`{x: "on", y: 'no', z: "010", w: ""}`:   "w: \"\"\nx: \"on\"\ny: 'no'\nz: \"010\"\n",
	"{x: {}, y: [], z: , w: Null}":          "w: null\nx: {}\ny: []\nz: null\n",
	"x: |\n  a\n  b\n":                      "x: |\n  a\n  b\n",
	"{Z: 1, é: 2, z: 3, _: 4}":              "Z: 1\n_: 4\nz: 3\né: 2\n",
}

func TestAsPython(t *testing.T) {
	t.Parallel()
	for text, want := range pythonFiles {
		if got := dumpAsPython(t, text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		if again := dumpAsPython(t, want); again != want { // the form is that of itself
			t.Errorf("%s becomes %s", want, again)
		}
	}
}

func dumpAsPython(t *testing.T, text string) string {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(text, err)
	}
	out, err := marshalYAML(AsPython(doc.Content[0]))
	if err != nil {
		t.Fatal(text, err)
	}
	return out
}

// The texts are those of Python itself, if it is installed with PyYAML.
func TestPythonTextIsThatOfPython(t *testing.T) {
	t.Parallel()
	var want []string
	texts := make([]string, 0, len(pythonTexts))
	for text, printed := range pythonTexts {
		texts, want = append(texts, text), append(want, printed)
	}
	for i, got := range inPython(t, "str(yaml.safe_load(t))", texts) {
		if got != want[i] {
			t.Errorf("%s: Python prints %s, want %s", texts[i], got, want[i])
		}
	}
}

// Python reads the same values, in the same order, from what it writes itself.
func TestAsPythonIsThatOfPython(t *testing.T) {
	t.Parallel()
	var before, after []string
	for text, dumped := range pythonFiles {
		before, after = append(before, text), append(after, dumped)
	}
	want := inPython(t, "repr(yaml.safe_load(yaml.safe_dump(yaml.safe_load(t))))", before)
	got := inPython(t, "repr(yaml.safe_load(t))", after)
	for i := range before {
		if got[i] != want[i] {
			t.Errorf("%s: Python reads %s, want %s", before[i], got[i], want[i])
		}
	}
}

// inPython returns the values of an expression for texts t. It skips the test if Python is not installed
// with PyYAML.
func inPython(t *testing.T, expression string, texts []string) []string {
	t.Helper()
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if python == "" && exec.Command(p, "-c", "import yaml").Run() == nil {
			python = p
		}
	}
	if python == "" {
		t.Skip("NOT TESTED: comparison with Python: python3 or PyYAML is not installed")
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", "import json, sys, yaml\n"+
		"print(json.dumps(["+expression+" for t in json.load(sys.stdin)]))")
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(texts) {
		t.Fatalf("%v: %s", err, out)
	}
	return got
}
