package draft

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func drafts(t *testing.T, env map[string]string) *Drafts {
	t.Helper()
	return New(Options{
		State: filepath.Join(t.TempDir(), "state"), Getenv: func(k string) string { return env[k] },
		Now: time.Now, Host: "here",
	})
}

// Unsaved changes can be read by another process of the same user only. They are gone once
// they are discarded or equal to the file.
func TestUnsaved(t *testing.T) {
	t.Parallel()
	d := drafts(t, nil)
	path := filepath.Join(t.TempDir(), "r.yaml")
	if _, ok, err := d.Unsaved(t.Context(), path); ok || err != nil {
		t.Fatalf("nothing was kept: %v %v", ok, err)
	}
	if err := d.KeepUnsaved(t.Context(), path, "mine \xff", "base \xfe"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(d.opt.State, "unsaved", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("kept in %v, %v", files, err)
	}
	modes(t, map[string]os.FileMode{files[0]: 0o600, filepath.Dir(files[0]): 0o700})
	u, ok, err := d.Unsaved(t.Context(), path)
	if !ok || err != nil || u.Path != path || u.Text != "mine \xff" || u.Base != "base \xfe" || u.At.IsZero() ||
		u.PID != os.Getpid() || u.WriterRunning {
		t.Errorf("found %+v %v %v", u, ok, err)
	}
	if err := os.WriteFile(path, []byte(u.Text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := d.Unsaved(t.Context(), path); ok || err != nil {
		t.Errorf("unsaved changes equal to the file: %v", err)
	}
	for range 2 {
		if err := d.DiscardUnsaved(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnsavedCorruptFile(t *testing.T) {
	t.Parallel()
	d := drafts(t, nil)
	path := filepath.Join(t.TempDir(), "r.yaml")
	file, _, err := d.unsavedPath(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.KeepUnsaved(t.Context(), path, "", ""); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Unsaved(t.Context(), path); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("corrupt file: %v", err)
	}
}

func modes(t *testing.T, want map[string]os.FileMode) {
	t.Helper()
	for p, m := range want {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != m {
			t.Errorf("%s: %v %v, want %o", p, info, err, m)
		}
	}
}
