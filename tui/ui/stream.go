package ui

import (
	"context"
	"time"
)

// drainTime is how long Drain collects values after the first one.
const drainTime = 20 * time.Millisecond

// Drain waits for a value of a stream and then collects more for 20 ms, or until their
// sizes add up to limit, so that a burst becomes one message. More is false once the
// stream has ended or ctx is done.
func Drain[T any](ctx context.Context, in <-chan T, limit int, size func(T) int) (got []T, more bool) {
	var timeout <-chan time.Time
	for n := 0; n < limit; {
		select {
		case v, ok := <-in:
			if !ok {
				return got, false
			}
			got, n = append(got, v), n+size(v)
			if timeout == nil {
				timeout = time.After(drainTime)
			}
		case <-timeout:
			return got, true
		case <-ctx.Done():
			return got, false
		}
	}
	return got, true
}
