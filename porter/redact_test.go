package porter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// Secrets are written to the recipe, and hidden wherever the port shows something. Settings with similar names
// are not.
func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	files := smallRun()
	files[harness.GENConfig] += "store: {api_key: sesame15, url: 's3://u:sesame16@h/x'}\n"
	files[harness.ClientLog] = "0:   Base URL: http://u:sesame17@n1:8333/v1\n" + smallBanner
	const env = "PROXY=http://u:sesame18@h:1 WANDB_KEY=sesame1 GITHUB_PAT=ghp_sesame2 MAX_TOKENS=many " +
		"TLLM_DISAGG_GEN_PRIORITIZE_FIRST_TOKEN=1 " +
		"DYN_TOKENIZER=fast HF_TOKEN=0 X_CACHE_KEY=block"
	files[harness.JobParams] += "DYNAMO_JOB_ENV='OTHER_TOKEN=sesame3'\n"
	files[harness.JobLog] = jobLog(
		strings.Replace(frontendLine("n1", ",API_KEYS=sesame4,sesame4b"), "8333", "8333 --hf-token sesame5 "+
			"--router-mode sk-Sesame6", 1),
		"[server] Executing: login --password sk-Sesame7",
		workerLine("CTX", 0, "-w n1 -N 1 -n 4 --comment=sk-Sesame8", env),
		workerLine("CTX", 1, "-w n3 -N 1 -n 4", strings.Replace(env, "sesame1", "sesame9", 1)),
		workerLine("GEN", 0, "-w n2 -N 1 -n 4", env),
		strings.Replace(frontendLine("n1", ",ETCD_PASSWORD=sesame10"), "frontend n1 8333", "etcd n1 2379", 1),
	)
	files[harness.ClientScript] = "srun bash -c 'export CLIENT_SECRET=sesame11; cd /lustre/client; uv run python " +
		"agentperf/run.py --concurrencies 64 --api-key sk-Sesame12 --push http://u:sesame19@h --password=sesame20'\n"
	dir := lay(t, files)
	r := port(t, dir, Options{Answers: []Answer{{ID: "recipe:backend.decode_environment.NEW_TOKEN", Value: "sesame13"}}})
	const key = "recipe:backend.prefill_environment.WANDB_KEY"
	other := port(t, dir, Options{Answers: []Answer{{ID: key, Value: "sesame14"}}})
	diff := DiffProvenance(r.provenance(), other.provenance())
	rows, err := json.Marshal(diff)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := r.ShownJSON()
	if err != nil {
		t.Fatal(err)
	}
	proof, err := json.Marshal(r.Proof)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"report": r.ProvenanceText(), "report as JSON": string(shown), "proof": string(proof),
		"comparison": diff.Text("a", "b"), "comparison as JSON": string(rows),
	} {
		for line := range strings.Lines(text) {
			if strings.Contains(strings.ToLower(line), "sesame") {
				t.Errorf("%s shows a secret: %s", name, line)
			}
		}
		if !strings.Contains(text, secret.Hidden) {
			t.Errorf("%s does not say that something is hidden", name)
		}
	}
	report, recipe := r.ProvenanceText(), recipeText(t, r)
	for _, want := range []string{
		`TLLM_DISAGG_GEN_PRIORITIZE_FIRST_TOKEN: "1"`, `MAX_TOKENS: "many"`, `DYN_TOKENIZER: "fast"`, `HF_TOKEN: "0"`,
		`X_CACHE_KEY: "block"`, "api_key: dummy",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report hides %s", want)
		}
	}
	for _, want := range []string{
		"sesame1", "ghp_sesame2", "sesame4,sesame4b", "sesame5", "sesame11", "sk-Sesame12", "sesame13", "sesame15",
		"sesame16", "sesame18", "sesame19", "sesame20",
	} {
		if !strings.Contains(recipe, want) {
			t.Errorf("the recipe lost %s", want)
		}
	}
	if n := len(questionsAbout(r, "looks like a secret")); n != 9 {
		t.Errorf("%d questions about secrets, want one each about WANDB_KEY, GITHUB_PAT, API_KEYS, --hf-token, "+
			"CLIENT_SECRET, AGENTPERF_EXTRA_ARGS, PROXY, api_key and url", n)
	}
}

