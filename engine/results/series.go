package results

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/agentperf/agentperf-tui/engine/percentile"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Series is how a phase went over time, settling and what came after the window included.
type Series struct {
	Phase   int      `json:"phase_idx"`
	Seconds float64  `json:"bucket_seconds"`
	Buckets []Bucket `json:"buckets"` // one after the other, without gaps
}

// Bucket is a slice of time. Requests count where they ended, tokens too, since
// only then a row tells of them; so the newest bucket knows least.
type Bucket struct {
	Start   float64 // Unix s
	Seconds float64 // covered by rows: the bucket's length, less in the last one
	N       int     // requests that ended in it, failed ones included
	Failed  int     // of N
	// Values are those of Trends, in their order; NaN when no request that ended tells. A
	// rate is 0 when none ended.
	Values   []float64
	Users    int     // that had a request in flight at some time in it
	InFlight float64 // requests in flight, the mean over the bucket
}

// Get returns the value of a metric of Trends, by its key; NaN for any other.
func (b Bucket) Get(key string) float64 {
	i := slices.IndexFunc(TrendMetrics, func(m *Metric) bool { return m.Key == key })
	if i < 0 || i >= len(b.Values) {
		return math.NaN()
	}
	return b.Values[i]
}

// MarshalJSON writes null for what is not known.
func (b Bucket) MarshalJSON() ([]byte, error) {
	out := Object{{"start", Number(b.Start)}, {"seconds", Number(b.Seconds)}, {"requests", b.N}, {"failed", b.Failed}}
	for _, m := range TrendMetrics {
		out.Add(m.Trend.Key, Number(b.Get(m.Key)))
	}
	out.Add("users", b.Users)
	out.Add("in_flight", Number(b.InFlight))
	return out.MarshalJSON()
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
const maxAutoBuckets = 240

// bucketSeconds are the bucket lengths that are chosen from, in s.
var bucketSeconds = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600}

// Series divides a phase into buckets of so many seconds; 0 chooses a length
// that gives at most 240. Buckets begin at whole multiples of their length.
// While only live rows are added, a later call looks at these alone.
func (f *Aggregator) Series(phase int, seconds float64) (Series, error) {
	s := Series{Phase: phase, Seconds: seconds, Buckets: []Bucket{}}
	if err := f.updateSpans(); err != nil {
		return s, err
	}
	span := f.spans.phases[phase]
	if span == nil || !(span.last >= span.first) || span.last > 1e11 {
		return s, nil
	}
	if !(seconds > 0) {
		s.Seconds = autoBucketSeconds(span.last - span.first)
	}
	t := f.seriesByPhase[phase]
	if t == nil || !t.reusable(f, s.Seconds, span) {
		t = &phaseSeries{phase: phase, seconds: s.Seconds, analysisRows: f.analysisRows(), cutoff: f.cutoff()}
		t.firstBucket = math.Floor(span.first / s.Seconds)
		f.seriesByPhase[phase] = t
	}
	n := math.Floor(span.last/s.Seconds) - t.firstBucket + 1
	if n > maxBuckets {
		return s, problem.Errorf(problem.TooManyBuckets,
			"time series of phase %d: %s buckets of %g s, must be at most %s; use longer buckets",
			phase, Decimal(n, 0), s.Seconds, Count(maxBuckets))
	}
	if err := t.update(f, int(n)); err != nil {
		return s, err
	}
	for i := range t.buckets {
		start := (t.firstBucket + float64(i)) * s.Seconds
		s.Buckets = append(s.Buckets, t.buckets[i].export(start, min(s.Seconds, span.last-start)))
	}
	return s, nil
}

const (
	maxBuckets  = 200_000 // buckets of a series whose bucket was chosen by the caller
	openBuckets = 3       // buckets at the end of a series that more rows are expected for
)

func autoBucketSeconds(span float64) float64 {
	i := slices.IndexFunc(bucketSeconds, func(b float64) bool { return span/b < maxAutoBuckets })
	if i < 0 {
		i = len(bucketSeconds) - 1
	}
	return bucketSeconds[i]
}

