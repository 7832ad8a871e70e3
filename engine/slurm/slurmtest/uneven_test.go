package slurmtest

import (
	"strconv"
	"testing"
)

// A worker of 6 GPUs has 4 ranks on its first node and 2 on its second, on each version of Slurm.
func TestWorkerOnPartOfNode(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB, string) Cluster{"default": Start, "newer": StartNewer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSiteOn(t, start(t, "a worker that uses a part of a node"))
			rec := s.apply(twoNodes("--smoke", "--set", "roles.decode.nodes=2", "--set", "roles.decode.gpus=6",
				"--set", "roles.decode.args.tensor_parallel_size=6", "--set", "roles.decode.args.moe_expert_parallel_size=6")...)
			if last, code := s.watch(rec.ID, nil); code != 0 || last.State != "done" {
				t.Fatalf("watch: exit %d, %+v", code, last)
			}
			for rank, want := range [][2]string{{"0", "0"}, {"0", "1"}, {"0", "2"}, {"0", "3"}, {"1", "0"}, {"1", "1"}} {
				got := receivedBy(t, rec.Dir+"/logs/received/decode_0.rank"+strconv.Itoa(rank))
				if at := [2]string{got.value("SLURM_NODEID"), got.value("SLURM_LOCALID")}; at != want {
					t.Errorf("rank %d has node and local rank %v, want %v", rank, at, want)
				}
			}
		})
	}
}
