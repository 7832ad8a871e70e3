package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// fakeEngine is an engine with files in memory.
type fakeEngine struct {
	mu           sync.Mutex
	files        map[string]string
	checks       int
	fail         error
	workloadPath string // result of WorkloadOf
	question     string // open must-fix question of a port
	unsaved      map[string]engine.Unsaved
	ported       [2]string
	editor       string // command
}

func (d *fakeEngine) KeepUnsaved(_ context.Context, path, text, base string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unsaved == nil {
		d.unsaved = map[string]engine.Unsaved{}
	}
	at := time.Date(2026, 11, 30, 14, 3, 0, 0, time.Local)
	d.unsaved[path] = engine.Unsaved{Path: path, Text: text, Base: base, At: at}
	return nil
}

func (d *fakeEngine) Unsaved(_ context.Context, path string) (engine.Unsaved, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u, ok := d.unsaved[path]
	return u, ok, nil
}

func (d *fakeEngine) DiscardUnsaved(_ context.Context, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.unsaved, path)
	return nil
}

func (d *fakeEngine) Editor(name, text string) (*engine.EditorCommand, error) {
	e, err := engine.New(engine.Options{StateDir: "/nowhere", Program: "/bin/true", Getenv: func(k string) string {
		if k == "EDITOR" {
			return d.editor
		}
		return ""
	}})
	if err != nil {
		return nil, err
	}
	return e.Editor(name, text)
}

func (d *fakeEngine) Ported(context.Context, string) (recipe, workload string, err error) {
	if d.ported[0] == "" {
		return "", "", errors.New("no port report")
	}
	return d.ported[0], d.ported[1], nil
}

func (d *fakeEngine) WorkloadOf(context.Context, string, []byte) string { return d.workloadPath }

func (d *fakeEngine) ReadFile(_ context.Context, path string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.files[path]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
	}
	return []byte(s), nil
}

func (d *fakeEngine) CheckText(_ context.Context, in engine.Draft) (*engine.Pair, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.checks++
	if d.fail != nil {
		return nil, d.fail
	}
	p := &engine.Pair{}
	var found, more recipes.Diagnostics
	p.Recipe, found = recipes.ParseRecipe(in.RecipePath, in.Recipe)
	if in.WorkloadPath != "" {
		p.Workload, more = recipes.ParseWorkload(in.WorkloadPath, in.Workload)
	}
	found = append(found, more...)
	if r, w := p.Recipe, p.Workload; r != nil && w != nil {
		for _, c := range recipes.CheckTimeouts(w, r.Benchmark.Levels) {
			if c.Known && !c.OK {
				found = append(found, w.Diag(recipes.Error, "phase_timeout_seconds", c.Summary(), "any one of: …"))
			}
		}
		if strings.HasPrefix(w.TrajectoryPath, "/TODO/") {
			p.Report.Todos++
			message := "open placeholder " + w.TrajectoryPath
			found = append(found, w.Diag(recipes.Error, "trajectory_path", message, "give the real value"))
		}
		warning := r.Diag(recipes.Warning, "name", "longer than squeue shows", "shorten it")
		warning.Edit = &recipes.Edit{Op: recipes.OpSet, Path: "name", Value: "dsv4"}
		if len(r.Name) > 8 {
			found = append(found, warning)
		}
	}
	if d.question != "" {
		p.Report.Questions++
		found = append(found, p.Recipe.Diag(recipes.Error, "", d.question, ""))
	}
	p.Report.Diagnostics = found
	p.Report.Diagnostics.Sort()
	return p, nil
}

func (d *fakeEngine) Save(_ context.Context, path string, data, before []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files[path] != string(before) {
		return fmt.Errorf("save %s: %w", path, engine.ErrChanged)
	}
	d.files[path] = string(data)
	return nil
}

const (
	testRecipe = `schema: 2
name: dsv4-5p1d-c1010
model:
  path: /scratch/models/dsv4
  container: /scratch/images/trtllm.sqsh
  precision: fp4
resources:
  gpu_type: gb300
  gpus_per_node: 4
roles:
  prefill:
    nodes: 5
    workers: 5
    args:
      tensor_parallel_size: 4
  decode:
    nodes: 8
    workers: 1
    args:
      tensor_parallel_size: 32
engine:
  type: trtllm
frontend:
  type: dynamo
benchmark:
  type: agentperf
  concurrency: 1010
  agentperf_client_dir: /scratch/client
  agentperf_config: /scratch/w.yaml
extra_mount: ["/scratch:/scratch"]
health_check:
  max_attempts: 300
`
	testWorkload = `# the load
base_url: http://placeholder:8000/v1
api_key: dummy
model: placeholder
server_type: trtllm
concurrencies: [1010]
phase_timeout_seconds: 1548.0 # was 2400
settling_time_seconds: 240.0
min_measurement_seconds: 300.0
user_spawn_rate: 1.0
trajectory_path: /TODO/mix.jsonl
user_assignments_path: /scratch/data/20k.json
`
)

