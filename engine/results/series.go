package results

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/agentperf/agentperf-tui/engine/percentile"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Series is the time series of a phase, including settling and the time after the measuring window.
type Series struct {
	Phase   int      `json:"phase_idx"`
	Seconds float64  `json:"bucket_seconds"`
	Buckets []Bucket `json:"buckets"` // consecutive, without gaps
}

// Bucket is an interval of a time series. Requests and their tokens are counted in the
// bucket in which the request ended, because its row is written then. The last bucket
// may therefore be incomplete.
type Bucket struct {
	Start   float64 // Unix s
	Seconds float64 // length of the bucket; the last one ends with the last row
	N       int     // requests that ended in the bucket, including failed ones
	Failed  int     // of N
	// Values are the values of TrendMetrics, in the same order. A value is NaN if no
	// request has it; a rate is 0 if no request ended.
	Values   []float64
	Users    int     // users with a request in flight during the bucket
	InFlight float64 // mean number of requests in flight
}

// Get returns the value of one of TrendMetrics by its key, or NaN for other keys.
func (b Bucket) Get(key string) float64 {
	i := slices.IndexFunc(TrendMetrics, func(m *Metric) bool { return m.Key == key })
	if i < 0 || i >= len(b.Values) {
		return math.NaN()
	}
	return b.Values[i]
}

// MarshalJSON writes unknown values as null.
func (b Bucket) MarshalJSON() ([]byte, error) {
	out := Object{{"start", Number(b.Start)}, {"seconds", Number(b.Seconds)}, {"requests", b.N}, {"failed", b.Failed}}
	for _, m := range TrendMetrics {
		out.Add(m.Trend.Key, Number(b.Get(m.Key)))
	}
	out.Add("users", b.Users)
	out.Add("in_flight", Number(b.InFlight))
	return out.MarshalJSON()
}

// Recent holds the figures of the requests that ended in the last seconds. Compared with
// the figures of the measuring window, they show a stall or a recovery early.
type Recent struct {
	Phase   int            `json:"phase_idx"`
	Seconds float64        `json:"seconds"`
	Until   time.Time      `json:"until,omitzero"` // zero if there are no requests
	N       int            `json:"requests"`
	Failed  int            `json:"failed"` // of N
	Users   int            `json:"users"`  // users with at least one of the requests
	Errors  map[string]int `json:"errors"` // failed requests by error kind; "unknown" if the row has none
	Figures Figures        `json:"figures"`
}

// maxAutoBuckets is the largest number of buckets if Series chooses their length.
const maxAutoBuckets = 240

// bucketSeconds are the lengths, in s, that Series chooses from.
var bucketSeconds = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600}

// Series returns the time series of a phase in buckets of the given number of seconds; 0 chooses
// a length that gives at most 240 buckets. Buckets start at multiples of their length.
// If only live rows were added since the last call, only these are processed.
func (agg *Aggregator) Series(phase int, seconds float64) (Series, error) {
	s := Series{Phase: phase, Seconds: seconds, Buckets: []Bucket{}}
	if err := agg.updateSpans(); err != nil {
		return s, err
	}
	span := agg.spans.phases[phase]
	if span == nil || !(span.last >= span.first) || span.last > 1e11 {
		return s, nil
	}
	if !(seconds > 0) {
		s.Seconds = autoBucketSeconds(span.last - span.first)
	}
	t := agg.seriesByPhase[phase]
	if t == nil || !t.reusable(agg, s.Seconds, span) {
		t = &phaseSeries{phase: phase, seconds: s.Seconds, analysisRows: agg.analysisRows(), cutoff: agg.cutoff()}
		t.firstBucket = math.Floor(span.first / s.Seconds)
		agg.seriesByPhase[phase] = t
	}
	n := math.Floor(span.last/s.Seconds) - t.firstBucket + 1
	if n > maxBuckets {
		return s, problem.Errorf(problem.TooManyBuckets,
			"time series of phase %d: %s buckets of %g s, must be at most %s; use longer buckets",
			phase, Decimal(n, 0), s.Seconds, Count(maxBuckets))
	}
	if err := t.update(agg, int(n)); err != nil {
		return s, err
	}
	for i := range t.buckets {
		start := (t.firstBucket + float64(i)) * s.Seconds
		s.Buckets = append(s.Buckets, t.buckets[i].export(start, min(s.Seconds, span.last-start)))
	}
	return s, nil
}

const (
	maxBuckets  = 200_000 // if the caller chooses their length
	openBuckets = 3       // at the end of a series, for which more rows are expected
)

