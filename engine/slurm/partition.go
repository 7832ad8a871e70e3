package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Partition describes the nodes and limits of a partition.
type Partition struct {
	Name      string
	TimeLimit string // of a job, as Slurm prints it: 1-00:00:00, infinite
	Sizes     string // allowed number of nodes of a job: 1-infinite
	Nodes     int
	Idle      int
	States    []string // number of nodes by state: "3 idle"
}

// String describes the partition in one line.
func (p Partition) String() string {
	text := fmt.Sprintf("partition %s: nodes %s; time limit %s", p.Name, strings.Join(p.States, ", "), p.TimeLimit)
	if p.Sizes != "1-infinite" {
		text += "; nodes per job " + p.Sizes
	}
	return text
}

// Partitions reads each partition in a list (a,b). The error for an unknown partition names
// the available ones.
func Partitions(ctx context.Context, list string) ([]Partition, error) {
	out, err := call(ctx, queryLimit, "sinfo", "--noheader", "--format=%R|%l|%s|%D|%T")
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
