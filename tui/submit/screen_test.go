package submit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

const recipe = `schema: 2
name: ap-demo
model: {path: /m/my-model, container: /img/dyn.sqsh, precision: fp4}
resources: {gpu_type: gb300, gpus_per_node: 4}
engine: trtllm
roles:
  prefill: {nodes: 2, workers: 2, env: {HF_TOKEN: sesame}}
  decode: {nodes: 2, workers: 1}
frontend: {type: dynamo, enable_multiple_frontends: false}
dynamo: {install: false}
benchmark: {type: agentperf, concurrency: 64, agentperf_client_dir: /ap/client, agentperf_config: /ap/w.yaml}
extra_mount: ["/shared/ap:/ap"]
`

const workload = `base_url: http://placeholder:8000/v1
model: placeholder
concurrencies: [64]
phase_timeout_seconds: 900.0
settling_time_seconds: 60.0
user_spawn_rate: 1.0
min_measurement_seconds: 300.0
trajectory_path: /ap/t.jsonl
`

// fakeEngine is the real engine without Slurm and without the submission.
type fakeEngine struct {
	*engine.Engine
	submitted  []*plan.Plan
	gate, err  error
	clusterErr error
}

// Preflight returns the notes of a cluster of 16 nodes.
func (r *fakeEngine) Preflight(_ context.Context, _ *engine.Pair, pl *plan.Plan) ([]string, error) {
	if pl.Target != plan.Slurm {
		return nil, nil
	}
	return []string{
		"the client reads /ap/w.yaml, which does not exist on this machine; make sure that it equals w.yaml",
		"partition batch: nodes 12 idle, 3 allocated, 1 drained; time limit 1-00:00:00",
		"to start at 2026-11-30T14:40:00 using 288 processors on nodes gb300-T[01-04] in partition batch",
	}, r.clusterErr
}

func (r *fakeEngine) Gate(*engine.Pair, *plan.Plan, bool) error { return r.gate }

func (r *fakeEngine) Apply(_ context.Context, _ *engine.Pair, pl *plan.Plan, _ bool) (engine.Record, error) {
	r.submitted = append(r.submitted, pl)
	return engine.Record{Name: pl.Name, ID: "L1", Dir: "/runs/L1"}, r.err
}

func open(t *testing.T, wl string) (*Screen, *tui.Model, *fakeEngine) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"r.yaml": recipe, "w.yaml": wl} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	real, err := engine.New(engine.Options{
		OutputDir: "/out", StateDir: t.TempDir(), Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	eng := &fakeEngine{Engine: real}
	s := New(eng, ui.NewTheme(true), filepath.Join(dir, "r.yaml"), filepath.Join(dir, "w.yaml"), plan.Local)
	m := tui.New(nil, s, tui.Options{Dark: true})
	s.Update(s.Init()())
	if s.proposal.pair != nil {
		for i := range s.proposal.pair.Report.Diagnostics { // the directory differs in each run
			s.proposal.pair.Report.Diagnostics[i].File = filepath.Base(s.proposal.pair.Report.Diagnostics[i].File)
		}
		s.pane.set(buildSections(s.proposal))
	}
	return s, m, eng
}

func press(s *Screen, keys ...string) (last tea.Msg) {
	for _, k := range frametest.Keys(keys...) {
		if cmd := s.Update(k); cmd != nil {
			last = cmd()
			for {
				switch last.(type) {
				case plannedMsg, clusterMsg:
					if cmd = s.Update(last); cmd != nil {
						last = cmd()
						continue
					}
				}
				break
			}
		}
	}
	return last
}

func TestFrames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		workload string
		keys     []string
	}{
		"local":  {workload, nil},
		"slurm":  {workload, []string{"t"}},
		"step":   {workload, []string{"t", "down", "down", "down", "down", "down", "down", "down", "down"}},
		"errors": {strings.Replace(workload, "900.0", "90", 1), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, m, _ := open(t, c.workload)
			s.SetSize(120, 36)
			press(s, c.keys...)
			// The workload's directory differs in each run.
			for i, sec := range s.pane.sections {
				for j, l := range sec.lines {
					if before, _, ok := strings.Cut(l.text, filepath.Dir(s.files.Workload)); ok {
						s.pane.sections[i].lines[j].text = before + "…)"
					}
				}
			}
			frametest.Golden(t, name, m)
		})
	}
}

func TestSubmitAsksFirst(t *testing.T) {
	t.Parallel()
	s, _, eng := open(t, workload)
	press(s, "+", "]")
	ask, ok := press(s, "enter").(ui.Ask)
	if !ok || !strings.Contains(ask.Body, "2 prefill and 1 decode workers, 13 users, on this machine") {
		t.Fatalf("enter sent %#v", ask)
	}
	if s.Update(ui.Answer{ID: ask.ID}) != nil {
		t.Error("No submitted the run")
	}
	cmd := s.Update(ui.Answer{ID: ask.ID, Yes: true})
	if s.Update(ui.Answer{ID: ask.ID, Yes: true}) != nil {
		t.Error("a second Yes submitted the run again")
	}
	s.Update(cmd())
	first := func() plan.Phase { return eng.submitted[0].Phases[0] }
	if len(eng.submitted) != 1 || first().Concurrency != 13 || first().TimeoutSeconds != 50 {
		t.Errorf("submitted %+v", eng.submitted)
	}
}

