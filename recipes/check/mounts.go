package check

import (
	"path"
	"slices"
	"strings"
)

// mount is one entry of the final mount list of a container. field is empty if it is
// not from the recipe.
type mount struct{ field, host, container string }

// builtinMounts are container paths that srtctl mounts itself. A mount that hides one breaks the run.
var builtinMounts = []string{"/logs", "/model", "/configs", "/srtctl-runtime", "/srtctl-benchmarks"}

// mountList returns the mounts of the cluster file and the recipe, in the order in which
// they are applied.
func (c *checker) mountList() []mount {
	var all []mount
	if c.cluster != nil {
		for _, m := range c.cluster.Mounts {
			all = append(all, mount{"", m.Name, m.Value})
		}
	}
	for _, m := range c.r.ExtraMounts {
		if host, container, ok := strings.Cut(m, ":"); ok {
			container, _, _ = strings.Cut(container, ":") // drop the options
			all = append(all, mount{"extra_mount", host, container})
		}
	}
	for _, m := range c.r.ContainerMounts {
		all = append(all, mount{"container_mounts", m.Name, m.Value})
	}
	return all
}

func (c *checker) mounts() {
	hosts, containers := map[string]string{}, map[string]string{} // mounts by host and by container path
	for _, m := range c.mountList() {
		text := m.host + ":" + m.container
		if m.field == "" { // only mounts of the recipe are reported
			hosts[m.host], containers[m.container] = text+" of the cluster file", text+" of the cluster file"
			continue
		}
		switch {
		case slices.Contains(builtinMounts, strings.TrimRight(m.container, "/")):
			c.report("mounts", m.field, "use another container path", "%q hides the built-in %s", text, m.container)
		case m.host == c.r.ModelPath && m.host != "":
			c.report("mounts", m.field, "mount its parent directory, or use /model",
				"%q has the model's host path, which removes the /model mount", text)
		case hosts[m.host] != "" && hosts[m.host] != text:
			c.report("mount-order", m.field, "remove one of the two",
				"%q replaces %q: of two mounts with the same host path, the later wins", text, hosts[m.host])
		case containers[m.container] != "" && containers[m.container] != text:
			c.report("mount-order", m.field, "remove one of the two",
				"%q and %q have the same container path", text, containers[m.container])
		}
		hosts[m.host], containers[m.container] = text, text
	}
}

// mountOf returns the mount that contains a container path; ok is false if none does.
func (c *checker) mountOf(path string) (best mount, ok bool) {
	for _, m := range append([]mount{{"", "", "/logs"}, {"", c.r.ModelPath, "/model"}}, c.mountList()...) {
		t := strings.TrimRight(m.container, "/")
		if (path == t || strings.HasPrefix(path, t+"/")) && (!ok || len(t) >= len(strings.TrimRight(best.container, "/"))) {
			best, ok = m, true
		}
	}
	return best, ok
}

// hostPath returns the host path of a container path; ok is false if it is unknown.
func (c *checker) hostPath(p string) (host string, ok bool) {
	m, ok := c.mountOf(p)
	if !ok || m.host == "" || strings.ContainsAny(m.host, "{}") || p == "" {
		return "", false
	}
	return path.Join(m.host, strings.TrimPrefix(p, strings.TrimRight(m.container, "/"))), true
}
