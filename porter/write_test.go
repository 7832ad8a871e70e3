package porter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Force follows links, and does not replace anything but regular files.
func TestForcedWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(in("real.yaml"), []byte("old"), 0o600), os.Symlink("real.yaml", in("link.yaml")),
		syscall.Mkfifo(in("pipe.yaml"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	r := port(t, filepath.Join(classDir, "14-existing", "c64"), Options{WorkloadOut: in("w.yaml")})
	if n, err := r.Write(in("link.yaml"), in("w.yaml"), true); n != 3 || err != nil {
		t.Errorf("through a link: %d files, %v", n, err)
	}
	link, err := os.Lstat(in("link.yaml"))
	if data, rerr := os.ReadFile(in("real.yaml")); err != nil || rerr != nil || link.Mode()&fs.ModeSymlink == 0 ||
		!strings.Contains(string(data), "schema: 2") {
		t.Errorf("the link is %v, %v; its target %q, %v", link.Mode(), err, data, rerr)
	}
	if _, err := r.Write(in("x.yaml"), in("pipe.yaml"), true); err == nil ||
		!strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
	if _, err := r.Write(in("link.yaml"), in("real.yaml"), true); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("both to one file: %v", err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}
