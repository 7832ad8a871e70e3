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

// recipe writes the settings of a run of two nodes into the recipe: a screen has no
// --set.
func (s *site) recipe(more ...string) {
	s.t.Helper()
	args := append(s.settings(), small(more...)...)
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

// workbench starts the terminal program.
func (s *site) workbench(args ...string) *frametest.Terminal {
	s.t.Helper()
	return frametest.Start(s.t, 120, 40, s.command(s.t.Context(), args...))
}

// open opens a run from the list of runs, where it is the only one.
func (s *site) open(term *frametest.Terminal, id string) {
	s.t.Helper()
	re := regexp.MustCompile(`(?m)^\s*▸ .* ` + id + ` `)
	term.Until("run "+id+" in the list", re.MatchString)
	term.Press("enter")
}

// state waits until the title line of a screen has a state of the run.
func state(term *frametest.Terminal, states string) string {
	re := regexp.MustCompile(`(?m)^ agentperf .*(` + states + `)`)
	return term.Until("a run that is "+states, re.MatchString)
}

// By keyboard on a real cluster: submit, see it wait, come up and measure; quit;
// attach again from another workbench, and cancel there.
func TestJourney(t *testing.T) {
	t.Parallel()
	s := newSite(t, "the workbench on a cluster")
	s.longer(40)
	s.recipe("--set", "sbatch_directives.begin=now+4")
	first := s.workbench("edit", "r.yaml", "--workload", "w.yaml")
	first.WaitFor("slack")
	first.Press("ctrl+r")
	first.WaitFor("ready for slurm")
	for _, words := range []string{
		"CHECK", "CLUSTER", "partition batch: nodes ", "to start", "P P P P",
		"D D D D", "BATCH SCRIPT",
	} {
		first.WaitFor(words) // a frame comes in pieces
	}
	first.Press("enter")
	first.WaitFor("y / n") // a dialog takes no keys at once
	first.Press("y")
	state(first, "pending")
	first.WaitFor("BeginTime")
	state(first, "starting")
	first.WaitFor("decode_0")
	state(first, "ready|ramp|settling|measuring")
	first.Press("ctrl+c")
	if code := first.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	id := s.newest()
	if state := s.slurm("squeue", "-h", "-j", id, "-o", "%T"); state != "RUNNING" {
		t.Fatalf("the job went with the workbench: %s", state)
	}

	second := s.workbench()
	s.open(second, id)
	state(second, "ready|ramp|settling|measuring")
	second.Press("x")
	second.WaitFor("y / n")
	second.Press("n") // not yet
	second.Until("the question to go", func(screen string) bool { return !strings.Contains(screen, "y / n") })
	second.Press("x")
	second.WaitFor("y / n")
	second.Press("y")
	state(second, "cancelled")
	second.Press("ctrl+c")
	if code := second.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if state := s.ended(id); state == "COMPLETED" {
		t.Errorf("Slurm says %s", state)
	}
}

// newest is the id of the site's newest run.
func (s *site) newest() string {
	s.t.Helper()
	var runs []struct{ ID string }
	out := s.want(0, "runs", "--json")
	if err := json.Unmarshal([]byte(out), &runs); err != nil || len(runs) == 0 || runs[0].ID == "" {
		s.t.Fatalf("%v in %s", err, out)
	}
	return runs[0].ID
}

// A workbench that is killed does nothing to the run; another one shows the figures
// that the files hold.
func TestKilledWorkbench(t *testing.T) {
	t.Parallel()
	s := newSite(t, "fault: the workbench is killed")
	s.longer(12)
	rec := s.apply(small()...)
	s.replaying(rec)
	first := s.workbench()
	s.open(first, rec.ID)
	first.WaitFor("phase 0")
	first.Signal(syscall.SIGKILL)

	second := s.workbench()
	s.open(second, rec.ID)
	state(second, "done")
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
		fault: "workbench killed with -9", state: "done", job: s.ended(rec.ID), left: len(s.processes(rec.ID)),
		noticed: time.Duration(0),
	})
}
