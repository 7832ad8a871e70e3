package slurmtest

import (
	"os/exec"
	"strings"
	"testing"
)

func TestJobOnAllNodes(t *testing.T) {
	t.Parallel()
	c := Start(t, "the test cluster itself")
	cmd := exec.Command("bash", "-c", "srun -N13 hostname | sort")
	cmd.Env = c.Env
	out, err := cmd.Output() // without stderr: srun may print that it waits
	if names := strings.Fields(string(out)); err != nil || len(names) != 13 || names[0] != "gb300-T01" ||
		names[12] != "gb300-T13" {
		t.Fatalf("%v: %s", err, out)
	}
}
