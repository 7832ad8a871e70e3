package slurmtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/plan"
)

func read[T any](t *testing.T, path string) T {
	t.Helper()
	var v T
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

// The ported sample on 13 nodes: 5 prefill workers of one node, a decode worker of
// 8, the client on the decode leader.
func TestTheSampleRunsOnThirteenNodes(t *testing.T) {
	playSample(t, newSite(t, "a run on 13 nodes"))
}

// The same on a newer Slurm, which takes --segment for real, and whose accounting
// confirms the end, a while after the queue.
func TestTheSampleRunsOnANewerSlurm(t *testing.T) {
	t.Parallel()
	s := newSiteOn(t, StartNewer(t, "a newer Slurm, with accounting"))
	rec := playSample(t, s)
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(200 * time.Millisecond) {
		out := s.slurm("sacct", "-X", "-n", "-P", "-j", rec.ID, "-o", "State,Comment")
		if out == "COMPLETED|"+rec.Comment {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the accounting says %q", out)
		}
	}
}

func playSample(t *testing.T, s *site) submitted {
	t.Helper()
	var shown plan.Plan
	if err := json.Unmarshal([]byte(s.want(0, append([]string{"dry-run", "r.yaml", "--json"}, s.settings()...)...)), &shown); err != nil {
		t.Fatal(err)
	}
	rec := s.apply()
	last, code := s.watch(rec.ID, nil)
	if code != 0 || last.State != "done" || last.ExitCode == nil || *last.ExitCode != 0 {
		log, _ := os.ReadFile(rec.Dir + "/logs/sweep_" + rec.ID + ".log")
		t.Fatalf("watch: exit %d, %+v\n%s", code, last, log)
	}
	if state := s.ended(rec.ID); state != "COMPLETED" {
		t.Errorf("Slurm says %s", state)
	}
	for _, name := range []string{
		"config.yaml", "workload.yaml", "sbatch_script.sh", "run.json", "plan.json", "plan.bound.json", "phases.json", "bin/agentperf-tui-linux-*", "logs/sweep_" + rec.ID + ".log",
		"logs/service_etcd.out", "logs/gb300-T01_prefill_w0.out", "logs/gb300-T05_prefill_w4.out", "logs/gb300-T06_decode_w0.out", "logs/gb300-T01_frontend_0.out",
		"logs/benchmark.out", "logs/client.log", "logs/events.jsonl", "logs/trtllm_config_prefill.yaml", "logs/trtllm_config_decode.yaml", "logs/benchmark-rollup.json",
		"logs/agentperf/requests.jsonl", "logs/agentperf/phase_manifest.jsonl", "logs/agentperf/*__4u__phase0__*.json",
	} {
		if found, err := filepath.Glob(filepath.Join(rec.Dir, name)); err != nil || len(found) != 1 {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
	bound := read[plan.Plan](t, rec.Dir+"/plan.bound.json")
	if diff := cmp.Diff(shown.Bind(bindings(&bound, rec)...), &bound); diff != "" {
		t.Errorf("what ran is not what dry-run showed:\n%s", diff)
	}
	for _, name := range []string{"etcd", "prefill_0", "prefill_4", "decode_0", "frontend_0"} {
		compareReceived(t, rec.Dir, &bound, name)
	}
	client := bound.Steps[len(bound.Steps)-1]
	if i := slices.Index(client.Launch, "--nodelist"); client.Name != "client" || client.Launch[i+1] != "gb300-T06" {
		t.Errorf("the client runs as %v, want it on the decode leader", client.Launch)
	}
	return rec
}

// bindings are what the allocation turned out to be.
func bindings(bound *plan.Plan, rec submitted) []string {
	pairs := []string{plan.JobID, rec.ID, plan.RunDir, rec.Dir, plan.LogDir, rec.Dir + "/logs"}
	for i, n := range bound.Nodes {
		number := strings.TrimPrefix(n.Name, "gb300-T")
		pairs = append(pairs, "{node:"+itoa(i)+"}", n.Name, "{ip:"+itoa(i)+"}", subnet(bound)+strings.TrimLeft(number, "0"))
	}
	return pairs
}

func itoa(i int) string { return strings.TrimSpace(string(mustJSON(i))) }

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// subnet is the beginning of the nodes' addresses, from the frontend's probe.
func subnet(bound *plan.Plan) string {
	for _, st := range bound.Steps {
		if st.Ready.Probe == plan.ProbeHealth {
			host := strings.Split(strings.TrimPrefix(st.Ready.Target, "http://"), ":")[0]
			return host[:strings.LastIndex(host, ".")+1]
		}
	}
	return ""
}

// compareReceived holds what a stand-in got against the plan.
func compareReceived(t *testing.T, dir string, bound *plan.Plan, name string) {
	t.Helper()
	file := name
	if name == "decode_0" {
		file = "decode_5" // it goes by its port, the sixth worker's
	}
	got := read[struct{ Argv, Env []string }](t, dir+"/logs/received/"+file+".json")
	i := slices.IndexFunc(bound.Steps, func(s plan.Step) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no step %s", name)
	}
	want := bound.Steps[i].Argv
	if at := slices.Index(want, "python3"); at > 0 {
		want = want[at:] // what stands before becomes this
	}
	if diff := cmp.Diff(want, got.Argv); diff != "" {
		t.Errorf("%s received other arguments:\n%s", name, diff)
	}
	for _, v := range bound.Steps[i].Env {
		if !slices.Contains(got.Env, v.Name+"="+v.Value) {
			t.Errorf("%s has not received %s=%s", name, v.Name, v.Value)
		}
	}
}
