// Package golden compares the output of a test with a golden file, which contains the expected
// output. `make golden` rewrites these files. Only tests and their support packages may import it.
package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// writeEnv is the environment variable that, if set to "write", makes this package write golden
// files instead of comparing them.
const writeEnv = "AGENTPERF_GOLDEN"

// Equal compares text or bytes with the golden file at path, which is relative to the directory of
// the test's package. A difference fails the test but does not stop it.
func Equal[T string | []byte](t testing.TB, path string, got T) {
	t.Helper()
	if os.Getenv(writeEnv) == "write" {
		write(t, path, []byte(got))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v; run `make golden` to write it", err)
		return
	}
	if !bytes.Equal(want, []byte(got)) {
		t.Errorf("%s differs; if the change is intended, run `make golden`:\n%s", path, diff(path, want, []byte(got)))
	}
}

// JSON compares a value, as indented JSON with a final newline, with the golden file at path.
func JSON(t testing.TB, path string, got any) {
	t.Helper()
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	Equal(t, path, append(text, '\n'))
}

// write writes a golden file, unless it has the same content already.
func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Error(err)
		return
	}
	t.Logf("wrote %s", path)
}

// diff returns the difference of texts as a unified diff with visible escape sequences, and that of
// other bytes as the place of the first difference.
func diff(path string, want, got []byte) string {
	if utf8.Valid(want) && utf8.Valid(got) {
		return strings.ReplaceAll(udiff.Unified(path, "got", string(want), string(got)), "\x1b", `\x1b`)
	}
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	return fmt.Sprintf("got %d bytes, want %d; the first difference is at byte %d", len(got), len(want), at)
}