func open(t *testing.T, recipe, workload string) (*Screen, *fakeEngine) {
	t.Helper()
	d := &fakeEngine{files: map[string]string{"/r.yaml": recipe, "/w.yaml": workload}}
	s := New(d, ui.NewTheme(true), "/r.yaml", "/w.yaml")
	t.Cleanup(s.Close)
	s.SetSize(80, 20)
	if sent := drive(s, s.Init()); len(sent) > 0 {
		t.Fatalf("messages at the start: %v", sent)
	}
	if s.texts.active != 0 {
		t.Fatal("the recipe is not the active text")
	}
	press(s, "ctrl+t") // most tests edit the workload
	return s, d
}

// drive runs a command of the screen and those that follow. It returns the messages for
// the workbench.
func drive(s *Screen, cmd tea.Cmd) []tea.Msg {
	return frametest.Drive(s, cmd, func(msg tea.Msg) bool {
		switch msg.(type) {
		case ui.Open, ui.Replace, ui.Back, ui.Toast, ui.Ask, ui.Copy, ui.Exec:
			return true
		}
		return false
	})
}

func textOf(s *Screen, which side) string { return s.texts.docs[which].text.Text() }

func press(s *Screen, keys ...string) (sent []tea.Msg) {
	for _, k := range frametest.Keys(keys...) {
		sent = append(sent, drive(s, s.Update(k))...)
	}
	return sent
}

func TestFrames(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{
		"short": nil,
		"holds": {
			"end", "left", "left", "left", "left", "left", "left", "left", "left", "left", "left", "left",
			"backspace", "backspace", "backspace", "9", ".", "0",
		},
		"fixes":    {"ctrl+f", "down"},
		"problems": {"esc", "down"},
		"recipe":   {"ctrl+t", "down", "down"},
		"broken":   {"home", "["},
		"doc":      {"f2"},
		"complete": {"ctrl+t", "ctrl+end", "t"},
		"values":   {"ctrl+t", "down", "ctrl+end", "f", "tab", "ctrl+space"},
		"form":     {"ctrl+o", "up", "up"},
		"typing":   {"ctrl+o", "home", "enter", "backspace"},
		"find":     {"ctrl+w", "s", "e", "t"},
		"diff":     {"end", "x", "down", "ctrl+k", "ctrl+g"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t, testRecipe, testWorkload)
			press(s, keys...)
			frametest.Golden(t, name, tui.New(nil, s, tui.Options{Dark: true}))
		})
	}
}

func TestFrameFillsEverySize(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{
		nil, {"ctrl+f"}, {"f2"}, {"ctrl+o"}, {"ctrl+g"}, {"ctrl+w", "a"}, {"ctrl+t", "ctrl+end", "ctrl+space"},
	} {
		s, _ := open(t, testRecipe, testWorkload)
		m := tui.New(nil, s, tui.Options{Dark: true})
		press(s, keys...)
		for _, size := range [][2]int{{60, 16}, {61, 17}, {99, 20}, {100, 20}, {139, 30}, {140, 16}, {500, 200}} {
			frametest.Frame(t, m, size[0], size[1])
		}
	}
}

// The rule follows each key.
func TestRuleFollowsKeys(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, strings.Replace(testWorkload, " # was 2400", "", 1))
	for _, c := range []struct{ key, want string }{
		{"end", "✗ short by 1 s"},
		{"backspace", "✗ short by 1 s"},
		{"backspace", "✗ short by 1 s"},
		{"backspace", "✗ short by 1395 s"},
		{"9", "✓ slack 0 s"},
		{"x", "is not a valid number"},
		{"backspace", "✓ slack 0 s"},
	} {
		press(s, c.key)
		if got := s.checks.rule.View(s.th, s.boxes.all.w); !strings.Contains(got, c.want) {
			t.Errorf("after %s the rule shows %q, want %q", c.key, got, c.want)
		}
	}
	press(s, "ctrl+s")
	if want := strings.NewReplacer(" # was 2400", "", "1548.0", "1549").Replace(testWorkload); d.files["/w.yaml"] != want {
		t.Errorf("saved %q", d.files["/w.yaml"])
	}
}

// Each of the five fixes alone satisfies the rule, and is one edit.
func TestFixes(t *testing.T) {
	t.Parallel()
	for i, want := range []string{
		"phase_timeout_seconds: 1549.0 # was 2400", "user_spawn_rate: 1.001", "settling_time_seconds: 239.0",
		"min_measurement_seconds: 299.0", "concurrency: 1009",
	} {
		s, _ := open(t, testRecipe, testWorkload)
		press(s, "ctrl+f", fmt.Sprint(i+1))
		if c, ok := s.checks.rule.binding(); !ok || !c.OK {
			t.Errorf("fix %d does not satisfy the rule: %s", i+1, c.Summary())
		}
		if got := textOf(s, s.texts.active); !strings.Contains(got, want) {
			t.Errorf("fix %d: %q not in\n%s", i+1, want, got)
		}
		press(s, "ctrl+z")
		if textOf(s, recipe) != testRecipe || textOf(s, workload) != testWorkload || s.texts.docs[workload].unsaved {
			t.Errorf("fix %d is not undone by one undo", i+1)
		}
	}
}

