package proof

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// asked are the reasons of a port that asked about the size of a worker, a service and an argument, and set
// a fixed flag. The question about argument 14 was answered.
type asked struct{}

func (asked) Answer(path string) string {
	if path == "frontend.env.ANSWERED" {
		return "answer recipe:" + path
	}
	return ""
}

func (asked) Question(path, topic string) (name string, open bool) {
	switch path + "#" + topic {
	case "resources#layout", "#argument 5 gen_only", "#job.log:6", "#command nvidia-smi -lgc 1980":
		return "question " + path + "#" + topic, true
	case "#argument 14 patch.yaml":
		return "answer to question " + topic, false
	}
	return "", false
}

func (asked) Fixed(path string) (string, bool) {
	return "fixed: always so", path == "frontend.args.fixed"
}

// readRun returns the run of a directory with some files.
func readRun(t *testing.T, files map[string]string) *harness.Run {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run, err := harness.Open(dir)
	if err == nil {
		err = run.Read(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func worker(role, index, more string) string {
	return "[server] Executing: srun -l --overlap bash /h/start_worker_dynamo.sh " + role + " " + index +
		" /lustre/m 8101 e2e 64 true /r false 0-0 /r/c.yaml " + more + "\n"
}

// Workers with equal results share a line, a launch without a step is dropped, each token has one row, and
// only an unexplained difference has no rule.
func TestCompare(t *testing.T) {
	t.Parallel()
	const env = "'DYN_UCX_TLS=rc HOME=/h P=/lustre/x K=1 K=1 API_KEY=abc' none "
	run := readRun(t, map[string]string{harness.JobLog: "[server] Executing: srun --export=ALL,ANSWERED=1 bash " +
		"/h/start_dynamo_infra.sh frontend n 1 --x\n" +
		worker("CTX", "0", "'K=0'") + worker("CTX", "0", env+"none") + worker("CTX", "1", env+"none") +
		strings.ReplaceAll(worker("CTX", "2", env+"patch.yaml --more"), "e2e", "gen_only") +
		"[server] Executing: srun bash /h/start_dynamo_infra.sh nats n 1\n" +
		"[server] Executing: nvidia-smi -lgc 1980\n[server] Executing: srun bash start_worker_dynamo.sh CTX 'x\n" +
		worker("GEN", "0", "A=1")})
	step := plan.Step{
		Env: []plan.Var{
			{Name: "UCX_TLS", Value: "rc"},
			{Name: "P", Value: "/scratch/x"},
			{Name: "K", Value: "1"},
			{Name: "NEW", Value: "1", Origin: "built-in"},
		},
		Launch: []string{"srun", "--overlap", "--kill-on-bad-exit=1", "--export=ALL", "bash"},
	}
	steps := []plan.Step{{
		Name: "frontend_0", Argv: []string{"python3", "-m", "dynamo.frontend", "--fixed"},
		Launch: []string{"srun", "--export=ALL", "env"},
	}}
	for _, name := range []string{"prefill_0", "prefill_1", "prefill_2"} {
		step.Name = name
		steps = append(steps, step)
	}
	pl := &plan.Plan{
		Steps: steps, Mounts: []plan.Mount{{Host: "/scratch/m", Container: "/model", Source: "model.path"}},
		Phases: []plan.Phase{{Concurrency: 64}},
	}
	run.Engines = map[schema.Role]*harness.Config{}
	p := Compare(run, pl, rules.DefaultRewrites, asked{})
	const scripts = "srt-slurm starts the servers itself"
	const usual = "the usual value of the harness; the new job has no such switch"
	prefill := func(last ...Row) []Row {
		rows := []Row{
			{Kind: dropped, What: "program", Name: "srun", Rule: scripts},
			{Kind: dropped, What: "flag", Name: "--label", Rule: "each step has its own log"},
			{Kind: dropped, What: "program", Name: "bash", Rule: scripts},
			{Kind: dropped, What: "script", Name: "/h/start_worker_dynamo.sh", Rule: scripts},
			{Kind: dropped, What: "argument", Name: "1", Rule: "the roles of a recipe replace it"},
			{Kind: dropped, What: "argument", Name: "2", Rule: "srt-slurm numbers the workers of a role"},
			{
				Kind: changed, What: "argument", Name: "model", Old: "/lustre/m", New: "/scratch/m",
				Rule: "rewrite /lustre/ → /scratch/: " + rules.WhyRewrite,
			},
			{Kind: dropped, What: "argument", Name: "4", Rule: "srt-slurm sets the ports of the workers"},
			{Kind: dropped, What: "argument", Name: "5 e2e", Rule: usual},
			{Kind: changed, What: "argument", Name: "6", Old: "64", Rule: "the concurrency levels are in the recipe"},
			{Kind: dropped, What: "argument", Name: "7 true", Rule: usual},
			{Kind: dropped, What: "argument", Name: "8", Rule: "each run has its own directory"},
			{Kind: dropped, What: "argument", Name: "9 false", Rule: usual},
			{Kind: dropped, What: "argument", Name: "10 0-0", Rule: usual},
			{Kind: changed, What: "argument", Name: "11", Old: "/r/c.yaml"}, // there is no engine config
			{
				Kind: renamed, What: "env", Name: "DYN_UCX_TLS", To: "UCX_TLS",
				Rule: "the harness script exported it under this name",
			},
			{Kind: dropped, What: "env", Name: "HOME", Old: "/h", Rule: "set by srt-slurm or the image"},
			{
				Kind: changed, What: "env", Name: "P", Old: "/lustre/x", New: "/scratch/x",
				Rule: "rewrite /lustre/ → /scratch/: " + rules.WhyRewrite,
			},
			{Kind: dropped, What: "env", Name: "K", Old: "1", Rule: "the variable is set again later"},
			{Kind: dropped, What: "env", Name: "API_KEY", Old: "‹hidden›"},
			{Kind: dropped, What: "argument", Name: "13 none", Rule: usual},
		}
		return append(append(rows, last...),
			Row{Kind: added, What: "env", Name: "NEW", Rule: "srt-slurm sets it: built-in"},
			Row{Kind: added, What: "flag", Name: "--kill-on-bad-exit", Rule: "srt-slurm starts steps with it"})
	}
	same := []string{"flag --overlap", "env K"}
	asked5 := prefill(
		Row{Kind: dropped, What: "argument", Name: "14 patch.yaml", Rule: "answer to question argument 14 patch.yaml"},
		Row{Kind: dropped, What: "argument", Name: "15 --more"},
	)
	asked5[8] = Row{
		Kind: dropped, What: "argument", Name: "5 gen_only", Rule: "question #argument 5 gen_only", Asked: true,
	}
	want := []Line{
		{
			Launches: []string{"frontend"}, Lines: []int{1}, Step: "frontend_0", Same: []string{"export ALL"}, Unchanged: 1,
			Differences: []Row{
				{Kind: dropped, What: "program", Name: "srun", Rule: scripts},
				{Kind: dropped, What: "env", Name: "ANSWERED", Old: "1", Rule: "answer recipe:frontend.env.ANSWERED"},
				{Kind: dropped, What: "program", Name: "bash", Rule: scripts},
				{Kind: dropped, What: "script", Name: "/h/start_dynamo_infra.sh", Rule: scripts},
				{Kind: dropped, What: "argument", Name: "1", Rule: "srt-slurm starts the services that the new job needs"},
				{Kind: dropped, What: "argument", Name: "2", Rule: "the nodes are those of the new allocation"},
				{Kind: dropped, What: "argument", Name: "3", Rule: "srt-slurm sets the ports of its services"},
				{Kind: dropped, What: "flag", Name: "--x"},
				{Kind: added, What: "flag", Name: "--fixed", Rule: "fixed: always so"},
			},
		},
		{
			Launches: []string{"CTX 0", "CTX 1"}, Lines: []int{3, 4}, Step: "prefill_0", Same: same, Unchanged: 2,
			Differences: prefill(Row{Kind: dropped, What: "argument", Name: "14 none", Rule: usual}),
		},
		{
			Launches: []string{"CTX 2"}, Lines: []int{5}, Step: "prefill_2", Same: same, Unchanged: 2, Differences: asked5,
		},
		{Launches: []string{"GEN 0"}, Lines: []int{9}, Differences: []Row{
			{
				Kind: dropped, What: "launch", Name: "the whole launch", Rule: "question resources#layout", Asked: true, Tokens: 17,
			},
		}},
		{Launches: []string{"nats"}, Lines: []int{6}, Differences: []Row{
			{Kind: dropped, What: "launch", Name: "the whole launch", Rule: "question #job.log:6", Asked: true, Tokens: 6},
		}},
		{Launches: []string{"other launches"}, Lines: []int{2}, Differences: []Row{
			{Kind: dropped, What: "launch", Name: "CTX 0 (line 2)", Rule: "replaced by the launch on line 3", Tokens: 17},
		}},
		{Launches: []string{"command nvidia-smi -lgc 1980"}, Lines: []int{7}, Differences: []Row{
			{Kind: dropped, What: "command", Name: "nvidia-smi", Rule: "question #command nvidia-smi -lgc 1980", Asked: true},
			{Kind: dropped, What: "argument", Name: "-lgc", Rule: "question #command nvidia-smi -lgc 1980", Asked: true},
			{Kind: dropped, What: "argument", Name: "1980", Rule: "question #command nvidia-smi -lgc 1980", Asked: true},
		}},
		{
			Launches: []string{"job.log:8"}, Lines: []int{8}, Differences: []Row{},
			Problem: "launch line can't be parsed: reached EOF without closing quote `'`; the file may be truncated",
		},
	}
	if diff := cmp.Diff(want, p.Lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	bad := []string{
		"frontend: dropped flag --x", "CTX 0: changed argument 11 old /r/c.yaml", "CTX 0: dropped env API_KEY old ‹hidden›",
		"CTX 2: changed argument 11 old /r/c.yaml", "CTX 2: dropped env API_KEY old ‹hidden›",
		"CTX 2: dropped argument 15 --more",
	}
	if diff := cmp.Diff(bad, p.Unexplained()); diff != "" {
		t.Errorf("unexplained (-want +got):\n%s", diff)
	}
	all := 0
	for _, l := range slices.Concat(run.Launches.All(), run.Launches.Others) {
		all += len(l.Tokens())
	}
	if want := all + 17 + 3; p.Tokens != want || p.Unaccounted != 8 || p.Seen != 8 || p.Read != 7 || p.Clients != 0 ||
		p.Complete() {
		t.Errorf("%d tokens, want %d: %+v", p.Tokens, want, p)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	p := Proof{Seen: 2, Read: 2, Lines: []Line{{
		Launches: []string{"CTX 0", "CTX 1"}, Step: "prefill_0", Same: []string{"env X"}, Unchanged: 3,
		Differences: []Row{
			{Kind: dropped, What: "env", Name: "A", Old: "1", Rule: "managed"},
			{Kind: dropped, What: "env", Name: "B", Old: "2", Rule: "managed"},
			{Kind: changed, What: "env", Name: "C", Old: "1", New: "2", Rule: "an answer"},
			{Kind: added, What: "env", Name: "D", New: "2", Rule: "built-in"},
		},
	}}}
	p.sum()
	const known, configs = " changed or dropped by a known rule, ", "; 4 values of engine configs unchanged"
	want := "2 launch lines read of 2 seen, no client's command; 8 tokens read, 0 unaccounted: 2 same, 6" + known +
		"0 asked" + configs + `; 0 lost over 2 launch lines
  CTX 0 and 1 more like it, now step prefill_0: 3 unchanged, 4 changed
    dropped env A, B | managed
    changed env C old 1 new 2 | an answer
    added env D new 2 | built-in
`
	if diff := cmp.Diff(want, p.Text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		change func(*Proof)
		want   string
	}{
		{
			func(p *Proof) { p.Clients = 1 },
			"2 launch lines read of 2 seen, and the client's command; 8 tokens read, 0 unaccounted: 2 same, 6" + known +
				"0 asked" + configs + "; 0 lost over 2 launch lines and the client's command",
		},
		{
			func(p *Proof) { p.Seen, p.Read = 9, 1 },
			"1 launch line read of 9 seen, no client's command; 8 tokens read, 0 unaccounted: 2 same, 6" + known +
				"0 asked" + configs,
		},
		{
			func(p *Proof) { p.Lines[0].Differences[0].Asked = true },
			"2 launch lines read of 2 seen, no client's command; 8 tokens read, 0 unaccounted: 2 same, 4" + known +
				"2 asked" + configs,
		},
		{
			func(p *Proof) { p.Lines[0].Differences[2].Rule = "" },
			"2 launch lines read of 2 seen, no client's command; 8 tokens read, 2 unaccounted: 2 same, 4" + known +
				"0 asked" + configs + "; 1 UNEXPLAINED: a bug in the porter",
		},
		{
			func(p *Proof) { p.Problem, p.Lines = "no plan", nil },
			"2 launch lines read of 2 seen, no client's command; 0 tokens read, 0 unaccounted; not compared: no plan",
		},
	} {
		q := p
		q.Lines = []Line{p.Lines[0]}
		q.Lines[0].Differences = slices.Clone(p.Lines[0].Differences)
		c.change(&q)
		q.sum()
		if diff := cmp.Diff(c.want, q.Summary()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Open questions and bugs come before what a rule explains, and a line that was not read is shown as such.
func TestGrouped(t *testing.T) {
	t.Parallel()
	l := Line{Launches: []string{"CTX 0"}, Differences: []Row{
		{Kind: dropped, What: "env", Name: "A", Old: "1", Rule: "managed"},
		{Kind: dropped, What: "argument", Name: "5 x", Rule: "question q", Asked: true},
		{Kind: dropped, What: "argument", Name: "6 y", Rule: "question q", Asked: true},
		{Kind: dropped, What: "env", Name: "B"},
	}}
	want := []Row{
		{Kind: dropped, What: "argument", Name: "5 x, 6 y", Rule: "question q", Asked: true, Tokens: 2},
		{Kind: dropped, What: "env", Name: "B", Tokens: 1},
		{Kind: dropped, What: "env", Name: "A", Rule: "managed", Tokens: 1},
	}
	if diff := cmp.Diff(want, l.Grouped()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p := Proof{Seen: 2, Read: 1, Lines: []Line{l, {Launches: []string{"job.log:7"}, Problem: "cut"}}}
	if text := p.Text(); !strings.Contains(text, "\n  job.log:7 NOT READ: cut\n") ||
		!strings.Contains(text, "dropped env B | UNEXPLAINED: a bug in the porter\n") {
		t.Errorf("report:\n%s", text)
	}
}

// Without a plan all tokens are unaccounted for.
func TestCount(t *testing.T) {
	t.Parallel()
	run := readRun(t, map[string]string{
		harness.JobLog:       worker("CTX", "0", "'K=0'"),
		harness.ClientScript: "cd /c && python agentperf/run.py --seed 1\n",
	})
	p := Count(run, "no plan")
	if p.Tokens != 17+5 || p.Unaccounted != p.Tokens || len(p.Lines) != 0 || p.Complete() ||
		!strings.HasSuffix(p.Summary(), "22 tokens read, 22 unaccounted; not compared: no plan") {
		t.Errorf("%s: %+v", p.Summary(), p)
	}
}