// TestFilesWithSecretsArePrivate shows that only the user can read a file with secrets, also one that others could
// read before.
func TestFilesWithSecretsArePrivate(t *testing.T) {
	t.Parallel()
	files := smallRun()
	plain := port(t, lay(t, files), Options{})
	files[harness.JobLog] = strings.Replace(files[harness.JobLog], "A=1", "A=1 HF_TOKEN=sesame1", 1)
	secrets := port(t, lay(t, files), Options{})
	const shared, private = 0o644, 0o600
	for _, c := range []struct {
		name  string
		r     *Result
		exist os.FileMode // mode of existing files; 0: they do not exist
		tree  bool
		want  []os.FileMode
	}{
		{"new", plain, 0, false, []os.FileMode{shared, shared, shared}},
		{"existing", plain, shared, false, []os.FileMode{shared, shared, shared}},
		{"existing and private", plain, private, false, []os.FileMode{private, private, private}},
		{"new directory", plain, 0, true, []os.FileMode{shared, shared, shared}},
		{"new with secrets", secrets, 0, false, []os.FileMode{private, shared, private}},
		{"existing with secrets", secrets, shared, false, []os.FileMode{private, shared, private}},
		{"new directory with secrets", secrets, 0, true, []os.FileMode{private, shared, private}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "port")
			in := func(name string) string { return filepath.Join(dir, name) }
			names := []string{"recipe.yaml", "workload.yaml", "recipe.provenance.json"}
			if c.exist != 0 {
				for _, name := range names {
					put(t, in(name), "old")
					if err := os.Chmod(in(name), c.exist); err != nil {
						t.Fatal(err)
					}
				}
			}
			var err error
			if c.tree {
				err = c.r.WriteDirectory(dir)
			} else {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				_, err = c.r.Write(in(names[0]), in(names[1]), true)
			}
			if err != nil {
				t.Fatal(err)
			}
			var modes []os.FileMode
			for _, name := range names {
				info, err := os.Stat(in(name))
				if err != nil {
					t.Fatal(err)
				}
				modes = append(modes, info.Mode())
			}
			if !slices.Equal(modes, c.want) {
				t.Errorf("modes %v, want %v", modes, c.want)
			}
		})
	}
}

// TestBearerTokensAreHidden shows that a secret after the word Bearer is hidden, also if it is an argument of its own.
func TestBearerTokensAreHidden(t *testing.T) {
	t.Parallel()
	const script = "cd /lustre/client; curl -H Authorization: Bearer sesame1 http://h; curl -H 'Authorization: Bearer' " +
		"sesametwo; uv run python agentperf/run.py --concurrencies 64 --header Authorization: Bearer sesamethree " +
		"--header 'X-Auth: Bearer' sesame4"
	files := smallRun()
	files[harness.JobLog] = jobLog(
		strings.Replace(frontendLine("n1", ""), "8333", "8333 --auth Bearer sesamefive", 1),
		"[server] Executing: curl -H Authorization: bearer sesamesix http://h",
		workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"), workerLine("GEN", 0, "-w n2 -N 1 -n 4", "A=1"),
	)
	for name, text := range map[string]string{
		"in a shell": "srun bash -c '" + strings.ReplaceAll(script, "'", `"`) + "'\n", "without one": script + "\n",
	} {
		files[harness.ClientScript] = text
		r := port(t, lay(t, files), Options{})
		shown, err := r.ShownJSON()
		if err != nil {
			t.Fatal(err)
		}
		proof, err := json.Marshal(r.Proof)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{
			"report": r.ProvenanceText(), "report as JSON": string(shown), "proof": string(proof),
		} {
			for line := range strings.Lines(text) {
				if strings.Contains(line, "sesame") {
					t.Errorf("%s, %s shows a secret: %s", name, what, line)
				}
			}
		}
	}
}
