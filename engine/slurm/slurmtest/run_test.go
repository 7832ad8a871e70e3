package slurmtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// The ported sample runs on 13 nodes: 5 prefill workers with one node each, a decode worker with
// 8, and the client on the first node of the decode worker.
func TestSampleOn13Nodes(t *testing.T) {
	runSample(t, newSite(t, "a run on 13 nodes"))
}

// The same on a newer Slurm, which supports --segment. Its accounting confirms the end later than
// the queue.
func TestSampleOnNewerSlurm(t *testing.T) {
	t.Parallel()
	s := newSiteOn(t, StartNewer(t, "a newer Slurm, with accounting"))
	rec := runSample(t, s)
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(200 * time.Millisecond) {
		out := s.slurm("sacct", "-X", "-n", "-P", "-j", rec.ID, "-o", "State,Comment")
		if out == "COMPLETED|"+rec.Comment {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("sacct prints %q", out)
		}
	}
}

// A run whose orchestrator was killed has no final event. Between the time its job leaves the
// queue and the time accounting has its end, its state is unknown.
func TestAccountingLag(t *testing.T) {
	t.Parallel()
	s := newSiteOn(t, StartNewer(t, "a newer Slurm, whose accounting lags"))
	rec := s.apply(twoNodes("--set", "environment.STANDIN_FAULT=client:hang")...)
	s.until(rec.ID, "ready")
	leftQueue, recorded := s.dir+"/left-queue", s.dir+"/recorded"
	s.wrap("squeue", `[[ -e `+leftQueue+` ]] && exit 0; exec $real "$@"`)
	s.wrap("sacct", `[[ -e `+recorded+` ]] || exit 0; exec $real "$@"`)
	began := time.Now()
	s.slurm("scancel", "--batch", "--signal=KILL", rec.ID)
	job := s.awaitJobEnd(rec.ID)
	if err := os.WriteFile(leftQueue, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	last, _ := s.watch(rec.ID, func(st status) bool { return st.State == "unknown" })
	if last.State != "unknown" || last.ExitCode != nil ||
		!strings.Contains(last.Message, "accounting does not show its end yet") {
		t.Errorf("got %+v", last)
	}
	noticed := time.Since(began)
	if err := os.WriteFile(recorded, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	last, code := s.watch(rec.ID, nil)
	if code != 1 || last.State != "failed" || last.ExitCode == nil || *last.ExitCode == 0 ||
		!strings.Contains(last.Message, "no final event") {
		t.Errorf("watch: exit %d, %+v", code, last)
	}
	table.add(s, row{
		fault: "orchestrator killed, accounting lags", state: "unknown, then " + last.State, code: code,
		noticed: noticed, ended: time.Since(began), job: job, left: len(s.processes(rec.ID)),
	})
}

// runSample runs the sample and compares the commands and their inputs with the plan.
func runSample(t *testing.T, s *site) submitted {
	t.Helper()
	var shown plan.Plan
	if err := json.Unmarshal([]byte(s.want(0, append([]string{"dry-run", "r.yaml", "--json"}, s.settings()...)...)),
		&shown); err != nil {
		t.Fatal(err)
	}
	text := s.want(0, append([]string{"dry-run", "r.yaml"}, s.settings()...)...)
	if err := os.Mkdir(s.dir+"/srun", 0o755); err != nil {
		t.Fatal(err)
	}
	s.wrap("srun", `printf '%s\0' srun "$@" >`+s.dir+`/srun/$$; exec $real "$@"`)
	rec := s.apply()
	last, code := s.watch(rec.ID, nil)
	if code != 0 || last.State != "done" || last.ExitCode == nil || *last.ExitCode != 0 {
		log, _ := os.ReadFile(rec.Dir + "/logs/sweep_" + rec.ID + ".log")
		t.Fatalf("watch: exit %d, %+v\n%s", code, last, log)
	}
	if state := s.awaitJobEnd(rec.ID); state != "COMPLETED" {
		t.Errorf("Slurm state %s", state)
	}
	for _, name := range []string{
		"config.yaml", "workload.yaml", "sbatch_script.sh", "run.json", "plan.json", "plan.bound.json", "phases.json",
		"bin/agentperf-tui-linux-*", "logs/sweep_" + rec.ID + ".log",
		"logs/service_etcd.out", "logs/gb300-T01_prefill_w0.out", "logs/gb300-T05_prefill_w4.out",
		"logs/gb300-T06_decode_w0.out", "logs/gb300-T01_frontend_0.out",
		"logs/benchmark.out", "logs/client.log", "logs/events.jsonl", "logs/trtllm_config_prefill.yaml",
		"logs/trtllm_config_decode.yaml", "logs/benchmark-rollup.json",
		"logs/agentperf/requests.jsonl", "logs/agentperf/phase_manifest.jsonl", "logs/agentperf/*__4u__phase0__*.json",
	} {
		if found, err := filepath.Glob(filepath.Join(rec.Dir, name)); err != nil || len(found) != 1 {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
	bound := read[plan.Plan](t, rec.Dir+"/plan.bound.json")
	if diff := cmp.Diff(shown.Bind(bindings(&bound, rec)), &bound); diff != "" {
		t.Errorf("the bound plan differs from dry-run:\n%s", diff)
	}
	compareCommands(t, s, &shown, &bound, text)
	for _, st := range bound.Steps {
		compareReceived(t, rec.Dir, st)
	}
	client := bound.Steps[len(bound.Steps)-1]
	if i := slices.Index(client.Launch, "--nodelist"); client.Name != "client" || client.Launch[i+1] != "gb300-T06" {
		t.Errorf("the client runs as %v, want it on the first decode node", client.Launch)
	}
	return rec
}

// bindings returns the values of the placeholders in the allocation of a run.
func bindings(bound *plan.Plan, rec submitted) plan.Values {
	values := plan.Values{plan.JobID: rec.ID, plan.RunDir: rec.Dir, plan.LogDir: rec.Dir + "/logs"}
	for i, n := range bound.Nodes {
		number := strings.TrimPrefix(n.Name, "gb300-T")
		values[plan.NodeName(i)] = n.Name
		values[plan.NodeAddress(i)] = subnet(bound) + strings.TrimLeft(number, "0")
	}
	return values
}

// subnet returns the common prefix of the node addresses, taken from the probe of the frontend.
func subnet(bound *plan.Plan) string {
	for _, st := range bound.Steps {
		if st.Ready.Probe == plan.ProbeHealth {
			host := strings.Split(strings.TrimPrefix(st.Ready.Target, "http://"), ":")[0]
			return host[:strings.LastIndex(host, ".")+1]
		}
	}
	return ""
}

// compareCommands compares each srun call with the bound plan, and the output of dry-run with
// the plan, byte by byte.
func compareCommands(t *testing.T, s *site, shown, bound *plan.Plan, text string) {
	t.Helper()
	paths, err := filepath.Glob(s.dir + "/srun/*")
	if err != nil {
		t.Fatal(err)
	}
	var called []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		called = append(called, string(data))
	}
	want := make([]string, 0, len(bound.Steps))
	for i, st := range bound.Steps {
		want = append(want, strings.Join(st.Launch, "\x00")+"\x00")
		if line := "\n  $ " + plan.CommandLine(shown.Steps[i].Launch) + "\n"; !strings.Contains(text, line) {
			t.Errorf("dry-run prints no line%s", line)
		}
	}
	slices.Sort(called)
	slices.Sort(want)
	if diff := cmp.Diff(want, called); diff != "" {
		t.Errorf("the srun calls differ from the plan:\n%s", diff)
	}
}

// compareReceived compares the arguments and environment that the stand-ins of a step received
// on each node with the plan.
func compareReceived(t *testing.T, dir string, st plan.Step) {
	t.Helper()
	names := []string{st.Name}
	if at := slices.Index(st.Argv, "trtllm-llmapi-launch"); at >= 0 { // each rank
		names = nil
		for rank := range st.Tasks {
			names = append(names, st.Name+".rank"+strconv.Itoa(rank))
		}
		st.Argv = st.Argv[at:]
	}
	on := map[string]int{}
	for _, name := range names {
		got := receivedBy(t, dir+"/logs/received/"+name)
		on[got.value("SLURMD_NODENAME")]++
		if st.Name != "client" { // its arguments are built by engine/bench
			if diff := cmp.Diff(st.Argv, got.Argv); diff != "" {
				t.Errorf("arguments of %s:\n%s", name, diff)
			}
		}
		for _, v := range st.Env {
			if !slices.Contains(got.Env, v.Name+"="+v.Value) {
				t.Errorf("%s did not get %s=%s", name, v.Name, v.Value)
			}
		}
	}
	if len(on) != len(st.Nodes) {
		t.Errorf("%s ran on %v, want nodes %v", st.Name, on, st.Nodes)
	}
	for _, i := range st.Nodes {
		if name := fmt.Sprintf("gb300-T%02d", i+1); on[name] != st.Tasks/len(st.Nodes) {
			t.Errorf("%s had %d tasks on %s", st.Name, on[name], name)
		}
	}
}

// received has the arguments and environment of a stand-in.
type received struct{ Argv, Env []string }

func (h received) value(name string) string {
	for _, v := range h.Env {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			return rest
		}
	}
	return ""
}

func receivedBy(t *testing.T, path string) received {
	t.Helper()
	if _, err := os.Stat(path + ".json"); err == nil {
		return read[received](t, path+".json")
	}
	var h received // written by a shell script
	for suffix, to := range map[string]*[]string{".argv": &h.Argv, ".env": &h.Env} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		*to = strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	}
	return h
}
