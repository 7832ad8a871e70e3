package porter

import (
	"context"
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func FuzzLaunchLine(f *testing.F) {
	f.Add(frontendLine("gb[01-03]", ",A=b,c"))
	f.Add(workerLine("CTX", 1, "--nodelist <n0> -N2 -n=8", `A="x y" B=`))
	f.Add("Executing: srun bash start_worker_dynamo.sh GEN 0 'A=1")
	f.Add("Executing: srun $((1+")
	f.Fuzz(func(t *testing.T, line string) {
		ls, _, err := readLaunches(t.Context(), strings.NewReader(line), "job.log", nil)
		if err != nil {
			t.Fatal(err)
		}
		for r, ws := range ls.workers {
			for _, w := range ws {
				if w.role != r || w.index < 0 || w.starts < 1 {
					t.Errorf("launch %+v", w)
				}
				for _, v := range w.environment() {
					checkColumn(t, w.text, v.at)
				}
			}
		}
	})
}

func checkColumn(t *testing.T, line string, ev Evidence) {
	if ev.Column > 0 && !strings.HasPrefix(line[ev.Column-1:], ev.Raw) {
		t.Errorf("column %d of %q does not read %q", ev.Column, line, ev.Raw)
	}
}

func FuzzEnvList(f *testing.F) {
	f.Add("A=1 B='x y' C=\"z\" D=")
	f.Add(`J={"a": 1} K=v w`)
	f.Fuzz(func(t *testing.T, s string) {
		vars, ok := splitEnvList(s)
		if ok != (len(vars) > 0) {
			t.Errorf("%q: ok %v with %d variables", s, ok, len(vars))
		}
		for _, v := range vars {
			if !strings.HasPrefix(s[v.offset:], v.raw) || nameLen(v.name) != len(v.name) || v.name == "" {
				t.Errorf("%q: variable %+v", s, v)
			}
		}
	})
}

func FuzzExport(f *testing.F) {
	f.Add("ALL,A=1,b,PATH,C=x=y,D=")
	f.Add(`A="x,y",B`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, e := range splitExport(s) {
			if !strings.HasPrefix(s[e.offset:], e.raw) || e.name == "" {
				t.Errorf("%q: entry %+v", s, e)
			}
		}
	})
}

func FuzzHosts(f *testing.F) {
	f.Add("gb[01-03,07],x9")
	f.Add("a[1-2]b[3-4]")
	f.Fuzz(func(t *testing.T, s string) {
		hosts, err := expandHosts(s)
		if err != nil && hosts != nil || len(hosts) > 2*maxHosts {
			t.Errorf("%q: %d hosts, %v", s, len(hosts), err)
		}
		for _, h := range hosts {
			if h == "" || strings.ContainsAny(h, "[],") {
				t.Errorf("%q: host %q", s, h)
			}
		}
	})
}

func FuzzBanner(f *testing.F) {
	f.Add(smallBanner)
	f.Add("12: \x1b[1m  Seed:\x1b[0m 3\r\n  Seed: 4\nRunning 1 phase(s)")
	f.Fuzz(func(t *testing.T, s string) {
		all, lines, err := readBanners(t.Context(), strings.NewReader(s), "client.log")
		if err != nil || lines > strings.Count(s, "\n")+1 {
			t.Errorf("%d lines, %v", lines, err)
		}
		for _, b := range all {
			if len(b.values) == 0 || b.first < 1 || b.last < b.first {
				t.Errorf("banner %+v", b)
			}
		}
	})
}

func FuzzEnvFile(f *testing.F) {
	f.Add("A=1\nexport B=\"x y\" # c\nC='z'\nD=(1 2)\n")
	f.Add("A=$(x\n")
	f.Add("|Q\xd5\n+=\xdae[w")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := readEnvFile(t.Context(), strings.NewReader(s), "e")
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range p.vars {
			if name == "" || v.at.Line < 1 || v.at.Line > p.lines {
				t.Errorf("%q: %q at %+v", s, name, v.at)
			}
		}
	})
}

func FuzzClientCommand(f *testing.F) {
	f.Add("srun <x> bash -c 'cd /a; uv run python agentperf/run.py --config c --no-eval'")
	f.Fuzz(func(t *testing.T, s string) {
		cc, err := readClientCommand(strings.NewReader(s), "c.sh")
		if err != nil {
			t.Fatal(err)
		}
		if cc.checkout.value != "" && !cc.found {
			t.Errorf("%q: %+v", s, cc)
		}
	})
}

func FuzzEngineYAML(f *testing.F) {
	f.Add("a: &x {b: 1}\nc: *x\nd: {<<: *x}\ne: [1, on]\n")
	f.Add("a: &a [*a]\n")
	f.Add("? {a: b}\n: c\n")
	f.Add("a: !!binary \"\\xff\"\nb: !own x\nc: !!int y\n")
	for _, name := range []string{nameCTX, nameGEN} {
		data, err := os.ReadFile(sampleDir + "/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, s string) {
		doc, err := readYAML(strings.NewReader(s))
		if err != nil {
			return
		}
		r := &Result{Schema: 2}
		b := &builder{res: r, table: newLayout(2).table, rewrites: defaultRewrites, asked: map[string]string{}, engines: map[role]*yamlDoc{prefill: doc}}
		b.opt.Schema = 2
		b.engineConfig(prefill)
		text, err := r.RecipeYAML()
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
	for _, name := range []string{nameParams, nameCTX, nameCommand, nameClient, nameJob, nameConfig} {
		f.Add(name, smallRun()[name])
	}
	f.Add(nameConfig, "seed: [1]\ntrajectory_path: 3\n? a\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		files := smallRun()
		if _, known := files[name]; !known && name != nameConfig {
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
	f.Add(`{"recipe:backend.trtllm_config.prefill.\"a.b\"": {"value": {"c": [1, null]}}, "recipe:frontend.env": {"value": {"A": 1}}}`)
	f.Add("recipe:srun_options#--gres: {value: {a: b}}\nrecipe:benchmark.concurrency: [1, x]\nworkload:a#b: &x [*x]\n")
	dir := lay(f, smallRun())
	f.Fuzz(func(t *testing.T, s string) {
		given, err := parseAnswers("a.yaml", []byte(s))
		if err != nil {
			return
		}
		r, err := Port(t.Context(), dir, Options{Answers: given})
		if err != nil {
			return // an answer that does not fit
		}
		if bad := r.Proof.Unexplained(); len(bad) > 0 {
			t.Errorf("%q: unexplained %q", s, bad)
		}
		again, err := Port(t.Context(), dir, Options{Answers: r.Answers})
		if err != nil {
			t.Fatalf("%q: kept answers are refused: %v", s, err)
		}
		if recipeText(t, r) != recipeText(t, again) || workloadText(t, r) != workloadText(t, again) {
			t.Errorf("%q: kept answers give other files", s)
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
		p, err := parseProvenance("p.json", []byte(s))
		if err != nil {
			return
		}
		d := DiffProvenance(p, p)
		if d.Text("a", "b") == "" || d.Identical > d.Total {
			t.Errorf("%q: %+v", s, d)
		}
		DiffProvenance(p, r.Provenance())
		for _, td := range p.Todos {
			p.editedSince(td, map[File]map[string]any{Recipe: {"a": 1}})
		}
	})
}
