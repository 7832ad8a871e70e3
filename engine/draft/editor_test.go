package draft

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The copy is kept if the editor fails after it was changed, and removed otherwise.
func TestFailedEditorKeepsChangedCopy(t *testing.T) {
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
		h := &EditorCommand{argv: []string{editor}, name: "r.yaml", text: "theirs\n"}
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

// The editor variable is split like a shell command, and the edited text is returned.
func TestEditorCommand(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "my editor")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$1:${2##*/}\"\nprintf more >> \"$2\"\nexit $3\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, visual, editor, out, want, err string
	}{
		{"quoted", "", `"` + script + `" '-x y'`, "-x y:r.yaml\n", "text\nmore", ""},
		{"visual first", `'` + script + `' -v`, "false", "-v:r.yaml\n", "text\nmore", ""},
		{"variables", "", `'` + script + `' "$FLAG"`, "of the user:r.yaml\n", "text\nmore", ""},
		{"empty", "", " ", "", "", "no command in"},
		{"unclosed quote", "", `vi "`, "", "", "set EDITOR"},
		{"command substitution is not run", "", "$(touch /tmp/agentperf-never)", "", "", "set EDITOR"},
		{"fails", "", "false", "", "", "the text is unchanged"},
		{"not found", "", "/nowhere/vi", "", "", "/nowhere/vi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := drafts(t, map[string]string{"VISUAL": c.visual, "EDITOR": c.editor, "FLAG": "of the user"})
			h, err := d.Editor("/deep/r.yaml", "text\n")
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
				t.Errorf("%q, output %q: %v", h.Result(), out.String(), err)
			}
		})
	}
}
