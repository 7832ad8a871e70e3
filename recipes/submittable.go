package recipes

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Unsubmittable returns errors about values that no job can have: its name, options of Slurm, mounts and
// paths. c may be nil. A check and a submission both use it, so that what passes the one passes the
// other.
func (r *Recipe) Unsubmittable(c *Cluster) Diagnostics {
	u := unsubmittable{r: r}
	u.jobName()
	u.options(c)
	u.mounts(c)
	return u.out
}

type unsubmittable struct {
	r   *Recipe
	out Diagnostics
}

func (u *unsubmittable) add(rule, name, fix, format string, args ...any) {
	d := u.r.Diag(Error, name, fmt.Sprintf(format, args...), fix)
	d.Rule = rule
	u.out = append(u.out, d)
}

// inCluster adds an error about a value of the cluster file.
func (u *unsubmittable) inCluster(c *Cluster, path, fix, format string, args ...any) {
	d := c.Diag(Error, path, fmt.Sprintf(format, args...), fix)
	d.Rule = "cluster-file"
	u.out = append(u.out, d)
}

// maxNameBytes is the longest name of a job.
const maxNameBytes = 128

func (u *unsubmittable) jobName() {
	n := u.r.Name
	if strings.ContainsFunc(n, unicode.IsControl) || len(n) > maxNameBytes || strings.HasPrefix(n, "-") {
		fix := fmt.Sprintf("use at most %d bytes, no control characters and no leading -", maxNameBytes)
		u.add("job-options", "name", fix, "%.40q is not a valid job name", n)
	}
}

// reservedDirectives are the options of sbatch that a plan sets itself, or with which a run is not one
// job with one log.
var reservedDirectives = []string{
	"array", "output", "error", "wait", "test-only", "wrap", "hold", "parsable", "chdir",
}

// optionName matches the name of a Slurm option without the leading --.
var optionName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)

// optionFault returns what is wrong with an option of sbatch or srun; empty if nothing is. Slurm takes the
// beginning of a name for the name.
func optionFault(o Var, reserved []string) string {
	switch {
	case !optionName.MatchString(o.Name):
		return fmt.Sprintf("%q is not a name of a Slurm option: expected letters, digits and -", o.Name)
	case slices.ContainsFunc(reserved, func(name string) bool { return strings.HasPrefix(name, o.Name) }):
		return o.Name + " is not supported, because a run is one job with one log"
	case strings.ContainsFunc(o.Value, unicode.IsControl):
		return fmt.Sprintf("%s: %.40q has a control character", o.Name, o.Value)
	}
	return ""
}

func (u *unsubmittable) options(c *Cluster) {
	r := u.r
	for _, of := range []struct {
		name     string
		options  Env
		reserved []string
	}{
		{"sbatch_directives", r.SbatchDirectives, reservedDirectives},
		{"srun_options", r.SrunOptions, nil},
		{"roles.prefill.srun_options", r.Prefill.Srun, nil},
		{"roles.decode.srun_options", r.Decode.Srun, nil},
		{"roles.agg.srun_options", r.Agg.Srun, nil},
	} {
		for _, o := range of.options {
			if fault := optionFault(o, of.reserved); fault != "" {
				u.add("job-options", Join(of.name, o.Name), "remove it", "%s", fault)
			}
		}
	}
	for _, v := range []Var{
		{"slurm.account", r.Slurm.Account}, {"slurm.partition", r.Slurm.Partition}, {"slurm.time_limit", r.Slurm.TimeLimit},
	} {
		if strings.ContainsFunc(v.Value, unicode.IsControl) {
			u.add("job-options", v.Name, "remove it", "%.40q has a control character", v.Value)
		}
	}
	if c == nil {
		return
	}
	for _, o := range c.SbatchDirectives {
		if fault := optionFault(o, reservedDirectives); fault != "" {
			u.inCluster(c, Join("default_sbatch_directives", o.Name), "remove it", "%s", fault)
		}
	}
	if fault := cmp.Or(OutputDirFault(c.OutputDir), OutputMountFault(c.OutputDir)); fault != "" {
		u.inCluster(c, "output_dir", "use another directory", "%s", fault)
	}
}

// OutputDirFault returns what is wrong with the directory that contains run directories; empty if
// nothing is. Slurm drops a backslash and what % means after it.
func OutputDirFault(dir string) string {
	if i := strings.IndexFunc(dir, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }); i >= 0 {
		return fmt.Sprintf("%q contains %q, which the name of a job's log can't contain", dir, dir[i])
	}
	return ""
}

// OutputMountFault returns why containers can't mount directories below the directory that contains run
// directories; empty if they can.
func OutputMountFault(dir string) string {
	if i := strings.IndexAny(dir, ",:"); i >= 0 {
		return fmt.Sprintf("%q contains %q, which separates mounts: containers can't mount the log directory", dir, dir[i])
	}
	return ""
}

func (u *unsubmittable) mounts(c *Cluster) {
	r := u.r
	for i, m := range r.ExtraMounts {
		host, rest, ok := strings.Cut(m, ":")
		container, options, _ := strings.Cut(rest, ":")
		fault := mountFault(host, container)
		switch {
		case !ok:
			fault = "no colon"
		case fault == "" && strings.ContainsAny(options, ":,"):
			fault = "more than host, container and options"
		}
		if fault != "" {
			u.add("mounts", fmt.Sprintf("extra_mount[%d]", i), "use /host:/container", "%q: %s", m, fault)
		}
	}
	for _, m := range r.ContainerMounts {
		if fault := mountFault(m.Name, m.Value); fault != "" {
			u.add("mounts", Join("container_mounts", m.Name), "use absolute paths", "%q: %s", m.Name+": "+m.Value, fault)
		}
	}
	if !strings.HasPrefix(r.ModelPath, "hf:") {
		if fault := mountFault(r.ModelPath, "/model"); fault != "" && fault != relativeHost {
			u.add("mounts", "model.path", "rename it, or use a symbolic link", "can't be mounted: %q: %s", r.ModelPath, fault)
		}
	}
	if r.StageDir != "" {
		if fault := mountFault(r.StageDir, "/"); fault != "" {
			u.add("mounts", "model.stage_dir", "use an absolute path", "can't be mounted: %q: %s", r.StageDir, fault)
		}
	}
	if c == nil {
		return
	}
	for _, m := range c.Mounts {
		if fault := mountFault(m.Name, m.Value); fault != "" {
			u.inCluster(c, Join("default_mounts", m.Name), "use absolute paths", "%q: %s", m.Name+": "+m.Value, fault)
		}
	}
}

const relativeHost = "the host path is not absolute"

// mountFault returns what is wrong with a mount; empty if nothing is. A path may begin with a variable, a
// placeholder or, on the host, ~.
func mountFault(host, container string) string {
	options := strings.LastIndexByte(container, ':')
	if options < 0 {
		options = len(container)
	}
	switch {
	case strings.Contains(host+container, ","):
		return "a comma, which separates mounts"
	case strings.ContainsFunc(host+container, unicode.IsControl):
		return "a control character"
	case strings.Contains(host, ":") || strings.Contains(container[:options], ":"):
		return "a colon, which separates host and container"
	case host == "" || container == "":
		return "an empty path"
	case !strings.ContainsRune("/~$", rune(host[0])) && host[0] != '{':
		return relativeHost
	case !strings.ContainsRune("/$", rune(container[0])) && container[0] != '{':
		return "the container path is not absolute"
	}
	return ""
}
