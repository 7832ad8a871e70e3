#!/bin/bash
# Runs a command on the CPUs of the NUMA node of a rank's GPU: numa_cpu_bind.sh [--bind-memory] COMMAND...
# The GPU is entry SLURM_LOCALID of CUDA_VISIBLE_DEVICES, or SLURM_LOCALID itself if that is not set.
# If the node is unknown, the command runs unbound, with a note; with --bind-memory it does not start.
# Exit codes: 2 no command or no GPU for the rank, 3 memory can't be bound, else that of the command.
# SYSFS_ROOT replaces /sys.
set -u
note() { echo "numa_cpu_bind: rank ${SLURM_LOCALID:-?}: $*" >&2; }
memory=
if [ "${1:-}" = --bind-memory ]; then memory=1; shift; fi
if [ $# -eq 0 ]; then note "no command"; exit 2; fi
if ! [[ ${SLURM_LOCALID:-} =~ ^[0-9]+$ ]]; then note "SLURM_LOCALID is not set; start it with srun"; exit 2; fi
gpu=$SLURM_LOCALID
if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
  IFS=, read -ra visible <<<"$CUDA_VISIBLE_DEVICES"
  gpu=${visible[10#$SLURM_LOCALID]:-}
  gpu=${gpu//[[:space:]]/}
  if [ -z "$gpu" ]; then note "no entry in CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES"; exit 2; fi
fi
unbound() {
  if [ -n "$memory" ]; then note "$1; memory can't be bound"; exit 3; fi
  note "$1; not bound"
  exec "${command[@]}"
}
command=("$@")
root=${SYSFS_ROOT:-/sys}
pci=$(nvidia-smi --query-gpu=pci.bus_id --format=csv,noheader -i "$gpu" 2>/dev/null) ||
  unbound "nvidia-smi failed for GPU $gpu"
pci=$(tr -d '[:space:]' <<<"${pci,,}")
[[ $pci =~ ^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$ ]] || unbound "GPU $gpu has no PCI address"
domain=${pci%%:*}
pci=${domain: -4}:${pci#*:} # nvidia-smi writes the domain with 8 digits, sysfs with 4
node=$(cat "$root/bus/pci/devices/$pci/numa_node" 2>/dev/null)
[[ $node =~ ^[0-9]+$ ]] || unbound "NUMA node of GPU $gpu ($pci) is unknown"
cpus=$(cat "$root/devices/system/node/node$node/cpulist" 2>/dev/null)
cpus=${cpus//[[:space:]]/}
[ -n "$cpus" ] || unbound "NUMA node $node of GPU $gpu has no CPUs"
taskset -c "$cpus" true 2>/dev/null || unbound "CPUs $cpus of NUMA node $node of GPU $gpu can't be used"
note "GPU $gpu ($pci) is on NUMA node $node: CPUs $cpus"
if [ -n "$memory" ]; then
  command -v numactl >/dev/null || unbound "numactl not found"
  exec taskset -c "$cpus" numactl --membind="$node" "${command[@]}"
fi
exec taskset -c "$cpus" "${command[@]}"
