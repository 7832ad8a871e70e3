package slurm

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Bindings are the values of a plan's placeholders in an allocation: names and
// addresses of its nodes, the job's id, and where the run's files are.
func Bindings(ctx context.Context, p *plan.Plan, id, nodeList, dir, logs string) ([]string, error) {
	out, err := call(ctx, askLimit, "scontrol", "show", "hostnames", nodeList)
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
	text, err := call(ctx, askLimit, "scontrol", "--oneliner", "show", "node", list)
	if err != nil {
		return out // names alone then
	}
	for line := range strings.Lines(text) {
		out[field(line, "NodeName")] = field(line, "NodeAddr")
	}
	return out
}

// Down are the nodes of a list that are lost; none where Slurm does not answer.
func Down(ctx context.Context, list string) []string {
	text, err := call(ctx, askLimit, "scontrol", "--oneliner", "show", "node", list)
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
	text, err := call(ctx, askLimit, "scontrol", "--oneliner", "show", "nodes")
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

// field is the value of NAME=VALUE in a line of scontrol's.
func field(line, name string) string {
	for word := range strings.FieldsSeq(line) {
		if v, ok := strings.CutPrefix(word, name+"="); ok {
			return v
		}
	}
	return ""
}

// Partition is what a partition has, and what it allows.
type Partition struct {
	Name      string
	TimeLimit string // of a job, in Slurm's form; infinite
	Sizes     string // nodes of a job: 1-infinite
	Nodes     int
	Idle      int
	States    []string // counts by state: 3 idle
}

// String is the partition in one line.
func (p Partition) String() string {
	text := fmt.Sprintf("partition %s: nodes %s; time limit %s", p.Name, strings.Join(p.States, ", "), p.TimeLimit)
	if p.Sizes != "1-infinite" {
		text += "; nodes of a job " + p.Sizes
	}
	return text
}

// Partitions looks at each partition in a list (a,b). A partition that there is
// not is an error that names those that there are.
func Partitions(ctx context.Context, list string) ([]Partition, error) {
	out, err := call(ctx, askLimit, "sinfo", "--noheader", "--format=%R|%l|%s|%D|%T")
	if err != nil {
		return nil, fmt.Errorf("read partition %s: %w", list, err)
	}
	var found []Partition
	for name := range strings.SplitSeq(list, ",") {
		p, err := parsePartition(out, name)
		if err != nil {
			return nil, err
		}
		found = append(found, p)
	}
	return found, nil
}

func parsePartition(out, name string) (Partition, error) {
	p, names := Partition{Name: name}, []string{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 {
			continue
		}
		if !slices.Contains(names, f[0]) {
			names = append(names, f[0])
		}
		if f[0] != name {
			continue
		}
		p.TimeLimit, p.Sizes, p.States = f[1], f[2], append(p.States, f[3]+" "+f[4])
		n, err := strconv.Atoi(f[3])
		if err != nil {
			continue
		}
		p.Nodes += n
		if f[4] == "idle" {
			p.Idle += n
		}
	}
	if p.TimeLimit == "" {
		return p, problem.Errorf(problem.PartitionUnknown, "no such partition: %s (available: %s); "+
			"set slurm.partition in the recipe or default_partition in the cluster file", name, strings.Join(names, ", "))
	}
	return p, nil
}
