package proof

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// asked are the reasons of a port that asked about the size of a worker and set a fixed flag.
type asked struct{}

func (asked) Answer(path string) string {
	if path == "frontend.env.ANSWERED" {
		return "answer recipe:" + path
	}
	return ""
}

func (asked) Question(path, topic string) string {
	if path == "resources" && topic == "layout" {
		return "question recipe:" + path + "#" + topic
	}
	return ""
}

func (asked) Fixed(path string) (string, bool) {
	return "fixed: always so", path == "frontend.args.fixed"
}

func variable(name, value string) harness.Var { return harness.Var{Name: name, Value: value} }

// Workers with equal results share a line, a launch without a step is dropped, and only an
// unexplained difference has no rule.
func TestCompare(t *testing.T) {
	t.Parallel()
	worker := func(index int) *harness.Launch {
		return &harness.Launch{
			Line: index + 1, Role: schema.Prefill, Index: index,
			Env: []harness.Var{
				variable("DYN_UCX_TLS", "rc"), variable("HOME", "/h"), variable("P", "/lustre/x"), variable("K", "1"),
			},
			Flags: []harness.Option{{Name: "--overlap"}, {Name: "--label"}, {Name: "--gres", Value: "gpu:4"}},
		}
	}
	run := &harness.Run{Launches: harness.Launches{Attempt: harness.Attempt{
		Workers: map[schema.Role][]*harness.Launch{
			schema.Prefill: {worker(0), worker(1)}, schema.Decode: {{Line: 9, Role: schema.Decode}},
		},
		Frontend: &harness.Launch{Line: 8, Service: "frontend", Env: []harness.Var{variable("ANSWERED", "1")}},
	}}}
	step := plan.Step{
		Env: []plan.Var{
			{Name: "UCX_TLS", Value: "rc"},
			{Name: "P", Value: "/scratch/x"},
			{Name: "K", Value: "1"},
			{Name: "NEW", Value: "1", Origin: "built-in"},
		},
		Launch: []string{"srun", "--overlap", "--kill-on-bad-exit=1", "bash"},
	}
	first, second := step, step
	first.Name, second.Name = "prefill_0", "prefill_1"
	p := Compare(run, &plan.Plan{Steps: []plan.Step{
		{Name: "frontend_0", Argv: []string{"python3", "-m", "dynamo.frontend", "--fixed"}}, first, second,
	}}, rules.DefaultRewrites, asked{})
	want := []Line{
		{Launches: []string{"frontend"}, Lines: []int{8}, Step: "frontend_0", Differences: []Row{
			{Kind: dropped, What: "env", Name: "ANSWERED", Old: "1", Rule: "answer recipe:frontend.env.ANSWERED"},
			{Kind: added, What: "flag", Name: "--fixed", Rule: "fixed: always so"},
		}},
		{Launches: []string{"CTX 0", "CTX 1"}, Lines: []int{1, 2}, Step: "prefill_0", Unchanged: 2, Differences: []Row{
			{
				Kind: renamed,
				What: "env",
				Name: "DYN_UCX_TLS",
				To:   "UCX_TLS",
				Rule: "the harness script exported it under this name",
			},
			{Kind: dropped, What: "env", Name: "HOME", Old: "/h", Rule: "set by srt-slurm or the image"},
			{
				Kind: changed, What: "env", Name: "P", Old: "/lustre/x", New: "/scratch/x",
				Rule: "rewrite /lustre/ → /scratch/: " + rules.WhyRewrite,
			},
			{Kind: added, What: "env", Name: "NEW", Rule: "srt-slurm sets it: built-in"},
			{Kind: dropped, What: "flag", Name: "--label", Rule: "each step has its own log"},
			{Kind: dropped, What: "flag", Name: "--gres", Old: "gpu:4"},
			{Kind: added, What: "flag", Name: "--kill-on-bad-exit", Rule: "srt-slurm starts steps with it"},
		}},
		{Launches: []string{"GEN 0"}, Lines: []int{9}, Step: "decode_0", Differences: []Row{
			{Kind: dropped, What: "flag", Name: "the whole launch", Rule: "question recipe:resources#layout"},
		}},
	}
	if diff := cmp.Diff(want, p.Lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := p.Unexplained(); len(got) != 1 || got[0] != "CTX 0: dropped flag --gres old gpu:4" {
		t.Errorf("unexplained %q", got)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	p := Proof{Lines: []Line{{
		Launches: []string{"CTX 0", "CTX 1"}, Step: "prefill_0", Unchanged: 3,
		Differences: []Row{
			{Kind: dropped, What: "env", Name: "A", Old: "1", Rule: "managed"},
			{Kind: dropped, What: "env", Name: "B", Old: "2", Rule: "managed"},
			{Kind: changed, What: "env", Name: "C", Old: "1", New: "2", Rule: "an answer"},
		},
	}}}
	want := `2 launch lines compared with the new plan: 6 unchanged, 6 changed by a known rule, 0 lost
  CTX 0 and 1 more like it, now step prefill_0: 3 unchanged, 3 changed
    dropped env A, B | managed
    changed env C old 1 new 2 | an answer
`
	if diff := cmp.Diff(want, p.Text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.Lines[0].Launches, p.Lines[0].Differences[2].Rule = []string{"CTX 0"}, ""
	if got := p.Text(); !strings.HasPrefix(got, "1 launch line compared") ||
		!strings.Contains(got, "2 changed by a known rule, 1 UNEXPLAINED") || !strings.Contains(got, "| UNEXPLAINED") {
		t.Errorf("one launch, one difference without a rule:\n%s", got)
	}
	if got := (&Proof{Problem: "no plan"}).Text(); got != "not compared: no plan\n" {
		t.Errorf("nothing compared: %q", got)
	}
}