// track is a series that grows.
type phaseSeries struct {
	phase        int
	seconds      float64
	firstBucket  float64 // number of the first bucket
	cutoff       float64
	analysisRows int // analysis rows
	liveRows     int // live rows
	buckets      []bucket
	users        perUser[int] // last bucket that each was counted in, plus one
}

// goesOn tells whether the track holds for the rows that there are now.
func (t *phaseSeries) reusable(f *Aggregator, seconds float64, s *span) bool {
	return t.seconds == seconds && t.cutoff == f.cutoff() && t.analysisRows == f.analysisRows() && s.first >= t.firstBucket*t.seconds
}

// analysed is the number of analysis rows.
func (f *Aggregator) analysisRows() int {
	n := 0
	for _, t := range f.analysis {
		n += t.n
	}
	return n
}

func (t *phaseSeries) update(f *Aggregator, buckets int) error {
	t.buckets = append(t.buckets, make([]bucket, max(0, buckets-len(t.buckets)))...)
	take := func(_ int, r *Request) {
		if int(r.phase) == t.phase && r.Start >= t.cutoff {
			t.add(r)
		}
	}
	wanted := func(x *extent) bool { return x.containsPhase(t.phase) }
	tables := f.tables()
	if t.liveRows > 0 {
		tables = tables[len(tables)-1:] // the live rows
	}
	for _, a := range tables {
		if err := a.scan(1, t.liveRows, wanted, take); err != nil {
			return err
		}
	}
	t.liveRows = f.live.n
	t.seal(max(0, len(t.buckets)-openBuckets))
	return t.recomputeStale(f)
}

// bucket gathers what Bucket tells.
type bucket struct {
	n, failed        int
	tally            *Tally                 // nil without a request
	values           *[quantities][]float64 // nil without a successful one, or once it is settled
	users            int
	inFlight         float64 // s
	sealed, stale    bool    // the values were let go; and then one more came
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
		// A user has one request in flight, so its rows come in order and the
		// last bucket that it was counted in is enough.
		if last := t.users.get(r.User); i >= *last {
			*last = i + 1
			t.buckets[i].users++
		}
	}
}

// take counts a request that ended in the bucket.
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

// trendRanked are the quantities of which a bucket holds the values.
var trendQuantities = percentileQuantities(TrendMetrics)

// hold keeps the values of a successful request until the bucket is settled.
func (b *bucket) keepValues(r *Request) {
	if b.sealed {
		return
	}
	if b.values == nil {
		b.values = new([quantities][]float64)
	}
	for q, is := range trendQuantities {
		if !is {
			continue
		}
		if v := Quantity(q).Value(r); !math.IsNaN(v) {
			b.values[q] = append(b.values[q], v)
		}
	}
}

// full reports whether one more value would take more memory.
func (b *bucket) atCapacity() bool {
	return b.values == nil || len(b.values[TTFT]) == cap(b.values[TTFT])
}

// settle lets the values of the first buckets go.
func (t *phaseSeries) seal(n int) {
	for i := n - 1; i >= 0 && !t.buckets[i].sealed; i-- {
		b := &t.buckets[i]
		b.percentileValues = b.percentiles()
		b.sealed, b.values = true, nil
	}
}

// repair computes settled buckets again that got more rows: rows come in the
// order of their ends, but nothing keeps a file from having them otherwise.
func (t *phaseSeries) recomputeStale(f *Aggregator) error {
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
	err := f.scan(1, wanted, func(_ int, r *Request) {
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

// percentiles are those among Trends, NaN at the place of other metrics.
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

// Recent computes the figures of a phase over the requests that ended in the
// last seconds before now; a zero now is the phase's last end.
func (f *Aggregator) Recent(phase int, seconds float64, now time.Time) (Recent, error) {
	err := f.updateSpans()
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
	var ended []Request
	wanted := func(x *extent) bool {
		return x.containsPhase(phase) && x.lastEnd > until-seconds && x.firstEnd <= until
	}
	err = f.scan(1, wanted, func(_ int, q *Request) {
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
	}, 0, seconds, fmt.Sprintf("last %.0f s", seconds))
	if err != nil {
		return r, err
	}
	delete(users, -1) // not known
	r.Users = len(users)
	r.N, r.Failed, r.Errors = s.measured, s.failed, s.byKind(f.errorKinds)
	r.Figures = s.figures()
	return r, nil
}
