package submit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
)

// Open questions of a port prevent a submission to any target.
func TestGateRejectsOpenQuestions(t *testing.T) {
	t.Parallel()
	_, s := bench(t)
	p, pl := pairFor(t, s)
	for _, c := range []struct {
		name             string
		todos, questions int
		allowTodo        bool
		want             string
	}{
		{"no port, or all questions answered", 0, 0, false, ""},
		{"open questions", 0, 2, false, "open must-fix questions of the port: 2 (first: give the GPUs)"},
		{"open questions, allowed", 0, 1, true, ""},
		{"placeholders", 1, 0, false, "open placeholders"},
		{"both", 1, 1, false, "open placeholders"},
		{"both, allowed", 1, 1, true, ""},
	} {
		p.Report.Todos, p.Report.Questions = c.todos, c.questions
		p.Report.Diagnostics = recipes.Diagnostics{{Severity: recipes.Warning, Rule: "port-question"}}
		for range c.todos {
			p.Report.Diagnostics = append(p.Report.Diagnostics, recipes.Diagnostic{Severity: recipes.Error, Rule: "todo"})
		}
		for range c.questions {
			p.Report.Diagnostics = append(p.Report.Diagnostics, recipes.Diagnostic{
				Severity: recipes.Error, Rule: "port-question", Message: "give the GPUs",
			})
		}
		for _, target := range []plan.Target{plan.Slurm, plan.Srtctl} {
			pl.Target = target
			err := s.Gate(p, pl, c.allowTodo)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s, to %s: %v, want %q", c.name, target, err, c.want)
			}
			if c.want == "" {
				continue
			}
			if _, aerr := s.Apply(t.Context(), p, pl, c.allowTodo); aerr == nil || aerr.Error() != err.Error() {
				t.Errorf("%s, to %s: submitted: %v", c.name, target, aerr)
			}
		}
	}
}

// A path with a variable that is not set here can't be mounted; srtctl expands it in the job.
func TestGateRejectsUnsetVariables(t *testing.T) {
	t.Parallel()
	_, s := bench(t)
	p, pl := pairFor(t, s)
	p.Report = check.Report{}
	p.Recipe.StageDir = "/nvme/$SCR"
	for target, want := range map[plan.Target]string{plan.Slurm: "model.stage_dir: \"/nvme/$SCR\"", plan.Srtctl: ""} {
		pl.Target = target
		err := s.Gate(p, pl, false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("to %s: %v, want %q", target, err, want)
		}
	}
}

// The plan of workers has the name of the directory that a symbolic link leads to.
func TestPlanResolvesModel(t *testing.T) {
	t.Parallel()
	_, s := bench(t)
	p, _ := pairFor(t, s)
	p.Report = check.Report{}
	r, found := recipes.ParseRecipe("r.yaml", []byte(`schema: 2
name: x
model: {path: /m, container: /c.sqsh, precision: fp4}
resources: {gpu_type: h100, gpus_per_node: 4}
engine: trtllm
roles: {prefill: {nodes: 1, workers: 1}, decode: {nodes: 1, workers: 1}}
frontend: {enable_multiple_frontends: false}
dynamo: {install: false}
benchmark: {type: agentperf, concurrency: 8, agentperf_client_dir: /ap/c, agentperf_config: /ap/w.yaml}
extra_mount: ["/s/ap:/ap"]
`))
	if found.Errors() > 0 {
		t.Fatal(found)
	}
	p.Recipe = r
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(dir+"/rev1", 0o755), os.Symlink("rev1", dir+"/model")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir + "/model": dir + "/rev1", dir + "/none": "", "hf:org/m": ""} {
		p.Recipe.ModelPath = path
		if got := p.ResolvedModel(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	p.Recipe.ModelPath = dir + "/model"
	pl, err := s.Plan(p, PlanOptions{Target: plan.Slurm, OutputDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range pl.Steps {
		line := strings.Join(step.Argv, " ")
		if strings.HasPrefix(step.Name, "prefill") && !strings.Contains(line, "--served-model-name rev1") ||
			step.Name == "client" && !strings.Contains(line, "--model model") {
			t.Errorf("%s: %s", step.Name, line)
		}
	}
}
