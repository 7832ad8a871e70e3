package plan_test

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
)

// TestCheckRefusesWhatPlansRefuse checks that check reports an error for exactly the values of which a
// plan can't be built.
func TestCheckRefusesWhatPlansRefuse(t *testing.T) {
	t.Parallel()
	directive := func(name string) string { return "sbatch_directives: {" + name + ": 'x'}" }
	mount := func(text string) string { return "extra_mount: ['/s/ap:/ap', '" + text + "']" }
	for _, c := range []struct {
		text, cluster string
		refused       string // path of the error; empty: it is accepted
	}{
		{directive("comment"), "", ""},
		{directive("array"), "", "sbatch_directives.array"},
		{directive("output"), "", "sbatch_directives.output"},
		{directive("error"), "", "sbatch_directives.error"},
		{directive("err"), "", "sbatch_directives.err"}, // Slurm takes it for error
		{directive("wait"), "", "sbatch_directives.wait"},
		{directive("wait-all-nodes"), "", ""},
		{directive("hold"), "", "sbatch_directives.hold"},
		{directive("chdir"), "", "sbatch_directives.chdir"},
		{directive("parsable"), "", "sbatch_directives.parsable"},
		{directive("a b"), "", `sbatch_directives."a b"`},
		{`sbatch_directives: {comment: "a\nb"}`, "", "sbatch_directives.comment"},
		{"", "default_sbatch_directives: {array: '1-4'}", "default_sbatch_directives.array"},
		{"", "default_sbatch_directives: {comment: x}", ""},
		{"srun_options: {'a b': x}", "", `srun_options."a b"`},
		{"srun_options: {mpi: pmix}", "", ""},
		{`slurm: {account: "a\nb"}`, "", "slurm.account"},
		{mount("/a:/b"), "", ""},
		{mount("/a:/b:ro"), "", ""},
		{mount("$SCRATCH/a:/b"), "", ""},
		{mount("~/a:/b"), "", ""},
		{mount("/a"), "", "extra_mount[1]"},
		{mount("/a,b:/c"), "", "extra_mount[1]"},
		{mount("/a:/c:ro,x"), "", "extra_mount[1]"},
		{mount("/a:/b:ro:x"), "", "extra_mount[1]"},
		{mount(":/b"), "", "extra_mount[1]"},
		{mount("/a:"), "", "extra_mount[1]"},
		{mount("a:/b"), "", "extra_mount[1]"},
		{mount("/a:b"), "", "extra_mount[1]"},
		{"container_mounts: {'{log_dir}/x': /x}", "", ""},
		{"container_mounts: {x: /x}", "", "container_mounts.x"},
		{"container_mounts: {'/a:b': /x}", "", "container_mounts./a:b"},
		{"container_mounts: {/a: ''}", "", "container_mounts./a"},
		{"", "default_mounts: {/a: b}", "default_mounts./a"},
		{"", "default_mounts: {/a: /b}", ""},
		{"model: {path: '/a,b', container: /c.sqsh, precision: fp4}", "", "model.path"},
		{"model: {path: '/a:b', container: /c.sqsh, precision: fp4}", "", "model.path"},
		{"model: {path: '/a b', container: /c.sqsh, precision: fp4}", "", ""},
		{"model: {path: 'hf:a/b', container: /c.sqsh, precision: fp4}", "", ""},
		{"name: -x", "", "name"},
		{"name: " + strings.Repeat("x", 129), "", "name"},
		{"name: it's a \"demo\"", "", ""},
		{"", `output_dir: '/out\dir'`, "output_dir"},
		{"", "output_dir: '/100%'", ""},
		{"", "output_dir: '/out,1'", "output_dir"},
		{"", "output_dir: '/out:1'", "output_dir"},
	} {
		for version := range bases {
			doc, more := newDocument(t, bases[version]+commonBase), newDocument(t, c.text)
			for key, value := range more.root {
				doc.root[key] = value
			}
			r, found := recipes.ParseRecipe("r.yaml", []byte(doc.text(t)))
			cluster, _ := recipes.ParseCluster("c.yaml", []byte("cluster: x\n"+c.cluster))
			if found.Errors() > 0 {
				t.Fatalf("%s: %v", c.text, found)
			}
			report := check.Run(check.Files{Recipe: r, Cluster: cluster}, check.Host{}).Diagnostics
			_, err := plan.Build(plan.Request{Recipe: r, Cluster: cluster, Target: plan.Slurm, OutputDir: "/out"})
			var paths []string
			for _, d := range report {
				if d.Severity == recipes.Error {
					paths = append(paths, d.Path)
				}
			}
			if got := strings.Join(paths, " "); got != c.refused || (err != nil) != (c.refused != "") ||
				err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("layout %d, %s%s: check %q, plan %v, want %q", version, c.text, c.cluster, got, err, c.refused)
			}
		}
	}
	unnamed := strings.Replace(bases[2], "name: x", `name: ""`, 1)
	if _, found := recipes.ParseRecipe("r.yaml", []byte(unnamed)); found.Errors() != 1 || found[0].Path != "name" {
		t.Errorf("an empty name: %v", found)
	}
}

func TestOutputDirectory(t *testing.T) {
	t.Parallel()
	r, _ := recipes.ParseRecipe("r.yaml", []byte(bases[2]+commonBase))
	for dir, want := range map[string]string{
		"/out/100%": "#SBATCH --output=/out/100%%/%j/logs/sweep_%j.log\n",
		`/out\x`:    "", "/a\nb": "", "/out,1": "", "/out:1": "",
	} {
		p, err := plan.Build(plan.Request{Recipe: r, Target: plan.Slurm, OutputDir: dir})
		if (err != nil) != (want == "") || err == nil && !strings.Contains(p.Script, want) {
			t.Errorf("%q: %v, want %q in the script", dir, err, want)
		}
	}
	for _, dir := range []string{"/out,1", "/out:1"} { // containers mount it; this machine does not
		if _, err := plan.Build(plan.Request{Recipe: r, Target: plan.Srtctl, OutputDir: dir}); err == nil {
			t.Errorf("%q: srtctl can't mount it, but there is a plan", dir)
		}
		if _, err := plan.Build(plan.Request{Recipe: r, Target: plan.Local, OutputDir: dir}); err != nil &&
			strings.Contains(err.Error(), "output directory") {
			t.Errorf("%q: %v", dir, err)
		}
	}
}
