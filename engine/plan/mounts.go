package plan

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Paths of the log directory and the model in containers.
const (
	containerLogs  = "/logs"
	containerModel = "/model"
)

// addMounts adds the container mounts in the order of srt-slurm. Of two mounts with the same
// host path, the later one replaces the earlier one.
func (b *builder) addMounts() error {
	add := func(host, container, source string) {
		b.plan.Mounts = slices.DeleteFunc(b.plan.Mounts, func(m Mount) bool { return m.Host == host })
		b.plan.Mounts = append(b.plan.Mounts, Mount{Host: host, Container: container, Source: source})
	}
	add(LogDir.text(), containerLogs, backend.BuiltIn)
	if !strings.HasPrefix(b.recipe.ModelPath, "hf:") {
		add(b.recipe.ModelPath, containerModel, "model.path")
	}
	if d := b.stageDir(); d != "" {
		add(path.Dir(d), path.Dir(d), "model.stage_dir")
	}
	add(RunDir.text()+"/bin", "/agentperf", backend.BuiltIn)
	if b.shipsNUMAScript() {
		add(numaScriptFile, "/configs/numa_cpu_bind.sh", b.numaSource())
	}
	if b.Cluster != nil {
		if b.Cluster.SrtctlRoot != "" {
			add(b.Cluster.SrtctlRoot+"/configs", "/configs", b.Cluster.File)
		}
		for _, m := range b.Cluster.Mounts {
			add(m.Name, m.Value, b.Cluster.File)
		}
	}
	for _, m := range b.recipe.ExtraMounts {
		host, container, ok := strings.Cut(m, ":")
		if !ok {
			return problem.Errorf(problem.PlanInvalid, "extra_mount: %q has no colon; write host:container", m)
		}
		add(host, container, "extra_mount")
	}
	for _, m := range b.recipe.ContainerMounts {
		host, err := b.expandTemplate(m.Name)
		if err != nil {
			return err
		}
		container, err := b.expandTemplate(m.Value)
		if err != nil {
			return err
		}
		add(host, container, "container_mounts")
	}
	return nil
}

// expandTemplate replaces the placeholders of container_mounts. Values that are known only
// in the job become placeholders of the plan.
func (b *builder) expandTemplate(s string) (string, error) {
	known := map[string]string{
		"job_id": JobID.text(), "run_name": b.recipe.Name + "_" + JobID.text(),
		"head_node_ip": address(b.layout.Head), "log_dir": LogDir.text(),
		"model_path": b.recipe.ModelPath, "container_image": b.recipe.Container,
		"gpus_per_node": strconv.Itoa(b.recipe.GPUsPerNode),
	}
	var out strings.Builder
	for rest := s; rest != ""; {
		before, after, ok := strings.Cut(rest, "{")
		out.WriteString(before)
		if !ok {
			break
		}
		name, tail, closed := strings.Cut(after, "}")
		v, have := known[name]
		if !closed || !have {
			return "", problem.Errorf(problem.PlanInvalid, "container_mounts: unknown placeholder {%s} in %q (available: "+
				"job_id, run_name, head_node_ip, log_dir, model_path, container_image, gpus_per_node)", name, s)
		}
		out.WriteString(v)
		rest = tail
	}
	return out.String(), nil
}
