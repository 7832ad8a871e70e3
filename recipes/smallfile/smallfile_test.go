package smallfile

import (
	"errors"
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
