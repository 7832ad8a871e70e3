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

func (s *shell) terminal(w, h int, args ...string) *frametest.Terminal {
	s.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return frametest.Start(s.t, w, h, cmd)
}

// The whole journey by keyboard: port, edit below and above the bound, submit
// to this machine, watch to the end, compare.
func TestJourney(t *testing.T) {
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

	// The editor, at the timeout's line, with the rule above it.
	term.WaitFor("slack 851 s")
	edit := func(from, to string) {
		for range from {
			term.Press("backspace")
		}
		term.Press(to)
	}
	term.Press("ctrl+t")
	term.WaitFor("line 7") // it opens where the rule is decided
	term.Press("end")
	edit("2400.0", "1548.0")
	term.WaitFor("short by 1 s")
	edit("1548.0", "1549")
	term.WaitFor("slack 0 s")
	edit("1549", "2400.0")
	term.WaitFor("slack 851 s")
	term.Press("ctrl+s")
	term.WaitFor("saved")
	term.Press("ctrl+r")

	// The plan; a shorter phase; yes.
	term.WaitFor("ready for local")
	term.Press("[", "[")
	term.WaitFor("phase length 20 s")
	term.WaitFor("ready for local") // enter does nothing until it is planned anew
	term.Press("enter")
	term.WaitFor("y / n") // a dialog takes no keys at once
	term.Press("y")

	// The dashboard, to the end.
	term.WaitUntil("a finished run", func(screen string) bool {
		return regexp.MustCompile(`(?m)^ agentperf .* done`).MatchString(screen)
	})
	term.Press("c")
	term.WaitFor("simulation")
	term.WaitFor("Output tok/s (server-reported)")
	term.WaitFor("the band") // within or outside: a busy machine answers late
	term.Press("ctrl+c")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if refs, err := filepath.Glob(filepath.Join(keep, "reference-*.yaml")); err != nil || len(refs) != 1 {
		t.Errorf("references %v, %v", refs, err)
	}
}

// The workbench killed during a run leaves the run alone; another one attaches and
// ends with the figures that the files hold.
func TestKilledWorkbench(t *testing.T) {
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
		t.Fatal("the run went with the workbench")
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

// A log that grows, by keyboard: search, only some lines, the next error, and what
// comes in while the end is followed.
func TestLogByKeyboard(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	dir := s.path("found/c1010")
	if err := os.CopyFS(dir, os.DirFS(sampleRun)); err != nil {
		t.Fatal(err)
	}
	grow := func(lines string) {
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
	var before strings.Builder
	for i := range 500 {
		fmt.Fprintf(&before, "2026-11-30 14:41:%02d INFO batch %d\n", i%60, i)
	}
	grow(before.String() + "2026-11-30 14:50:00 ERROR a worker is gone\n" + before.String())
	term := s.terminal(100, 30, "--root", s.path("found"))
	term.WaitFor("found/c1010")
	term.Press("enter")
	term.WaitFor("client log  follows")
	term.Press("z", "/", "phase timeout", "enter")
	term.WaitFor("▸0:   Phase Timeout: 2400.0s")
	term.Press("n")
	term.WaitFor("round the end")
	term.Press("esc")
	term.WaitUntil("the search's end", func(screen string) bool { return !strings.Contains(screen, "phase timeout") })
	term.Press("&", "batch 49.$", "enter")
	term.WaitFor("INFO batch 499")
	term.Press("esc", "home", "e")
	term.WaitFor("▸2026-11-30 14:50:00 ERROR a worker is gone")
	term.Press("f")
	term.WaitFor("client log  follows")
	grow("2026-11-30 14:51:00 INFO the worker is back\n")
	term.WaitFor("the worker is back")
	grow("half a li")
	term.WaitFor("half a li")
	term.Press("ctrl+c")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestWorkbenchInASmallTerminalWithoutColours(t *testing.T) {
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
		t.Error("NO_COLOR is set, and there are colours")
	}
}
