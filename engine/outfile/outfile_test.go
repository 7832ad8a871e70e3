package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Write keeps the type of an existing file, and errors contain the given path.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(in("old"), []byte("old"), 0o600), os.Symlink("old", in("link")),
		os.Symlink("gone", in("nowhere")), syscall.Mkfifo(in("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		data, err := os.ReadFile(in("pipe"))
		read <- string(data) + errorText(err)
	}()
	for _, c := range []struct {
		name, err string
		mode      fs.FileMode // of the path afterwards
	}{
		{"new", "", 0o640},
		{"link", "", fs.ModeSymlink | 0o777},
		{"old", "", 0o600},
		{"pipe", "", fs.ModeNamedPipe | 0o600},
		{"nowhere", "dangling symbolic link", fs.ModeSymlink | 0o777},
		{"none/x", "directory not found: " + in("none") + "; create it first", 0},
		{"none/below/x", "directory not found: " + in("none/below") + "; create it first", 0},
		{"old/x", in("old") + " is not a directory; give another path", 0},
		{"old/below/x", in("old") + " is not a directory; give another path", 0},
		{"link/x", in("link") + " is not a directory; give another path", 0},
		{"nowhere/x", "directory not found: " + in("nowhere") + "; create it first", 0},
		{".", "is a directory", fs.ModeDir | 0o755},
	} {
		err := Write(in(c.name), []byte("now"), 0o640)
		var target *TargetError
		if c.err == "" && err != nil || c.err != "" && (!errors.As(err, &target) || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if info, err := os.Lstat(in(c.name)); c.mode != 0 && (err != nil || info.Mode() != c.mode) {
			t.Errorf("%s is %v now, %v", c.name, info.Mode(), err)
		}
	}
	if got := <-read; got != "now" {
		t.Errorf("the pipe got %q", got)
	}
	if data, err := os.ReadFile(in("old")); string(data) != "now" || err != nil {
		t.Errorf("target of the link: %q %v", data, err)
	}
	if err := Write("/dev/full", []byte("now"), 0o640); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full device: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 5 {
		t.Errorf("left over: %v %v", left, err)
	}
	for _, err := range []error{
		&fs.PathError{Op: "open", Path: "/d/.x123", Err: syscall.EACCES},
		&os.LinkError{Op: "rename", Old: "/d/.x123", New: "/d/x", Err: syscall.EACCES},
	} {
		if got := WithPath("x", err); got.Error() != "x: permission denied" || !errors.Is(got, syscall.EACCES) {
			t.Errorf("%v", got)
		}
	}
}

func errorText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}
