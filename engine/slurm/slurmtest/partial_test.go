package slurmtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// awaitRows waits until the client of a run has written request rows.
func (s *site) awaitRows(dir string) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; <-time.After(100 * time.Millisecond) {
		if info, err := os.Stat(filepath.Join(dir, "logs/agentperf/requests.jsonl")); err == nil && info.Size() > 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatal("the client has written no request row")
		}
	}
}

// checkShell runs a command with the shell line of a worker.
func (s *site) checkShell(rec submitted) {
	s.t.Helper()
	var doc struct {
		Shells []struct{ Step, Node, Line string }
	}
	if err := json.Unmarshal([]byte(s.want(0, "runs", "show", rec.ID, "--json")), &doc); err != nil {
		s.t.Fatal(err)
	}
	for _, sh := range doc.Shells {
		if sh.Step != "decode_0" {
			continue
		}
		cmd := exec.Command("bash", "-c",
			strings.Replace(sh.Line, " --pty ", " ", 1)+" -c 'echo $SLURMD_NODENAME; ls /logs/service_etcd.out'")
		cmd.Env = s.c.Env
		cmd.Env = append(cmd.Env, "PYXIS_STUB_BIND=1")
		if out, err := cmd.CombinedOutput(); err != nil ||
			!strings.Contains(string(out), sh.Node+"\n/logs/service_etcd.out") {
			s.t.Errorf("%s: %v\n%s", sh.Line, err, out)
		}
		return
	}
	s.t.Errorf("no shell for decode_0: %+v", doc)
}

// rollup has the fields of a roll-up that the tests check.
type rollup struct {
	Partial bool
	Ours    struct {
		Partial string
		Phases  []struct {
			Total       int `json:"total_requests"`
			Concurrency int
		}
	} `json:"agentperf_tui"`
	Identity struct {
		Client struct {
			Commit string
		}
		Datasets []struct{ SHA256 string }
		Model    *struct{ Path string }
	}
}

// However a measuring run ends, its rows are rolled up before Slurm kills it some seconds after
// SIGTERM.
func TestPartialRollup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		more []string // edits
		end  func(s *site, rec submitted)
		says string
	}{
		{"scancel", nil, func(s *site, rec submitted) { s.slurm("scancel", rec.ID) }, "Slurm is ending the job"},
		{
			"worker exits",
			[]string{"--set", "environment.STANDIN_FAULT=prefill_0:exit-late"},
			func(*site, submitted) {},
			"prefill_0 exited with code 1",
		},
		{"preempted", []string{"--set", "sbatch_directives.exclusive="}, func(s *site, rec submitted) {
			nodes := s.slurm("squeue", "-h", "-j", rec.ID, "-o", "%N")
			first := strings.Fields(s.slurm("scontrol", "show", "hostnames", nodes))[0]
			other := strings.Fields(s.slurm("sbatch", "--parsable", "--partition=urgent", "--exclusive", "--nodelist="+first,
				"--output=/dev/null", "--wrap=sleep 60"))[0]
			s.t.Cleanup(func() { s.slurm("scancel", other) })
		}, "preempted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "a run that ends while it measures: "+c.name)
			s.setPhaseSeconds(60)
			rec := s.apply(twoNodes(c.more...)...)
			s.until(rec.ID, "measuring") // according to its rows, since the client writes no events
			s.awaitRows(rec.Dir)
			s.checkShell(rec)
			c.end(s, rec)
			last, _ := s.watch(rec.ID, nil)
			if last.ExitCode == nil || *last.ExitCode == 0 || !strings.Contains(last.Message, c.says) {
				t.Errorf("%+v, want %q", last, c.says)
			}
			s.awaitJobEnd(rec.ID)
			doc := read[rollup](t, rec.Dir+"/logs/benchmark-rollup.json")
			if !doc.Partial || len(doc.Ours.Phases) != 1 || doc.Ours.Phases[0].Total == 0 ||
				!strings.Contains(doc.Ours.Partial, c.says) {
				t.Errorf("roll-up: %+v", doc)
			}
			if id := doc.Identity; id.Client.Commit == "" || len(id.Datasets) != 2 ||
				id.Datasets[0].SHA256 == "" || id.Model == nil {
				t.Errorf("identity: %+v", id)
			}
			if out := s.want(0, "results", rec.ID); !strings.Contains(out, "PARTIAL: the run's state is "+last.State) ||
				!strings.Contains(out, c.says) {
				t.Errorf("results:\n%s", out)
			}
		})
	}
}
