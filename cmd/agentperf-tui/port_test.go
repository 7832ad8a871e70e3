package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/recipes"
)

// inProcess runs a command line in this process.
func inProcess(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = execute(ctx, args, &out, &errs)
	return code, out.String(), errs.String()
}

// mustRun runs a command line in this process and fails the test unless it ends with the exit code.
func mustRun(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := inProcess(t.Context(), args...)
	if code != want {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, stdout, stderr)
	}
	return stdout, stderr
}

func TestPortAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recipe, workload := filepath.Join(dir, "r.yaml"), filepath.Join(dir, "w.yaml")
	answers := filepath.Join(dir, "answers.yaml")
	args := []string{"port", sampleRun, "--out", recipe, "--workload-out", workload}
	out, _ := mustRun(t, 1, append(args, "--strict")...)
	if !strings.Contains(out, "0 lost over 8 launch lines") {
		t.Errorf("the report does not compare the launch lines:\n%s", out)
	}
	text := `workload:trajectory_path: /scratch/t.jsonl
workload:user_assignments_path: {value: /scratch/u.json}
recipe:resources.gpu_type: {accepted: true}
`
	if err := os.WriteFile(answers, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, 2, append(args, "--answers", answers)...) // the files exist
	mustRun(t, 0, append(args, "--answers", answers, "--force", "--strict")...)
	mustRun(t, 0, append(args, "--strict")...) // the answers were kept, so the files don't change
	out, _ = mustRun(t, 0, append(args, "--force", "--json")...)
	var p porter.Provenance
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Answers) != 3 || len(p.Proof.Lines) != 5 || p.Proof.Unaccounted != 0 || p.Proof.Problem != "" {
		t.Errorf("answers %+v, %d launch lines compared, problem %q", p.Answers, len(p.Proof.Lines), p.Proof.Problem)
	}
	script := `exec "$0" port "$1" --out "$2/p.yaml" --workload-out "$2/q.yaml" --strict --answers <(cat "$3")`
	if out, err := exec.Command("bash", "-c", script, program, sampleRun, dir, answers).CombinedOutput(); err != nil {
		t.Errorf("answers from a pipe: %v\n%s", err, out)
	}
	if err := os.WriteFile(answers, []byte("recipe:resources.gpus_per_node: many\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, errs := mustRun(t, 2, append(args, "--answers", answers)...)
	if !strings.Contains(errs, "invalid value many; must be of type int") {
		t.Errorf("stderr %q", errs)
	}
}

// The open questions of a port are findings of check, and a submission is refused as check says.
func TestCheckListsQuestionsOfPort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := filepath.Join(dir, "bm", "c1010")
	if err := os.CopyFS(run, os.DirFS(sampleRun)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(run, "job.log")); err != nil {
		t.Fatal(err)
	}
	recipe, workload := filepath.Join(dir, "r.yaml"), filepath.Join(dir, "w.yaml")
	mustRun(t, 0, "port", run, "--out", recipe, "--workload-out", workload)
	report, err := porter.LoadProvenance(porter.ProvenancePath(recipe))
	if err != nil {
		t.Fatal(err)
	}
	var doc checked
	check := func(flags ...string) {
		t.Helper()
		out, _ := mustRun(t, 1, append([]string{"check", recipe, "--workload", workload, "--json"}, flags...)...)
		doc = checked{}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err)
		}
	}
	check()
	open := map[porter.TodoKind]int{}
	for _, q := range report.Todos {
		open[q.Kind]++
		found := slices.ContainsFunc(doc.Diagnostics, func(d recipes.Diagnostic) bool {
			return strings.Contains(d.Message, q.Message) && strings.Contains(d.Fix, "answer "+q.ID+" in") &&
				(d.Severity == recipes.Error) == (q.Kind == porter.MustFix)
		})
		if found == (q.Kind == porter.Note) {
			t.Errorf("%s question %s is a finding: %v", q.Kind, q.ID, found)
		}
	}
	if n := open[porter.MustFix]; doc.Todos != 2 || doc.Questions != n-2 || n < 8 {
		t.Errorf("%d placeholders and %d questions of %d", doc.Todos, doc.Questions, n)
	}
	before := doc.Questions
	check("--set", "resources.gpus_per_node=8")
	if doc.Questions != before-1 {
		t.Errorf("%d questions after an edit that answers one of %d", doc.Questions, before)
	}
	text, _ := mustRun(t, 1, "check", recipe, "--workload", workload)
	want := fmt.Sprintf("2 open placeholders, %d open must-fix questions of the port\n", before)
	if !strings.HasSuffix(text, want) {
		t.Errorf("check ends with %q, want %q", text[max(len(text)-100, 0):], want)
	}
	data, err := os.ReadFile(recipe)
	if err == nil { // each recipe of a sweep has the questions
		err = os.WriteFile(recipe, append(data, "sweep: {unused: [1, 2]}\n"...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, _ = mustRun(t, 1, "check", recipe, "--workload", workload)
	want = fmt.Sprintf("4 open placeholders, %d open must-fix questions of the port; 2 of 2 recipes have errors\n",
		2*before)
	if !strings.HasSuffix(text, want) {
		t.Errorf("check of a sweep ends with %q, want %q", text[max(len(text)-100, 0):], want)
	}
}

func TestPortTree(t *testing.T) {
	t.Parallel()
	root, out := t.TempDir(), t.TempDir()
	for _, c := range []string{"bm_a/c64", "bm_a/c1010", "x/bm_b/c8"} {
		if err := os.CopyFS(filepath.Join(root, c), os.DirFS(sampleRun)); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"port", "--tree", root, "--out-dir", out, "--dataset-root", filepath.Join(sampleRun, "datasets")}
	text, errs := mustRun(t, 0, args...)
	lines := strings.Split(text, "\n")
	if len(lines) != 5 || strings.Fields(lines[1])[0] != "bm_a/c1010" || strings.Fields(lines[1])[1] != "ported" ||
		!strings.Contains(errs, "3 runs: 3 ported, 0 unchanged, 0 skipped") {
		t.Errorf("table\n%s%s", text, errs)
	}
	if text, _ = mustRun(t, 0, append(args, "--json")...); strings.Count(text, `"status":"skipped"`) != 3 ||
		strings.Count(text, "\n") != 3 {
		t.Errorf("second call:\n%s", text)
	}
	if err := os.WriteFile(filepath.Join(out, "bm_a/c64/recipe.yaml"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"job_params.env": "PORT=1\n", "job.log": "\n"} {
		if err := os.WriteFile(filepath.Join(root, "bm_a/c64", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ = mustRun(t, 1, args...); !strings.Contains(text, "already exist;") {
		t.Errorf("edited recipe of a changed run:\n%s", text)
	}
	mustRun(t, 1, append(args, "--force", "--strict")...) // the changed run has open questions
	mustRun(t, 2, "port", "--tree", filepath.Join(root, "no"), "--out-dir", out)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errs := inProcess(ctx, append(args, "--force")...); code != 1 ||
		!strings.Contains(errs, "context canceled") {
		t.Errorf("cancelled: exit code %d, %s", code, errs)
	}
}

// The error about a combination of flags says which of them is missing or does not belong there.
func TestPortUsage(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"port: no run directory;":                             nil,
		"port .: name the files to write with both --out":     {".", "--workload-out", "w.yaml"},
		"port .: --out-dir belongs to --tree;":                {".", "--out-dir", "o"},
		"port c8: no such directory; give a run directory":    {"c8"},
		"port port.go: is a file; give the run directory":     {"port.go", "--out", "r.yaml"},
		"port --tree r: --out-dir is missing;":                {"--tree", "r"},
		"port --tree r: the files are written below --out-di": {"--tree", "r", "--out-dir", "o", "--out", "r.yaml"},
		"leave out the run directory,":                        {"c8", "--tree", "r", "--out-dir", "o"},
	} {
		if _, errs := mustRun(t, 2, append([]string{"port"}, args...)...); !strings.Contains(errs, want) {
			t.Errorf("%v: %q is not in %s", args, want, errs)
		}
	}
}

func TestDiffOfPortReportsInProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	mustRun(t, 0, "port", sampleRun, "--out", one+".yaml", "--workload-out", filepath.Join(dir, "w.yaml"))
	mustRun(t, 0, "port", sampleRun, "--out", two+".yaml", "--workload-out", filepath.Join(dir, "w.yaml"),
		"--gpu-type", "gb200")
	a, b := one+".provenance.json", two+".provenance.json"
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		app := newApp(&out, &out)
		app.json = asJSON
		if err := app.diffProvenance(a, a); err != nil {
			t.Errorf("the same file: %v", err)
		}
		if err := app.diffProvenance(a, b); err == nil || !strings.Contains(out.String(), "recipe:resources.gpu_type") {
			t.Errorf("%v\n%s", err, out.String())
		}
		if err := app.diffProvenance(a, filepath.Join(dir, "none.provenance.json")); err == nil {
			t.Error("no error for a missing file")
		}
	}
	if !isProvenance(a) || isProvenance(one+".yaml") {
		t.Error("port reports must be recognized by their names")
	}
}
