package plan

// containerFlags are the flags of a step's srun that make its container, and
// whether a value stands behind them.
var containerFlags = map[string]bool{
	"--container-image": true, "--container-mounts": true, "--no-container-entrypoint": false,
	"--no-container-mount-home": false,
}

// shell is the command line that opens a shell beside a step: on its first node, in
// a container of the same image with the same mounts.
func (s *Step) shell() []string {
	argv := []string{
		"srun", "--jobid", JobID, "--overlap", "--mpi", "none", "--nodes", "1", "--ntasks", "1", "--nodelist",
		nodeName(s.Nodes[0]), "--pty",
	}
	for i := 0; i < len(s.Launch); i++ {
		valued, ok := containerFlags[s.Launch[i]]
		if !ok {
			continue
		}
		argv = append(argv, s.Launch[i])
		if valued {
			i++
			argv = append(argv, s.Launch[i])
		}
	}
	return append(argv, "bash")
}
