package ui

import (
	"context"
	"time"
)

// drainFor is how long a command goes on collecting once it has something to tell.
const drainTime = 20 * time.Millisecond

// Drain waits for a value of a stream and takes along what follows it at once,
// until size has been reached or 20 ms are over: one message then carries a
// burst. More is false once the stream has ended or ctx is done.
func Drain[T any](ctx context.Context, in <-chan T, limit int, size func(T) int) (got []T, more bool) {
	var over <-chan time.Time
	for n := 0; n < limit; {
		select {
		case v, ok := <-in:
			if !ok {
				return got, false
			}
			got, n = append(got, v), n+size(v)
			if over == nil {
				over = time.After(drainTime)
			}
		case <-over:
			return got, true
		case <-ctx.Done():
			return got, false
		}
	}
	return got, true
}
