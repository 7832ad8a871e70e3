package results

import "math"

// unreadable counts the lines of a file that could not be parsed. A line is assigned to
// the phase and the client start of the row before it, since its own are unknown.
type unreadable struct {
	runs []unreadableRun
}

// unreadableRun counts consecutive unreadable lines of a phase.
type unreadableRun struct {
	known bool // a row was read before them
	phase int
	start float64 // start of the row before the last of them, Unix s
	n     int
}

// add counts n lines after the last row of a table.
func (u *unreadable) add(t *table, n int) {
	if n == 0 {
		return
	}
	r := unreadableRun{n: n, start: math.NaN()}
	if t.n > 0 {
		r.known, r.phase, r.start = true, int(t.lastPhase), t.lastStart
	}
	if t.filePhase != nil {
		r.known, r.phase = true, *t.filePhase
	}
	if last := len(u.runs) - 1; last >= 0 && u.runs[last].known == r.known && u.runs[last].phase == r.phase {
		r.n += u.runs[last].n
		u.runs[last] = r
		return
	}
	u.runs = append(u.runs, r)
}

// total returns the number of lines.
func (u *unreadable) total() int {
	n := 0
	for _, r := range u.runs {
		n += r.n
	}
	return n
}

// count returns the number of lines of a phase since a client start. Lines before the first
// row count for every phase.
func (u *unreadable) count(phase int, cutoff float64) int {
	n := 0
	for _, r := range u.runs {
		if !r.known || r.phase == phase && (r.start >= cutoff || math.IsNaN(r.start)) {
			n += r.n
		}
	}
	return n
}

// unreadableRows returns the largest number of requests of a phase that can be missing because
// lines could not be parsed. A request is in requests.jsonl and in the analysis file of its
// phase, if there is one; it is missing only if both of its lines are unreadable.
func (agg *Aggregator) unreadableRows(phase int) int {
	cutoff := agg.cutoff()
	live, analysis, hasAnalysis := agg.live.unreadable.count(phase, cutoff), 0, false
	for _, t := range agg.analysis {
		if *t.filePhase == phase {
			hasAnalysis = true
			analysis += t.unreadable.count(phase, cutoff)
		}
	}
	switch {
	case !hasAnalysis:
		return max(live, analysis)
	case agg.live.n == 0:
		return analysis
	}
	return min(live, analysis)
}
