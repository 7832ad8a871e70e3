package recipes

import (
	"slices"
	"strings"
	"testing"
)

func TestExpandVariables(t *testing.T) {
	t.Parallel()
	values := map[string]string{"SCR": "/scratch", "USER_1": "u"}
	getenv := func(name string) string { return values[name] }
	for text, want := range map[string]string{
		"$SCR/m": "/scratch/m", "${SCR}x/$USER_1": "/scratchx/u", "$SCRATCH/m": "$SCRATCH/m", "${NO}/m": "${NO}/m",
		"/a$/$$SCR": "/a$/$/scratch", "/plain": "/plain", "": "",
	} {
		if got := ExpandVariables(text, getenv); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Every path of a recipe that srt-slurm expands is expanded, and what is left is listed.
func TestPathsWithVariables(t *testing.T) {
	t.Parallel()
	const text = `schema: 2
name: x
model: {path: $SCR/m, container: $SCR/c.sqsh, precision: fp4, stage_dir: "/nvme/${SLURM_JOB_ID}/$USER"}
resources: {gpu_type: h100, gpus_per_node: 4}
engine: trtllm
roles: {agg: {nodes: 1, workers: 1, container: $SCR/a.sqsh}}
frontend: {enable_multiple_frontends: false}
dynamo: {install: false}
benchmark: {type: agentperf, concurrency: 8, agentperf_client_dir: /ap/c, agentperf_config: /ap/w.yaml,
  container_image: $SCR/b.sqsh}
extra_mount: ["$SCR/ap:/ap:ro", "~/x:/$x"]
container_mounts: {"~/$SCR/{job_id}": "/in$SCR", "$OUT/y": /y}
`
	r, found := ParseRecipe("r.yaml", []byte(text))
	if found.Errors() > 0 {
		t.Fatal(found)
	}
	before := slices.Clone(r.ExtraMounts)
	same := r.ExtraMounts
	getenv := func(name string) string { return map[string]string{"SCR": "/s", "HOME": "/home/u"}[name] }
	changes := (&Cluster{}).Apply(r, getenv)
	got := strings.Join([]string{r.ModelPath, r.Container, r.StageDir, r.Agg.Container, r.Benchmark.Image}, " ")
	if want := "/s/m /s/c.sqsh /nvme/${SLURM_JOB_ID}/$USER /s/a.sqsh /s/b.sqsh"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if want := []string{"/s/ap:/ap:ro", "/home/u/x:/$x"}; !slices.Equal(r.ExtraMounts, want) {
		t.Errorf("mounts %q, want %q", r.ExtraMounts, want)
	}
	mounts := Env{{Name: "/home/u//s/{job_id}", Value: "/in/s"}, {Name: "$OUT/y", Value: "/y"}}
	if !slices.Equal(r.ContainerMounts, mounts) {
		t.Errorf("mounts %q, want %q", r.ContainerMounts, mounts)
	}
	site := &Cluster{Mounts: Env{{Name: "$SCR/a", Value: "/a"}}}
	if got := site.Expanded(getenv).Mounts[0].Name + site.Mounts[0].Name; got != "/s/a$SCR/a" {
		t.Errorf("mounts of the site: %s", got)
	}
	if !slices.Equal(same, before) {
		t.Errorf("a list that other recipes may share was changed: %q", same)
	}
	if !slices.ContainsFunc(changes, func(c Change) bool { return c.Field == "model.path" && c.Origin == "environment" }) {
		t.Errorf("changes %+v", changes)
	}
	want := []UnsetVariable{
		{"model.stage_dir", "/nvme/${SLURM_JOB_ID}/$USER", "$USER"}, {"container_mounts.$OUT/y", "$OUT/y", "$OUT"},
	}
	if left := r.UnsetVariables(); !slices.Equal(left, want) {
		t.Errorf("left: %+v", left)
	}
}
