// Package slurm speaks to a Slurm cluster through its commands: it submits a
// run's folder, starts a plan's steps with srun inside the allocation, asks the
// queue and the accounting how a job stands, and cancels. Every command has a time
// limit, and what a scheduler that does not answer leaves open is said to be open.
// It knows nothing of recipes, and of a run's files only where they lie.
package slurm
