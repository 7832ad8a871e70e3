package mockserver

import (
	"testing"
	"time"
)

func TestTimingWithoutSpread(t *testing.T) {
	t.Parallel()
	timing := Timing{
		PrefillBase: 50 * time.Millisecond, PrefillPerToken: time.Millisecond, ITL: 10 * time.Millisecond,
		StreamInterval: 4,
	}
	for _, tt := range []struct {
		prompt, cached int
		want           time.Duration
	}{{100, 0, 150 * time.Millisecond}, {100, 96, 54 * time.Millisecond}, {100, 200, 50 * time.Millisecond}} {
		if got := timing.Prefill(7, tt.prompt, tt.cached); got != tt.want {
			t.Errorf("prefill of %d tokens, %d cached: got %v, want %v", tt.prompt, tt.cached, got, tt.want)
		}
	}
	for _, tt := range []struct{ tokens, want int }{{0, 0}, {1, 1}, {2, 2}, {5, 2}, {6, 3}, {9, 3}} {
		if got := timing.Events(tt.tokens); got != tt.want {
			t.Errorf("events of %d tokens: got %d, want %d", tt.tokens, got, tt.want)
		}
	}
	// Seven tokens in events of 1, 4 and 2 tokens, each sent at the time of its last token.
	for i, want := range []struct {
		upTo  int
		after time.Duration
	}{{1, 0}, {5, 40 * time.Millisecond}, {7, 60 * time.Millisecond}} {
		if upTo, after := timing.Event(7, i, 7); upTo != want.upTo || after != want.after {
			t.Errorf("event %d: got %d tokens after %v, want %d after %v", i, upTo, after, want.upTo, want.after)
		}
	}
}

// Times stay within the spread, come close to both bounds and depend only on the key.
func TestTimingSpread(t *testing.T) {
	t.Parallel()
	timing := Timing{PrefillBase: time.Second, ITL: time.Second, Spread: 0.2}
	for name, f := range map[string]func(uint64) time.Duration{
		"prefill": func(key uint64) time.Duration { return timing.Prefill(key, 10, 0) },
		"itl":     timing.tokenInterval,
	} {
		least, most := time.Hour, time.Duration(0)
		for key := range uint64(1000) {
			d := f(key)
			least, most = min(least, d), max(most, d)
			if d != f(key) {
				t.Fatalf("%s of key %d is not the same twice", name, key)
			}
		}
		if least < 800*time.Millisecond || least > 805*time.Millisecond || most > 1200*time.Millisecond ||
			most < 1195*time.Millisecond {
			t.Errorf("%s is %v to %v, want 0.8 to 1.2 s", name, least, most)
		}
	}
}

func TestFaultsFor(t *testing.T) {
	t.Parallel()
	faults := Faults{HTTPError: 0.1, Abort: 0.2, EventError: 0.3}
	counts := map[Fault]int{}
	const n = 10_000
	for key := range uint64(n) {
		counts[faults.For(mix(key))]++
	}
	for fault, want := range map[Fault]int{
		FaultHTTPError: 1000, FaultAbort: 2000, FaultEventError: 3000,
		FaultNone: 4000,
	} {
		if got := counts[fault]; got < want-200 || got > want+200 {
			t.Errorf("fault %q: got %d of %d requests, want about %d", fault, got, n, want)
		}
	}
}
