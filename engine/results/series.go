package results

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// Series is how a phase went over time, settling and what came after the window
// included.
type Series struct {
	Phase   int      `json:"phase_idx"`
	Seconds float64  `json:"bucket_seconds"`
	Buckets []Bucket `json:"buckets"` // one after the other, without gaps
}

// Bucket is a slice of time. Requests count where they ended, tokens too, since
// only then a row tells of them; so the newest bucket knows least.
type Bucket struct {
	Start    float64 // Unix s
	Seconds  float64 // covered by rows: the bucket's length, less in the last one
	N        int     // requests that ended in it, failed ones included
	Failed   int     // of N
	Output   float64 // tok/s by the server's count; NaN when no request has one
	Total    float64 // tok/s, input and output
	TTFT50   float64 // s, of successful requests; NaN without one
	TTFT95   float64 // s
	Speed25  float64 // tok/s, local output speed
	Users    int     // that had a request in flight at some time in it
	InFlight float64 // requests in flight, the mean over the bucket
}

// MarshalJSON writes null for what is not known.
func (b Bucket) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Start    number `json:"start"`
		Seconds  number `json:"seconds"`
		N        int    `json:"requests"`
		Failed   int    `json:"failed"`
		Output   number `json:"output_tok_s"`
		Total    number `json:"total_tok_s"`
		TTFT50   number `json:"ttft_p50_s"`
		TTFT95   number `json:"ttft_p95_s"`
		Speed25  number `json:"output_speed_local_p25_tok_s"`
		Users    int    `json:"users"`
		InFlight number `json:"in_flight"`
	}{
		number(b.Start), number(b.Seconds), b.N, b.Failed, number(b.Output), number(b.Total),
		number(b.TTFT50), number(b.TTFT95), number(b.Speed25), b.Users, number(b.InFlight),
	})
}

// Recent are the figures of the requests that ended in the last seconds, to set
// beside those of the whole window: a stall or a recovery shows here first.
type Recent struct {
	Phase   int            `json:"phase_idx"`
	Seconds float64        `json:"seconds"`
	Until   time.Time      `json:"until"` // zero without any request
	N       int            `json:"requests"`
	Failed  int            `json:"failed"` // of N
	Errors  map[string]int `json:"errors"` // failed requests by kind; "unknown" where the row has none
	Figures Figures        `json:"figures"`
}

// maxBuckets of a series whose bucket is chosen by Series.
const maxBuckets = 240

// bucketSeconds are the bucket lengths that are chosen from, in s.
var bucketSeconds = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600}

// Series divides a phase into buckets of so many seconds; 0 chooses a length
// that gives at most 240. Buckets begin at whole multiples of their length.
func (f *Fold) Series(phase int, seconds float64) Series {
	requests, _ := f.requests()
	rows := requests[phase]
	s := Series{Phase: phase, Seconds: seconds, Buckets: []Bucket{}}
	first, last := extent(rows)
	if !(last >= first) {
		return s
	}
	if !(s.Seconds > 0) {
		s.Seconds = chooseBucket(last - first)
	}
	from := math.Floor(first / s.Seconds)
	n := int(math.Floor(last/s.Seconds)-from) + 1
	if n > 1e6 { // times that can't be of one phase
		return s
	}
	buckets := make([]bucket, n)
	seen := map[int32]int{}
	for _, r := range rows {
		if r.placed && !math.IsNaN(r.end) {
			s.add(buckets, from, r, seen)
		}
	}
	for i := range buckets {
		start := (from + float64(i)) * s.Seconds
		s.Buckets = append(s.Buckets, buckets[i].close(start, min(s.Seconds, last-start)))
	}
	return s
}

func chooseBucket(span float64) float64 {
	for _, b := range bucketSeconds {
		if span/b < maxBuckets {
			return b
		}
	}
	return bucketSeconds[len(bucketSeconds)-1]
}

// extent is from the first start to the last end of rows that have both.
func extent(rows []*request) (first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		if r.placed && r.end >= r.start {
			first, last = min(first, r.start), max(last, r.end)
		}
	}
	return first, last
}

// bucket gathers what Bucket tells.
type bucket struct {
	n, failed      int
	output, total  int64
	outputN        int
	totalN         int
	ttft, speed    []float64
	users          int
	inFlightWeight float64 // s
}

func (s *Series) add(buckets []bucket, from float64, r *request, seen map[int32]int) {
	at := func(t float64) int { return min(max(int(math.Floor(t/s.Seconds)-from), 0), len(buckets)-1) }
	a, z := at(r.start), at(r.end)
	buckets[z].take(r)
	for i := a; i <= z; i++ {
		left := (from + float64(i)) * s.Seconds
		buckets[i].inFlightWeight += max(0, min(r.end, left+s.Seconds)-max(r.start, left))
		// A user has one request in flight, so its rows come in order and the
		// last bucket that it was counted in is enough.
		if last, ok := seen[r.user]; r.user >= 0 && (!ok || i > last) {
			seen[r.user] = i
			buckets[i].users++
		}
	}
}

// take counts a request that ended in the bucket.
func (b *bucket) take(r *request) {
	b.n++
	if r.output >= 0 {
		b.output, b.outputN = b.output+r.output, b.outputN+1
	}
	if r.output >= 0 && r.input >= 0 {
		b.total, b.totalN = b.total+r.output+r.input, b.totalN+1
	}
	if r.failed {
		b.failed++
		return
	}
	if !math.IsNaN(r.ttft) {
		b.ttft = append(b.ttft, r.ttft)
	}
	if r.itl > 0 {
		b.speed = append(b.speed, 1/r.itl)
	}
}

func (b *bucket) close(start, seconds float64) Bucket {
	slices.Sort(b.ttft)
	slices.Sort(b.speed)
	return Bucket{
		Start: start, Seconds: seconds, N: b.n, Failed: b.failed,
		Output: ratio(float64(b.output), seconds, int64(b.outputN)), Total: ratio(float64(b.total), seconds, int64(b.totalN)),
		TTFT50: Percentile(b.ttft, 50), TTFT95: Percentile(b.ttft, 95), Speed25: Percentile(b.speed, 25),
		Users: b.users, InFlight: ratio(b.inFlightWeight, seconds, 1),
	}
}

// Recent computes the figures of a phase over the requests that ended in the
// last seconds before now; a zero now is the phase's last end.
func (f *Fold) Recent(phase int, seconds float64, now time.Time) Recent {
	requests, _ := f.requests()
	rows := requests[phase]
	if now.IsZero() {
		_, last := extent(rows)
		now = fromUnix(last)
	}
	until := unix(now)
	var ended []*request
	for _, r := range rows {
		if r.placed && r.end > until-seconds && r.end <= until {
			ended = append(ended, r)
		}
	}
	return recent(phase, seconds, now, ended)
}

func recent(phase int, seconds float64, until time.Time, ended []*request) Recent {
	r := Recent{Phase: phase, Seconds: seconds, Until: until, N: len(ended), Errors: map[string]int{}}
	for _, e := range ended {
		if e.failed {
			r.Failed++
			r.Errors["unknown"]++
		}
	}
	s := sum(ended, seconds)
	for _, m := range metrics {
		r.Figures = append(r.Figures, s.figure(m))
	}
	return r
}
