package porter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// questionsAbout returns the open questions whose message contains text.
func questionsAbout(r *Result, text string) []Todo {
	return slices.DeleteFunc(slices.Clone(r.Todos), func(t Todo) bool { return !strings.Contains(t.Message, text) })
}

// Five unknown flags on eight launch lines are five questions, each with all launches.
func TestOneQuestionPerFlag(t *testing.T) {
	t.Parallel()
	files := smallRun()
	const flags = " -N 1 -n 4 --cpu-bind=map_cpu:0,1 --gres=gpu:4 --mem=%d --unknown-flag=7 -c 36"
	lines := []string{frontendLine("n1", "")}
	for i := range 6 {
		lines = append(lines, workerLine("CTX", i, fmt.Sprintf("-w n%d"+flags, i+1, 0), "A=1"))
	}
	files[harness.JobLog] = jobLog(append(lines, workerLine("GEN", 0, fmt.Sprintf("-w n9"+flags, 8), "A=1"))...)
	r := port(t, lay(t, files), Options{})
	var got []string
	for _, td := range r.Todos {
		if td.Path == "srun_options" {
			got = append(got, td.ID+": "+td.Message)
		}
	}
	want := []string{
		"recipe:srun_options#--cpu-bind: --cpu-bind=map_cpu:0,1 is not carried over; srt-slurm starts workers with " +
			"--cpu-bind=verbose,none: confirm that this is right; launches: CTX 0-5, GEN 0",
		"recipe:srun_options#--gres: --gres=gpu:4 is not carried over: add it to srun_options if all steps need it; " +
			"launches: CTX 0-5, GEN 0",
		"recipe:srun_options#--mem: --mem=0 (CTX 0-5), --mem=8 (GEN 0) are not carried over: add it to srun_options " +
			"if all steps need it; launches: CTX 0-5, GEN 0",
		"recipe:srun_options#--unknown-flag: --unknown-flag=7 is not carried over: add it to srun_options if all steps " +
			"need it; launches: CTX 0-5, GEN 0",
		"recipe:srun_options#--cpus-per-task: --cpus-per-task=36 is not carried over: add it to srun_options if all " +
			"steps need it; launches: CTX 0-5, GEN 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJoinSteps(t *testing.T) {
	t.Parallel()
	names := []string{"etcd", "CTX 0", "CTX 1", "CTX 3", "CTX 4", "CTX 5", "GEN 6", "frontend", "GEN 0"}
	if got := joinSteps(names); got != "etcd, CTX 0-1, CTX 3-5, GEN 6, frontend, GEN 0" {
		t.Error(got)
	}
}

// Without the whole environment of the submitting shell is one question for all launches.
func TestExportWithoutAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list string
		want int
	}{{"NONE,HOME=/home/u", 1}, {"HOME=/home/u", 1}, {"NIL", 1}, {"ALL,HOME=/home/u", 0}, {"HOME=/home/u,ALL", 0}} {
		files := smallRun()
		files[harness.JobLog] = strings.ReplaceAll(files[harness.JobLog], "--export=ALL,HOME=/home/u", "--export="+c.list)
		r := port(t, lay(t, files), Options{})
		got := questionsAbout(r, "--export without ALL")
		if len(got) != c.want || c.want > 0 && !strings.HasSuffix(got[0].Message, "; launches: CTX 0, GEN 0") {
			t.Errorf("%s: %+v", c.list, got)
		}
	}
}

// A decision about one value in several fields is one question, and its answer sets all of them.
func TestOneQuestionPerValue(t *testing.T) {
	t.Parallel()
	files := smallRun()
	const env = "HF_TOKEN=hf_aBc CACHE=/lustre/cache ROOT=${HOME}/x ONE=1"
	files[harness.JobLog] = jobLog(
		frontendLine("n1", ",HF_TOKEN=hf_aBc,LD_LIBRARY_PATH"),
		strings.Replace(workerLine("CTX", 0, "-w n1 -N 1 -n 4", env), "ALL,", "ALL,LD_LIBRARY_PATH,", 1),
		workerLine("GEN", 0, "-w n2 -N 1 -n 4", env),
	)
	dir := lay(t, files)
	r := port(t, dir, Options{})
	const prefill, decode = "backend.prefill_environment", "backend.decode_environment"
	for text, want := range map[string]string{
		"looks like a secret": prefill + ".HF_TOKEN " + decode + ".HF_TOKEN frontend.env.HF_TOKEN | " +
			"recipe:" + prefill + ".HF_TOKEN#secret",
		"can read this path": prefill + ".CACHE " + decode + ".CACHE | recipe:" + prefill + ".CACHE#readable",
		"${HOME}":            prefill + ".ROOT " + decode + ".ROOT | recipe:" + prefill + ".ROOT#variable",
		"LD_LIBRARY_PATH":    prefill + " frontend.env | recipe:" + prefill + "#export LD_LIBRARY_PATH",
	} {
		got := questionsAbout(r, text)
		if len(got) != 1 || strings.Join(got[0].Fields, " ")+" | "+got[0].ID != want {
			t.Errorf("%s: %+v", text, got)
		}
		for _, path := range got[0].Fields {
			if written := r.writtenPathOf(path); !strings.Contains(got[0].Message, written) {
				t.Errorf("%s: the question does not name %s: %s", text, written, got[0].Message)
			}
		}
	}
	if text := recipeText(t, r); strings.Count(text, "TODO: looks like a secret") != 3 {
		t.Errorf("not every secret has a comment:\n%s", text)
	}
	const id = "recipe:" + prefill + ".HF_TOKEN#secret"
	answered := port(t, dir, Options{Answers: []Answer{{ID: id, Value: "none"}}})
	if text := recipeText(t, answered); strings.Count(text, `HF_TOKEN: "none"`) != 3 || strings.Contains(text, "hf_aBc") {
		t.Errorf("the answer does not set all fields:\n%s", text)
	}
	if again := port(t, dir, Options{Answers: answered.Answers}); recipeText(t, again) != recipeText(t, answered) {
		t.Error("stored answers give another recipe")
	}
	accepted := port(t, dir, Options{Answers: []Answer{{ID: id, Accepted: true}}})
	if left := questionsAbout(accepted, "looks like a secret"); len(left) > 0 {
		t.Errorf("accepted, but still open: %+v", left)
	}
	for _, bad := range []*Result{answered, accepted} {
		if left := bad.Proof.Unexplained(); len(left) > 0 {
			t.Errorf("unexplained %q", left)
		}
	}
}

