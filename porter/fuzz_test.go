package porter

import (
	"context"
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func FuzzEngineYAML(f *testing.F) {
	f.Add("a: &x {b: 1}\nc: *x\nd: {<<: *x}\ne: [1, on]\n")
	f.Add("a: &a [*a]\n")
	f.Add("? {a: b}\n: c\n")
	f.Add("a: !!binary \"\\xff\"\nb: !own x\nc: !!int y\n")
	for _, name := range []string{harness.CTXConfig, harness.GENConfig} {
		data, err := os.ReadFile(sampleDir + "/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, s string) {
		doc, err := yamldoc.Read(strings.NewReader(s))
		if err != nil {
			return
		}
		p := &porting{&input{run: &harness.Run{}, rewrites: rules.DefaultRewrites}, newDraft(2, answers{})}
		config := &harness.Config{Doc: doc, Artifact: harness.CTXConfig}
		p.run.EngineFiles = map[schema.Role][]harness.EngineFile{
			schema.Prefill: {{Artifact: harness.CTXConfig, Config: config}},
		}
		p.engineConfig(schema.Prefill)
		text, err := p.res.RecipeYAML()
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		var back yaml.Node
		if err := yaml.Unmarshal(text, &back); err != nil {
			t.Fatalf("%q gives\n%s: %v", s, text, err)
		}
	})
}

func FuzzPort(f *testing.F) {
	for _, name := range []string{
		harness.JobParams, harness.CTXConfig, harness.ClientScript, harness.ClientLog, harness.JobLog, harness.ClientConfig,
	} {
		f.Add(name, smallRun()[name])
	}
	f.Add(harness.JobLog, "Executing:srun  - A= start_worker GEN\n")
	f.Add(harness.JobLog, "Executing:srun start_worker CTX 0 ''\n")
	f.Add(harness.ClientConfig, "seed: [1]\ntrajectory_path: 3\n? a\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		files := smallRun()
		if _, known := files[name]; !known && name != harness.ClientConfig {
			return
		}
		files[name] = text
		dir := lay(t, files)
		r, err := Port(context.Background(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if bad := r.Proof.Unexplained(); len(bad) > 0 {
			t.Errorf("%s %q: unexplained %q", name, text, bad)
		}
		if _, err := r.ProvenanceJSON(); err != nil {
			t.Error(err)
		}
		r.ProvenanceText()
		for _, render := range []func() ([]byte, error){r.RecipeYAML, r.WorkloadYAML} {
			out, err := render()
			if err != nil {
				t.Errorf("%s %q: %v", name, text, err)
				continue
			}
			var back yaml.Node
			if err := yaml.Unmarshal(out, &back); err != nil {
				t.Errorf("%s %q gives\n%s: %v", name, text, out, err)
			}
		}
	})
}

func FuzzAnswers(f *testing.F) {
	f.Add("recipe:model.path: /m\nworkload:seed: {value: 3}\nrecipe:resources.gpu_type: {accepted: true}\n")
	f.Add(
		`{"recipe:backend.trtllm_config.prefill.\"a.b\"": {"value": {"c": [1, null]}}, ` +
			`"recipe:frontend.env": {"value": {"A": 1}}}`,
	)
	f.Add("recipe:srun_options#--gres: {value: {a: b}}\nrecipe:benchmark.concurrency: [1, x]\nworkload:a#b: &x [*x]\n")
	dir := lay(f, smallRun())
	f.Fuzz(func(t *testing.T, s string) {
		given, err := parseAnswers("a.yaml", []byte(s))
		if err != nil {
			return
		}
		r, err := Port(t.Context(), dir, Options{Answers: given})
		if err != nil {
			return // an invalid answer
		}
		if bad := r.Proof.Unexplained(); len(bad) > 0 {
			t.Errorf("%q: unexplained %q", s, bad)
		}
		again, err := Port(t.Context(), dir, Options{Answers: r.Answers})
		if err != nil {
			t.Fatalf("%q: stored answers are invalid: %v", s, err)
		}
		if recipeText(t, r) != recipeText(t, again) || workloadText(t, r) != workloadText(t, again) {
			t.Errorf("%q: stored answers give other files", s)
		}
	})
}

func FuzzProvenance(f *testing.F) {
	r := port(f, lay(f, smallRun()), Options{})
	text, err := r.ProvenanceJSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"version": 1, "fields": [{}], "todos": [{"id": "x"}], "answers": null}`)
	f.Fuzz(func(t *testing.T, s string) {
		var whole Provenance
		var part questions
		p := &whole
		if err := unmarshalReport("p.json", []byte(s), p, &p.Version); err != nil {
			return
		}
		if err := unmarshalReport("p.json", []byte(s), &part, &part.Version); err != nil {
			t.Errorf("%q can be read, but a part of it can't: %v", s, err)
		}
		d := DiffProvenance(p, p)
		if d.Text("a", "b") == "" || d.Identical > d.Total {
			t.Errorf("%q: %+v", s, d)
		}
		DiffProvenance(p, r.provenance())
		for _, td := range p.Todos {
			part.editedSince(td, map[File]map[string]any{Recipe: {"a": 1}})
		}
	})
}
