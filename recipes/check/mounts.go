package check

import (
	"slices"
	"strings"
)

// mount is one entry of the final list that containers get.
type mount struct{ field, host, container string }

// ownMounts are made by srtctl; something mounted over them breaks the run.
var ownMounts = []string{"/logs", "/model", "/configs", "/srtctl-runtime", "/srtctl-benchmarks"}

// mountList is what the files mount, in the order in which it is applied.
func (c *checker) mountList() []mount {
	var all []mount
	if c.cluster != nil {
		for _, m := range c.cluster.Mounts {
			all = append(all, mount{"", m.Name, m.Value})
		}
	}
	for _, m := range c.r.ExtraMounts {
		if host, container, ok := strings.Cut(m, ":"); ok {
			target, _, _ := strings.Cut(container, ":")
			all = append(all, mount{"extra_mount", host, target})
		}
	}
	for _, m := range c.r.ContainerMounts {
		all = append(all, mount{"container_mounts", m.Name, m.Value})
	}
	return all
}

func (c *checker) mounts() {
	for _, m := range c.r.ExtraMounts {
		if !strings.Contains(m, ":") {
			c.report("mounts", "extra_mount", "write host:container", "%q has no colon: want host:container", m)
		}
	}
	hosts, targets := map[string]string{}, map[string]string{}
	for _, m := range c.mountList() {
		text := m.host + ":" + m.container
		if m.field == "" { // the cluster file's own: only what the recipe puts over it is the recipe's
			hosts[m.host], targets[m.container] = text+" of the cluster file", text+" of the cluster file"
			continue
		}
		switch {
		case slices.Contains(ownMounts, strings.TrimRight(m.container, "/")):
			c.report("mounts", m.field, "mount it elsewhere", "%q hides the built-in %s", text, m.container)
		case m.host == c.r.ModelPath && m.host != "":
			c.report("mounts", m.field, "mount its parent, or use /model",
				"%q has the model's host path, which removes the /model mount", text)
		case hosts[m.host] != "" && hosts[m.host] != text:
			c.report("mount-order", m.field, "keep one of the two",
				"%q replaces %q: of two mounts with one host path the later wins", text, hosts[m.host])
		case targets[m.container] != "" && targets[m.container] != text:
			c.report("mount-order", m.field, "keep one of the two",
				"%q and %q claim one container path", text, targets[m.container])
		}
		hosts[m.host], targets[m.container] = text, text
	}
}

// covering is the mount that a container path lies below; ok is false where
// there is none.
func (c *checker) covering(path string) (best mount, ok bool) {
	for _, m := range append([]mount{{"", "", "/logs"}, {"", c.r.ModelPath, "/model"}}, c.mountList()...) {
		t := strings.TrimRight(m.container, "/")
		if (path == t || strings.HasPrefix(path, t+"/")) && (!ok || len(t) >= len(strings.TrimRight(best.container, "/"))) {
			best, ok = m, true
		}
	}
	return best, ok
}
