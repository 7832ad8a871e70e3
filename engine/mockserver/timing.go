package mockserver

import "time"

// Timing is the arithmetic of the mock: how long a prompt takes and when each
// token leaves. All methods are pure functions of the fields and the request's
// key, so a caller can compute what a stream must look like.
type Timing struct {
	PrefillBase     time.Duration // the time of a prompt that is cached whole
	PrefillPerToken time.Duration // the time of each prompt token that is not cached
	ITL             time.Duration // the time between two output tokens
	// StreamInterval is the number of tokens an event carries after the first
	// event, which always carries one. 0 means 1.
	StreamInterval int
	// Spread is the largest relative deviation of prefill time and ITL from request to request (0.2 is
	// ±20 %), drawn from the request's key; without it all percentiles would be equal. In [0, 1).
	Spread float64
}

// DefaultTiming is a server of moderate speed: about 50 ms for a short prompt,
// 100 tok/s a request, spread by 20 %.
func DefaultTiming() Timing {
	return Timing{
		PrefillBase: 50 * time.Millisecond, PrefillPerToken: 20 * time.Microsecond, ITL: 10 * time.Millisecond,
		StreamInterval: 1, Spread: 0.2,
	}
}

// Prefill is the time from a request's arrival to its first output token, given
// how many of its prompt tokens the cache holds.
func (t Timing) Prefill(key uint64, promptTokens, cachedTokens int) time.Duration {
	fresh := max(promptTokens-cachedTokens, 0)
	d := t.PrefillBase + time.Duration(fresh)*t.PrefillPerToken
	return t.spread(d, key, saltPrefill)
}

// tokenInterval is the time between two output tokens of the request.
func (t Timing) tokenInterval(key uint64) time.Duration { return t.spread(t.ITL, key, saltITL) }

// Events is the number of events that carry outputTokens tokens.
func (t Timing) Events(outputTokens int) int {
	if outputTokens <= 1 {
		return max(outputTokens, 0)
	}
	n := t.interval()
	return 1 + (outputTokens-1+n-1)/n
}

// Event tells of the i-th output event (from 0) how many tokens have left once
// it is sent, and its time after the first token.
func (t Timing) Event(key uint64, i, outputTokens int) (tokensSoFar int, after time.Duration) {
	last := min(i*t.interval(), outputTokens-1)
	return last + 1, time.Duration(last) * t.tokenInterval(key)
}

func (t Timing) interval() int { return max(t.StreamInterval, 1) }

func (t Timing) spread(d time.Duration, key, salt uint64) time.Duration {
	return time.Duration(float64(d) * (1 + t.Spread*(2*unit(key, salt)-1)))
}

// Each decision drawn from a request's key has a salt of its own, so that slow
// prompts are not also the ones with slow tokens or faults.
const (
	saltPrefill uint64 = iota + 1
	saltITL
	saltFault
	saltShape
	saltText
)

// unit draws a number in [0, 1) from key and salt (the finalizer of splitmix64).
func unit(key, salt uint64) float64 {
	return float64(mix(key+salt*0x9e3779b97f4a7c15)>>11) / (1 << 53)
}

func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
