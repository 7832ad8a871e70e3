package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func desk(t *testing.T, env map[string]string) *Engine {
	t.Helper()
	e, err := New(Options{StateDir: filepath.Join(t.TempDir(), "state"), Program: "/bin/true", Getenv: func(k string) string { return env[k] }})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What was not saved is found again by another program, by its user alone, and is
// gone when it is dropped or the same as the file.
func TestUnsaved(t *testing.T) {
	t.Parallel()
	e := desk(t, nil)
	path := filepath.Join(t.TempDir(), "r.yaml")
	if _, ok, err := e.Unsaved(t.Context(), path); ok || err != nil {
		t.Fatalf("nothing was kept: %v %v", ok, err)
	}
	if err := e.KeepUnsaved(t.Context(), path, "mine \xff", "base \xfe"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(e.Paths.State, "unsaved", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("kept in %v, %v", files, err)
	}
	modes(t, map[string]os.FileMode{files[0]: 0o600, filepath.Dir(files[0]): 0o700})
	u, ok, err := e.Unsaved(t.Context(), path)
	if !ok || err != nil || u.Path != path || u.Text != "mine \xff" || u.Base != "base \xfe" || u.At.IsZero() || u.PID != os.Getpid() || u.Elsewhere {
		t.Errorf("found %+v %v %v", u, ok, err)
	}
	if err := os.WriteFile(path, []byte(u.Text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := e.Unsaved(t.Context(), path); ok || err != nil {
		t.Errorf("offered though it is on disk: %v", err)
	}
	for range 2 {
		if err := e.DropUnsaved(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnsavedBroken(t *testing.T) {
	t.Parallel()
	e := desk(t, nil)
	path := filepath.Join(t.TempDir(), "r.yaml")
	file, _, err := e.unsavedPath(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.KeepUnsaved(t.Context(), path, "", ""); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Unsaved(t.Context(), path); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a broken one: %v", err)
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

// The editor's words are split as a shell does, and what it leaves comes back.
func TestHandoff(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "my editor")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$1:${2##*/}\"\nprintf more >> \"$2\"\nexit $3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, visual, editor, out, want, err string
	}{
		{"quoted", "", `"` + script + `" '-x y'`, "-x y:r.yaml\n", "text\nmore", ""},
		{"visual first", `'` + script + `' -v`, "false", "-v:r.yaml\n", "text\nmore", ""},
		{"variables", "", `'` + script + `' "$FLAG"`, "of the user:r.yaml\n", "text\nmore", ""},
		{"none", "", " ", "", "", "names none"},
		{"half a quote", "", `vi "`, "", "", "set EDITOR"},
		{"no command is run to find it", "", "$(touch /tmp/agentperf-never)", "", "", "set EDITOR"},
		{"fails", "", "false", "", "", "as it was"},
		{"not there", "", "/nowhere/vi", "", "", "/nowhere/vi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := desk(t, map[string]string{"VISUAL": c.visual, "EDITOR": c.editor, "FLAG": "of the user"})
			h, err := e.Editor("/deep/r.yaml", "text\n")
			var out bytes.Buffer
			if err == nil {
				h.SetStdin(nil)
				h.SetStdout(&out)
				h.SetStderr(&out)
				err = h.Run()
			}
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil || h.Result() != c.want || out.String() != c.out {
				t.Errorf("%q, says %q: %v", h.Result(), out.String(), err)
			}
		})
	}
}