// autoBucketSeconds returns the bucket length for a phase of span seconds.
func autoBucketSeconds(span float64) float64 {
	i := slices.IndexFunc(bucketSeconds, func(b float64) bool { return span/b < maxAutoBuckets })
	if i < 0 {
		i = len(bucketSeconds) - 1
	}
	return bucketSeconds[i]
}

// phaseSeries is the state of a time series, updated as rows are added.
type phaseSeries struct {
	phase        int
	seconds      float64
	firstBucket  float64 // start of the first bucket, in bucket lengths
	cutoff       float64
	analysisRows int // processed
	liveRows     int // processed
	buckets      []bucket
	users        perUser[int] // 1 + index of the last bucket in which a user was counted
}

// reusable reports whether t can be updated with the new live rows alone.
func (t *phaseSeries) reusable(agg *Aggregator, seconds float64, s *span) bool {
	return t.seconds == seconds && t.cutoff == agg.cutoff() && t.analysisRows == agg.analysisRows() &&
		s.first >= t.firstBucket*t.seconds
}

// analysisRows returns the number of analysis rows.
func (agg *Aggregator) analysisRows() int {
	n := 0
	for _, t := range agg.analysis {
		n += t.n
	}
	return n
}

// update adds the rows that were not processed yet.
func (t *phaseSeries) update(agg *Aggregator, buckets int) error {
	t.buckets = append(t.buckets, make([]bucket, max(0, buckets-len(t.buckets)))...)
	take := func(_ int, r *Request) {
		if int(r.phase) == t.phase && r.Start >= t.cutoff {
			t.add(r)
		}
	}
	wanted := func(x *extent) bool { return x.containsPhase(t.phase) }
	tables := agg.tables()
	if t.liveRows > 0 {
		tables = tables[len(tables)-1:] // live rows only
	}
	for _, a := range tables {
		if err := a.scan(1, t.liveRows, wanted, take); err != nil {
			return err
		}
	}
	t.liveRows = agg.live.n
	t.seal(max(0, len(t.buckets)-openBuckets))
	return t.recomputeStale(agg)
}

// bucket collects the data of a Bucket.
type bucket struct {
	n, failed        int
	tally            *Tally                 // nil if there are no requests
	values           *[quantities][]float64 // of successful requests; nil if there are none, or if sealed
	users            int
	inFlight         float64 // s
	sealed, stale    bool    // sealed: the values were discarded; stale: another row was added since
	percentileValues []float64
}

func (t *phaseSeries) add(r *Request) {
	if r.noStartTime || !(r.End >= r.Start) {
		return
	}
	at := func(time float64) int {
		return min(max(int(math.Floor(time/t.seconds)-t.firstBucket), 0), len(t.buckets)-1)
	}
	a, z := at(r.Start), at(r.End)
	t.buckets[z].add(r)
	if !t.buckets[z].sealed && z < len(t.buckets)-2*openBuckets && t.buckets[z].atCapacity() {
		t.seal(z - openBuckets)
	}
	for i := a; i <= z; i++ {
		left := (t.firstBucket + float64(i)) * t.seconds
		t.buckets[i].inFlight += max(0, min(r.End, left+t.seconds)-max(r.Start, left))
		if r.User < 0 {
			continue
		}
		// A user has at most one request in flight, so its rows are in order and only
		// the last bucket in which it was counted has to be known.
		if last := t.users.get(r.User); i >= *last {
			*last = i + 1
			t.buckets[i].users++
		}
	}
}

// add adds a request that ended in the bucket.
func (b *bucket) add(r *Request) {
	b.n++
	if b.tally == nil {
		b.tally = new(Tally)
	}
	b.tally.Add(r)
	if r.Failed {
		b.failed++
		return
	}
	b.stale = b.sealed
	b.keepValues(r)
}

// trendQuantities are the quantities whose values a bucket keeps.
var trendQuantities = percentileQuantities(TrendMetrics)

// keepValues keeps the values of a successful request until the bucket is sealed.
func (b *bucket) keepValues(r *Request) {
	if b.sealed {
		return
	}
	if b.values == nil {
		b.values = new([quantities][]float64)
	}
	for q, used := range trendQuantities {
		if !used {
			continue
		}
		if v := Quantity(q).Value(r); !math.IsNaN(v) {
			b.values[q] = append(b.values[q], v)
		}
	}
}

// atCapacity reports whether another value would need more memory.
func (b *bucket) atCapacity() bool {
	return b.values == nil || len(b.values[TTFT]) == cap(b.values[TTFT])
}

