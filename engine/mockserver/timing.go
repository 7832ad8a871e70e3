package mockserver

import "time"

// Timing configures the prefill time and the times of output tokens. All methods are pure functions
// of the fields and the request's key, so the times of a stream can be computed in advance.
type Timing struct {
	PrefillBase     time.Duration // prefill time of a cached prompt
	PrefillPerToken time.Duration // additional time per prompt token that is not cached
	ITL             time.Duration // inter-token latency: time between two output tokens
	// StreamInterval is the number of tokens per event. The first event always has one token.
	// 0 means 1.
	StreamInterval int
	// Spread is the largest relative deviation of prefill time and ITL between requests, in [0, 1):
	// 0.2 means ±20 %. The deviation depends on the request's key. Without a spread, all
	// percentiles would be equal.
	Spread float64
}

// DefaultTiming returns the timing of a server of moderate speed: about 50 ms for a short prompt,
// 100 tok/s per request, with a spread of 20 %.
func DefaultTiming() Timing {
	return Timing{
		PrefillBase: 50 * time.Millisecond, PrefillPerToken: 20 * time.Microsecond, ITL: 10 * time.Millisecond,
		StreamInterval: 1, Spread: 0.2,
	}
}

// Prefill returns the time from the arrival of a request to its first output token.
func (t Timing) Prefill(key uint64, promptTokens, cachedTokens int) time.Duration {
	fresh := max(promptTokens-cachedTokens, 0)
	d := t.PrefillBase + time.Duration(fresh)*t.PrefillPerToken
	return t.spread(d, key, saltPrefill)
}

// tokenInterval returns the time between two output tokens of a request.
func (t Timing) tokenInterval(key uint64) time.Duration { return t.spread(t.ITL, key, saltITL) }

// Events returns the number of events for outputTokens tokens.
func (t Timing) Events(outputTokens int) int {
	if outputTokens <= 1 {
		return max(outputTokens, 0)
	}
	n := t.tokensPerEvent()
	return 1 + (outputTokens-1+n-1)/n
}

// Event returns, for the i-th output event (from 0), the number of tokens sent up to and including
// it, and its time after the first token.
func (t Timing) Event(key uint64, i, outputTokens int) (tokensSoFar int, after time.Duration) {
	last := min(i*t.tokensPerEvent(), outputTokens-1)
	return last + 1, time.Duration(last) * t.tokenInterval(key)
}

func (t Timing) tokensPerEvent() int { return max(t.StreamInterval, 1) }

func (t Timing) spread(d time.Duration, key, salt uint64) time.Duration {
	return time.Duration(float64(d) * (1 + t.Spread*(2*unit(key, salt)-1)))
}

// Each property that depends on a request's key has its own salt, so that the properties are
// independent: slow prefills don't imply slow tokens or faults.
const (
	saltPrefill uint64 = iota + 1
	saltITL
	saltFault
	saltToolCall
	saltText
)

// unit maps key and salt to a number in [0, 1), with the finalizer of splitmix64.
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
