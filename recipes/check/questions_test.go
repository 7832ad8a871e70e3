package check

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
)

func TestQuestions(t *testing.T) {
	t.Parallel()
	question := func(mustFix, inWorkload bool, path string) Question {
		return Question{ID: "id", MustFix: mustFix, InWorkload: inWorkload, Path: path, Message: "about " + path}
	}
	const (
		byAnswer   = "answer id in the workbench or with port --answers"
		orByChange = "change the value, or " + byAnswer
	)
	for name, c := range map[string]struct {
		questions  []Question
		trajectory string // in the workload; empty: there is no workload
		want       []string
		todos, own int // placeholders; questions that are errors of their own
		first      string
	}{
		"none": {nil, "/ap/t.jsonl", nil, 0, 0, ""},
		"a placeholder": {
			[]Question{question(true, true, "trajectory_path")},
			"/TODO/t.jsonl",
			[]string{
				"w.yaml:6 error todo trajectory_path: unresolved placeholder /TODO/t.jsonl: about trajectory_path; " + orByChange,
			},
			1, 0, "",
		},
		"another question about a placeholder": {
			[]Question{question(false, true, "trajectory_path")},
			"/TODO/t.jsonl",
			[]string{
				"w.yaml:6 error todo trajectory_path: unresolved placeholder /TODO/t.jsonl; replace it with the real value",
				"w.yaml:6 warning port-question trajectory_path: to be confirmed since the port: about trajectory_path; " +
					orByChange,
			},
			1, 0, "",
		},
		"of both kinds and files": {
			[]Question{
				question(true, true, "max_tokens"), question(false, true, "concurrencies"),
				question(true, false, "resources.gpus_per_node"), question(true, false, ""),
				question(false, false, "backend.trtllm_config.decode.tensor_parallel_size"),
			},
			"/ap/t.jsonl",
			[]string{
				"r.yaml:1 error port-question : open since the port: about ; " + byAnswer,
				"r.yaml:5 error port-question resources.gpus_per_node: open since the port: about resources.gpus_per_node; " +
					orByChange,
				"r.yaml:14 warning port-question backend.trtllm_config.decode.tensor_parallel_size: to be confirmed since the " +
					"port: about backend.trtllm_config.decode.tensor_parallel_size; " + orByChange,
				"w.yaml:1 error port-question max_tokens: open since the port: about max_tokens; " + orByChange,
				"w.yaml:3 warning port-question concurrencies: to be confirmed since the port: about concurrencies; " + orByChange,
			},
			0, 3, "about ",
		},
		"about a workload that is not there": {
			[]Question{question(true, true, "seed"), {MustFix: true, Message: "the report is unreadable"}},
			"",
			[]string{
				"r.yaml:1 error port-question seed: open since the port: about seed; " + orByChange,
				"r.yaml:1 error port-question : open since the port: the report is unreadable; ",
			},
			0, 2, "about seed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := Files{Questions: c.questions}
			f.Recipe, _ = recipes.ParseRecipe("r.yaml", []byte(recipe))
			if c.trajectory != "" {
				f.Workload, _ = recipes.ParseWorkload("w.yaml", []byte(strings.Replace(workload, "/ap/t.jsonl", c.trajectory, 1)))
			}
			rep := Run(f, Host{})
			var got []string
			for _, d := range rep.Diagnostics {
				if d.Rule == ruleTodo || d.Rule == ruleQuestion {
					at, _, _ := strings.Cut(d.String(), ": ")
					at = at[:strings.LastIndex(at, ":")] // without the column
					got = append(got, at+" "+string(d.Severity)+" "+d.Rule+" "+d.Path+": "+d.Message+"; "+d.Fix)
				}
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("findings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if rep.Todos != c.todos || rep.Questions != c.own || !rep.OnlyTodos() || rep.FirstQuestion() != c.first {
				t.Errorf("%d placeholders, %d questions, first %q; want %d, %d, %q",
					rep.Todos, rep.Questions, rep.FirstQuestion(), c.todos, c.own, c.first)
			}
		})
	}
	if rep := Run(Files{Questions: []Question{{MustFix: true}}}, Host{}); len(rep.Diagnostics) > 0 {
		t.Errorf("without a recipe: %v", rep.Diagnostics)
	}
}