// writtenPathOf returns the path of a recipe field in the layout that is written.
func (r *Result) writtenPathOf(path string) string {
	return newLayout(r.Schema).writtenPath(Recipe, path)
}

// A missing banner is one question that names each field with a default value, and each has a comment in
// the file.
func TestMissingBanner(t *testing.T) {
	t.Parallel()
	const fields = "server_type, phase_timeout_seconds, max_starting_line_offset, seed, max_workers, max_tokens, " +
		"reasoning_effort, send_conversation_routing_headers, use_dynamo_conv_aware_routing"
	for _, c := range []struct{ name, log, want string }{
		{"missing", "", "client.log: missing: confirm the default values"},
		{"empty", "\n", "client.log shows no banner: confirm the default values"},
	} {
		files := smallRun()
		delete(files, harness.ClientLog)
		if c.log != "" {
			files[harness.ClientLog] = c.log
		}
		r := port(t, lay(t, files), Options{})
		got := questionsAbout(r, "client.log")
		if len(got) != 1 || !strings.HasPrefix(got[0].Message, c.want) || !strings.HasSuffix(got[0].Message, fields) ||
			got[0].ID != "run#client.log" || got[0].Kind != Confirm {
			t.Errorf("%s: %+v", c.name, got)
		}
		text := workloadText(t, r)
		for name := range strings.SplitSeq(fields, ", ") {
			line := text[strings.Index(text, "\n"+name+": ")+1:]
			line, _, _ = strings.Cut(line, "\n")
			if !strings.Contains(line, "# default; TODO: client.log") {
				t.Errorf("%s: %s has no comment: %s", c.name, name, line)
			}
		}
		accepted := port(t, lay(t, files), Options{Answers: []Answer{{ID: "run#client.log", Accepted: true}}})
		if left := questionsAbout(accepted, "client.log"); len(left) > 0 {
			t.Errorf("%s: accepted, but still open: %+v", c.name, left)
		}
		for _, f := range accepted.Fields {
			if f.Path == "seed" && (f.Class != Copied || f.Evidence[0].Artifact != "answer") {
				t.Errorf("%s: accepted seed is %+v", c.name, f)
			}
		}
	}
}

// Every field whose value was not read has a comment at its line, in every layout.
func TestComments(t *testing.T) {
	t.Parallel()
	for _, schema := range []int{1, 2} {
		r := port(t, sampleDir, Options{Schema: schema, WorkloadOut: "/scratch/w.yaml"})
		texts := map[File]string{Recipe: recipeText(t, r), Workload: workloadText(t, r)}
		for _, f := range r.Fields {
			value := safetext.Clip(f.Value, 100)
			key := f.Path[strings.LastIndexByte(f.Path, '.')+1:]
			read := f.Class == Copied || f.Class == Translated
			found, commented := false, false
			for line := range strings.Lines(texts[f.File]) {
				code, comment, _ := strings.Cut(line, " # ")
				if strings.TrimSpace(code) == key+": "+value {
					found = true
					commented = commented || comment != ""
				}
			}
			if found && !read && !commented {
				t.Errorf("schema %d: %s %s has no comment", schema, f.Class, f.Path)
			}
		}
	}
}

// A flag that is given twice counts once, and one with the value that is written anyway needs no question.
func TestFrontendFlagsTwice(t *testing.T) {
	t.Parallel()
	files := smallRun()
	files[harness.JobLog] = strings.Replace(files[harness.JobLog], "8333 ",
		"8333 --some-new-flag --x=1 --x /lustre/2 --router-mode round --router-mode kv --kv-cache-block-size=64 ", 1)
	r := port(t, lay(t, files), Options{})
	if got := questionsAbout(r, "the launch line also passes"); len(got) != 1 ||
		got[0].ID != "recipe:frontend.args.kv-cache-block-size#launched" {
		t.Errorf("questions %+v", got)
	}
	if text := recipeText(t, r); !strings.Contains(text, `x: `+
		`"/scratch/2"`) || !strings.Contains(text, "some-new-flag: true") {
		t.Errorf("recipe:\n%s", text)
	}
	if text := r.ProvenanceText(); !strings.Contains(text, "frontend.args.some-new-flag: true <- job.log:1 "+
		"--some-new-flag\n") {
		t.Errorf("report:\n%s", text)
	}
	if p := r.Proof; p.Unaccounted != 0 || p.Asked != 1 || len(p.Unexplained()) > 0 {
		t.Errorf("%s", p.Text())
	}
}