func TestFailedSubmitIsShown(t *testing.T) {
	t.Parallel()
	s, _, eng := open(t, workload)
	eng.err = errors.New("disk full")
	press(s, "enter")
	toast, ok := s.Update(s.Update(ui.Answer{ID: askSubmit, Yes: true})())().(ui.Toast)
	if !ok || toast.Role != ui.Bad || s.busy != "" {
		t.Errorf("got %#v, busy %q", toast, s.busy)
	}
}

func TestErrorsBlockSubmit(t *testing.T) {
	t.Parallel()
	s, _, _ := open(t, strings.Replace(workload, "900.0", "90", 1))
	if got := press(s, "enter"); got != nil {
		t.Errorf("enter sent %#v", got)
	}
	if s.State().Text != "1 error" {
		t.Errorf("state %+v", s.State())
	}
}

// An error of Gate is shown and blocks the submission.
func TestGateBlocksSubmit(t *testing.T) {
	t.Parallel()
	s, _, eng := open(t, workload)
	eng.gate = errors.New("2 must-fix questions are open")
	s.Update(s.replan()())
	if got := press(s, "enter"); got != nil {
		t.Errorf("enter sent %#v", got)
	}
	s.SetSize(120, 30)
	if s.State().Text != "not ready" || !strings.Contains(s.View(), "2 must-fix questions") {
		t.Errorf("state %+v", s.State())
	}
}

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	s, _, _ := open(t, workload)
	press(s, "t")
	for _, sec := range s.pane.sections {
		for _, l := range sec.lines {
			if strings.Contains(l.text, "sesame") {
				t.Errorf("%s shows a secret", sec.title)
			}
		}
	}
}

// The submission is blocked until the cluster has answered about the plan in view, and if it
// rejects it.
func TestClusterBlocksSubmit(t *testing.T) {
	t.Parallel()
	s, _, eng := open(t, workload)
	eng.clusterErr = errors.New("test the batch script: sbatch: Requested node configuration is not available")
	s.SetSize(120, 30)
	late := s.Update(s.Update(frametest.Keys("t")[0])())
	if got := press(s, "enter"); got != nil || s.State().Text != "querying the cluster…" {
		t.Errorf("enter sent %#v before the cluster has answered; state %+v", got, s.State())
	}
	s.Update(late())
	if got := press(s, "enter"); got != nil || s.State().Text != "rejected by the cluster" || !strings.Contains(
		s.View(), "test the batch script",
	) {
		t.Errorf("enter sent %#v; state %+v\n%s", got, s.State(), s.View())
	}
}

func TestWrapPlain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		w    int
		want []string
	}{
		{"short", 10, []string{"short"}},
		{"", 10, []string{""}},
		{"two  words and more", 12, []string{"two  words", "  and more"}},
		{"srun --job-name prefill_0", 16, []string{"srun --job-name", "  prefill_0"}},
		{"/a/long/path/of/a/model", 12, []string{"/a/long/", "  path/of/a/", "  model"}},
		{"abcdefghijklmnop", 10, []string{"abcdefghij", "  klmnop"}},
		{"    indented words here", 16, []string{"    indented", "  words here"}},
		{"日本語日本語日本語", 10, []string{"日本語日本", "  語日本語"}},
	} {
		if got := wrapPlain(c.text, c.w, "  "); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// A plan that is older than the one in view is dropped.
func TestOutdatedPlanIsDropped(t *testing.T) {
	t.Parallel()
	s, _, _ := open(t, workload)
	first, second := s.replan(), s.replan()
	s.proposal.target = plan.Slurm
	s.Update(second())
	at := s.proposal.plan
	s.Update(first())
	if s.proposal.plan != at {
		t.Error("an older plan replaced a newer one")
	}
}

// A plan that was replaced while the dialog was open is not submitted.
func TestPlanReplacedDuringDialog(t *testing.T) {
	t.Parallel()
	s, _, eng := open(t, workload)
	late := s.Update(frametest.Keys("+")[0])
	if got := press(s, "enter"); got != nil {
		t.Fatalf("enter sent %#v while a newer plan was pending", got)
	}
	s.Update(late())
	press(s, "enter")
	s.Update(s.replan()())
	if toast, ok := s.Update(ui.Answer{
		ID: askSubmit, Yes: true,
	})().(ui.Toast); !ok || toast.Role != ui.Warn || len(eng.submitted) != 0 {
		t.Errorf("got %#v, submitted %d", toast, len(eng.submitted))
	}
}
