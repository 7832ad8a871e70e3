package results

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/agentperf/agentperf-tui/engine/percentile"
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
	Output   float64 // tok/s by the server's count; NaN when requests ended and none has one, 0 when none ended
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
	Until   time.Time      `json:"until,omitzero"` // zero without any request
	N       int            `json:"requests"`
	Failed  int            `json:"failed"` // of N
	Users   int            `json:"users"`  // whose requests they are
	Errors  map[string]int `json:"errors"` // failed requests by kind; "unknown" where the row has none
	Figures Figures        `json:"figures"`
}

// maxBuckets of a series whose bucket is chosen by Series.
const maxBuckets = 240

// bucketSeconds are the bucket lengths that are chosen from, in s.
var bucketSeconds = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600}

// Series divides a phase into buckets of so many seconds; 0 chooses a length
// that gives at most 240. Buckets begin at whole multiples of their length.
// While only live rows are added, a later call looks at these alone.
func (f *Fold) Series(phase int, seconds float64) (Series, error) {
	s := Series{Phase: phase, Seconds: seconds, Buckets: []Bucket{}}
	if err := f.survey(); err != nil {
		return s, err
	}
	span := f.spans.phases[phase]
	if span == nil || !(span.last >= span.first) || span.last > 1e11 {
		return s, nil
	}
	if !(seconds > 0) {
		s.Seconds = chooseBucket(span.last - span.first)
	}
	t := f.tracks[phase]
	if t == nil || !t.goesOn(f, s.Seconds, span) {
		t = &track{phase: phase, seconds: s.Seconds, from: math.Floor(span.first / s.Seconds), analysed: f.analysed(), begin: f.begin()}
		f.tracks[phase] = t
	}
	n := math.Floor(span.last/s.Seconds) - t.from + 1
	if n > maxLongest {
		return s, fmt.Errorf("phase %d over time: %s buckets of %g s: want at most %s; choose longer ones", phase, Decimal(n, 0), s.Seconds, Decimal(maxLongest, 0))
	}
	if err := t.grow(f, int(n)); err != nil {
		return s, err
	}
	for i := range t.buckets {
		start := (t.from + float64(i)) * s.Seconds
		s.Buckets = append(s.Buckets, t.buckets[i].show(start, min(s.Seconds, span.last-start)))
	}
	return s, nil
}

const (
	maxLongest = 200_000 // buckets of a series whose bucket was chosen by the caller
	openTracks = 3       // buckets at the end of a series that more rows are expected for
)

func chooseBucket(span float64) float64 {
	for _, b := range bucketSeconds {
		if span/b < maxBuckets {
			return b
		}
	}
	return bucketSeconds[len(bucketSeconds)-1]
}

// track is a series that grows.
type track struct {
	phase    int
	seconds  float64
	from     float64 // number of the first bucket
	begin    float64
	analysed int // analysis rows
	seen     int // live rows
	buckets  []bucket
	users    perUser[int] // last bucket that each was counted in, plus one
}

// goesOn tells whether the track holds for the rows that there are now.
func (t *track) goesOn(f *Fold, seconds float64, s *span) bool {
	return t.seconds == seconds && t.begin == f.begin() && t.analysed == f.analysed() && s.first >= t.from*t.seconds
}

// analysed is the number of analysis rows.
func (f *Fold) analysed() int {
	n := 0
	for _, t := range f.analysis {
		n += t.n
	}
	return n
}

func (t *track) grow(f *Fold, buckets int) error {
	for len(t.buckets) < buckets {
		t.buckets = append(t.buckets, bucket{})
	}
	take := func(_ int, r *request) {
		if int(r.phase) == t.phase && r.start >= t.begin {
			t.add(r)
		}
	}
	wanted := func(x *extent) bool { return x.holds(t.phase) }
	if t.seen == 0 {
		for _, a := range f.tables() {
			if a == &f.live {
				break
			}
			if err := a.scan(1, 0, wanted, take); err != nil {
				return err
			}
		}
	}
	if err := f.live.scan(1, t.seen, wanted, take); err != nil {
		return err
	}
	t.seen = f.live.n
	t.settle(max(0, len(t.buckets)-openTracks))
	return t.repair(f)
}

// bucket gathers what Bucket tells.
type bucket struct {
	n, failed      int
	output, total  counted
	ttft, speed    []float64
	users          int
	inFlight       float64 // s
	settled, stale bool    // the values were let go; and then one more came
	shown          [3]float64
}

func (t *track) add(r *request) {
	if !r.placed || !(r.end >= r.start) {
		return
	}
	at := func(time float64) int { return min(max(int(math.Floor(time/t.seconds)-t.from), 0), len(t.buckets)-1) }
	a, z := at(r.start), at(r.end)
	t.buckets[z].take(r)
	if !t.buckets[z].settled && z < len(t.buckets)-2*openTracks && len(t.buckets[z].ttft) == cap(t.buckets[z].ttft) {
		t.settle(z - openTracks)
	}
	for i := a; i <= z; i++ {
		left := (t.from + float64(i)) * t.seconds
		t.buckets[i].inFlight += max(0, min(r.end, left+t.seconds)-max(r.start, left))
		if r.user < 0 {
			continue
		}
		// A user has one request in flight, so its rows come in order and the
		// last bucket that it was counted in is enough.
		if last := t.users.at(r.user); i >= *last {
			*last = i + 1
			t.buckets[i].users++
		}
	}
}

