package check

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Host gives access to the files of this machine. Checks that need a nil function are skipped.
type Host struct {
	// Resolve resolves variables and symlinks in a path. It returns fs.ErrNotExist if the path does not exist.
	Resolve func(path string) (string, error)
	Open    func(path string) (io.ReadCloser, error)
	// Users remembers the number of users of assignments files, for the recipes of one file; it may be nil.
	Users map[string]int
}

// missing reports whether a path does not exist although its top-level directory does. A machine
// without /scratch can't tell whether compute nodes have /scratch/model.
func (c *checker) missing(p string) bool {
	if c.host.Resolve == nil || !path.IsAbs(p) || strings.HasPrefix(p, "/TODO/") {
		return false
	}
	top, _, _ := strings.Cut(p[1:], "/")
	if _, err := c.host.Resolve("/" + top); err != nil || top == "" {
		return false
	}
	_, err := c.host.Resolve(p)
	return errors.Is(err, fs.ErrNotExist)
}

// hostPaths checks that the files of the recipe exist on this machine.
func (c *checker) hostPaths() {
	r := c.r
	files := []struct{ path, value string }{{"model.path", r.ModelPath}, {"model.container", r.Container}}
	for _, role := range r.Roles() {
		files = append(files, struct{ path, value string }{"roles." + string(role.Name) + ".container", role.Container})
	}
	for _, f := range files {
		if (c.cluster == nil || c.cluster.Preflight) && c.missing(f.value) {
			c.report("not-here", f.path, "correct it, or set preflight: false in the cluster file if only compute nodes see it",
				"%s does not exist on this machine, where srtctl looks for it", f.value)
		}
	}
	if r.Engine.ServedModelName == "" && c.host.Resolve != nil && path.IsAbs(r.ModelPath) {
		target, err := c.host.Resolve(r.ModelPath)
		if served, requested := path.Base(target), path.Base(r.ModelPath); err == nil && served != requested {
			d := c.report("model-symlink", "model.path", "set served_model_name, or use the target of the symlink",
				"symlink to %s: workers serve the model as %s, but the client requests %s", target, served, requested)
			d.Set(strconv.Quote(target), false)
		}
	}
	for _, f := range []struct{ path, value string }{
		{"benchmark.agentperf_client_dir", r.Benchmark.ClientDir}, {"benchmark.agentperf_config", r.Benchmark.ConfigPath},
	} {
		if host, ok := c.hostPath(f.value); ok && c.missing(host) {
			c.report("container-path", f.path, "correct the path, or create the file",
				"%s is mounted from %s on the host, which does not exist", f.value, host)
		}
	}
	if c.cluster != nil && c.cluster.SrtctlRoot != "" && r.SetupScript != "" &&
		c.missing(path.Join(c.cluster.SrtctlRoot, "configs", r.SetupScript)) {
		c.report("setup-script", "setup_script", "correct the name; srtctl only warns",
			"%s/configs has no %s", c.cluster.SrtctlRoot, r.SetupScript)
	}
}
