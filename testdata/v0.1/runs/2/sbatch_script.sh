#!/bin/bash
#SBATCH --job-name=bm-agentperf-dsv4-5p1d
#SBATCH --output=/v0.1/out/%j/logs/sweep_%j.log
#SBATCH --nodes=13
#SBATCH --ntasks=52
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --segment=13
#SBATCH --account=default
#SBATCH --time=01:00:00
#SBATCH --partition=batch
#SBATCH --no-requeue
#SBATCH --signal=B:TERM@90
set -euo pipefail
run=/v0.1/out/"$SLURM_JOB_ID"
case "$(uname -m)" in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*) echo "agentperf-tui: no program for $(uname -m)" >&2; exit 1 ;;
esac
ln -sf "agentperf-tui-linux-$arch" "$run/bin/agentperf-tui"
exec "$run/bin/agentperf-tui" job run --run-dir "$run"
