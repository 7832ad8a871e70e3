package slurm

import (
	"context"
)

// Terminate sends SIGTERM to the batch process of a running job, which then stops its steps
// in order. [Cancel] would signal all steps at once.
func Terminate(ctx context.Context, id string) error {
	return scancel(ctx, "--batch", "--signal=TERM", id)
}

// Cancel cancels a job, pending or running.
func Cancel(ctx context.Context, id string) error { return scancel(ctx, id) }

func scancel(ctx context.Context, args ...string) error {
	_, err := call(ctx, queryLimit, "scancel", args...)
	return err
}
