package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/recipes"
)

// A text of the recipe that looks like a placeholder is no placeholder, wherever it is: the plan, its JSON
// and the bound plan have it as it is written.
func TestTextsAreNoPlaceholders(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{job_id}", "{node:0}", "{node:99}", "{ip:1}", "{log_dir}/x", "{run_dir}", "{bin}", "{port:frontend_0}", "{{job_id}}",
		"{{{node:0}}}", "a{job_id}b{{log_dir}}c", "{", "{{", "}}", "{job_id", "{node:}", "{other}",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			r := strings.NewReplacer(
				`name: it's a "demo"`, fmt.Sprintf("name: %q", text),
				`SHARED: "global"`, fmt.Sprintf(`ALL: %q`, text),
				`DYN_LOG: "info"`, fmt.Sprintf(`ROLE: %q`, text),
				"no-router-kv-events: true", fmt.Sprintf("text: %q", text),
				"{HOME: /tmp}", fmt.Sprintf("{FRONTEND: %q}", text),
				`"--seed 100"`, fmt.Sprintf("%q", text), "/shared/ap:/ap:ro", "/shared/{job_id}:/ap/{log_dir}",
				`"two words"`, fmt.Sprintf("%q", text),
				"/m/my-model", `"/m/{job_id}"`,
			).Replace(recipe)
			p := build(t, request(t, r+fmt.Sprintf("srun_options: {comment: %q}\n", text), Slurm))
			data, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			var read Plan
			if err := json.Unmarshal(data, &read); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(read.Placeholders(), p.Placeholders()); diff != "" || len(p.Placeholders()) != 8 {
				t.Errorf("placeholders %v\n%s", p.Placeholders(), diff)
			}
			bound := read.Bind(allocation)
			if left := bound.Placeholders(); len(left) > 0 {
				t.Errorf("still unbound: %v", left)
			}
			for what, p := range map[string]*Plan{"unbound": &read, "bound": bound} {
				wantTexts(t, what, p, text)
			}
			if s := step(t, bound, "decode_0"); s.Log != "c_decode_w0.out" || s.Launch[2] != "7" ||
				!strings.Contains(strings.Join(s.Launch, " "), "/run/logs:/logs,") {
				t.Errorf("bound decode %+v", s)
			}
		})
	}
}

// wantTexts checks that the values of a recipe are in a plan as they are written.
func wantTexts(t *testing.T, what string, p *Plan, text string) {
	t.Helper()
	values := map[string]string{}
	for _, s := range p.Steps {
		for _, v := range s.Env {
			values[s.Name+" "+v.Name] = v.Value
		}
		launch := strings.Join(s.Launch, "\x01")
		for _, word := range []string{"\x01--comment=" + text + "\x01", "/shared/{job_id}:/ap/{log_dir},"} {
			if !strings.Contains(launch, word) {
				t.Errorf("%s %s: no %q in %q", what, s.Name, word, s.Launch)
			}
		}
	}
	for name, value := range values {
		if strings.HasSuffix(name, " ALL") && value != text {
			t.Errorf("%s: %s=%s", what, name, value)
		}
	}
	for name, want := range map[string]string{
		"prefill_0 ROLE": text, "frontend_0 FRONTEND": text, "client AGENTPERF_EXTRA_ARGS": text, "decode_0 ALL": text,
	} {
		if got := values[name]; got != want {
			t.Errorf("%s: %s is %q, want %q", what, name, got, want)
		}
	}
	argv := step(t, p, "frontend_0").Argv
	if argv[len(argv)-1] != text {
		t.Errorf("%s frontend: %q", what, argv)
	}
	for _, directive := range []string{"--job-name=" + quote(text), "--comment=" + quote(text)} {
		if !strings.Contains(p.Script, "#SBATCH "+directive+"\n") {
			t.Errorf("%s: no %s in\n%s", what, directive, p.Script)
		}
	}
	if p.Name != text || p.Mounts[1].Host != "/m/{job_id}" || p.Model != "{job_id}" {
		t.Errorf("%s: name %q, mounts %+v", what, p.Name, p.Mounts)
	}
}

// The templates of srtctl in container_mounts are values of the plan; its other texts stay as they are.
func TestTemplatesOfMounts(t *testing.T) {
	t.Parallel()
	r := strings.Replace(recipe, `{"{log_dir}/x": "/x"}`, `{"{log_dir}/{job_id}": "/x/{run_name}/{head_node_ip}"}`, 1)
	r = strings.Replace(r, `SHARED: "global"`, `ALL: "{{job_id}}{job_id}"`, 1)
	p := build(t, request(t, r, Slurm))
	last := p.Mounts[len(p.Mounts)-1]
	if last.Host != "{{{log_dir}}}/{{{job_id}}}" || p.Braces != 3 {
		t.Errorf("%d braces, mount %+v", p.Braces, last)
	}
	bound := p.Bind(allocation)
	last = bound.Mounts[len(bound.Mounts)-1]
	if last.Host != "/run/logs/7" || last.Container != `/x/it's a "demo"_7/10.0.0.1` {
		t.Errorf("bound: %+v", last)
	}
}

// A plan can be bound in parts, also with values that look like placeholders.
func TestBindInParts(t *testing.T) {
	t.Parallel()
	p := build(t, request(t, recipe, Slurm))
	dir := "/out/{job_id}/{{node:0}}"
	some := Values{LogDir: dir, RunDir: dir}
	rest := Values{}
	for k, v := range allocation {
		if _, ok := some[k]; !ok {
			rest[k] = v
		}
	}
	for _, parts := range [][]Values{{some, rest}, {rest, some}} {
		b := p
		for _, values := range parts {
			b = b.Bind(values)
		}
		if left := b.Placeholders(); len(left) > 0 || b.Mounts[0].Host != dir {
			t.Errorf("unbound %v, mount %+v", left, b.Mounts[0])
		}
	}
}

// A plan of an earlier version has no number of braces.
func TestBindEarlierPlan(t *testing.T) {
	t.Parallel()
	var p Plan
	if err := json.Unmarshal([]byte(`{"steps": [{"argv": ["{job_id}", "{port:frontend_0}", "{x}"]}]}`), &p); err != nil {
		t.Fatal(err)
	}
	got := p.Bind(Values{JobID: "7", StepPort("frontend_0"): "80"}).Steps[0].Argv
	if diff := cmp.Diff([]string{"7", "80", "{x}"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestNoNUL(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`SHARED: "\0job_id\0"`, `"\0job_id\0": x`} {
		_, found := recipes.ParseRecipe("r.yaml", []byte(strings.Replace(recipe, `SHARED: "global"`, text, 1)))
		if found.Errors() == 0 || found[0].Rule != "yaml" {
			t.Errorf("%s: %v", text, found)
		}
	}
}

// Any text stays as it is, also beside placeholders, and the plan is bound completely.
func FuzzBind(f *testing.F) {
	for _, text := range []string{
		"", "{", "}", "{job_id}", "{{job_id}}", "job_id", "{{{node:0}", "{port:{bin}}", "{job_id}{",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, mark) {
			return
		}
		id := JobID.text()
		p := (&Plan{Steps: []Step{{Argv: []string{text, id, text + id, id + text, text + id + text}}}}).spell()
		got := p.Bind(Values{JobID: text}).Steps[0].Argv
		want := []string{text, text, text + text, text + text, text + text + text}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q with %d braces: %s", p.Steps[0].Argv, p.Braces, diff)
		}
		if left := p.Placeholders(); len(left) != 1 || left[0] != JobID {
			t.Errorf("%q: placeholders %v", p.Steps[0].Argv, left)
		}
	})
}
