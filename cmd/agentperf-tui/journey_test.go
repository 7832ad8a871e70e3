package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/agentperf/agentperf-tui/testdata/frametest"
)

// terminal starts the program in a terminal of w columns and h rows.
func (s *shell) terminal(w, h int, args ...string) *frametest.Terminal {
	s.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return frametest.Start(s.t, w, h, cmd)
}

// Goes through the guided tour by keyboard: ports the sample, edits the phase timeout below
// and above its bound, submits a local run, watches it to the end, and compares it.
func TestTour(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes most of a minute")
	}
	s := newShell(t)
	keep := s.path("demo")
	term := s.terminal(120, 40, "demo", "--keep", keep)
	term.WaitFor("186 fields")
	term.Press("down", "down", "down", "down")
	term.WaitFor("job_params.env:3")
	term.Press("w")
	term.WaitFor(".workload.yaml")
	term.Press("enter")

	// In the editor, the cursor is on the line of the timeout, below the rule.
	term.WaitFor("slack 851 s")
	replace := func(from, to string) {
		for range from {
			term.Press("backspace")
		}
		term.Press(to)
	}
	term.Press("ctrl+t")
	term.WaitFor("line 7") // the line of phase_timeout_seconds
	term.Press("end")
	replace("2400.0", "1548.0")
	term.WaitFor("short by 1 s")
	replace("1548.0", "1549")
	term.WaitFor("slack 0 s")
	replace("1549", "2400.0")
	term.WaitFor("slack 851 s")
	term.Press("ctrl+s")
	term.WaitFor("saved")
	term.Press("ctrl+r")

	// In the plan, choose a shorter phase and submit.
	term.WaitFor("ready for local")
	term.Press("[", "[")
	term.WaitFor("phase length 20 s")
	term.WaitFor("ready for local") // enter does nothing until the run is planned again
	term.Press("enter")
	term.WaitFor("y / n") // a dialog ignores keys until it is shown
	term.Press("y")

	// Watch the run on the dashboard.
	term.WaitUntil("a finished run", func(screen string) bool {
		return regexp.MustCompile(`(?m)^ agentperf .* done`).MatchString(screen)
	})
	term.Press("c")
	term.WaitFor("simulation")
	term.WaitFor("Output tok/s (server-reported)")
	term.WaitFor("the band") // within or outside: a busy machine adds latency
	term.Press("ctrl+c")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if refs, err := filepath.Glob(filepath.Join(keep, "reference-*.yaml")); err != nil || len(refs) != 1 {
		t.Errorf("references %v, %v", refs, err)
	}
}

// Kills the workbench during a run. The run must continue; a second workbench must attach
// and show the same figures as the results command.
func TestRunSurvivesKilledWorkbench(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	s := newShell(t)
	id, dir := s.start("3", "12")
	first := s.terminal(120, 40)
	first.WaitFor(id)
	first.Press("enter")
	first.WaitFor("phase 0")
	first.Signal(syscall.SIGKILL)
	if all := pids(t, dir); !running(all[0]) {
		t.Fatal("the run ended with the workbench")
	}

	second := s.terminal(120, 40)
	second.WaitFor(id)
	second.Press("enter")
	screen := second.WaitUntil("a finished run", func(screen string) bool {
		return regexp.MustCompile(`(?m)^ agentperf .* done`).MatchString(screen)
	})
	var doc struct {
		Phases []struct {
			Requests struct{ Measured, Failed int }
		}
	}
	if err := json.Unmarshal([]byte(s.want(0, "results", id, "--json").stdout), &doc); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%d (%d)", doc.Phases[0].Requests.Measured, doc.Phases[0].Requests.Failed)
	if !strings.Contains(screen, want) {
		second.WaitFor(want)
	}
	second.Press("q", "q")
	if code := second.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// Opens a growing log in the workbench: searches, filters, jumps to the next error, and
// follows the end.
func TestLogInWorkbench(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	dir := s.path("harness/c1010")
	if err := os.CopyFS(dir, os.DirFS(sampleRun)); err != nil {
		t.Fatal(err)
	}
	appendLog := func(lines string) {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(dir, "client.log"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(lines); err != nil {
			t.Fatal(err)
		}
	}
	var batches strings.Builder
	for i := range 500 {
		fmt.Fprintf(&batches, "2026-11-30 14:41:%02d INFO batch %d\n", i%60, i)
	}
	appendLog(batches.String() + "2026-11-30 14:50:00 ERROR a worker is gone\n" + batches.String())
	term := s.terminal(100, 30, "--root", s.path("harness"))
	term.WaitFor("harness/c1010")
	term.Press("enter")
	term.WaitFor("client log  following")
	term.Press("z", "/", "phase timeout", "enter")
	term.WaitFor("▸0:   Phase Timeout: 2400.0s")
	term.Press("n")
	term.WaitFor("continued from the beginning")
	term.Press("esc")
	term.WaitUntil("the cleared search", func(screen string) bool { return !strings.Contains(screen, "phase timeout") })
	term.Press("&", "batch 49.$", "enter")
	term.WaitFor("INFO batch 499")
	term.Press("esc", "home", "e")
	term.WaitFor("▸2026-11-30 14:50:00 ERROR a worker is gone")
	term.Press("f")
	term.WaitFor("client log  following")
	appendLog("2026-11-30 14:51:00 INFO the worker is back\n")
	term.WaitFor("the worker is back")
	appendLog("half a li")
	term.WaitFor("half a li")
	term.Press("ctrl+c")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestWorkbenchInSmallTerminalWithoutColours(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.env = append(s.env, "NO_COLOR=yes")
	term := s.terminal(60, 16)
	term.WaitFor("No runs yet")
	term.Press("?")
	term.WaitFor("any key closes")
	term.Press("ctrl+c")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if regexp.MustCompile(`\x1b\[[0-9;]*3[0-9]m`).MatchString(term.Raw()) || strings.Contains(term.Raw(), "38;2;") {
		t.Error("the output has colours although NO_COLOR is set")
	}
}
