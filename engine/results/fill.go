package results

const (
	// fillRows is the number of live rows whose values are held in memory at a time.
	fillRows = 1 << 16
	// fillSlack is the largest difference, in seconds, between the times of a request in two files.
	fillSlack = 1.0
)

// liveFiller copies values of live rows to analysis rows. An analysis row is preferred to
// the live row of the same request, but it may lack keys that the live row has.
type liveFiller struct {
	agg     *Aggregator
	cutoff  float64
	wanted  rowFlags // keys that some live row has and some analysis row lacks
	rows    map[uint64]Request
	extent  extent // of rows
	changed bool
}

// fillFromLive copies values to the analysis rows. Rows must be deduplicated.
func (agg *Aggregator) fillFromLive(cutoff float64) error {
	lacks, has := rowFlags(0), rowFlags(0)
	for _, t := range agg.analysis {
		for _, x := range t.extents {
			lacks |= x.lacks
		}
	}
	for _, x := range agg.live.extents {
		has |= x.has
	}
	f := liveFiller{agg: agg, cutoff: cutoff, wanted: lacks & has, rows: map[uint64]Request{}, extent: newExtent()}
	if f.wanted == 0 {
		return nil
	}
	err := f.collect()
	if err == nil {
		err = f.apply()
	}
	if f.changed {
		agg.seriesByPhase = map[int]*phaseSeries{}
	}
	return err
}

// collect collects the live rows that an analysis row replaces, and applies them in batches.
func (f *liveFiller) collect() error {
	t := &f.agg.live
	wanted := func(x *extent) bool { return x.has&f.wanted != 0 && x.lastStart >= f.cutoff }
	var failed error
	err := t.update(wanted, func(row int, key uint64, r *Request) bool {
		replaced := t.superseded.has(row) && !t.duplicates.has(row) && r.Start >= f.cutoff
		if failed != nil || !replaced || ^r.flags&f.wanted == 0 {
			return false
		}
		f.rows[key] = *r
		if f.extent.add(r); len(f.rows) >= fillRows {
			failed = f.apply()
		}
		return false
	})
	if err == nil {
		err = failed
	}
	return err
}

// apply copies the values of the collected rows.
func (f *liveFiller) apply() error {
	if len(f.rows) == 0 {
		return nil
	}
	wanted := func(x *extent) bool {
		apart := x.firstStart > f.extent.lastStart+fillSlack || x.lastStart < f.extent.firstStart-fillSlack
		return x.lacks&f.wanted != 0 && (!apart || x.lacks&lacksStart != 0)
	}
	for _, t := range f.agg.analysis {
		err := t.update(wanted, func(_ int, key uint64, r *Request) bool {
			if r.flags&f.wanted == 0 || key == 0 {
				return false
			}
			live, ok := f.rows[key]
			missing := r.flags &^ live.flags & f.wanted
			if !ok || missing == 0 {
				return false
			}
			r.fill(&live, missing)
			f.changed = true
			return true
		})
		if err != nil {
			return err
		}
	}
	clear(f.rows)
	f.extent = newExtent()
	return nil
}

// fill copies the values of missing keys from the live row of the request.
func (r *Request) fill(live *Request, missing rowFlags) {
	lacks := func(flag rowFlags) bool { return missing&flag != 0 }
	if lacks(lacksStart) && !live.noStartTime {
		r.Start, r.noStartTime = live.Start, false
	}
	for _, v := range []struct {
		flag rowFlags
		to   *float64
		from float64
	}{
		{lacksEnd, &r.End, live.End},
		{lacksTTFT, &r.TTFT, live.TTFT},
		{lacksITL, &r.ITL, live.ITL},
		{lacksSSE, &r.SSE, live.SSE},
	} {
		if lacks(v.flag) {
			*v.to = v.from
		}
	}
	for _, v := range []struct {
		flag rowFlags
		to   *int32
		from int32
	}{
		{lacksInput, &r.Input, live.Input},
		{lacksOutput, &r.Output, live.Output},
		{lacksCached, &r.Cached, live.Cached},
		{lacksConcurrency, &r.concurrency, live.concurrency},
	} {
		if lacks(v.flag) {
			*v.to = v.from
		}
	}
	if lacks(lacksSuccess) {
		r.flags |= live.flags & successFalse
	}
	if lacks(lacksHasOutput) {
		r.flags |= live.flags & noOutput
	}
	r.Failed = r.flags&(successFalse|noOutput) != 0
	if lacks(lacksKind) {
		r.kind = live.kind
	}
	r.flags &^= missing
}
