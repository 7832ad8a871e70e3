// Package golden compares what a test made with a golden file, a file of the tree that
// holds what is expected. `make golden` rewrites those files; git shows what changed.
// Only tests and their support may import it.
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

// writeEnv is the environment variable that, set to "write", makes the functions below
// write golden files instead of comparing them.
const writeEnv = "AGENTPERF_GOLDEN"

// Equal compares text or bytes with the golden file at path, which is relative to the
// folder of the test's package. A difference fails the test but doesn't end it.
func Equal[T string | []byte](t testing.TB, path string, got T) {
	t.Helper()
	if os.Getenv(writeEnv) == "write" {
		write(t, path, []byte(got))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v; `make golden` writes it", err)
		return
	}
	if !bytes.Equal(want, []byte(got)) {
		t.Errorf("%s differs; if this is meant, `make golden` rewrites it:\n%s", path, diff(path, want, []byte(got)))
	}
}

// JSON compares a value, indented as JSON with a newline at the end, with the golden file at path.
func JSON(t testing.TB, path string, got any) {
	t.Helper()
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	Equal(t, path, append(text, '\n'))
}

// write replaces a golden file, unless its content is right already: a file that
// stays the same keeps its time.
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

// diff shows text line by line, its escape sequences visible; of other bytes it says
// where they begin to differ.
func diff(path string, want, got []byte) string {
	if utf8.Valid(want) && utf8.Valid(got) {
		return strings.ReplaceAll(udiff.Unified(path, "got", string(want), string(got)), "\x1b", `\x1b`)
	}
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	return fmt.Sprintf("%d bytes wanted, %d got; the first difference is at byte %d", len(want), len(got), at)
}
