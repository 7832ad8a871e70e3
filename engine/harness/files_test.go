package harness

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// readRun writes files to a new run directory bm_x/c64 and reads it. A name that ends in / is a
// directory.
func readRun(t *testing.T, files map[string]string) *Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bm_x", "c64")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Read(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Run) artifactOf(kind string) Artifact {
	i := slices.IndexFunc(r.Artifacts, func(a Artifact) bool { return a.Kind == kind })
	if i < 0 {
		return Artifact{}
	}
	return r.Artifacts[i]
}

// checkNotLoaded checks why artifacts were not loaded, by name.
func (r *Run) checkNotLoaded(t *testing.T, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for _, a := range r.Artifacts {
		if strings.HasPrefix(a.Found, "not loaded") {
			got[a.Name] = a.Found
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("artifacts that were not loaded (-want +got):\n%s", diff)
	}
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const banner = "0:   Server type: trtllm\n0:   Max workers: 4\n0:   Max tokens: 2000\n0:   Seed: 42\n" +
	"0: Running 1 phase(s): concurrencies=[64]\n"

func TestCompressedArtifacts(t *testing.T) {
	t.Parallel()
	log := mark + launchText("CTX", 0, "") + "\n" + mark + launchText("GEN", 0, "") + "\n"
	whole := packed(t, log+strings.Repeat("iteration\n", 5000)+mark+launchText("GEN", 1, "")+"\n")
	for _, c := range []struct {
		name     string
		files    map[string]string
		launches int
		artifact string // of job.log
		problem  string // part of it
	}{
		{"job.log.gz", map[string]string{"job.log.gz": whole}, 3, "job.log.gz", ""},
		{"compressed, without the extension", map[string]string{"job.log": whole}, 3, "job.log", ""},
		{"both", map[string]string{"job.log": log, "job.log.gz": whole}, 2, "job.log", "job.log.gz exists as well"},
		{"an empty one beside it", map[string]string{"job.log": "", "job.log.gz": whole}, 3, "job.log.gz", ""},
		{"not compressed in spite of its name", map[string]string{"job.log.gz": log}, 2, "job.log.gz", ""},
		{
			"cut",
			map[string]string{"job.log.gz": whole[:len(whole)-20]},
			2, "job.log.gz",
			"the compressed data ends early, so the file was cut",
		},
		{
			"damaged",
			map[string]string{"job.log.gz": whole[:60] + "\x00\xff\x00\xff" + whole[64:]},
			0, "job.log.gz",
			"flate: corrupt input",
		},
		{"only a header", map[string]string{"job.log.gz": whole[:4]}, 0, "job.log.gz", "damaged compressed data"},
		{
			"UTF-16", map[string]string{"job.log": "\xff\xfeA\x00\n\x00"}, 0, "job.log", "UTF-16 text; convert it to UTF-8",
		},
		{
			"another compression",
			map[string]string{"job.log.zst": "x"},
			0, "job.log",
			"missing, but job.log.zst exists: decompress it",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.files[JobParams] = "A=1\n"
			r := readRun(t, c.files)
			a := r.artifactOf(JobLog)
			said := a.Problem
			for _, p := range slices.Concat(a.Problems, a.Notes) {
				said += p.Text
			}
			if r.Launches.Count != c.launches || a.Name != c.artifact || !strings.Contains(said, c.problem) ||
				(said == "") != (c.problem == "") {
				t.Errorf("%d launches of %s, %q; want %d of %s, %q", r.Launches.Count, a.Name, said,
					c.launches, c.artifact, c.problem)
			}
			for _, l := range r.Launches.All() {
				if at := l.At("", "", 0); at.Artifact != c.artifact || at.Line != l.Line {
					t.Errorf("%s: %+v", l.Name(), at)
				}
			}
		})
	}
	r := readRun(t, map[string]string{
		"client.log.gz": packed(t, banner), "job_params.env.gz": packed(t, "SEED=1\n"),
		"ctx_config.yaml.gz":     packed(t, "a: 1\n"),
		"client_cmds_base.sh.gz": packed(t, "cd /c; python run.py --x\n"),
		"3_output_CTX_0.log.gz":  packed(t, "taskset -c 0-3\n"),
		"agentperf/m__64u__phase0__dur600s__settle60s__traj3.json.gz": packed(t, "{}"),
	})
	if r.Banner.Values["Seed"].At.Artifact != "client.log.gz" || r.Params["SEED"].Text != "1" ||
		len(r.Engines[schema.Prefill].Leaves) != 1 || r.Client.Checkout.Text != "/c" || r.Pinning.Found.Line != 1 ||
		len(r.Settling) != 1 || r.Settling[0].Text != "60" {
		t.Errorf("%+v", r)
	}
}

func TestCutArtifacts(t *testing.T) {
	t.Parallel()
	r := readRun(t, map[string]string{
		JobParams: "\ufeffA=1\nB=2\r\nC=3", ClientLog: strings.Split(banner, "00\n")[0],
		ClientScript: "cd /c; python run.py --no-eval --seed 4", JobLog: "[server] Nodes: n[1-3]\n[server] Waiting for 5 wor",
	})
	if r.Params["A"].At.Column != 6 || r.Params["B"].Text != "2" || r.Params["C"].Text != "" || len(r.Params) != 2 {
		t.Errorf("parameters %+v", r.Params)
	}
	b := r.Banner
	if b.Complete || b.Cut.Line != 3 || b.Cut.Raw != "Max tokens: 20" || b.Cut.Column != 6 || len(b.Values) != 2 {
		t.Errorf("banner %+v", b)
	}
	if r := readRun(t, map[string]string{ClientLog: banner[:len("0:   Server type: trtllm\n0:   "+
		"Ma")]}); r.Banner.Cut.Raw != "Ma" {
		t.Errorf("a label that is cut: %+v", r.Banner)
	}
	if strings.Join(r.Client.Flags, " ") != "--no-eval" || r.Launches.Waiting.Text != "" {
		t.Errorf("flags %q, waiting %+v", r.Client.Flags, r.Launches.Waiting)
	}
	for kind, want := range map[string]string{JobParams: "3: …not read: C=3", ClientScript: "1: …not read: 4"} {
		p := r.artifactOf(kind).Problems
		before, after, _ := strings.Cut(want, "…")
		if len(p) != 1 {
			t.Errorf("%s: problems %v", kind, p)
		} else if text := fmt.Sprintf("%d: %s", p[0].Line, p[0].Text); !strings.HasPrefix(text, before) ||
			!strings.HasSuffix(text, after) {
			t.Errorf("%s: %s", kind, text)
		}
	}
	for script, log := range map[string]string{
		"srun bash -c 'python run.py' &> /l/client.lo":    "",
		"srun bash -c 'python run.py' &> /l/client.log\n": "/l/client.log",
	} {
		r := readRun(t, map[string]string{ClientScript: script})
		if r.Client.Log.Text != log || len(r.Client.Runs) != 1 {
			t.Errorf("%q: log %q", script, r.Client.Log.Text)
		}
	}
}

func TestEachLabelMayBeABanner(t *testing.T) {
	t.Parallel()
	labels := []string{LabelTrajectories, LabelAssignments, bannerEnd}
	for label := range bannerLabels {
		labels = append(labels, label)
	}
	for _, label := range labels {
		for _, before := range []string{"", "0: ", " 12:   ", "\x1b[32m", "0: \x1b[1m  "} {
			if !mayBeBanner([]byte(before + label + ": x")) {
				t.Errorf("%q is skipped", before+label)
			}
		}
	}
	for _, other := range []string{"", "0: ", "0: INFO Seed: 3", "Sed"} {
		if mayBeBanner([]byte(other)) {
			t.Errorf("%q is not skipped", other)
		}
	}
}

// both returns a log with the lines of a client of two ranks, of which the second one is some lines late.
func both(log string, late int) string {
	lines := strings.SplitAfter(strings.TrimSuffix(log, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	var out strings.Builder
	for i := range len(lines) + late {
		if i < len(lines) {
			out.WriteString(lines[i])
		}
		if i >= late {
			out.WriteString("1" + lines[i-late][1:])
		}
	}
	return out.String()
}

func TestClientStarts(t *testing.T) {
	t.Parallel()
	again := strings.NewReplacer("2000", "4000", "42", "7").Replace(banner)
	for _, c := range []struct {
		name, log    string
		starts, line int
		seed         string
	}{
		{"one", banner, 1, 1, "42"},
		{"the last one", banner + "0: a request\n" + again, 2, 7, "7"},
		{
			"beyond the first megabytes", banner + strings.Repeat("0: INFO iteration 123456789\n",
				400_000) + again, 2, 400_006, "7",
		},
		{"the last one does not run", banner + again[:strings.Index(again, "0: Running")], 2, 1, "42"},
		{"none runs", strings.ReplaceAll(banner+again, "Running", "Stopping"), 2, 6, "7"},
		{"a line that looks like one", banner + "0:   Seed: 5\n0:   Max tokens: 3\n", 1, 1, "42"},
		{"nothing", "0: starting\n", 0, 0, ""},
		{"log lines among it", strings.ReplaceAll(banner, "\n", "\n0: Model: loaded\n0: Seed: x\n"), 1, 1, "42"},
		{"log lines before it", "0: Model: loaded\n0: Seed: x\n" + banner, 1, 3, "42"},
		{"two ranks, line by line", both(banner, 0), 1, 1, "42"},
		{"two ranks, one after the other", banner + strings.ReplaceAll(banner, "0: ", "1: "), 1, 1, "42"},
		{"two ranks, the second one late", both(banner, 3), 1, 1, "42"},
		{"two ranks that differ", banner + strings.ReplaceAll(again, "0: ", "1: "), 1, 1, "42"},
		{"two ranks that differ, twice", both(banner, 1) + strings.ReplaceAll(both(again, 0), "1: ", "2: "), 2, 11, "7"},
		{"again with ranks", strings.ReplaceAll(banner, "0: ", "") + again, 2, 6, "7"},
		{"two ranks, twice", both(banner, 1) + both(again, 1), 2, 11, "7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := readRun(t, map[string]string{ClientLog: c.log})
			if len(r.Banners) != c.starts || r.Banner.First != c.line || r.Banner.Values["Seed"].Text != c.seed {
				t.Errorf("%d starts, line %d, seed %q; want %d, %d, %q", len(r.Banners), r.Banner.First,
					r.Banner.Values["Seed"].Text, c.starts, c.line, c.seed)
			}
		})
	}
}

func TestFilesThatLinesName(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	if err := os.WriteFile(outside, []byte("where: outside\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, gen := launchText("CTX", 0, ""), launchText("GEN", 0, "")
	use := func(config string) string { return strings.Replace(gen, "/r/GEN.yaml", config, 1) }
	for _, c := range []struct {
		name, launch string
		files        map[string]string
		config       string // artifact and value; empty if it can't be used
		inferred     bool
	}{
		{
			"below the old run directory", use("/r/tuned/gen.yaml"),
			map[string]string{"tuned/gen.yaml": "where: tuned\n"},
			"tuned/gen.yaml tuned", false,
		},
		{
			"compressed", use("/r/tuned/gen.yaml"),
			map[string]string{"tuned/gen.yaml.gz": packed(t, "where: gz\n")},
			"tuned/gen.yaml.gz gz", false,
		},
		{
			"below a directory with the name of the run", use("/other/bm_x/c64/g.yml"),
			map[string]string{"g.yml": "where: g\n"},
			"g.yml g", false,
		},
		{"outside of the run directory", use(outside), nil, outside + " outside", false},
		{
			"a relative path", use("conf/gen.yaml"),
			map[string]string{"conf/gen.yaml": "where: conf\n"},
			"conf/gen.yaml conf", false,
		},
		{"a path out of the run directory", use("../../gen.yaml"), nil, "", false},
		{"a copy in the run directory", use("/elsewhere/gen_config.yaml"), nil, "gen_config.yaml usual", true},
		{"another name", use("/elsewhere/gen.yaml"), nil, "", false},
		{"no name", strings.Replace(gen, "/r/GEN.yaml", "-", 1), nil, "gen_config.yaml usual", true},
		{
			"a file after the variables", strings.Replace(use("/r/g.yaml"), "none none", "'nsys -o /x' patch.yaml", 1),
			map[string]string{"g.yaml": "where: g\n", "patch.yaml": "where: patch\n"},
			"g.yaml g", false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{GENConfig: "where: usual\n", JobLog: mark + ctx + "\n" + mark + c.launch + "\n"}
			for name, text := range c.files {
				files[name] = text
			}
			f := readRun(t, files).EngineFiles[schema.Decode][0]
			got := ""
			if f.Config != nil {
				got = f.Artifact + " " + f.Config.Leaves[0].Node.Value
			}
			if got != c.config || (f.Inferred != "") != c.inferred {
				t.Errorf("%q, inferred %q; want %q", got, f.Inferred, c.config)
			}
		})
	}
}

func TestWorkersWithDifferentConfigs(t *testing.T) {
	t.Parallel()
	var lines string
	for i, config := range []string{"a", "b", "a", "c"} {
		lines += mark + strings.Replace(launchText("CTX", i, ""), "/r/CTX.yaml", "/r/"+config+".yaml", 1) + "\n"
	}
	r := readRun(t, map[string]string{JobLog: lines, "a.yaml": "x: 1\n", "b.yaml": "x: 2\n"})
	files := r.EngineFiles[schema.Prefill]
	if len(files) != 3 || len(files[0].Workers) != 2 || files[1].Config == nil || files[2].Config != nil ||
		r.Engines[schema.Prefill] != files[0].Config {
		t.Errorf("%+v", files)
	}
	same := strings.NewReplacer("/r/CTX.yaml", "/r/one.yaml", "/r/GEN.yaml", "/r/one.yaml").Replace(
		mark + launchText("CTX", 0, "") + "\n" + mark + launchText("GEN", 0, "") + "\n")
	r = readRun(t, map[string]string{JobLog: same, "one.yaml": "x: 1\n"})
	if r.Engines[schema.Prefill] == nil || r.Engines[schema.Prefill] != r.Engines[schema.Decode] {
		t.Errorf("one file for both: %+v", r.Engines)
	}
}

func TestLogsThatLinesName(t *testing.T) {
	t.Parallel()
	launch := mark + strings.Replace(launchText("CTX", 0, ""), "3_output_CTX_0.log", "prefill.log", 1) + "\n"
	script := "srun bash -c 'cd /c; python run.py --config /w/my.yaml --results-dir /logs/out' &> /logs/second.log\n"
	files := map[string]string{
		JobLog: launch, ClientScript: script, "prefill.log": "taskset -c 1\n", "3_output_CTX_0.log": "x\n",
		"second.log": strings.Replace(banner, "42", "7", 1), ClientLog: banner,
		"my.yaml": "seed: 1\n", ClientConfig: "seed: 2\n",
		"out/m__64u__phase0__dur600s__settle60s__traj3.json":      "",
		"agentperf/m__64u__phase0__dur600s__settle5s__traj3.json": "",
	}
	r := readRun(t, files)
	if r.Pinning.Found.Artifact != "prefill.log" || r.Pinning.Usual || r.Banner.Values["Seed"].Text != "7" ||
		r.Config.Artifact != "my.yaml" || r.ConfigNamed.Text != "/w/my.yaml" || r.Settling[0].Text != "60" ||
		r.Settling[0].At.Artifact != "out/m__64u__phase0__dur600s__settle60s__traj3.json" {
		t.Errorf("%+v", r)
	}
	r.checkNotLoaded(t, map[string]string{
		ClientLog: "not loaded: a line names another file", ClientConfig: "not loaded: a line names another file",
		"3_output_CTX_0.log": "not loaded",
	})
	for _, name := range []string{
		"prefill.log", "second.log", "my.yaml", "out/m__64u__phase0__dur600s__settle60s__traj3.json",
	} {
		delete(files, name)
	}
	r = readRun(t, files)
	if r.Pinning.Found.Artifact != "" || !r.Pinning.Usual || r.Banner.Values["Seed"].Text != "42" ||
		r.Config.Artifact != ClientConfig || r.ConfigNamed.Text != "" || r.Settling[0].Text != "5" {
		t.Errorf("by their usual names: %+v", r)
	}
	for kind, want := range map[string]string{
		ClientLog:    "client_cmds_base.sh:1 names /logs/second.log, which was not found; client.log was read instead",
		ClientConfig: "client_cmds_base.sh:1 names /w/my.yaml, which was not found; benchmark_config.yaml was read instead",
	} {
		if p := r.artifactOf(kind).Problems; len(p) != 1 || p[0].Text != want {
			t.Errorf("%s: problems %v, want %s", kind, p, want)
		}
	}
}

func TestAggregatedRun(t *testing.T) {
	t.Parallel()
	gen := mark + launchText("GEN", 0, "") + "\n" + mark + launchText("GEN", 1, "") + "\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"only GEN workers": {map[string]string{JobLog: gen + "[server] Waiting for 2 workers\n"}, true},
		"more workers":     {map[string]string{JobLog: gen + "[server] Waiting for 3 workers\n"}, false},
		"a config of CTX":  {map[string]string{JobLog: gen, CTXConfig: "a: 1\n"}, false},
		"a log of CTX":     {map[string]string{JobLog: gen, "3_output_CTX_0.log": ""}, false},
		"CTX workers":      {map[string]string{JobLog: gen + mark + launchText("CTX", 0, "") + "\n"}, false},
		"no workers":       {map[string]string{JobLog: "x\n"}, false},
		"CTX in an earlier one": {
			map[string]string{
				JobLog: mark + serviceText("etcd") + "\n" + mark + launchText("CTX", 0, "") + "\n" +
					mark + serviceText("etcd") + "\n" + gen,
			},
			false,
		},
	} {
		r := readRun(t, c.files)
		roles := []schema.Role{schema.Prefill, schema.Decode}
		if c.want {
			roles = []schema.Role{schema.Agg}
		}
		if r.Aggregated != c.want || !slices.Equal(r.Roles(), roles) || c.want && len(r.Launches.Workers[schema.Agg]) != 2 ||
			c.want && r.Launches.All()[1].Name() != "GEN 1" {
			t.Errorf("%s: aggregated %v, roles %v", name, r.Aggregated, r.Roles())
		}
	}
}

func TestUnknownSettings(t *testing.T) {
	t.Parallel()
	begin := "0: " + strings.Repeat("=", 20) + "\n0:   Run label: a\n"
	end := "0: " + strings.Repeat("=", 20) + "\n"
	for _, c := range []struct{ name, log, want string }{
		{"none", banner, ""},
		{
			"before and among", begin + strings.Replace(banner, "0:   Seed", "0:   Warmup: 50\n0:   Seed", 1),
			"Run label=a Warmup=50",
		},
		{
			"at the end", strings.Replace(banner, "0: Running", "0:   Warmup: 50\n"+end+"0:   Late: 1\n0: Running", 1),
			"Warmup=50",
		},
		{"without a value", strings.Replace(banner, "0:   Seed", "0:   Warmup:\n0:   Seed", 1), "Warmup="},
		{"in colour", strings.Replace(banner, "0:   Seed", "0:   \x1b[1mWarmup\x1b[0m: 50\n0:   Seed", 1), "Warmup=50"},
		{"of another rank", strings.Replace(banner, "0:   Seed", "1:   Warmup: 50\n0:   Seed", 1), ""},
		{"of the log", strings.Replace(banner, "0:   Seed", "0: INFO: a\n0:     at x: y\n0:   no label\n0:   Seed", 1), ""},
		{"after the client began to run", banner + "0:   Warmup: 50\n", ""},
		{"of an earlier title", begin + strings.Repeat("0: INFO\n", 80) + banner, "Run label=a"},
		{"of a later start", banner + begin + banner, "Run label=a"},
		{"far from the last setting", banner[:strings.Index(banner, "0: Running")] + strings.Repeat("0: x\n", 80) +
			"0:   Warmup: 50\n" + banner[strings.Index(banner, "0: Running"):], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, v := range readRun(t, map[string]string{ClientLog: c.log}).Banner.Unknown {
				got = append(got, v.At.Key+"="+v.Text)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%q, want %q", s, c.want)
			}
		})
	}
}
