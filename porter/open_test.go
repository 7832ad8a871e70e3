package porter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes"
)

func TestOpenQuestions(t *testing.T) {
	t.Parallel()
	files := smallRun()
	delete(files, harness.JobLog)
	dir, out := lay(t, files), t.TempDir()
	recipe, workload := filepath.Join(out, "r.yaml"), filepath.Join(out, "w.yaml")
	edit := func(path, old, with string) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), old) {
			t.Fatalf("%s does not contain %q:\n%s", path, old, text)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, with, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open := func(workload string) string {
		t.Helper()
		todos, err := openQuestions(t, recipe, workload)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, td := range todos {
			if _, path := questionField(td.ID); td.Path != path {
				t.Errorf("path of %s: %s", td.ID, td.Path)
			}
			if td.Kind == MustFix {
				ids = append(ids, td.ID)
			}
		}
		return strings.Join(ids, " ")
	}
	for _, schema := range []int{1, 2} {
		if _, err := port(t, dir, Options{Schema: schema, WorkloadOut: workload}).Write(recipe, workload, true); err != nil {
			t.Fatal(err)
		}
		const rest = "recipe:resources.prefill_nodes recipe:resources.prefill_workers recipe:resources.decode_nodes " +
			"recipe:resources.decode_workers recipe:backend.prefill_environment recipe:backend.decode_environment " +
			"recipe:frontend.env"
		if got, want := open(workload), "recipe:resources.gpus_per_node "+rest+" workload:trajectory_path "+
			"workload:user_assignments_path"; got != want {
			t.Errorf("schema %d: open\n%s, want\n%s", schema, got, want)
		}
		edit(recipe, "gpus_per_node: 4", "gpus_per_node: 8")
		edit(recipe, `DYN_LOG: "info"`, `DYN_LOG: "debug"`)
		edit(workload, "/TODO/traj.jsonl", "/data/traj.jsonl")
		edit(recipe, `HOME: "/tmp"`, `HOME: '/tmp'`) // other quotes, same value
		want := strings.Replace(rest, " recipe:backend.prefill_environment", "", 1) + " workload:user_assignments_path"
		if got := open(workload); got != want {
			t.Errorf("schema %d: after edits open\n%s, want\n%s", schema, got, want)
		}
		if got := open(""); !strings.HasSuffix(got, "workload:trajectory_path workload:user_assignments_path") {
			t.Errorf("schema %d: without the workload open\n%s", schema, got)
		}
	}
	other := filepath.Join(out, "other.yaml")
	if err := os.Link(recipe, other); err != nil {
		t.Fatal(err)
	}
	if todos, err := openQuestions(t, other, ""); err != nil || todos != nil {
		t.Errorf("a recipe that was not ported: %v, %v", todos, err)
	}
	if err := os.WriteFile(ProvenancePath(other), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openQuestions(t, other, ""); err == nil {
		t.Error("no error for a report of another version")
	}
}

// openQuestions returns the open questions of files. workload may be empty.
func openQuestions(t *testing.T, recipe, workload string) ([]Todo, error) {
	t.Helper()
	r, _, err := recipes.Load(recipe)
	if err != nil || r == nil {
		t.Fatalf("load %s: %v", recipe, err)
	}
	var w *recipes.Workload
	if workload != "" {
		text, err := os.ReadFile(workload)
		if err != nil {
			t.Fatal(err)
		}
		if w, _ = recipes.ParseWorkload(workload, text); w == nil {
			t.Fatalf("%s can't be parsed", workload)
		}
	}
	return OpenQuestions(r, w)
}

// A question about several fields is open until all of them were edited.
func TestOpenQuestionAboutSeveralFields(t *testing.T) {
	t.Parallel()
	files, out := smallRun(), t.TempDir()
	files[harness.JobLog] = strings.ReplaceAll(files[harness.JobLog], "'A=1 ", "'MY_API_KEY=abc ")
	recipe, workload := filepath.Join(out, "r.yaml"), filepath.Join(out, "w.yaml")
	if _, err := port(t, lay(t, files), Options{WorkloadOut: workload}).Write(recipe, workload, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 1, 0} { // as ported, after the first edit, after the second one
		todos, err := openQuestions(t, recipe, workload)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, td := range todos {
			if strings.HasSuffix(td.ID, "MY_API_KEY#secret") && len(td.Fields) == 2 {
				n++
			}
		}
		if n != want {
			t.Fatalf("%d questions, want %d", n, want)
		}
		text, err := os.ReadFile(recipe)
		if err == nil {
			err = os.WriteFile(recipe, []byte(strings.Replace(string(text), `MY_API_KEY: "abc"`, `OTHER: "x"`, 1)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
