package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// sweepOf returns a recipe of layout 1 with a sweep of 256 recipes. Each argument gpu, batch and
// level is the flow text of a list.
func sweepOf(gpu, batch, level string) string {
	return `name: swept
model: {path: /m, container: /c.sqsh, precision: fp4}
resources: {gpu_type: "{gpu}", gpus_per_node: 4, agg_nodes: 1, agg_workers: 1}
backend:
  type: trtllm
  aggregated_environment: {BATCH: "{batch}"}
frontend: {enable_multiple_frontends: false}
dynamo: {install: false}
benchmark:
  type: agentperf
  concurrencies: "{level}"
  agentperf_client_dir: /ap/c
  agentperf_config: /ap/w.yaml
extra_mount: ["/s/ap:/ap"]
slurm: {account: a, partition: p, time_limit: "04:00:00"}
sweep: {gpu: ` + gpu + ", batch: " + batch + ", level: " + level + "}\n"
}

// numbers returns a list of n lists of one number each.
func numbers(n, from int) string {
	parts := make([]string, 0, n)
	for i := range n {
		parts = append(parts, fmt.Sprintf("[%d]", from+i))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Check of a sweep prints what its recipes have in common once, and fits on a screen.
func TestCheckOfSweepIsShort(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../recipes/examples/levels.workload.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, recipe string
		code         int
		want         []string
	}{
		{
			"no findings", sweepOf("[gb200, gb300]", "[1, 2, 4, 8]", numbers(32, 1)), 0,
			[]string{"r.yaml: 256 recipes\n", "0 errors, 0 warnings, 0 open placeholders; 0 of 256 recipes have errors\n"},
		},
		{
			"one level per recipe, half of them refused", sweepOf("[GB200, gb300]", "[1]", numbers(128, -63)), 1,
			[]string{
				"r.yaml:11:3: error: benchmark.concurrencies: concurrency level must be a whole number of at least 1, " +
					`got "-63" (and 63 similar texts, in 128 recipes)`,
				`r.yaml:3:23: warning: resources.gpu_type: "GB200" is not lower case: `, "(in 128 recipes)\n    fix: use gb200\n",
				"1 error, 1 warning, 0 open placeholders; 128 of 256 recipes have errors\n",
				" more lines of this kind; check a single recipe to see its own",
			},
		},
		{
			"many findings", strings.Replace(sweepOf("[gb300, GB200]", "[1]", numbers(128, 1)), "name: swept\n",
				"name: swept\n"+unknownKeys(40), 1), 1,
			[]string{
				"r.yaml:2:1: error: k0: unknown", "(in all 256 recipes)",
				" findings more; check r.yaml:sweep[0] lists all of one recipe",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			s.write("r.yaml", c.recipe)
			s.write("w.yaml", string(data))
			start := time.Now()
			o := s.want(c.code, "check", "r.yaml", "--workload", "w.yaml")
			t.Logf("%s for %d recipes", time.Since(start).Round(time.Millisecond), 256)
			o.contains(t, c.want...)
			if n := strings.Count(o.stdout+o.stderr, "\n"); n > 40 {
				t.Errorf("%d lines:\n%s%s", n, o.stdout, o.stderr)
			}
		})
	}
}

func unknownKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	return b.String()
}

// The commands accept the selectors of srtctl, and --set and --unset change each recipe of a file.
func TestFileWithBase(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	data, err := os.ReadFile("../../recipes/edit/testdata/overrides.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace("schema: 2\n"+string(data), "  schema: 2\n", "", 1)
	s.write("o.yaml", text)
	data, err = os.ReadFile("../../recipes/examples/aggregated.workload.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s.write("w.yaml", string(data))
	s.want(0, "check", "o.yaml", "--workload", "w.yaml").contains(t, "o.yaml: 4 recipes\n", "level 128:", "level 32:")
	s.want(0, "check", "o.yaml:zip_override_batch", "--workload", "w.yaml").contains(t,
		"2 recipes", "level 16:", "level 32:")
	s.want(0, "check", "o.yaml:base", "--workload", "w.yaml").contains(t, "level 64:", "0 errors")
	s.want(0, "check", "o.yaml:override_b*", "--workload", "w.yaml").contains(t, "level 128:", "0 errors")
	s.want(1, "check", "o.yaml:b*", "--workload", "w.yaml").contains(t,
		`no such recipe in the file: "b*" (available: override_big, override_named, zip_override_batch (`)
	set := []string{"--workload", "w.yaml", "--set", "benchmark.concurrencies=[5]"}
	s.want(0, append([]string{"check", "o.yaml"}, set...)...).contains(t, "level 5: ", "(in all 4 recipes)")
	s.want(0, append([]string{"dry-run", "o.yaml:zip_override_batch[1]"}, set...)...).contains(t,
		"plan family_batch_1", " 5 users")
	s.want(1, "check", "o.yaml", "--workload", "w.yaml", "--unset", "model.precision").contains(t,
		"base.model.precision: required field is missing", "(in all 4 recipes)")
	s.want(2, "check", "o.yaml", "--workload", "w.yaml", "--unset", "model.nope").contains(t,
		"no recipe of the file has such an entry")
	if s.read("o.yaml") != text {
		t.Error("the file was changed")
	}
	s.want(0, append([]string{"check", "o.yaml", "--fix"}, set...)...)
	want := strings.NewReplacer("concurrencies: [64]", "concurrencies: [5]", "[64, 128]", "[5]",
		"[[16], [32]]", "[[5], [5]]").Replace(text)
	if got := s.read("o.yaml"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A fix changes one entry of a zip list, the anchor of a merged value, and no placeholder of a sweep.
func TestFixInFilesWithSeveralRecipes(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	base := `base:
  schema: 2
  name: family
  model: {path: /m/x, container: /i/y.sqsh, precision: fp8}
  resources: {gpu_type: gb200, gpus_per_node: 4}
  engine: trtllm
  roles:
    agg: {nodes: 1, workers: 1}
  dynamo: {install: false}
`
	text := base + "zip_override_a:\n  environment: {A: [1, \"2\", 3]}\n"
	s.write("z.yaml", text)
	s.want(0, "check", "z.yaml", "--fix")
	if got, want := s.read("z.yaml"), strings.Replace(text, `[1, "2", 3]`, `["1", "2", "3"]`, 1); got != want {
		t.Errorf("zip: got\n%s\nwant\n%s", got, want)
	}

	text = base + "override_a:\n  environment: &e\n    A: 1\noverride_b:\n  environment:\n    <<: *e\n    B: 2\n"
	s.write("m.yaml", text)
	s.want(0, "check", "m.yaml", "--fix")
	if got, want := s.read("m.yaml"), strings.NewReplacer("A: 1", `A: "1"`, "B: 2", `B: "2"`).Replace(text); got != want {
		t.Errorf("merge: got\n%s\nwant\n%s", got, want)
	}

	text = sweepOf("[GB200, gb300]", "[1]", "[[1]]")
	s.write("s.yaml", text)
	s.want(0, "check", "s.yaml", "--fix").contains(t, "not lower case")
	if got := s.read("s.yaml"); got != text {
		t.Errorf("sweep: got\n%s", got)
	}
}
