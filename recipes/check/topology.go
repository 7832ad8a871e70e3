package check

import (
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// topology applies upstream's layout rules, which its dry-run and load skip, and
// the divisions that it rounds without a word.
func (c *checker) topology() {
	r := c.r
	bad := func(msg, fix string) { c.report("topology", "resources", fix, "%s", msg) }
	disagg, agg := r.Disaggregated(), r.Agg.Given
	switch {
	case !disagg && !agg:
		bad("no workers: neither prefill and decode nor agg are given", "give nodes and workers of the roles")
	case disagg && agg:
		bad("prefill or decode and agg workers exclude each other", "remove one of the two layouts")
	case disagg && r.Prefill.Workers == 0 && r.Decode.Workers == 0:
		bad("0 prefill and 0 decode workers", "give both a number")
	case disagg && (r.Prefill.Workers == 0 || r.Decode.Workers == 0):
		bad("only one of prefill and decode has workers", "give both, or use the agg fields for an aggregated layout")
	case agg && (r.Agg.Workers == 0 || r.Agg.Nodes == 0):
		bad("an aggregated layout needs agg nodes and workers", "give both a number")
	}
	for _, role := range c.roles() {
		c.role(role)
	}
}

func (c *checker) role(role recipes.Role) {
	r, nodes := c.r, role.Name.NodesPath()
	if role.Colocated {
		if r.Prefill.GPUs == 0 || role.GPUs == 0 {
			c.report("colocate", nodes, "give gpus of both roles",
				"decode shares the prefill nodes, and both need their GPUs per worker given")
		} else if have, want := r.Prefill.Nodes*r.GPUsPerNode,
			r.Prefill.Workers*r.Prefill.GPUs+role.Workers*role.GPUs; want > have {
			c.report("colocate", nodes, "more nodes, or fewer workers",
				"prefill and decode together want %d GPUs, their nodes have %d", want, have)
		}
		return
	}
	if role.Nodes == 0 {
		c.report("topology", nodes, "give them nodes", "%d %s workers on 0 nodes", role.Workers, role.Name)
		return
	}
	gpus := r.GPUsPerWorker(role)
	have := role.Nodes * r.GPUsPerNode
	if !r.GPUsDivideEvenly(role) {
		c.report("gpus-per-worker", nodes, "change nodes or workers, or give gpus",
			"%d GPUs on %d nodes do not divide into %d workers: upstream would drop the rest", have, role.Nodes, role.Workers)
		return
	}
	if gpus*role.Workers > have {
		c.report("gpus-per-worker", nodes, "more nodes, or fewer workers",
			"%d workers of %d GPUs want %d, %d nodes have %d", role.Workers, gpus, gpus*role.Workers, role.Nodes, have)
	}
	if gpus > r.GPUsPerNode && gpus%r.GPUsPerNode != 0 {
		c.report("gpus-per-worker", nodes, "whole nodes",
			"a worker of %d GPUs does not fill whole nodes of %d", gpus, r.GPUsPerNode)
	}
}

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

// covering is the mount that a container path lies below; ok is false where there is none.
func (c *checker) covering(path string) (best mount, ok bool) {
	for _, m := range append([]mount{{"", "", "/logs"}, {"", c.r.ModelPath, "/model"}}, c.mountList()...) {
		t := strings.TrimRight(m.container, "/")
		if (path == t || strings.HasPrefix(path, t+"/")) && (!ok || len(t) >= len(strings.TrimRight(best.container, "/"))) {
			best, ok = m, true
		}
	}
	return best, ok
}
