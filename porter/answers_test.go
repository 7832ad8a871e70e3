package porter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
)

// answerCase ports the small run with answers.
type answerCase struct {
	name    string
	files   map[string]string
	answers string            // as in an answers file
	given   []Answer          // more answers
	want    map[string]string // canonical path to "class value"; "-" means there is none
	open    []string          // IDs that stay open
	closed  []string
	err     string
}

func (c answerCase) run(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "answers.yaml")
	if err := os.WriteFile(path, []byte(c.answers), 0o644); err != nil {
		t.Fatal(err)
	}
	given, err := LoadAnswers(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	given = append(given, c.given...)
	files := smallRun()
	for name, text := range c.files {
		if text == "" {
			delete(files, name)
		} else {
			files[name] = text
		}
	}
	dir := lay(t, files)
	for _, schema := range []int{1, 2} {
		r, err := Port(t.Context(), dir, Options{Schema: schema, Answers: given})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkRows(t, dir, r)
		got := map[string]string{}
		for _, f := range r.Fields {
			got[f.Path] = string(f.Class) + " " + f.Value
		}
		for path, want := range c.want {
			if have, there := got[path]; want == "-" && there || want != "-" && have != want {
				t.Errorf("schema %d: %s = %q, want %q", schema, path, have, want)
			}
		}
		for _, id := range append(slices.Clone(c.open), c.closed...) {
			isOpen := slices.ContainsFunc(r.Todos, func(t Todo) bool { return t.ID == id })
			isClosed := slices.ContainsFunc(r.Answered, func(t Todo) bool { return t.ID == id })
			if isOpen == isClosed || isOpen != slices.Contains(c.open, id) {
				t.Errorf("schema %d: %s is open %v, answered %v", schema, id, isOpen, isClosed)
			}
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const prefillEnv, prefillArgs = "backend.prefill_environment", "backend.trtllm_config.prefill"
	for _, c := range []answerCase{
		{
			name: "a value, an accepted value, and a placeholder that can't be accepted",
			answers: "workload:trajectory_path: /data/t.jsonl\nrecipe:resources.gpu_type: {accepted: " +
				"true}\nworkload:user_assignments_path: {accepted: true}\n" +
				"recipe:benchmark.agentperf_client_dir#readable: {accepted: true}\n",
			want: map[string]string{
				"trajectory_path": "copied /data/t.jsonl", "resources.gpu_type": "copied gb300",
				"user_assignments_path":          "todo /TODO/users.json",
				"benchmark.agentperf_client_dir": "translated /scratch/client",
			},
			open: []string{"workload:user_assignments_path", "recipe:benchmark.client_placement"},
			closed: []string{
				"workload:trajectory_path", "recipe:resources.gpu_type", "recipe:benchmark.agentperf_client_dir#readable",
			},
		},
		{
			name: "text fields, fields without a question, JSON",
			answers: `{"recipe:resources.gpu_type": 300, "recipe:` + prefillEnv + `.A": 2, "recipe:` + prefillEnv + `.NEW": true,
				"workload:seed": 9, "workload:user_spawn_rate": 2.5, "recipe:` + prefillArgs + `.\"k.l\".m": [1, 2],
				"workload:reasoning_effort": null, "recipe:frontend.args.router-mode": "round-robin"}`,
			want: map[string]string{
				"resources.gpu_type": `copied "300"`, prefillEnv + ".A": `copied "2"`, prefillEnv +
					".NEW": `copied "true"`, "seed": "copied 9", "user_spawn_rate": "copied 2.5",
				prefillArgs + `."k.l".m`: "copied [1, 2]", "reasoning_effort": "copied null",
				"frontend.args.router-mode": `copied "round-robin"`,
			},
			closed: []string{"recipe:resources.gpu_type"},
		},
		{
			name: "no job.log: sizes and complete environments", files: map[string]string{
				harness.JobLog: "", harness.CTXConfig: "",
			},
			answers: "recipe:resources.prefill_workers: 2\nrecipe:resources.prefill_nodes: 1\nrecipe:" + prefillEnv +
				": {value: {A: 1, B: x}}\nrecipe:" + prefillArgs + ": {value: {a: {b: 1}, c: []}}\n",
			want: map[string]string{
				"resources.prefill_workers": "copied 2", "resources.prefill_nodes": "copied 1", prefillEnv +
					".A": `copied "1"`, prefillEnv + ".B": `copied "x"`, prefillEnv + ".DYN_LOG": `default "info"`,
				prefillArgs + ".a.b": "copied 1", prefillArgs + ".c": "copied []", prefillArgs: "-",
			},
			open: []string{
				"recipe:resources.decode_workers", "recipe:resources.decode_nodes", "recipe:backend.decode_environment",
			},
			closed: []string{
				"recipe:resources.prefill_workers", "recipe:resources.prefill_nodes", "recipe:" + prefillEnv,
				"recipe:" + prefillArgs,
			},
		},
		{
			name: "text that is not YAML", answers: "\"recipe:model.path\": {value: \"x\"}\n",
			given: []Answer{{ID: "recipe:model.path", Value: "@home: /m"}, {ID: "recipe:" + prefillEnv + ".A", Value: "%x"}},
			want:  map[string]string{"model.path": `copied "@home: /m"`, prefillEnv + ".A": `copied "%x"`},
		},
		{
			name: "several levels", answers: "recipe:benchmark.concurrency: [64, 128]\n",
			want: map[string]string{
				"benchmark.concurrencies": "copied [64, 128]", "benchmark.concurrency": "-", "concurrencies": "copied [64, 128]",
			},
		},
		{
			name: "workers that differ, with an answer", files: map[string]string{
				harness.JobLog: jobLog(
					frontendLine("n1", ""), workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"),
					workerLine("CTX", 1, "-w n3 -N 1 -n 4", "A=2"), workerLine("GEN", 0, "-w n2 -N 1 -n 4", "A=1"),
				),
			},
			answers: "recipe:" + prefillEnv + ".A#differs: \"2\"\nworkload:nothing#like: {accepted: true}\n",
			want:    map[string]string{prefillEnv + ".A": `copied "2"`}, closed: []string{"recipe:" + prefillEnv + ".A#differs"},
			open: []string{"run#answer workload:nothing%23like"},
		},
		{
			name:    "not YAML, for a number",
			answers: "workload:seed: 1\n",
			given:   []Answer{{ID: "recipe:resources.gpus_per_node", Value: "["}},
			err:     `answer recipe:resources.gpus_per_node: "[" is not a YAML value`,
		},
		{
			name:    "not a time",
			answers: "recipe:slurm.time_limit: not a time\n",
			err:     "answer recipe:slurm.time_limit: invalid value not a time; must be a Slurm time, HH:MM:SS",
		},
		{
			name:    "not a number",
			answers: "recipe:resources.gpus_per_node: four\n",
			err:     "answer recipe:resources.gpus_per_node: invalid value four; must be of type int",
		},
		{
			name:    "not an enumerated value",
			answers: "recipe:dynamo.request_plane: carrier-pigeon\n",
			err:     "must be one of nats, tcp, http",
		},
		{name: "no such field", answers: "recipe:model.weight: 3\n", err: "no such field"},
		{
			name: "a list for a mapping", answers: "recipe:frontend.env: [A]\n",
			err: "must be of type map of strings",
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestLoadAnswersInvalid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]string{
		"a: {b: 1}\n": ":1: a: must be a value, {value: …} or {accepted: true}", "a: {accepted: maybe}\n": "must be a value",
		"- a\n": "the top level must be a mapping", "": "file is empty", "a: [\n": "line",
	} {
		path := filepath.Join(dir, "a.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadAnswers(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := LoadAnswers(t.Context(), filepath.Join(dir, "none")); err == nil {
		t.Error("no error for a missing file")
	}
}

// Answers are applied again when a run is ported again with --force.
func TestAnswersAreAppliedAgain(t *testing.T) {
	t.Parallel()
	dir, out := lay(t, smallRun()), t.TempDir()
	recipe, workload := filepath.Join(out, "r.yaml"), filepath.Join(out, "w.yaml")
	write := func(answers ...Answer) *Result {
		t.Helper()
		r := port(t, dir, Options{RecipeOut: recipe, WorkloadOut: workload, Answers: answers})
		if _, err := r.Write(recipe, workload, true); err != nil {
			t.Fatal(err)
		}
		return r
	}
	write(
		Answer{ID: "workload:trajectory_path", Value: "/data/a.jsonl"},
		Answer{ID: "recipe:resources.gpu_type", Accepted: true},
		Answer{ID: "workload:gone", Value: "1"},
	)
	r := write(Answer{ID: "workload:trajectory_path#candidates", Value: "/data/b.jsonl"})
	want := []Answer{
		{ID: "recipe:resources.gpu_type", Accepted: true},
		{ID: "workload:gone", Value: "1"},
		{ID: "workload:trajectory_path#candidates", Value: "/data/b.jsonl"},
	}
	if diff := cmp.Diff(want, r.Answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if text := workloadText(t, r); !strings.Contains(text, "trajectory_path: /data/b.jsonl\n") {
		t.Errorf("workload:\n%s", text)
	}
	stored, err := LoadProvenance(ProvenancePath(recipe))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, stored.Answers); diff != "" {
		t.Errorf("stored answers (-want +got):\n%s", diff)
	}
	back, err := parseAnswers(
		"a.yaml",
		[]byte("workload:trajectory_path#candidates: {accepted: false}\nrecipe:resources.gpu_type: {accepted: false}\n"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if r = write(back...); len(r.Answers) != 1 || !slices.Contains(mustFixIDs(r), "workload:trajectory_path") {
		t.Errorf("after taking answers back: %+v, open %v", r.Answers, mustFixIDs(r))
	}
	if err := os.WriteFile(ProvenancePath(recipe), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Port(t.Context(), dir, Options{RecipeOut: recipe}); err == nil ||
		!strings.Contains(err.Error(), "its answers are then lost") {
		t.Errorf("a broken report: %v", err)
	}
}

func TestQuestionIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file        File
		path, topic string
		want        string
	}{
		{Recipe, "model.path", "", "recipe:model.path"},
		{Workload, "seed", "banner", "workload:seed#banner"},
		{"", "", "job.log:3", "run#job.log:3"},
		{Recipe, `backend.trtllm_config.prefill."a#b.c"`, "x#y", `recipe:backend.trtllm_config.prefill."a%23b.c"#x%23y`},
	} {
		id := questionID(c.file, c.path, c.topic)
		f, path := questionField(id)
		if c.path == "" {
			f = ""
		}
		if id != c.want || f != c.file || path != c.path {
			t.Errorf("%+v: %q, back %q %q", c, id, f, path)
		}
	}
	for path, want := range map[string]string{"a.b": "a|b", `"a.b".c`: "a.b|c", `a."b c"`: "a|b c", "": "", `""`: ""} {
		var got []string
		for _, k := range splitKeys(path) {
			got = append(got, k.Value)
		}
		if strings.Join(got, "|") != want || yamldoc.Join("", splitKeys(path)) != path {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestEveryPlaceholderHasAQuestion(t *testing.T) {
	t.Parallel()
	for _, drop := range append(slices.Clone(harness.ArtifactNames), "nothing") {
		files := smallRun()
		delete(files, drop)
		if drop == harness.Results {
			delete(files, "agentperf/m__64u__phase0__dur600s__settle60s__traj3.json")
		}
		r := port(t, lay(t, files), Options{})
		ids := map[string]bool{}
		for _, td := range r.Todos {
			if ids[td.ID] || td.ID == "" {
				t.Errorf("without %s: ID %q twice", drop, td.ID)
			}
			ids[td.ID] = true
		}
		for _, f := range r.Fields {
			if f.Class == Missing && !ids[questionID(f.File, f.Path, "")] {
				t.Errorf("without %s: %s is a placeholder without a question", drop, f.Path)
			}
		}
	}
}

func TestDiffProvenance(t *testing.T) {
	t.Parallel()
	dir := lay(t, smallRun())
	one := port(t, dir, Options{Schema: 1}).provenance()
	two := port(t, dir, Options{}).provenance()
	if d := DiffProvenance(one, two); d.Identical != d.Total-2 || len(d.Differences) != 2 ||
		d.Differences[0].Row != "recipe:infra.etcd_nats_dedicated_node" ||
		d.Differences[1].Row != "recipe:schema" {
		t.Errorf("two layouts of one run: %+v", d)
	}
	files := smallRun()
	files[harness.JobLog] = strings.Replace(
		strings.Replace(files[harness.JobLog], "A=1", "A=2", 1),
		"HOME=/home/u ",
		"PATH=/bin ",
		1,
	)
	files[harness.ClientLog] = strings.Replace(files[harness.ClientLog], "Seed: 7", "Seed: 8", 1)
	other := port(
		t,
		lay(t, files),
		Options{Answers: []Answer{{ID: "recipe:resources.gpu_type", Value: "gb200"}}},
	).provenance()
	d := DiffProvenance(two, other)
	var got []string
	for _, x := range d.Differences {
		got = append(got, x.Row+": "+strings.Join(x.What, " "))
	}
	want := []string{
		"recipe:resources.gpu_type: value class rule why evidence", "recipe:backend.prefill_environment.A: value evidence",
		"workload:seed: value evidence",
		"dropped backend.prefill_environment HOME: ", "dropped backend.prefill_environment PATH: ",
		"question recipe:resources.gpu_type: ", "answer recipe:resources.gpu_type: ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	text := d.Text("a.json", "b.json")
	for _, line := range []string{
		"workload:seed: value, evidence\n  - a.json: copied 7 <- client.log:10 Seed\n  - b.json: copied 8 <- " +
			"client.log:10 Seed\n",
		"answer recipe:resources.gpu_type\n  - a.json: absent\n  - b.json: gb200\n",
		"question recipe:resources.gpu_type\n  - a.json: confirm guessed",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("text does not contain %q:\n%s", line, text)
		}
	}
	if out, err := json.Marshal(d); err != nil ||
		!strings.Contains(string(out), `"row":"workload:seed","what":["value","evidence"],"a":{"file":"workload"`) {
		t.Errorf("JSON: %v %s", err, out)
	}
}

func TestLoadProvenance(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p.json")
	for text, want := range map[string]string{
		"x": "is not a port report", `{"version": 99}`: "has version 99, but this program reads version 1",
		"": "is not a port report",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadProvenance(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	r := port(t, lay(t, smallRun()), Options{})
	text, err := r.ProvenanceJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	back, err := LoadProvenance(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := DiffProvenance(r.provenance(), back); d.Identical != d.Total || d.Total < 60 {
		t.Errorf("what is read differs from what was written: %+v", d)
	}
	if back.Texts[Recipe] != recipeText(t, r) || back.Texts[Workload] != workloadText(t, r) {
		t.Errorf("the files as written are not in the report: %q", back.Texts)
	}
}

// How long the job may take is asked where the default is too short, and written so
// that YAML 1.1 readers take it for text.
func TestTimeLimitQuestion(t *testing.T) {
	t.Parallel()
	r := port(t, sampleDir, Options{})
	i := slices.IndexFunc(r.Todos, func(t Todo) bool { return t.ID == "recipe:slurm.time_limit" })
	if i < 0 || r.Todos[i].Kind != Confirm || r.Todos[i].Candidates[0].Value != "01:45:00" {
		t.Fatalf("questions\n%s", strings.Join(todoLines(r), "\n"))
	}
	given := port(t, sampleDir, Options{Answers: []Answer{{ID: r.Todos[i].ID, Value: "12:00:00"}}})
	if text := recipeText(t, given); !strings.Contains(text, `time_limit: "12:00:00"`) ||
		given.CountOpen(Confirm) != r.CountOpen(Confirm)-1 {
		t.Errorf("recipe\n%s", text)
	}
	accepted := port(t, sampleDir, Options{Answers: []Answer{{ID: r.Todos[i].ID, Accepted: true}}})
	if strings.Contains(recipeText(t, accepted), "time_limit") || len(accepted.Answered) != 1 {
		t.Error("accepted, and written all the same")
	}
}
