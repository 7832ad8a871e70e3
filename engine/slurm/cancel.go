package slurm

import (
	"context"
)

// Terminate asks the batch process of a running job alone to end, which then ends
// its steps in order. A plain cancel would signal every step at once.
func Terminate(ctx context.Context, id string) error {
	return scancel(ctx, "--batch", "--signal=TERM", id)
}

// Cancel takes a job back that has not started.
func Cancel(ctx context.Context, id string) error { return scancel(ctx, id) }

func scancel(ctx context.Context, args ...string) error {
	_, err := call(ctx, queryLimit, "scancel", args...)
	return err
}
