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

// The texts are those of Python itself, if it is installed with PyYAML.
func TestPythonTextIsThatOfPython(t *testing.T) {
	t.Parallel()
	if err := exec.Command("python3", "-c", "import yaml").Run(); err != nil {
		t.Skip("NOT TESTED: comparison with Python: python3 or PyYAML is not installed")
	}
	texts := make([]string, 0, len(pythonTexts))
	for text := range pythonTexts {
		texts = append(texts, text)
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-c", "import json, sys, yaml\n"+
		"print(json.dumps([str(yaml.safe_load(t)) for t in json.load(sys.stdin)]))")
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(texts) {
		t.Fatalf("%v: %s", err, out)
	}
	for i, text := range texts {
		if got[i] != pythonTexts[text] {
			t.Errorf("%s: Python prints %s, want %s", text, got[i], pythonTexts[text])
		}
	}
}
