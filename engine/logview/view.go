package logview

import (
	"context"
	"os"
	"slices"
	"time"
)

// stepBytes is how much one step of a search or filter scans. It takes about 10 ms.
const stepBytes = 64 << 20

// View is one log, or several logs merged by the timestamps of their lines. A line without a
// timestamp stays after the line before it.
type View struct {
	files []*logFile
	zone  *time.Location
	days  []time.Time // modification time of each file, for timestamps without a date
}

// NewView returns a view of the logs at the given paths. A log need not exist yet.
func NewView(zone *time.Location, paths ...string) *View {
	v := &View{zone: zone}
	for _, p := range paths {
		v.files = append(v.files, &logFile{path: p})
		v.days = append(v.days, modTime(p))
	}
	return v
}

func modTime(path string) time.Time {
	if info, err := os.Stat(path); err == nil {
		return info.ModTime()
	}
	return time.Now()
}

// Close closes the files.
func (v *View) Close() {
	for _, f := range v.files {
		f.close()
	}
}

// Reopen closes a log that was truncated or replaced. The next read opens the current file.
func (v *View) Reopen(file int) { v.files[file].close() }

// Pos is a position between two lines: for each log the offset of the next line.
type Pos []int64

// Start returns the position before the first line.
func (v *View) Start() Pos { return make(Pos, len(v.files)) }

// End returns the position after the last line.
func (v *View) End() (Pos, error) {
	p := v.Start()
	for i, f := range v.files {
		end, err := f.end()
		if err != nil {
			return nil, err
		}
		p[i] = end
	}
	return p, nil
}

// After returns the position after l, which is the line after p.
func (p Pos) After(l Line) Pos {
	q := slices.Clone(p)
	q[l.File] = l.Next
	return q
}

// Before returns the position before l, which is the line before p.
func (p Pos) Before(l Line) Pos {
	q := slices.Clone(p)
	q[l.File] = l.At
	return q
}

// Bytes returns how many bytes of all logs are before the position.
func (p Pos) Bytes() int64 {
	n := int64(0)
	for _, x := range p {
		n += x
	}
	return n
}

// Query selects lines from a position on.
type Query struct {
	From  Pos
	Back  bool     // search backward from From
	Lines int      // at most
	Match *Matcher // nil: every line
}

// Result is the result of a query, with lines in the order of the search.
type Result struct {
	Lines   []Line
	Reached Pos  // position to continue from
	End     bool // there are no more lines in this direction
}

// Step searches until it has q.Lines lines, reaches the end, or has scanned 64 MiB. In the
// last case the caller continues with a query from Reached.
func (v *View) Step(ctx context.Context, q Query) (Result, error) {
	out := Result{Reached: slices.Clone(q.From)}
	if len(v.files) == 1 {
		got, err := v.scanFile(ctx, 0, q.From[0], q, q.Lines, stepBytes)
		out.Lines, out.Reached[0], out.End = got.lines, got.reached, got.atEnd
		return out, err
	}
	heads := make([]mergeHead, len(v.files))
	for i := range heads {
		heads[i].at = q.From[i]
	}
	for len(out.Lines) < q.Lines {
		for i := range heads {
			if h := &heads[i]; len(h.lines) == 0 && !h.end {
				if err := v.refill(ctx, i, h, q); err != nil {
					return out, err
				}
				if len(h.lines) == 0 && !h.end { // the limit of the step is reached
					return v.resultAt(out, heads, q), nil
				}
			}
		}
		i := nextHead(heads, q.Back)
		if i < 0 {
			out.End = true
			break
		}
		h := &heads[i]
		out.Lines = append(out.Lines, h.lines[0])
		h.lines, h.times = h.lines[1:], h.times[1:]
	}
	return v.resultAt(out, heads, q), nil
}

// mergeHead holds the next lines of one log for a merge.
type mergeHead struct {
	at    int64 // offset to continue from, after lines
	lines []Line
	times []time.Time
	end   bool
}

// resultAt sets Reached to the position before the lines that were read but not returned.
func (v *View) resultAt(out Result, heads []mergeHead, q Query) Result {
	for i, h := range heads {
		switch {
		case len(h.lines) == 0:
			out.Reached[i] = h.at
		case q.Back:
			out.Reached[i] = h.lines[0].Next
		default:
			out.Reached[i] = h.lines[0].At
		}
	}
	return out
}

func (v *View) scanFile(
	ctx context.Context, file int, from int64, q Query, lines int, budget int64,
) (scanResult, error) {
	f := v.files[file]
	s := scanRequest{ctx: ctx, match: q.Match, lines: lines, budget: budget, splitLong: f.splitLong}
	scan := f.forward
	if q.Back {
		scan = f.backward
	}
	got, err := scan(from, s)
	for i := range got.lines {
		got.lines[i].File = file
	}
	return got, err
}

func (v *View) refill(ctx context.Context, i int, h *mergeHead, q Query) error {
	got, err := v.scanFile(ctx, i, h.at, q, min(q.Lines, 256), stepBytes/int64(len(v.files)))
	if err != nil {
		return err
	}
	h.at, h.lines, h.end = got.reached, got.lines, got.atEnd
	h.times = make([]time.Time, len(h.lines))
	// In file order, each line without a timestamp gets that of the previous line.
	var before time.Time
	for k := range h.lines {
		j := k
		if q.Back {
			j = len(h.lines) - 1 - k
		}
		t, ok := h.lines[j].time(v.zone, v.days[i])
		switch {
		case ok:
			before = t
		case k == 0 || q.Match != nil:
			if before, err = v.timeBefore(ctx, i, h.lines[j].At); err != nil {
				return err
			}
		}
		h.times[j] = before
	}
	return nil
}

// timeBefore returns the timestamp of the nearest previous line that has one; zero if none is near.
func (v *View) timeBefore(ctx context.Context, file int, at int64) (time.Time, error) {
	timed := &Matcher{verify: func(text string) bool {
		_, ok := Line{Text: text}.time(v.zone, v.days[file])
		return ok
	}}
	got, err := v.files[file].backward(at, scanRequest{ctx: ctx, match: timed, lines: 1, budget: pageBytes / 2})
	if err != nil || len(got.lines) == 0 {
		return time.Time{}, err
	}
	t, _ := got.lines[0].time(v.zone, v.days[file])
	return t, nil
}

// nextHead returns the index of the log with the next line: the one with the earliest time, or,
// for a backward query, the latest. Equal times are ordered by log, which keeps a line without a timestamp
// after the line before it.
func nextHead(heads []mergeHead, back bool) int {
	best := -1
	for i := range heads {
		if len(heads[i].lines) == 0 {
			continue
		}
		if best < 0 {
			best = i
			continue
		}
		order := heads[i].times[0].Compare(heads[best].times[0])
		if back {
			order = -order
		}
		if order < 0 || order == 0 && back {
			best = i
		}
	}
	return best
}
