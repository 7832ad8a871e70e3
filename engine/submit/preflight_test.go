package submit

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/slurm"
)

func TestSizeNote(t *testing.T) {
	t.Parallel()
	p := slurm.Partition{Name: "batch", Nodes: 13, Idle: 5}
	for nodes, words := range map[int]string{
		4: "4 of 5 idle", 5: "5 of 5 idle", 13: "waits for 8 more",
		14: "batch has 13: it would never start",
	} {
		if got := sizeNote(p, nodes); !strings.Contains(got, words) {
			t.Errorf("%d nodes: %s", nodes, got)
		}
	}
}
