package jsonrow

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   string
		want map[string]string
		err  string
	}{
		{name: "empty object", in: `{}`, want: map[string]string{}},
		{name: "spaces", in: " { \"a\" :\t1 ,\r\n\"b\": null } ", want: map[string]string{"a": "1", "b": "null"}},
		{
			name: "nested", in: `{"a":{"b":[1,{"c":[]}]},"d":"x"}`,
			want: map[string]string{"a": `{"b":[1,{"c":[]}]}`, "d": `"x"`},
		},
		{name: "escaped key", in: `{"\u0061\"":true}`, want: map[string]string{`a"`: "true"}},
		{name: "numbers", in: `{"a":-0.5e+10,"b":0,"c":1E9}`, want: map[string]string{"a": "-0.5e+10", "b": "0", "c": "1E9"}},
		{
			name: "NaN and Infinity", in: `{"a":NaN,"b":Infinity,"c":-Infinity}`,
			want: map[string]string{"a": "NaN", "b": "Infinity", "c": "-Infinity"},
		},
		{name: "invalid UTF-8", in: "{\"a\":\"\xff\xfe\"}", want: map[string]string{"a": "\"\xff\xfe\""}},
		{
			name: "quote at the end of eight bytes", in: `{"abcdefg":"1234567","h":"12345678\\"}`,
			want: map[string]string{"abcdefg": `"1234567"`, "h": `"12345678\\"`},
		},
		{
			name: "long string", in: `{"a":"` + strings.Repeat(`\"x\\\\`, 30) + `\\","b":1}`,
			want: map[string]string{"a": `"` + strings.Repeat(`\"x\\\\`, 30) + `\\"`, "b": "1"},
		},
		{
			name: "long string without end", in: `{"a":"` + strings.Repeat("x", 100) + `\"`,
			err: "column 109: expected a closing quote, found the end of the line",
		},
		{name: "empty line", in: ``, err: "column 1: expected an object, found the end of the line"},
		{name: "array", in: `[1]`, err: `column 1: expected an object, found '['`},
		{name: "string without end", in: `{"a":"bcd`, err: "column 10: expected a closing quote, found the end of the line"},
		{name: "line ends after comma", in: `{"a":1,`, err: "column 8: expected a string, found the end of the line"},
		{name: "two objects", in: `{}{}`, err: "column 3: expected the end of the line, found '{'"},
		{name: "escape sequence of a terminal", in: "\x1b[1m{}", err: `column 1: expected an object, found '\x1b'`},
		{
			name: "NUL in a string", in: "{\"a\":\"12345678\x00\"}",
			err: `column 15: expected a string without control characters, found '\x00'`,
		},
		{name: "bad escape", in: `{"a":"\x"}`, err: `column 8: expected a valid JSON escape, found 'x'`},
		{name: "bad unicode", in: `{"a":"\u12G4"}`, err: `column 11: expected four hexadecimal digits, found 'G'`},
		{name: "leading zero", in: `{"a":01}`, err: `column 7: expected a comma or a closing brace, found '1'`},
		{name: "point without digits", in: `{"a":1.}`, err: `column 8: expected a digit, found '}'`},
		{name: "incomplete word", in: `{"a":nul}`, err: `column 9: expected null, found '}'`},
		{name: "no comma", in: `{"a":[1 2]}`, err: `column 9: expected a comma or a closing bracket, found '2'`},
		{
			name: "too deep", in: `{"a":` + strings.Repeat("[", 20_000),
			err: "column 10006: more than 10,000 levels of nesting",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := map[string]string{}
			err := Members([]byte(tt.in), func(k, v []byte, at int) error {
				got[string(k)] = string(v)
				if !strings.HasPrefix(tt.in[at:], string(v)) {
					t.Errorf("%s is not at %d", v, at)
				}
				return nil
			})
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Fatalf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzMembers checks that Members accepts the same objects as encoding/json and finds
// the same members, except for NaN, Infinity and the content of long strings.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{"a":"` + strings.Repeat(`\\\n`, 40) + `"}`, `{}`, `{"a":[1,2,{"b":null}],"c":"\u00e4\n"}`, `{"a":1}x`,
		`{"a":"12345678\""}`, `{"a":-1.5e-3,"a":2}`,
		`{"a":NaN}`, `{"\ud800":1}`, "{\"a\":\"\x80\"}", `{"a":tru}`, `{"a":[[[[]]]]}`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(line, &want)
		got := map[string]string{}
		err := Members(line, func(k, v []byte, _ int) error {
			got[strings.ToValidUTF8(string(k), "\ufffd")] = string(v)
			return nil
		})
		isObject := wantErr == nil && want != nil
		python := bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity"))
		long := err == nil && len(line) > maxChecked // the content of long strings is not checked
		if isObject != (err == nil) && !python && !long {
			t.Fatalf("%q: Members returns %v, encoding/json %v", line, err, wantErr)
		}
		if !isObject || !validKeys(want) {
			return
		}
		for k, v := range want {
			if got[k] != string(v) {
				t.Fatalf("%q: member %q is %q, want %q", line, k, got[k], v)
			}
		}
	})
}

// validKeys reports whether all keys are valid UTF-8: encoding/json replaces invalid
// bytes, the scanner keeps them.
func validKeys(m map[string]json.RawMessage) bool {
	for k := range m {
		if strings.ContainsRune(k, '\ufffd') {
			return false
		}
	}
	return true
}
