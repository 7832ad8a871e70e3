package draft

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Save does not overwrite changes that someone else has made.
func TestSaveDetectsChangedFile(t *testing.T) {
	t.Parallel()
	d := drafts(t, nil)
	path := filepath.Join(t.TempDir(), "r.yaml")
	if err := d.Save(t.Context(), path, []byte("a"), nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Save(t.Context(), path, []byte("b"), []byte("a")); err != nil {
		t.Fatal(err)
	}
	for name, before := range map[string][]byte{"changed": []byte("a"), "not expected": nil} {
		if err := d.Save(t.Context(), path, []byte("c"), before); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := d.Save(t.Context(), path, []byte("c"), []byte("b")); err == nil {
		t.Error("a read-only file was written")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := d.ReadFile(t.Context(), path)
	info, serr := os.Stat(path)
	if err != nil || serr != nil || string(data) != "b" || info.Mode().Perm() != 0o600 {
		t.Errorf("file %q, mode %v: %v %v", data, info.Mode(), err, serr)
	}
}
