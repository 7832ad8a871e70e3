package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/testdata/frametest"
)

// openEditor opens the editor on the local example.
func (s *shell) openEditor() *frametest.Terminal {
	s.t.Helper()
	term := s.terminal(120, 40, "edit", "r.yaml", "--workload", "w.yaml")
	term.WaitFor("slack 11.5 s")
	return term
}

// waitForUnsaved waits until the stored unsaved changes contain text.
func (s *shell) waitForUnsaved(text string) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.NewTimer(frametest.Timeout)
	defer timeout.Stop()
	for {
		stored, err := filepath.Glob(s.path("state/agentperf-tui/unsaved/*.json"))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, file := range stored {
			var record struct{ Text []byte }
			if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &record) == nil &&
				strings.Contains(string(record.Text), text) {
				return
			}
		}
		select {
		case <-tick.C:
		case <-timeout.C:
			s.t.Fatalf("%q is not in the unsaved changes %v", text, stored)
		}
	}
}

// Makes errors in a recipe and corrects them by keyboard: an unknown field by its fix, a
// field name by completion, the timeout rule by one of its suggested changes.
func TestEditorFixesErrors(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.writeExample("local-mock")
	before := s.read("w.yaml")
	term := s.openEditor()
	term.WaitFor("no problems")

	term.Press("ctrl+end", "srun_option: {}")
	term.WaitFor("1 error")
	term.WaitFor("srun_option: unknown to this version")
	term.Press("ctrl+f")
	term.WaitFor("rename srun_option to srun_options")
	term.Press("1")
	term.WaitFor("no problems")

	term.Press("end", "enter", "hea")
	term.WaitFor("health_check")
	term.Press("tab", "enter", "  max_a")
	term.WaitFor("tab accepts")
	term.Press("tab", "180")
	term.WaitUntil("the completed field and no problems", func(screen string) bool {
		return strings.Contains(screen, "max_attempts: 180") && strings.Contains(screen, "no problems")
	})

	term.Press("ctrl+t", "end", "backspace", "backspace", "18")
	term.WaitFor("short by 0.5 s")
	term.Press("ctrl+f")
	term.WaitFor("1 phase_timeout_seconds ≥ 18.5")
	term.Press("2")
	term.WaitFor("slack")
	term.WaitFor("no problems")
	if s.read("w.yaml") != before {
		t.Error("the workload file was written before it was saved")
	}
	term.Press("ctrl+s")
	term.WaitFor("✓ saved")
	term.Press("esc", "esc")
	term.WaitFor("No runs yet")
	term.Press("q")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	for file, want := range map[string]string{
		"r.yaml": "srun_options: {}\nhealth_check:\n  max_attempts: 180",
		"w.yaml": "phase_timeout_seconds: 18\n",
	} {
		if got := s.read(file); !strings.Contains(got, want) {
			t.Errorf("%s does not contain %q:\n%s", file, want, got)
		}
	}
	if o := s.want(0, "check", "r.yaml", "--workload", "w.yaml"); !strings.Contains(o.stdout, "0 errors, 0 warnings") {
		t.Errorf("check: %s", o.stdout)
	}
}

// Kills the workbench while the editor has unsaved changes. The next start must restore
// them, merge them with a change of the file on disk, and pass the result to $EDITOR.
func TestUnsavedChangesSurviveKill(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.writeExample("local-mock")
	s.write("editor", "#!/bin/sh\nsed -i 's/^api_key: .*/api_key: fromeditor/' \"$2\"\n")
	if err := os.Chmod(s.path("editor"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "VISUAL='"+s.path("editor")+"' --wait")
	term := s.openEditor()
	term.Press("ctrl+t", "ctrl+end", "api_key: mine", "enter")
	term.WaitFor("unsaved: w.yaml")
	s.waitForUnsaved("api_key: mine")
	term.Signal(syscall.SIGKILL)
	s.replace("w.yaml", "user_spawn_rate: 2", "user_spawn_rate: 4")

	term = s.terminal(120, 40, "edit", "r.yaml", "--workload", "w.yaml")
	term.WaitFor("Unsaved changes in w.yaml")
	term.WaitFor("merged with the file on disk")
	term.WaitFor("esc restores too") // the dialog ignores keys until it shows this hint
	term.Press("enter")
	term.WaitFor("unsaved: w.yaml")
	term.Press("ctrl+t", "ctrl+x")
	term.WaitFor("fromeditor")
	term.Press("ctrl+s")
	term.WaitFor("✓ saved")
	if got := s.read("w.yaml"); !strings.Contains(got, "user_spawn_rate: 4\n") ||
		!strings.Contains(got, "\napi_key: fromeditor\n") {
		t.Errorf("saved\n%s", got)
	}
	term.Press("ctrl+c")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
