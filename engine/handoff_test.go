package engine

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What was written is not lost when the editor fails after it; a copy nobody touched is.
func TestAFailedEditorKeepsWhatWasWritten(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for script, kept := range map[string]bool{
		"echo mine >\"$1\"; exit 1": true,
		"exit 1":                    false,
		"echo mine >\"$1\"":         false,
		"rm \"$1\"; exit 1":         false,
	} {
		editor := filepath.Join(t.TempDir(), "ed")
		if err := os.WriteFile(editor, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		h := &Handoff{argv: []string{editor}, name: "r.yaml", text: "theirs\n"}
		err := h.Run()
		found, gerr := filepath.Glob(filepath.Join(os.TempDir(), "agentperf-edit-*", "r.yaml"))
		if gerr != nil || (len(found) == 1) != kept {
			t.Fatalf("%s: %v is left, %v, %v", script, found, gerr, err)
		}
		if !kept {
			continue
		}
		if path := regexp.MustCompile(`kept in (\S+)$`).FindStringSubmatch(err.Error()); path == nil || path[1] != found[0] {
			t.Errorf("%s: %v", script, err)
		}
		if data, err := os.ReadFile(found[0]); err != nil || string(data) != "mine\n" {
			t.Errorf("kept %q, %v", data, err)
		}
		if err := os.RemoveAll(filepath.Dir(found[0])); err != nil {
			t.Fatal(err)
		}
	}
}
