package plan

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The copy of a model has its files, also those behind symbolic links, and replaces an incomplete one.
func TestCopyModel(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "new", "it's -m")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(from+"/sub/config.json", "{}")
	write(from+"/../blob", "weights")
	if err := os.Symlink("../blob", from+"/model.safetensors"); err != nil {
		t.Fatal(err)
	}
	write(to+"/model.safetensors", "wei")
	script := strings.ReplaceAll(copyModel, containerModel+"/.", from+"/.")
	run := func() error { return exec.Command("bash", "-c", script, "stage_model", to).Run() }
	if err := run(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"sub/config.json": "{}", "model.safetensors": "weights"} {
		info, err := os.Lstat(filepath.Join(to, name))
		if err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, info, err)
			continue
		}
		if got, err := os.ReadFile(filepath.Join(to, name)); string(got) != want {
			t.Errorf("%s: %q (%v), want %q", name, got, err, want)
		}
	}
	if err := os.RemoveAll(from); err != nil {
		t.Fatal(err)
	}
	if err := run(); err == nil {
		t.Error("the copy of a model that does not exist succeeded")
	}
}