// seal computes the percentiles of the first n buckets and discards their values.
func (t *phaseSeries) seal(n int) {
	for i := n - 1; i >= 0 && !t.buckets[i].sealed; i-- {
		b := &t.buckets[i]
		b.percentileValues = b.percentiles()
		b.sealed, b.values = true, nil
	}
}

// recomputeStale recomputes sealed buckets to which rows were added. The client writes
// rows in the order of their ends, but a file may have them in another order.
func (t *phaseSeries) recomputeStale(agg *Aggregator) error {
	again := map[int]*bucket{}
	earliest, latest := math.Inf(1), math.Inf(-1)
	for i := range t.buckets {
		if t.buckets[i].stale {
			again[i] = &bucket{}
			left := (t.firstBucket + float64(i)) * t.seconds
			earliest, latest = min(earliest, left), max(latest, left+t.seconds)
		}
	}
	if len(again) == 0 {
		return nil
	}
	wanted := func(x *extent) bool { return x.containsPhase(t.phase) && x.firstEnd <= latest && x.lastEnd >= earliest }
	err := agg.scan(1, wanted, func(_ int, r *Request) {
		if int(r.phase) != t.phase || r.Failed || r.noStartTime || !(r.End >= r.Start) {
			return
		}
		if b := again[int(math.Floor(r.End/t.seconds)-t.firstBucket)]; b != nil {
			b.keepValues(r)
		}
	})
	for i, b := range again {
		t.buckets[i].percentileValues, t.buckets[i].stale = b.percentiles(), false
	}
	return err
}

// percentiles returns the percentiles among TrendMetrics, and NaN for other metrics.
func (b *bucket) percentiles() []float64 {
	out := make([]float64, len(TrendMetrics))
	for i, m := range TrendMetrics {
		out[i] = math.NaN()
		if f := m.Formula; f.Kind == Percentile && b.values != nil {
			slices.Sort(b.values[f.Of])
			out[i] = percentile.Of(b.values[f.Of], f.Percentile)
		}
	}
	return out
}

// export returns the bucket with its start, in Unix s, and its length in seconds.
func (b *bucket) export(start, seconds float64) Bucket {
	if !b.sealed {
		b.percentileValues = b.percentiles()
	}
	values := slices.Clone(b.percentileValues)
	for i, m := range TrendMetrics {
		switch {
		case m.Formula.Kind == Percentile:
		case b.n > 0:
			values[i], _ = b.tally.Value(m, seconds)
		case m.Formula.Kind == Rate:
			values[i] = 0
		}
	}
	return Bucket{
		Start: start, Seconds: seconds, N: b.n, Failed: b.failed, Values: values,
		Users: b.users, InFlight: ratio(b.inFlight, seconds, 1),
	}
}

// Recent returns the figures of the requests of a phase that ended in the last seconds
// before now. If now is zero, the end of the last request is used.
func (agg *Aggregator) Recent(phase int, seconds float64, now time.Time) (Recent, error) {
	err := agg.updateSpans()
	if s := agg.spans.phases[phase]; now.IsZero() && s != nil {
		now = fromUnix(s.last)
	}
	if s := agg.spans.phases[phase]; s != nil && unix(now) > s.first {
		seconds = min(seconds, unix(now)-s.first) // time before the phase would lower the rates
	}
	r := Recent{Phase: phase, Seconds: seconds, Until: now, Errors: map[string]int{}}
	if err != nil {
		return r, err
	}
	until := unix(now)
	var ended []Request
	wanted := func(x *extent) bool {
		return x.containsPhase(phase) && x.lastEnd > until-seconds && x.firstEnd <= until
	}
	err = agg.scan(1, wanted, func(_ int, q *Request) {
		if int(q.phase) == phase && !q.noStartTime && q.End > until-seconds && q.End <= until {
			ended = append(ended, *q)
		}
	})
	if err != nil {
		return r, err
	}
	users := map[int32]bool{}
	s, err := computeSums(func(_ int, visit func(int, *Request)) error {
		for i := range ended {
			visit(0, &ended[i])
			users[ended[i].User] = true
		}
		return nil
	}, 0, 0, seconds, fmt.Sprintf("last %.0f s", seconds))
	if err != nil {
		return r, err
	}
	delete(users, -1) // unknown
	r.Users = len(users)
	r.N, r.Failed, r.Errors = s.measured, s.failed, s.byKind(agg.errorKinds)
	r.Figures = s.figures()
	return r, nil
}
