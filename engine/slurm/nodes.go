package slurm

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Bindings returns the values of the placeholders of a plan in an allocation: the job id, the run and log
// directories, and the names and addresses of the nodes.
func Bindings(ctx context.Context, p *plan.Plan, id, nodeList, dir, logs string) (plan.Values, error) {
	out, err := call(ctx, queryLimit, "scontrol", "show", "hostnames", nodeList)
	if err != nil {
		return nil, fmt.Errorf("list the nodes of allocation %s: %w", nodeList, err)
	}
	names := strings.Fields(out) // in Slurm's order: the first one runs the batch script
	if len(names) != len(p.Nodes) {
		return nil, problem.Errorf(problem.AllocationMismatch,
			"bind the plan: allocation %s: has %d nodes, but the plan needs %d", nodeList, len(names), len(p.Nodes))
	}
	addresses := nodeAddresses(ctx, nodeList)
	values := plan.Values{plan.JobID: id, plan.RunDir: dir, plan.LogDir: logs}
	for i, name := range names {
		values[plan.NodeName(i)], values[plan.NodeAddress(i)] = name, address(ctx, name, addresses[name])
	}
	return values, nil
}

// address returns the IP address at which other nodes reach a node. It resolves the host name
// or, if that gives only a loopback address (a node may list itself in /etc/hosts), NodeAddr.
// If neither resolves, it returns the host name.
func address(ctx context.Context, name, nodeAddr string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, n := range []string{name, nodeAddr} {
		if n == "" {
			continue
		}
		found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", n)
		if err != nil {
			continue
		}
		for _, want4 := range []bool{true, false} {
			for _, a := range found {
				if a = a.Unmap(); a.Is4() == want4 && !a.IsLoopback() && !a.IsLinkLocalUnicast() {
					return a.String()
				}
			}
		}
	}
	return name
}

// nodeAddresses returns the NodeAddr of each node by name; empty if Slurm does not answer.
func nodeAddresses(ctx context.Context, list string) map[string]string {
	out := map[string]string{}
	text, err := call(ctx, queryLimit, "scontrol", "--oneliner", "show", "node", list)
	if err != nil {
		return out // host names may resolve without it
	}
	for line := range strings.Lines(text) {
		out[field(line, "NodeName")] = field(line, "NodeAddr")
	}
	return out
}

// DownNodes returns the nodes of a node list that are down; none if Slurm does not answer.
func DownNodes(ctx context.Context, list string) []string {
	text, err := call(ctx, queryLimit, "scontrol", "--oneliner", "show", "node", list)
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(text) {
		if state := field(line, "State"); strings.HasPrefix(state, "DOWN") || strings.HasPrefix(state, "FAIL") {
			out = append(out, field(line, "NodeName"))
		}
	}
	return out
}

// Architectures returns the architectures of the nodes in a list of partitions (a,b), sorted
// and named as uname does: aarch64, x86_64.
func Architectures(ctx context.Context, partitions string) ([]string, error) {
	text, err := call(ctx, queryLimit, "scontrol", "--oneliner", "show", "nodes")
	if err != nil {
		return nil, fmt.Errorf("read the architecture of the nodes: %w", err)
	}
	var out []string
	wanted := strings.Split(partitions, ",")
	for line := range strings.Lines(text) {
		arch := field(line, "Arch")
		in := slices.ContainsFunc(strings.Split(field(line, "Partitions"), ","), func(p string) bool {
			return slices.Contains(wanted, p)
		})
		if in && arch != "" && !slices.Contains(out, arch) {
			out = append(out, arch)
		}
	}
	slices.Sort(out)
	return out, nil
}
