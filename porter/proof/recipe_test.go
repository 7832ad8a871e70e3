package proof_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/proof"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes"
)

const sample = "../../testdata/bm_agentperf_dsv4_5p1d/c1010"

// fields gives the reasons of a port without questions and answers.
type fields []porter.Field

func (fields) Answer(string) string { return "" }

func (fields) Question(_, _ string) (string, bool) { return "", false }

func (fs fields) Fixed(path string) (why string, written bool) {
	i := slices.IndexFunc(fs, func(f porter.Field) bool { return f.File == porter.Recipe && f.Path == path })
	if i < 0 {
		return "", false
	}
	if fs[i].Class == porter.Default {
		why = fs[i].Rule + ": " + fs[i].Why
	}
	return why, true
}

// compare compares a run with an edited recipe. Each edit is a text of the ported recipe and the text in
// its place.
func compare(t *testing.T, run *harness.Run, r *porter.Result, edits ...string) proof.Proof {
	t.Helper()
	data, err := r.RecipeYAML()
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the recipe does not contain %q:\n%s", edits[i], text)
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	recipe, found := recipes.ParseRecipe("r.yaml", []byte(text))
	if recipe == nil {
		t.Fatal(found)
	}
	pl, err := plan.Build(plan.Request{Recipe: recipe, Target: plan.Slurm})
	if err != nil {
		t.Fatal(err)
	}
	return proof.Compare(run, pl, rules.DefaultRewrites, fields(r.Fields))
}