// take counts a request that ended in the bucket.
func (b *bucket) take(r *request) {
	b.n++
	b.output.add(r.output)
	if r.output >= 0 && r.input >= 0 {
		b.total.sum, b.total.n = b.total.sum+int64(r.output)+int64(r.input), b.total.n+1
	}
	if r.failed {
		b.failed++
		return
	}
	b.stale = b.settled
	b.hold(r)
}

// hold keeps the values of a successful request until the bucket is settled.
func (b *bucket) hold(r *request) {
	if b.settled {
		return
	}
	if !math.IsNaN(r.ttft) {
		b.ttft = append(b.ttft, r.ttft)
	}
	if r.itl > 0 {
		b.speed = append(b.speed, 1/r.itl)
	}
}

// settle lets the values of the first buckets go.
func (t *track) settle(n int) {
	for i := n - 1; i >= 0 && !t.buckets[i].settled; i-- {
		b := &t.buckets[i]
		b.shown = b.percentiles()
		b.settled, b.ttft, b.speed = true, nil, nil
	}
}

// repair computes settled buckets again that got more rows: rows come in the
// order of their ends, but nothing keeps a file from having them otherwise.
func (t *track) repair(f *Fold) error {
	again := map[int]*bucket{}
	earliest, latest := math.Inf(1), math.Inf(-1)
	for i := range t.buckets {
		if t.buckets[i].stale {
			again[i] = &bucket{}
			left := (t.from + float64(i)) * t.seconds
			earliest, latest = min(earliest, left), max(latest, left+t.seconds)
		}
	}
	if len(again) == 0 {
		return nil
	}
	wanted := func(x *extent) bool { return x.holds(t.phase) && x.earliest <= latest && x.latest >= earliest }
	err := f.scan(1, wanted, func(_ int, r *request) {
		if int(r.phase) != t.phase || r.failed || !r.placed || !(r.end >= r.start) {
			return
		}
		if b := again[int(math.Floor(r.end/t.seconds)-t.from)]; b != nil {
			b.hold(r)
		}
	})
	for i, b := range again {
		t.buckets[i].shown, t.buckets[i].stale = b.percentiles(), false
	}
	return err
}

func (b *bucket) percentiles() [3]float64 {
	slices.Sort(b.ttft)
	slices.Sort(b.speed)
	return [3]float64{percentile.Of(b.ttft, 50), percentile.Of(b.ttft, 95), percentile.Of(b.speed, 25)}
}

func (b *bucket) show(start, seconds float64) Bucket {
	if !b.settled {
		b.shown = b.percentiles()
	}
	rate := func(c counted) float64 {
		if b.n == 0 {
			return 0
		}
		return ratio(float64(c.sum), seconds, c.n)
	}
	return Bucket{
		Start: start, Seconds: seconds, N: b.n, Failed: b.failed,
		Output: rate(b.output), Total: rate(b.total),
		TTFT50: b.shown[0], TTFT95: b.shown[1], Speed25: b.shown[2],
		Users: b.users, InFlight: ratio(b.inFlight, seconds, 1),
	}
}

// Recent computes the figures of a phase over the requests that ended in the
// last seconds before now; a zero now is the phase's last end.
func (f *Fold) Recent(phase int, seconds float64, now time.Time) (Recent, error) {
	err := f.survey()
	if s := f.spans.phases[phase]; now.IsZero() && s != nil {
		now = fromUnix(s.last)
	}
	if s := f.spans.phases[phase]; s != nil && unix(now) > s.first {
		seconds = min(seconds, unix(now)-s.first) // a rate over time before the phase would be too low
	}
	r := Recent{Phase: phase, Seconds: seconds, Until: now, Errors: map[string]int{}}
	if err != nil {
		return r, err
	}
	until := unix(now)
	var ended []request
	wanted := func(x *extent) bool { return x.holds(phase) && x.latest > until-seconds && x.earliest <= until }
	err = f.scan(1, wanted, func(_ int, q *request) {
		if int(q.phase) == phase && q.placed && q.end > until-seconds && q.end <= until {
			ended = append(ended, *q)
		}
	})
	if err != nil {
		return r, err
	}
	s, err := sum(func(_ int, visit func(int, *request)) error {
		for i := range ended {
			visit(0, &ended[i])
		}
		return nil
	}, 0, seconds, fmt.Sprintf("last %.0f s", seconds))
	if err != nil {
		return r, err
	}
	users := map[int32]bool{}
	for i := range ended {
		users[ended[i].user] = true
	}
	delete(users, -1) // not known
	r.Users = len(users)
	r.N, r.Failed, r.Errors = s.all, s.failed, s.byKind(f.kinds)
	for _, m := range metrics {
		r.Figures = append(r.Figures, s.figure(m))
	}
	return r, nil
}
