package recipes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// variable matches a variable of the environment in a path.
var variable = regexp.MustCompile(`\$(\w+|\{[^}]*\})`)

// ExpandVariables replaces the variables of a path by their values. Like srt-slurm, it leaves variables
// without a value as they are.
func ExpandVariables(path string, getenv func(string) string) string {
	return variable.ReplaceAllStringFunc(path, func(found string) string {
		if value := getenv(strings.Trim(found, "${}")); value != "" {
			return value
		}
		return found
	})
}

// JobVariables returns the variables that hold the id of a Slurm job.
func JobVariables() []string { return []string{"SLURM_JOB_ID", "SLURM_JOBID"} }

// UnsetVariable is a variable in a path of a recipe that is left after [Cluster.Apply].
type UnsetVariable struct {
	Path  string // of the field
	Value string
	Name  string // as written: $NAME or ${NAME}
}

// UnsetVariables returns the first variable of each path of the recipe in which one is left. The id of the job
// in stage_dir is not one of them.
func (r *Recipe) UnsetVariables() []UnsetVariable {
	var out []UnsetVariable
	r.eachPath(func(field string, path *string) {
		text, host := *path, *path
		if strings.HasPrefix(field, "extra_mount[") {
			host, _, _ = strings.Cut(text, ":")
		}
		for _, name := range variable.FindAllString(host, -1) {
			if field == "model.stage_dir" && slices.Contains(JobVariables(), strings.Trim(name, "${}")) {
				continue
			}
			out = append(out, UnsetVariable{Path: field, Value: text, Name: name})
			break
		}
	})
	return out
}

// eachPath calls f for the paths of a recipe that may contain variables: those of the model, of images, and of
// the directories that it mounts.
func (r *Recipe) eachPath(f func(field string, path *string)) {
	f("model.path", &r.ModelPath)
	f("model.stage_dir", &r.StageDir)
	f("model.container", &r.Container)
	for _, role := range []*Role{&r.Prefill, &r.Decode, &r.Agg} {
		f("roles."+string(role.Name)+".container", &role.Container)
	}
	f("benchmark.container_image", &r.Benchmark.Image)
	r.ExtraMounts = slices.Clone(r.ExtraMounts)
	for i := range r.ExtraMounts {
		f(fmt.Sprintf("extra_mount[%d]", i), &r.ExtraMounts[i])
	}
	r.ContainerMounts = slices.Clone(r.ContainerMounts)
	for i := range r.ContainerMounts {
		m := &r.ContainerMounts[i]
		field := Join("container_mounts", m.Name)
		f(field, &m.Name)
		f(field, &m.Value)
	}
}

// expandPaths expands the variables of paths, and ~ in those of mounted directories. set replaces the value of a
// field.
func (r *Recipe) expandPaths(getenv func(string) string, set func(field string, to *string, value, origin string)) {
	r.eachPath(func(field string, path *string) {
		const origin = "environment"
		switch {
		case strings.HasPrefix(field, "extra_mount["):
			if host, rest, ok := strings.Cut(*path, ":"); ok {
				set(field, path, expandHost(host, getenv)+":"+rest, origin)
			}
		case strings.HasPrefix(field, "container_mounts"):
			set(field, path, expandHost(*path, getenv), origin) // a path in a container is absolute: no ~
		default:
			set(field, path, ExpandVariables(*path, getenv), origin)
		}
	})
}

// expandHost expands ~ and the variables of the path of a directory that is mounted.
func expandHost(path string, getenv func(string) string) string {
	if home := getenv("HOME"); home != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
		path = home + path[1:]
	}
	return ExpandVariables(path, getenv)
}

// Expanded returns the cluster file with the variables of its mounts expanded.
func (c *Cluster) Expanded(getenv func(string) string) *Cluster {
	if c == nil {
		return nil
	}
	out := *c
	out.Mounts = slices.Clone(c.Mounts)
	for i := range out.Mounts {
		out.Mounts[i].Name = expandHost(out.Mounts[i].Name, getenv)
	}
	return &out
}
