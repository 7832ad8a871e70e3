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

// Bindings are the values of a plan's placeholders in an allocation: names and
// addresses of its nodes, the job's id, and where the run's files are.
func Bindings(ctx context.Context, p *plan.Plan, id, nodeList, dir, logs string) ([]string, error) {
	out, err := call(ctx, queryLimit, "scontrol", "show", "hostnames", nodeList)
	if err != nil {
		return nil, fmt.Errorf("list the nodes of allocation %s: %w", nodeList, err)
	}
	names := strings.Fields(out) // in Slurm's order; the first one runs the batch script
	if len(names) != len(p.Nodes) {
		return nil, problem.Errorf(problem.AllocationMismatch, "bind the plan: allocation %s: has %d nodes, the plan %d",
			nodeList, len(names), len(p.Nodes))
	}
	told := nodeAddresses(ctx, nodeList)
	pairs := []string{plan.JobID, id, plan.RunDir, dir, plan.LogDir, logs}
	for i, name := range names {
		pairs = append(pairs, fmt.Sprintf("{node:%d}", i), name, fmt.Sprintf("{ip:%d}", i), address(ctx, name, told[name]))
	}
	return pairs, nil
}

// address is where other nodes reach a node: what its name stands for, if that is
// no loopback address (as on a node that lists itself in /etc/hosts), else what
// Slurm calls it; the name itself where neither is an address.
func address(ctx context.Context, name, told string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, n := range []string{name, told} {
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

// nodeAddresses is NodeAddr of each node; empty where Slurm does not say.
func nodeAddresses(ctx context.Context, list string) map[string]string {
	out := map[string]string{}
	text, err := call(ctx, queryLimit, "scontrol", "--oneliner", "show", "node", list)
	if err != nil {
		return out // names alone then
	}
	for line := range strings.Lines(text) {
		out[field(line, "NodeName")] = field(line, "NodeAddr")
	}
	return out
}

// DownNodes are the nodes of a list that are lost; none where Slurm does not answer.
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

// Architectures are those of the nodes of partitions (a,b) as uname calls them (x86_64, aarch64).
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
