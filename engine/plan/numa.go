package plan

import _ "embed" // the script

// numaScript starts a command on the CPUs of the NUMA node of a rank's GPU.
//
//go:embed numa_cpu_bind.sh
var numaScript string

// numaScriptFile is the script in the run directory.
var numaScriptFile = RunDir.text() + "/numa_cpu_bind.sh"

// numaSource returns the path of the field for which the script is shipped.
func (b *builder) numaSource() string { return b.recipe.Position("backend.numa_cpu_bind").Path }

// shipsNUMAScript reports whether workers need the script and /configs is not that of an srtctl, which has its own.
func (b *builder) shipsNUMAScript() bool {
	return b.recipe.Engine.NUMACPUBind && (b.Cluster == nil || b.Cluster.SrtctlRoot == "")
}