func TestFixOneOfSeveralConcurrencies(t *testing.T) {
	t.Parallel()
	s, _ := open(t, strings.Replace(testRecipe, "concurrency: 1010", "concurrencies: [64, 1010]", 1), testWorkload)
	press(s, "ctrl+f", "5")
	if got := textOf(s, recipe); !strings.Contains(got, "concurrencies: [64, 1009]") {
		t.Errorf("the concurrency is not in\n%s", got)
	}
}

func TestLeaving(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	if got := s.Leave()(); got != (ui.Back{}) {
		t.Errorf("leaving an unchanged text returned %v", got)
	}
	press(s, "x")
	if cmd := s.Leave(); cmd != nil || s.question == nil || !strings.Contains(s.question.Body, "w.yaml") || !s.Typing() {
		t.Fatalf("question after leaving a changed text: %v", s.question)
	}
	if sent := press(s, "enter"); len(sent) > 0 || s.question != nil {
		t.Errorf("stay returned %v", sent)
	}
	s.Leave()
	sent := press(s, "3")
	if len(sent) != 1 || sent[0] != (ui.Back{}) || len(d.unsaved) > 0 || d.files["/w.yaml"] != testWorkload {
		t.Errorf("discard returned %v, backups %v", sent, d.unsaved)
	}
	s.Leave()
	sent = press(s, "ctrl+s")
	if len(sent) != 1 || sent[0] != (ui.Back{}) || !strings.Contains(d.files["/w.yaml"], "xphase") {
		t.Errorf("save returned %v, file %q", sent, d.files["/w.yaml"])
	}
}

// Submit saves first, and does nothing while there are errors.
func TestSubmit(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, testWorkload)
	if sent := press(s, "ctrl+r"); len(sent) != 1 || sent[0].(ui.Toast).Role != ui.Warn {
		t.Fatalf("with errors: %v", sent)
	}
	good := strings.NewReplacer("1548.0", "1549.0", "/TODO/", "/scratch/").Replace(testWorkload)
	s, d := open(t, testRecipe, good)
	sent := press(s, "down", "end", "0", "ctrl+r")
	if len(sent) != 1 || sent[0] != (ui.OpenSubmit{Recipe: "/r.yaml", Workload: "/w.yaml"}) {
		t.Errorf("sent %v", sent)
	}
	if !strings.Contains(d.files["/w.yaml"], "240.00") {
		t.Error("submitted without a save")
	}
}

func TestFindWorkload(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/scratch/w.yaml", "/here/w.yaml", "/here/r.workload.yaml"} {
		d := &fakeEngine{files: map[string]string{"/here/r.yaml": testRecipe, path: testWorkload}}
		s := New(d, ui.NewTheme(true), "/here/r.yaml", "")
		s.SetSize(80, 20)
		drive(s, s.Init())
		if s.texts.docs[workload].path != path || !s.texts.docs[workload].loaded {
			t.Errorf("%s not found: %q %v", path, s.texts.docs[workload].path, s.texts.docs[workload].err)
		}
		s.Close()
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, testWorkload)
	if st := s.State(); st.Text != "2 errors 1 warning" || st.Role != ui.Bad {
		t.Errorf("state %v", st)
	}
	press(s, "ctrl+n") // the cursor starts on the first
	if got := s.texts.docs[workload].text.Cursor().Line + 1; got != 11 {
		t.Errorf("the second problem is on line %d", got)
	}
	press(s, "esc", "up", "enter")
	if got := s.texts.docs[workload].text.Cursor().Line + 1; got != 7 || s.focus != onText {
		t.Errorf("enter in the list goes to line %d", got)
	}
}

// The key f fixes a finding that has an edit.
func TestFixFinding(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, testWorkload)
	if sent := press(s, "esc", "f"); len(sent) != 1 {
		t.Errorf("a finding without an edit: %v", sent)
	}
	press(s, "down", "down", "f")
	if got := textOf(s, recipe); got != strings.Replace(testRecipe, "dsv4-5p1d-c1010", "dsv4", 1) {
		t.Errorf("fixed to\n%s", got)
	}
	if st := s.State(); st.Text != "2 errors" {
		t.Errorf("state %v", st)
	}
}

func TestFailedCheckIsShown(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	d.fail = errors.New("cluster file: permission denied")
	press(s, "x")
	if st := s.State(); st.Role != ui.Bad || st.Text != "not checked" {
		t.Errorf("state %v", st)
	}
}
