package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a testing.TB that records errors and log messages.
type recorder struct {
	testing.TB
	errors, logs []string
}

func (r *recorder) Helper()           {}
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Logf(format string, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

func TestEqual(t *testing.T) {
	t.Setenv(writeEnv, "")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"text": "one\ntwo\n", "bytes": "\xff\x00\x01", "v.json": "{\n  \"a\": 1\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name  string
		check func(t testing.TB)
		want  []string // parts of the failure message; nil if the check passes
	}{
		{"same text", func(t testing.TB) { Equal(t, dir+"/text", "one\ntwo\n") }, nil},
		{"same bytes", func(t testing.TB) { Equal(t, dir+"/bytes", []byte("\xff\x00\x01")) }, nil},
		{"same value", func(t testing.TB) { JSON(t, dir+"/v.json", map[string]int{"a": 1}) }, nil},
		{
			"other text",
			func(t testing.TB) { Equal(t, dir+"/text", "one\n\x1b[1m2\n") },
			[]string{dir + "/text differs", "make golden", "-two", `+\x1b[1m2`},
		},
		{
			"other bytes",
			func(t testing.TB) { Equal(t, dir+"/bytes", "\xff\x00") },
			[]string{"got 2 bytes, want 3; the first difference is at byte 2"},
		},
		{"other value", func(t testing.TB) { JSON(t, dir+"/v.json", []int{}) }, []string{"+[]"}},
		{"no file", func(t testing.TB) { Equal(t, dir+"/none", "") }, []string{dir + "/none", "make golden"}},
		{"not a JSON value", func(t testing.TB) { JSON(t, dir+"/v.json", func() {}) }, []string{"unsupported type"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{TB: t}
			tt.check(r)
			if len(r.errors) > 1 || (len(r.errors) == 1) != (tt.want != nil) {
				t.Fatalf("failures: %q", r.errors)
			}
			for _, w := range tt.want {
				if !strings.Contains(r.errors[0], w) {
					t.Errorf("%q is not in %s", w, r.errors[0])
				}
			}
		})
	}
}

func TestWrite(t *testing.T) {
	t.Setenv(writeEnv, "write")
	path := filepath.Join(t.TempDir(), "testdata", "new.txt")
	r := &recorder{TB: t}
	Equal(r, path, "new\n")
	Equal(r, path, "new\n")
	if len(r.errors) > 0 || len(r.logs) != 1 {
		t.Errorf("failures %q, log %q", r.errors, r.logs)
	}
	t.Setenv(writeEnv, "")
	Equal(t, path, "new\n")
}
