package results

import "math"

// activity finds times within the measuring window in which no request was in flight,
// although users do not pause that long.
type activity struct {
	window *Window
	scale  float64 // buckets per second
	change [activityBuckets + 1]int32
	first  [activityBuckets]float64 // earliest start in a bucket, Unix s
	last   [activityBuckets]float64 // latest end in a bucket, Unix s
	pauses perUser[pauses]
	n      int // number of pauses

	firstStart, lastEnd float64 // of all requests, Unix s
}

const (
	activityBuckets = 1 << 12
	// A gap is not a pause if it is more than this many times as long as any other pause of any user.
	// Few users may pause at the same time by chance, many do not.
	manyUsersGapFactor, gapFactor, fewUsersGapFactor = 1.5, 3.0, 10.0
	manyUsers, fewUsers                              = 12, 4
	// Fewer pauses say nothing about their lengths. A gap must then be so many times as long as
	// the time from the first start to the last end of a request.
	minPauses, fewPausesGapFactor = 20, 10.0
)

// pauses holds the longest times between two requests of a user, in seconds.
type pauses struct {
	end             float64 // of the last request
	longest, second float64
}

// gap is a part of the window without requests.
type gap struct {
	seconds        float64
	atStart, atEnd bool // of the window
}

func newActivity(w *Window) *activity {
	a := &activity{window: w, scale: activityBuckets / w.Seconds, firstStart: math.Inf(1), lastEnd: math.Inf(-1)}
	for i := range a.first {
		a.first[i], a.last[i] = math.Inf(1), math.Inf(-1)
	}
	return a
}

func (a *activity) bucket(t float64) int {
	return min(max(int((t-a.window.Start)*a.scale), 0), activityBuckets-1)
}

// add adds a request of the phase. The rows of a user must be in order.
func (a *activity) add(r *Request) {
	w := a.window
	if r.noStartTime || !(r.End >= r.Start) || !(w.Seconds > 0) || r.End < w.Start || r.Start >= w.End {
		return
	}
	from, to := a.bucket(r.Start), a.bucket(r.End)
	a.change[from]++
	a.change[to+1]--
	a.firstStart, a.lastEnd = min(a.firstStart, r.Start), max(a.lastEnd, r.End)
	a.first[from], a.last[to] = min(a.first[from], r.Start), max(a.last[to], r.End)
	if r.User < 0 {
		return
	}
	p := a.pauses.get(r.User)
	if pause := r.Start - p.end; p.end > 0 && pause > 0 {
		a.n++
		switch {
		case pause > p.longest:
			p.longest, p.second = pause, p.longest
		case pause > p.second:
			p.second = pause
		}
	}
	p.end = max(p.end, r.End)
}

// gaps returns the gaps that are too long to be pauses of users. A gap within the window is itself
// the longest pause of each user, so it is compared with the second longest ones.
func (a *activity) gaps() []gap {
	users, longest, second := 0, 0.0, 0.0
	a.pauses.each(func(_ int32, p *pauses) {
		if p.end > 0 {
			users++
		}
		longest, second = max(longest, p.longest), max(second, p.second)
	})
	factor := gapFactor
	switch {
	case a.n < minPauses:
		factor, longest = fewPausesGapFactor, a.lastEnd-a.firstStart
		second = longest
	case users < fewUsers:
		factor = fewUsersGapFactor
	case users >= manyUsers:
		factor = manyUsersGapFactor
	}
	var all []gap
	inFlight, end := int32(0), math.NaN() // end of the last request
	w := a.window
	for i := range activityBuckets {
		before := inFlight
		inFlight += a.change[i]
		if before == 0 && inFlight > 0 || before == 0 && !math.IsInf(a.first[i], 1) {
			switch begin := a.first[i]; {
			case math.IsNaN(end):
				if g := begin - w.Start; g > factor*longest {
					all = append(all, gap{seconds: g, atStart: true})
				}
			case begin-end > factor*second:
				all = append(all, gap{seconds: begin - end})
			}
		}
		if !math.IsInf(a.last[i], -1) {
			end = max(a.last[i], valueOr(end, math.Inf(-1)))
		}
	}
	if g := w.End - end; inFlight == 0 && g > factor*longest {
		all = append(all, gap{seconds: g, atEnd: true})
	}
	return all
}

// valueOr returns v, or other if v is NaN.
func valueOr(v, other float64) float64 {
	if math.IsNaN(v) {
		return other
	}
	return v
}
