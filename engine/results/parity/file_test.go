package parity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// TestMarkdownAsReference checks that a printed comparison can be a side of another one.
func TestMarkdownAsReference(t *testing.T) {
	t.Parallel()
	ref, cand := load(t, "testdata/script-harness.yaml"), load(t, "testdata/srt-slurm.yaml")
	printed := write(t, "published.md", Compare(ref, cand, Options{}).Markdown())
	for i, name := range []string{"script harness", "srt-slurm"} {
		side := load(t, printed+"#"+name)
		original := []Side{ref, cand}[i]
		if side.Name != name {
			t.Errorf("name %q", side.Name)
		}
		for _, f := range original.Phase.Figures {
			got := side.Phase.Figures.Get(f.Key)
			if got.Text() != f.Text() {
				t.Errorf("%s %s: %s, want %s", name, f.Key, got.Text(), f.Text())
			}
			if got.Class != "" {
				t.Errorf("%s %s: class %q, but a table does not tell how complete a figure is", name, f.Key, got.Class)
			}
		}
		if *side.Phase.Requests != *original.Phase.Requests {
			t.Errorf("%+v, want %+v", side.Phase.Requests, original.Phase.Requests)
		}
	}
	_, err := Load(t.Context(), printed, AnyPhase, results.RunContext{})
	if problem.Of(err) != problem.FiguresAmbiguous {
		t.Errorf("two columns: %v", err)
	}
}

// TestExportAsReference checks that what the export of another tool states reaches the side.
func TestExportAsReference(t *testing.T) {
	t.Parallel()
	side := load(t, "../figurefile/testdata/sglang.jsonl#1")
	rate := side.Phase.Figures.Get(results.Primary)
	if rate.Value != 2000 || rate.Class != "" || rate.Method != "as stated by SGLang bench_serving" ||
		len(rate.Reasons) != 1 || rate.Reasons[0].ID != results.OtherDefinition {
		t.Errorf("%+v", rate)
	}
	if side.Phase.Concurrency != 16 || side.Phase.Window.Seconds != 60 || side.Name != "sglang" {
		t.Errorf("%d users, %+v, %q", side.Phase.Concurrency, side.Phase.Window, side.Name)
	}
	warnings := strings.Join(side.Phase.Warnings, "\n")
	for _, want := range []string{
		"median_itl_ms", "total_output_tokens_retokenized",
		"figures as stated by SGLang bench_serving, without request rows",
	} {
		if !strings.Contains(warnings, want) {
			t.Errorf("no %q in %s", want, warnings)
		}
	}
	// A comparison with our own run has the primary figure of both.
	if c := Compare(side, load(t, runstest.Sample(t)), Options{Force: true}); c.Delta == nil {
		t.Errorf("no difference: %s", c.Summary())
	}
}

// TestChoiceInPath checks that "#" is a part of a name unless the file is found without it.
func TestChoiceInPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a#1.yaml")
	if err := os.WriteFile(path, []byte(someFigures), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		path: true, path + "#1": true, path + "#x": true, dir: false, dir + "#1": false, filepath.Join(dir, "none#1"): false,
	} {
		if IsFile(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
	if s := load(t, path+"#1"); s.Path != path {
		t.Error(s.Path)
	}
}

// TestStatisticsOfNewerClient checks that keys which a newer client adds to its file are no error.
func TestStatisticsOfNewerClient(t *testing.T) {
	t.Parallel()
	const text = `{"phase": 2, "concurrency": 4, "requests": {"total": 9, "new": 1}, "measurement_duration_s": 60, ` +
		`"tokens_server": {}, "throughput": {"output_server_tok_s": 5}, "ttft_s": {"p50": NaN}, "new": {"x": 1}}`
	for _, name := range []string{"statistics.json", "m__4u__phase2__dur60s__settle0s__traj1.json"} {
		s := load(t, write(t, name, text))
		f := s.Phase.Figures.Get(results.Primary)
		if f.Value != 5 || f.Method != "as stated by the client" || s.Phase.Index != 2 {
			t.Errorf("%s: %+v, phase %d", name, f, s.Phase.Index)
		}
	}
}
