package slurmtest

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
)

// writeSettings writes the settings of a run on two nodes into the recipe, since a screen has no
// --set.
func (s *site) writeSettings(more ...string) {
	s.t.Helper()
	args := append(s.settings(), twoNodes(more...)...)
	data, err := os.ReadFile(s.dir + "/r.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	for i, a := range args {
		if a != "--set" {
			continue
		}
		path, value, _ := strings.Cut(args[i+1], "=")
		if data, err = edit.Set(data, path, value); err != nil {
			s.t.Fatalf("%s: %v", args[i+1], err)
		}
	}
	if err := os.WriteFile(s.dir+"/r.yaml", data, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// workbench starts the workbench in a terminal.
func (s *site) workbench(args ...string) *frametest.Terminal {
	s.t.Helper()
	return frametest.Start(s.t, 120, 40, s.command(s.t.Context(), args...))
}

// openRun opens the only run in the list of runs.
func (s *site) openRun(term *frametest.Terminal, id string) {
	s.t.Helper()
	re := regexp.MustCompile(`(?m)^\s*▸ .* ` + id + ` `)
	term.WaitUntil("run "+id+" in the list", re.MatchString)
	term.Press("enter")
}

// awaitState waits until the title line shows one of the states, a regular expression.
func awaitState(term *frametest.Terminal, states string) string {
	re := regexp.MustCompile(`(?m)^ agentperf .*(` + states + `)`)
	return term.WaitUntil("a run that is "+states, re.MatchString)
}

// With the keyboard, on a real cluster: submit a run, see it pending, starting and measuring,
// quit, open the run in another workbench, and cancel it there.
func TestJourney(t *testing.T) {
	t.Parallel()
	s := newSite(t, "the workbench on a cluster")
	s.setPhaseSeconds(40)
	s.writeSettings("--set", "sbatch_directives.begin=now+4")
	first := s.workbench("edit", "r.yaml", "--workload", "w.yaml")
	first.WaitFor("slack")
	first.Press("ctrl+r")
	first.WaitFor("ready for slurm")
	for _, words := range []string{
		"CHECK", "CLUSTER", "partition batch: nodes ", "to start", "BATCH SCRIPT",
	} {
		first.WaitFor(words) // a frame may arrive in parts
	}
	first.Press("down")
	first.WaitFor("▸CLUSTER")
	first.Press("down")
	first.WaitFor("▸NODES")
	first.WaitFor("P P P P")
	first.WaitFor("D D D D")
	first.Press("enter")
	first.WaitFor("y / n") // a new dialog ignores keys for a moment
	first.Press("y")
	awaitState(first, "pending")
	first.WaitFor("BeginTime")
	awaitState(first, "starting")
	first.WaitFor("decode_0")
	awaitState(first, "ready|ramp|settling|measuring")
	first.Press("ctrl+c")
	if code := first.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	id := s.newestRun()
	if state := s.slurm("squeue", "-h", "-j", id, "-o", "%T"); state != "RUNNING" {
		t.Fatalf("the job ended with the workbench: %s", state)
	}

	second := s.workbench()
	s.openRun(second, id)
	awaitState(second, "ready|ramp|settling|measuring")
	second.Press("x")
	second.WaitFor("y / n")
	second.Press("n")
	second.WaitUntil("the question to go", func(screen string) bool { return !strings.Contains(screen, "y / n") })
	second.Press("x")
	second.WaitFor("y / n")
	second.Press("y")
	awaitState(second, "cancelled")
	second.Press("ctrl+c")
	if code := second.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if state := s.awaitJobEnd(id); state == "COMPLETED" {
		t.Errorf("Slurm state %s", state)
	}
}

// newestRun returns the id of the newest run.
func (s *site) newestRun() string {
	s.t.Helper()
	var runs []struct{ ID string }
	out := s.want(0, "runs", "--json")
	if err := json.Unmarshal([]byte(out), &runs); err != nil || len(runs) == 0 || runs[0].ID == "" {
		s.t.Fatalf("%v in %s", err, out)
	}
	return runs[0].ID
}

// Killing a workbench does not affect the run. Another one shows the figures in the files.
func TestKilledWorkbench(t *testing.T) {
	t.Parallel()
	s := newSite(t, "fault: the workbench is killed")
	s.setPhaseSeconds(12)
	rec := s.apply(twoNodes()...)
	s.awaitReplay(rec)
	first := s.workbench()
	s.openRun(first, rec.ID)
	first.WaitFor("phase 0")
	first.Signal(syscall.SIGKILL)

	second := s.workbench()
	s.openRun(second, rec.ID)
	awaitState(second, "done")
	var doc struct {
		Phases []struct {
			Requests struct{ Measured, Failed int }
		}
	}
	if err := json.Unmarshal([]byte(s.want(0, "results", rec.ID, "--json")), &doc); err != nil || len(doc.Phases) != 1 ||
		doc.Phases[0].Requests.Measured == 0 {
		t.Fatalf("%v %+v", err, doc)
	}
	second.WaitFor(fmt.Sprintf("%d (%d)", doc.Phases[0].Requests.Measured, doc.Phases[0].Requests.Failed))
	second.Press("ctrl+c")
	if code := second.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	table.add(s, row{
		fault: "workbench killed with -9", state: "done", job: s.awaitJobEnd(rec.ID), left: len(s.processes(rec.ID)),
		noticed: time.Duration(0),
	})
}