// portRun ports a directory and reads its artifacts again.
func portRun(t *testing.T, dir string) (*harness.Run, *porter.Result) {
	t.Helper()
	run, err := harness.Open(dir)
	if err == nil {
		err = run.Read(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := porter.Port(t.Context(), dir, porter.Options{WorkloadOut: "/scratch/w.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return run, r
}

// A proof shows each way in which a recipe can lose something of the old run.
func TestLossesAreShown(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bm", "c1010")
	if err := os.CopyFS(dir, os.DirFS(sample)); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, harness.ClientScript)
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.NewReplacer(
		"set -euo pipefail;", "set -euo pipefail; export "+
			"RAYON_NUM_THREADS=48;", "/scratch:/scratch", "/scratch:/scratch,/nvme:/c",
		"--results-dir", "--no-eval --results-dir", "images/dynamo_1a2b3c4d_trtllm_9f8e7d6c.sqsh", "images/client.sqsh",
	).Replace(string(text))
	if err := os.WriteFile(script, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	run, r := portRun(t, dir)
	whole := compare(t, run, r)
	if !whole.Complete() || whole.Read != 8 || whole.Clients != 1 || whole.Tokens < 500 {
		t.Fatalf("as ported: %s\n%q", whole.Summary(), whole.Unexplained())
	}
	for name, c := range map[string]struct {
		edits []string
		want  string // part of an unexplained difference
	}{
		"variable of a role is missing": {
			[]string{"      TRTLLM_ENABLE_PDL: \"1\"\n", ""}, "CTX 0: dropped env TRTLLM_ENABLE_PDL",
		},
		"variable of a role differs": {
			[]string{`HF_HUB_OFFLINE: "1"`, `HF_HUB_OFFLINE: "0"`}, "CTX 0: changed env HF_HUB_OFFLINE old 1 new 0",
		},
		"variable of the frontend differs": {
			[]string{`DYN_ROUTER_TEMPERATURE: "0"`, `DYN_ROUTER_TEMPERATURE: "1"`}, "frontend: changed env " +
				"DYN_ROUTER_TEMPERATURE",
		},
		"engine value differs": {
			[]string{"max_num_tokens: 8192", "max_num_tokens: 4096"}, "CTX 0: changed config max_num_tokens old 8192 new 4096",
		},
		"engine value is missing": {
			[]string{"      print_iter_log: true\n", ""}, "CTX 0: dropped config print_iter_log",
		},
		"engine value is new": {
			[]string{"      print_iter_log: true\n", "      print_iter_log: true\n      extra: 1\n"}, "CTX 0: added config " +
				"extra",
		},
		"image differs": {
			[]string{"dynamo_1a2b3c4d_trtllm_9f8e7d6c.sqsh", "other.sqsh"}, "changed flag --container-image",
		},
		"mount is missing": {
			[]string{`"/scratch:/scratch", `, ""}, "mount /lustre:/lustre",
		},
		"model differs": {
			[]string{"path: /scratch/", "path: /other/"}, "changed argument model",
		},
		"flag of the frontend is missing": {
			[]string{"    router-mode: kv\n", "    router-mode: round-robin\n"}, "--router-mode",
		},
		"levels differ": {
			[]string{"concurrency: 1010", "concurrency: 64"}, "1010",
		},
		"flag of the client is missing": {
			[]string{"AGENTPERF_EXTRA_ARGS: \"--no-eval\"", "OTHER: \"1\""}, "--no-eval",
		},
		"variable of the client is missing": {
			[]string{"RAYON_NUM_THREADS: \"48\"", "OTHER: \"1\""}, "RAYON_NUM_THREADS",
		},
		"image of the client differs": {
			[]string{"images/client.sqsh", "images/other.sqsh"}, "client: changed flag --container-image",
		},
		"checkout of the client differs": {
			[]string{"agentperf_client_dir: /scratch", "agentperf_client_dir: /elsewhere"}, "client",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := compare(t, run, r, c.edits...)
			if p.Complete() || strings.Contains(p.Summary(), "0 lost") {
				t.Errorf("the proof is complete: %s", p.Summary())
			}
			if !slices.ContainsFunc(p.Unexplained(), func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("unexplained %q, want %q", p.Unexplained(), c.want)
			}
			if p.Tokens != whole.Tokens {
				t.Errorf("%d tokens, want %d: a token has no row, or two", p.Tokens, whole.Tokens)
			}
		})
	}
}

// Each directory of the classes of input: the counts agree with the rows, and nothing is unexplained.
func TestProofsOfClasses(t *testing.T) {
	t.Parallel()
	dirs, err := harness.FindRuns(t.Context(), "../../testdata/port", 4)
	if err != nil || len(dirs) < 20 {
		t.Fatalf("%d directories, %v", len(dirs), err)
	}
	for _, dir := range dirs {
		run, err := harness.Open(dir)
		if err == nil {
			err = run.Read(t.Context(), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Launches.All()) == 0 {
			continue
		}
		r, err := porter.Port(t.Context(), dir, porter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Proof
		if bad := p.Unexplained(); len(bad) > 0 {
			t.Errorf("%s: unexplained %q", dir, bad)
		}
		if p.Same+p.ByRule+p.Asked+p.Unaccounted != p.Tokens || p.Read > p.Seen || p.Problem == "" && p.Unaccounted > 0 {
			t.Errorf("%s: %+v", dir, p)
		}
		text := p.Text()
		for _, l := range p.Lines {
			if !strings.Contains(text, "  "+l.Launches[0]) {
				t.Errorf("%s: %s is not in\n%s", dir, l.Launches[0], text)
			}
		}
		if open := r.CountOpen(porter.MustFix); p.Asked > 0 && open+r.CountOpen(porter.Confirm) == 0 {
			t.Errorf("%s: %d tokens asked, but no question", dir, p.Asked)
		}
		count := proof.Count(run, "no plan")
		if count.Tokens < p.Tokens || count.Complete() || !strings.HasSuffix(count.Summary(), "; not compared: no plan") {
			t.Errorf("%s: counted %s, compared %s", dir, count.Summary(), p.Summary())
		}
	}
}

// What an old line has, but the recipe has not, is unaccounted for unless a rule or a question explains it.
func TestPartsWithoutPlace(t *testing.T) {
	t.Parallel()
	_, r := portRun(t, sample)
	for name, c := range map[string]struct {
		old, with   string // in job.log and the client script
		unaccounted string // unexplained difference; empty: none
		says        string // row of the proof
	}{
		"variable of a worker": {" TRTLLM_ENABLE_PDL=1", " TRTLLM_ENABLE_PDL=1 LATE=1", "CTX 0: dropped env LATE", ""},
		"variable of etcd": {
			"--export=ALL,ETCD_ENDPOINTS", "--export=ALL,ETCD_QUOTA=1,ETCD_ENDPOINTS", "etcd: dropped env ETCD_QUOTA", "",
		},
		"flag of srun": {"--mpi=pmix", "--mpi=pmix --gres=gpu:4", "CTX 0: dropped flag --gres", ""},
		"other MPI": {
			"--mpi=pmix", "--mpi=pmi2", "CTX 0: changed flag --mpi", "dropped flag --mpi | etcd is not an MPI program",
		},
		"mount": {"/scratch:/scratch", "/scratch:/scratch,/local:/local", "dropped mount /local:/local", ""},
		"empty list of mounts": {
			"--container-mounts=/lustre:/lustre,/scratch:/scratch", "--container-mounts=", "",
			"--container-mounts | the list is empty",
		},
		"environment of the shell": {"--export=ALL,HOME", "--export=NONE,HOME", "CTX 0: changed export NONE", ""},
		"variable of the shell": {
			"--export=ALL,HOME", "--export=ALL,LICENSE,PATH,HOME", "",
			"changed env LICENSE | comes from the submitting shell, as before",
		},
		"flags of the frontend": {
			" 8333 </dev/null", " 8333 --dyn-tool-call-parser x --busy-threshold=0.9 plain --reset </dev/null",
			"frontend: dropped flag --busy-threshold", "--dyn-tool-call-parser",
		},
		"another model of a worker": {"hf-0c0ffee_orig 8104", "hf-other 8104", "CTX 2: changed argument model", ""},
		"flag of the client":        {"--results-dir", "--no-eval --results-dir", "client: dropped option --no-eval", ""},
		"variable of the client":    {"export RUNTIME=", "export EXTRA=1 RUNTIME=", "client: dropped env EXTRA", ""},
		"levels of the client": {
			"--concurrencies 1010", "--concurrencies 64", "client: dropped option --concurrencies", "",
		},
		"image of the client": {
			"name=agentperf-${SLURM_JOB_ID} --container-image=/lustre/",
			"name=agentperf-${SLURM_JOB_ID} --container-image=/else/", "client: changed flag --container-image", "",
		},
		"line that can't be read": {
			"[server] Waiting", "[server] Executing: srun bash start_worker_dynamo.sh CTX 'x\n[server] Waiting", "", "NOT READ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "bm", "c1010")
			err := os.CopyFS(dir, os.DirFS(sample))
			edited := false
			for _, file := range []string{harness.JobLog, harness.ClientScript} {
				var text []byte
				if err == nil {
					text, err = os.ReadFile(filepath.Join(dir, file))
				}
				if err == nil {
					edited = edited || strings.Contains(string(text), c.old)
					err = os.WriteFile(filepath.Join(dir, file), []byte(strings.ReplaceAll(string(text), c.old, c.with)), 0o644)
				}
			}
			if err != nil || !edited {
				t.Fatalf("no %q in the artifacts, %v", c.old, err)
			}
			run, _ := portRun(t, dir)
			p := compare(t, run, r)
			found := slices.ContainsFunc(p.Unexplained(), func(s string) bool { return strings.Contains(s, c.unaccounted) })
			if found != (c.unaccounted != "") {
				t.Errorf("unexplained %q, want %q", p.Unexplained(), c.unaccounted)
			}
			if !strings.Contains(p.Text(), c.says) {
				t.Errorf("no %q in\n%s", c.says, p.Text())
			}
			if p.Unaccounted > 0 && p.Complete() {
				t.Errorf("the proof is complete: %s", p.Summary())
			}
		})
	}
}
