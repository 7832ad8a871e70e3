package smallfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int64{"largest": 1 << 20, "larger": 1<<20 + 1} {
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			err = errors.Join(f.Truncate(size), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if data, err := Read(dir+"/largest", 1); err != nil || len(data) != 1<<20 {
		t.Errorf("a file of the largest size: %d bytes, %v", len(data), err)
	}
	if _, err := Read(dir+"/larger", 1); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "1 MiB") {
		t.Errorf("a larger file: %v", err)
	}
	if _, err := Read(dir+"/none", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
	if err := syscall.Mkfifo(dir+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir + "/pipe", dir} {
		if _, err := Read(path, 1); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
		if f, _, err := Open(path); err == nil || f != nil {
			t.Errorf("%s is opened: %v", path, err)
		}
	}
}

func TestReadStream(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/file", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadStream(t.Context(), dir+"/file", 1); err != nil || string(data) != "text" {
		t.Errorf("a file: %q, %v", data, err)
	}
	if data, err := ReadStream(t.Context(), dir+"/fifo", 1); err != nil || len(data) > 0 {
		t.Errorf("a pipe without a writer: %q, %v", data, err)
	}
	for path, want := range map[string]string{dir: "neither", "/dev/zero": "neither", dir + "/none": "no such file"} {
		if _, err := ReadStream(t.Context(), path, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// newPipe returns the path of the reading end of a pipe, and its writing end.
func newPipe(t *testing.T) (path string, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Close(), w.Close()); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return fmt.Sprintf("/proc/self/fd/%d", r.Fd()), w
}

func TestReadStreamOfPipe(t *testing.T) {
	t.Parallel()
	path, w := newPipe(t)
	go func() {
		_, err := w.WriteString("first ")
		if err == nil {
			_, err = w.WriteString("second")
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Error(err)
		}
	}()
	if data, err := ReadStream(t.Context(), path, 1); err != nil || string(data) != "first second" {
		t.Errorf("a pipe: %q, %v", data, err)
	}
	path, long := newPipe(t)
	go func() { _, _ = long.Write(make([]byte, 2<<20)) }() // fails when the pipe is closed
	if _, err := ReadStream(t.Context(), path, 1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("2 MiB: %v", err)
	}
	path, _ = newPipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadStream(ctx, path, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a pipe that is never closed: %v", err)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v.json")
	if err := WriteJSON(path, map[string]int{"a": 1}, 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "{\n  \"a\": 1\n}\n" {
		t.Errorf("got %q, %v", data, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permissions: %v, %v", info, err)
	}
	var back map[string]int
	if err := ReadJSON(path, &back); err != nil || back["a"] != 1 {
		t.Errorf("read back: %v, %v", back, err)
	}
	for text, want := range map[string]struct {
		id   problem.ID
		text string
	}{
		"":         {problem.JSONInvalid, "file is empty"},
		" \n":      {problem.JSONInvalid, "file is empty"},
		"x":        {problem.JSONInvalid, "invalid character 'x'"},
		`{"a": 1,`: {problem.FileTruncated, "unexpected EOF"},
	} {
		invalid := filepath.Join(t.TempDir(), "v.json")
		if err := os.WriteFile(invalid, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := ReadJSON(invalid, &back)
		if problem.Of(err) != want.id || !strings.HasPrefix(err.Error(), "read "+invalid+": "+want.text) {
			t.Errorf("%q: %v (%s), want %q", text, err, problem.Of(err), want.text)
		}
	}
	if err := ReadJSON(path, new(string)); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("another type: %v", err)
	}
	if err := WriteJSON(path, func() {}, 0o600); err == nil || !strings.Contains(err.Error(), "encode "+path) {
		t.Errorf("a value without a JSON form: %v", err)
	}
}
