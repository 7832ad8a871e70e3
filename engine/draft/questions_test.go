package draft

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
)

// reports asks whether the text in the editor has the wanted seed, or fails.
type reports struct{ err error }

func (reports) Report(recipe string) string { return recipe + ".report" }

func (r reports) Questions(recipe *recipes.Recipe, w *recipes.Workload) ([]check.Question, error) {
	if recipe.Name != "edited" || w == nil || w.Seed == 7 {
		return nil, r.err
	}
	q := check.Question{ID: "workload:seed", MustFix: true, InWorkload: true, Path: "seed", Message: "which one?"}
	return []check.Question{q}, r.err
}

// The questions are those about the text in the editor and after edits of the command line, not
// about the files.
func TestQuestionsAboutText(t *testing.T) {
	t.Parallel()
	d, dir := drafts(t, nil), t.TempDir()
	recipe, workload := filepath.Join(dir, "r.yaml"), filepath.Join(dir, "w.yaml")
	for path, text := range map[string]string{recipe: "name: ported\n", workload: "seed: 1\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	questions := func(edits ...recipes.Edit) (int, string) {
		t.Helper()
		p, err := d.Load(t.Context(), Files{Recipe: recipe, Workload: workload, NoCluster: true, Edits: edits})
		if err != nil {
			t.Fatal(err)
		}
		return p.Report.Questions, p.Report.FirstQuestion()
	}
	set := func(path, value string) recipes.Edit {
		return recipes.Edit{Op: recipes.OpSet, Path: path, Value: value}
	}
	if n, first := questions(); n != 0 || first != "" {
		t.Errorf("without reports: %d questions, %q", n, first)
	}
	d.opt.PortReports = reports{}
	if n, first := questions(set("name", "edited")); n != 1 || !strings.HasSuffix(first, "which one?") {
		t.Errorf("after an edit: %d questions, %q", n, first)
	}
	if n, _ := questions(set("name", "edited"), set("seed", "7")); n != 0 {
		t.Errorf("after its answer: %d questions", n)
	}
	d.opt.PortReports = reports{errors.New("is not a port report")}
	if n, first := questions(); n != 1 || !strings.HasSuffix(first, "unknown: is not a port report") {
		t.Errorf("an unreadable report: %d questions, %q", n, first)
	}
}
