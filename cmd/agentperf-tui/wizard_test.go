package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/testdata/frametest"
)

// Ports the sample by keyboard: completes the path of its directory, answers every question
// and writes the files. The result must pass check, and another port must reuse the answers.
func TestPortInWorkbench(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	source, err := filepath.Abs(sampleRun)
	if err != nil {
		t.Fatal(err)
	}
	run := s.path("results/bm_agentperf_dsv4_5p1d/c1010")
	for to, from := range map[string]string{
		run: source, s.path("data/old"): source + "/datasets", s.path("data/new"): source + "/datasets",
	} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	term := s.terminal(120, 40)
	term.WaitFor("No runs yet")
	term.Press("p")
	term.WaitFor("results/bm_agentperf_dsv4_5p1d/c1010") // found below the current directory
	term.Press(s.path("res"))
	term.WaitFor("directory  " + s.path("results"))
	term.Press("tab")
	term.WaitUntil("the run below the completed path", func(screen string) bool {
		return strings.Contains(screen, "as typed   "+s.path("results/")) && strings.Contains(screen, "▸ run ")
	})
	term.Press("enter")
	term.WaitFor("2 must fix")

	// Open the artifact of a field at its line.
	term.Press("o")
	term.WaitFor("▸      3  MODEL_PATH=")
	term.Press("esc")
	term.WaitFor("ORIGIN")

	// Add the directory of the files to the mounts.
	answered := 0
	waitForAnswer := func() {
		t.Helper()
		answered++
		term.WaitFor(fmt.Sprintf("✓ %d answered", answered))
	}
	term.Press("G", "up", "up")
	term.WaitFor("▸ 199 ")
	term.Press("e")
	term.WaitFor(`written as ["/scratch:/scratch"]`)
	term.Press("backspace", ", "+s.dir+":"+s.dir+"]")
	term.WaitFor(`written as ["/scratch:/scratch", '` + s.dir)
	term.Press("enter")
	waitForAnswer()

	// The datasets are in two directories: choose one from the list.
	term.Press("s")
	term.WaitFor("search datasets below")
	term.Press(s.path("data"), "enter")
	term.WaitFor("2 files below the dataset roots")
	term.Press("tab")
	for range 2 {
		term.WaitFor("2 candidates:")
		term.Press("e")
		term.WaitFor("1 of 2 candidates")
		term.Press("down")
		term.WaitFor("2 of 2 candidates")
		term.Press("enter")
		waitForAnswer()
	}

	answerAll(term, waitForAnswer)
	term.Press("w")
	term.WaitFor("0 lost over 8 launch")
	term.WaitFor(fmt.Sprintf("✓ none   %d answered", answered-1)) // the mount answers no question
	term.WaitUntil("three new files", func(screen string) bool {
		return len(regexp.MustCompile(`(?m) new *$`).FindAllString(screen, -1)) == 3
	})
	term.Press("enter")
	term.WaitFor("slack 851 s") // the editor
	term.Press("ctrl+c")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}

	requirePorted(s, run)
}

// answerAll answers all open questions, including notes, and calls waitForAnswer after each.
func answerAll(term *frametest.Terminal, waitForAnswer func()) {
	selected := regexp.MustCompile(`(?m)^ ▸ (must-fix|confirm|note) +(\S+)`)
	for {
		screen := term.WaitUntil("a question, or no open questions", func(screen string) bool {
			return strings.Contains(screen, "✓ no open questions") || selected.MatchString(screen)
		})
		m := selected.FindStringSubmatch(screen)
		if m == nil {
			break
		}
		if m[2] == "time_limit" {
			term.Press("e")
			term.WaitFor("written as 01:45:00")
			term.Press("enter")
		} else {
			term.Press("a")
		}
		waitForAnswer()
	}
}

// requirePorted checks the files of the wizard: they pass check, name the chosen datasets,
// and don't change when the run is ported again.
func requirePorted(s *shell, run string) {
	t := s.t
	t.Helper()
	recipe, workload := "bm_agentperf_dsv4_5p1d-c1010.yaml", "bm_agentperf_dsv4_5p1d-c1010.workload.yaml"
	var doc struct {
		Diagnostics []struct{ Severity, Message string }
	}
	if err := json.Unmarshal([]byte(s.want(0, "check", recipe, "--workload", workload, "--json").stdout),
		&doc); err != nil {
		t.Fatal(err)
	}
	for _, d := range doc.Diagnostics {
		if d.Severity != "note" {
			t.Errorf("check: %s: %s", d.Severity, d.Message)
		}
	}
	if text := s.read(workload); strings.Count(text, s.path("data/old/")) != 2 {
		t.Errorf("the workload does not name the second candidates:\n%s", text)
	}
	want := s.read(recipe)
	s.want(0, "port", run, "--out", recipe, "--workload-out", workload, "--force", "--strict")
	if got := s.read(recipe); got != want {
		t.Errorf("another port did not reuse the answers:\n%s", got)
	}
}
