package results

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScanObject(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   string
		want map[string]string
		err  string
	}{
		{name: "empty", in: `{}`, want: map[string]string{}},
		{name: "spaces", in: " { \"a\" :\t1 ,\r\n\"b\": null } ", want: map[string]string{"a": "1", "b": "null"}},
		{name: "nested", in: `{"a":{"b":[1,{"c":[]}]},"d":"x"}`, want: map[string]string{"a": `{"b":[1,{"c":[]}]}`, "d": `"x"`}},
		{name: "escaped key", in: `{"\u0061\"":true}`, want: map[string]string{`a"`: "true"}},
		{name: "numbers", in: `{"a":-0.5e+10,"b":0,"c":1E9}`, want: map[string]string{"a": "-0.5e+10", "b": "0", "c": "1E9"}},
		{name: "python", in: `{"a":NaN,"b":Infinity,"c":-Infinity}`, want: map[string]string{"a": "NaN", "b": "Infinity", "c": "-Infinity"}},
		{name: "bytes that are no UTF-8", in: "{\"a\":\"\xff\xfe\"}", want: map[string]string{"a": "\"\xff\xfe\""}},
		{name: "quote at a word's end", in: `{"abcdefg":"1234567","h":"12345678\\"}`, want: map[string]string{"abcdefg": `"1234567"`, "h": `"12345678\\"`}},
		{name: "long string", in: `{"a":"` + strings.Repeat(`\"x\\\\`, 30) + `\\","b":1}`, want: map[string]string{"a": `"` + strings.Repeat(`\"x\\\\`, 30) + `\\"`, "b": "1"}},
		{name: "long string cut", in: `{"a":"` + strings.Repeat("x", 100) + `\"`, err: "column 109: the line ends, want the end of the string"},
		{name: "nothing", in: ``, err: "column 1: the line ends, want an object"},
		{name: "array", in: `[1]`, err: `column 1: '[', want an object`},
		{name: "cut", in: `{"a":"bcd`, err: "column 10: the line ends, want the end of the string"},
		{name: "cut after comma", in: `{"a":1,`, err: "column 8: the line ends, want a string"},
		{name: "two objects", in: `{}{}`, err: "column 3: '{', want the end of the line"},
		{name: "escape sequence of a terminal", in: "\x1b[1m{}", err: `column 1: '\x1b', want an object`},
		{name: "NUL in a string", in: "{\"a\":\"12345678\x00\"}", err: `column 15: '\x00', want no control character in a string`},
		{name: "bad escape", in: `{"a":"\x"}`, err: `column 8: 'x', want an escape that JSON knows`},
		{name: "bad unicode", in: `{"a":"\u12G4"}`, err: `column 11: 'G', want four hexadecimal digits`},
		{name: "leading zero", in: `{"a":01}`, err: `column 7: '1', want a comma or a closing brace`},
		{name: "bare point", in: `{"a":1.}`, err: `column 8: '}', want a digit`},
		{name: "bare word", in: `{"a":nul}`, err: `column 9: '}', want null`},
		{name: "no comma", in: `{"a":[1 2]}`, err: `column 9: '2', want a comma or a closing bracket`},
		{name: "too deep", in: `{"a":` + strings.Repeat("[", 20_000), err: "more than 10,000 levels of nesting"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := map[string]string{}
			err := scanObject([]byte(tt.in), func(k, v []byte) error {
				got[string(k)] = string(v)
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

// FuzzScanObject: what encoding/json takes for an object is one to the scanner
// too, with the same members, and what it refuses is refused, except for
// Python's words and what stands in long strings.
func FuzzScanObject(f *testing.F) {
	for _, s := range []string{
		`{"a":"` + strings.Repeat(`\\\n`, 40) + `"}`, `{}`, `{"a":[1,2,{"b":null}],"c":"\u00e4\n"}`, `{"a":1}x`, `{"a":"12345678\""}`, `{"a":-1.5e-3,"a":2}`,
		`{"a":NaN}`, `{"\ud800":1}`, "{\"a\":\"\x80\"}", `{"a":tru}`, `{"a":[[[[]]]]}`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(line, &want)
		got := map[string]string{}
		err := scanObject(line, func(k, v []byte) error {
			got[strings.ToValidUTF8(string(k), "\ufffd")] = string(v)
			return nil
		})
		isObject := wantErr == nil && want != nil
		python := bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity"))
		long := err == nil && len(line) > shortText // inside long strings nothing is checked
		if isObject != (err == nil) && !python && !long {
			t.Fatalf("%q: scanner says %v, encoding/json %v", line, err, wantErr)
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

// validKeys: encoding/json turns each bad byte into a replacement rune, which
// the scanner, that passes bytes through, need not.
func validKeys(m map[string]json.RawMessage) bool {
	for k := range m {
		if strings.ContainsRune(k, '\ufffd') {
			return false
		}
	}
	return true
}

func TestParseRow(t *testing.T) {
	t.Parallel()
	var got row
	err := parseRow([]byte(`{"phase_idx":1,"concurrency":64,"conversation_id":"c","conversation_idx":3,"user_id":7,"request_id":"ab",`+
		`"start_time":10.5,"end_time":12,"server_input_tokens":100,"server_output_tokens":20.0,"server_cached_tokens":null,`+
		`"ttft":0.5,"itl":NaN,"sse_output_speed":1e999,"success":true,"response_text":"never kept"}`), -1, &got)
	if err != nil {
		t.Fatal(err)
	}
	want := row{request: request{
		turn:  3,
		phase: 1, user: 7, start: 10.5, end: 12, ttft: 0.5, itl: math.NaN(), sse: math.NaN(),
		input: 100, output: 20, cached: -1, concurrency: 64, placed: true,
	}, odd: "itl NaN"}
	got.conversation, got.pass, got.key = 0, 0, 0 // hashes
	nan := cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	if diff := cmp.Diff(want, got, nan, cmp.AllowUnexported(row{}, request{})); diff != "" {
		t.Error(diff)
	}
}

func TestParseRowUnknowns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line string
		ok         bool
		failed     bool
	}{
		{"nothing known", `{}`, true, false},
		{"nulls", `{"success":null,"start_time":null,"phase_idx":null}`, true, false},
		{"failed", `{"success":false}`, true, true},
		{"no output", `{"success":true,"has_output":false}`, true, true},
		{"failed with output", `{"success":false,"has_output":true}`, true, true},
		{"negative time", `{"ttft":-1}`, true, false},
		{"half a token", `{"server_output_tokens":1.5}`, true, false},
		{"text for a time", `{"start_time":"now"}`, false, false},
		{"text for success", `{"success":"yes"}`, false, false},
		{"fraction of a user", `{"user_id":1.5}`, false, false},
		{"huge phase", `{"phase_idx":99999999999}`, false, false},
		{"object for an id", `{"request_id":{}}`, false, false},
	} {
		var r row
		err := parseRow([]byte(tt.line), -1, &r)
		if (err == nil) != tt.ok || r.failed != tt.failed && tt.ok {
			t.Errorf("%s: %v, failed %v", tt.name, err, r.failed)
		}
		if tt.ok && (r.phase != 0 || !math.IsNaN(r.ttft) || r.output != -1) {
			t.Errorf("%s: %+v, want phase 0 and all else unknown", tt.name, r)
		}
	}
}

func FuzzParseRow(f *testing.F) {
	f.Add([]byte(`{"phase_idx":0,"start_time":1.5,"user_id":3,"request_id":"\u0061","success":true}`))
	f.Add([]byte(`{"start_time":-Infinity,"itl":0}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var r row
		err := parseRow(line, -1, &r)
		if err != nil {
			return
		}
		for _, v := range []float64{r.start, r.end, r.ttft, r.itl, r.sse} {
			if v < 0 || math.IsInf(v, 0) {
				t.Fatalf("%q: %g, want a finite number from 0 on or NaN", line, v)
			}
		}
		if r.input < -1 || r.output < -1 || r.cached < -1 {
			t.Fatalf("%q: %+v", line, r)
		}
	})
}

func TestParseStem(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		want Stem
		ok   bool
	}{
		{"hf-0c0ffee_orig__1010u__phase0__dur2400s__settle240s__traj3", Stem{"hf-0c0ffee_orig", 1010, 0, 2400, 240, 3}, true},
		{"a__b__64u__phase12__dur300.5s__settle0s__traj1", Stem{"a__b", 64, 12, 300.5, 0, 1}, true},
		{"org_model__1u__phase0__dur1s__settle0.25s__traj10", Stem{"org_model", 1, 0, 1, 0.25, 10}, true},
		{"__1u__phase0__dur1s__settle0s__traj1", Stem{}, false},
		{"m__1u__phase0__dur1s__settle0s__traj", Stem{}, false},
		{"m__1u__phase0__dur1s__settle0s__traj1.5", Stem{}, false},
		{"m__1u__phase-1__dur1s__settle0s__traj1", Stem{}, false},
		{"m__1u__phase0__dur1e3s__settle0s__traj1", Stem{}, false},
		{"m__1u__phase0__durNaNs__settle0s__traj1", Stem{}, false},
		{"m__1__phase0__dur1s__settle0s__traj1", Stem{}, false},
		{"m__99999999999u__phase0__dur1s__settle0s__traj1", Stem{}, false},
		{"m\x1b[2J__1u__phase0__dur1s__settle0s__traj1", Stem{}, false},
		{"benchmark-rollup", Stem{}, false},
		{"", Stem{}, false},
	} {
		got, ok := ParseStem(tt.name)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v, %v; want %+v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
		if ok && got.String() != tt.name {
			t.Errorf("%s prints as %s", tt.name, got)
		}
	}
}

func FuzzParseStem(f *testing.F) {
	f.Add("m__1u__phase0__dur300.5s__settle0s__traj3")
	f.Add("__u__phase__durs__settles__traj")
	f.Fuzz(func(t *testing.T, name string) {
		s, ok := ParseStem(name)
		if !ok {
			return
		}
		if again, ok := ParseStem(s.String()); !ok || again != s {
			t.Fatalf("%q: %+v prints as %q, read back as %+v", name, s, s, again)
		}
	})
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	s, err := parseStatistics(Stem{}, []byte(`{"ttft_s":{"p50":NaN,"p95":1.5},"x":-Infinity,"text":"NaN \" NaN","requests":{"total":12,"failed":1.5},"huge":1e999}`))
	if err != nil {
		t.Fatal(err)
	}
	if v := s.number("ttft_s", "p95"); v != 1.5 {
		t.Errorf("p95 %g", v)
	}
	for _, path := range [][]string{{"ttft_s", "p50"}, {"x"}, {"text"}, {"ttft_s"}, {"none"}, {"x", "y"}, {"huge"}} {
		if v := s.number(path...); !math.IsNaN(v) {
			t.Errorf("%v: %g, want NaN", path, v)
		}
	}
	if s.count("requests", "total") != 12 || s.count("requests", "failed") != -1 || s.count("requests", "none") != -1 {
		t.Errorf("counts of %v", s.values)
	}
	if s.values["text"] != `NaN " NaN` {
		t.Errorf("text %q", s.values["text"])
	}
	for _, bad := range []string{``, `null`, `[]`, `{"a":`, `{}{}`} {
		if _, err := parseStatistics(Stem{}, []byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func FuzzStatistics(f *testing.F) {
	f.Add([]byte(`{"measurement_duration_s":1,"requests":{"total":1}}`))
	f.Add([]byte(`{"a":-Infinity,"b":"\"NaN"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseStatistics(Stem{}, data)
		if err != nil {
			if json.Valid(data) && data[0] == '{' {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		if !json.Valid(s.raw) {
			t.Fatalf("%q: kept as %q", data, s.raw)
		}
		fold := NewFold()
		if err := fold.Statistics(Stem{}, data); err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(fold.Run(fold.lastTime())); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
	})
}
