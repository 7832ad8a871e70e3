package plan

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Where a container of the run has the log dir and the model.
const (
	containerLogs  = "/logs"
	containerModel = "/model"
)

// mounts lists the container mounts in upstream's order; of two with one host
// path the later one holds.
func (b *builder) mounts() error {
	add := func(host, container, source string) {
		b.p.Mounts = slices.DeleteFunc(b.p.Mounts, func(m Mount) bool { return m.Host == host })
		b.p.Mounts = append(b.p.Mounts, Mount{Host: host, Container: container, Source: source})
	}
	add(LogDir, containerLogs, backend.BuiltIn)
	if !strings.HasPrefix(b.r.ModelPath, "hf:") {
		add(b.r.ModelPath, containerModel, "model.path")
	}
	if d := b.r.StageDir; d != "" {
		add(path.Dir(d), path.Dir(d), "model.stage_dir")
	}
	add(RunDir+"/bin", "/agentperf", backend.BuiltIn)
	if b.Cluster != nil {
		if b.Cluster.SrtctlRoot != "" {
			add(b.Cluster.SrtctlRoot+"/configs", "/configs", b.Cluster.File)
		}
		for _, m := range b.Cluster.Mounts {
			add(m.Name, m.Value, b.Cluster.File)
		}
	}
	for _, m := range b.r.ExtraMounts {
		host, container, ok := strings.Cut(m, ":")
		if !ok {
			return problem.Errorf(problem.PlanInvalid, "extra_mount: %q has no colon; write host:container", m)
		}
		add(host, container, "extra_mount")
	}
	for _, m := range b.r.ContainerMounts {
		host, err := b.template(m.Name)
		if err != nil {
			return err
		}
		container, err := b.template(m.Value)
		if err != nil {
			return err
		}
		add(host, container, "container_mounts")
	}
	return nil
}

// template fills the placeholders that container_mounts may use; the ones that
// are known only in the job become the plan's own.
func (b *builder) template(s string) (string, error) {
	known := map[string]string{
		"job_id": JobID, "run_name": b.r.Name + "_" + JobID, "head_node_ip": address(b.l.head), "log_dir": LogDir,
		"model_path": b.r.ModelPath, "container_image": b.r.Container, "gpus_per_node": strconv.Itoa(b.r.GPUsPerNode),
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

// modelPath is where workers find the model.
func (b *builder) modelPath() string {
	if id, ok := strings.CutPrefix(b.r.ModelPath, "hf:"); ok {
		return id
	}
	if b.r.StageDir != "" {
		return path.Join(b.r.StageDir, path.Base(b.r.ModelPath))
	}
	return containerModel
}
