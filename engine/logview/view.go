package logview

import (
	"context"
	"os"
	"slices"
	"time"
)

// stepBytes are looked at in one step of a search or a filter: some hundredths of a second.
const stepBytes = 64 << 20

// View is one log, or several of them merged by the times in their lines: a line
// without a time stays with the one before it.
type View struct {
	files []*logFile
	zone  *time.Location
	days  []time.Time // of each file's last change, for lines that tell the time of day alone
}

// NewView is a view of the logs at these paths; a log need not exist yet.
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

// Reopen looks anew at a log that was truncated or replaced.
func (v *View) Reopen(file int) { v.files[file].close() }

// Pos is a place between two lines: for each log the byte at which the next line begins.
type Pos []int64

// Start is the place before the first line.
func (v *View) Start() Pos { return make(Pos, len(v.files)) }

// End is the place after the last line.
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

// After is the place after a line that follows p.
func (p Pos) After(l Line) Pos {
	q := slices.Clone(p)
	q[l.File] = l.Next
	return q
}

// Before is the place before a line that p follows.
func (p Pos) Before(l Line) Pos {
	q := slices.Clone(p)
	q[l.File] = l.At
	return q
}

// Bytes is how many bytes of all logs are before the place.
func (p Pos) Bytes() int64 {
	n := int64(0)
	for _, x := range p {
		n += x
	}
	return n
}

// Query asks for lines from a place on.
type Query struct {
	From  Pos
	Back  bool     // the lines before From, the nearest first
	Lines int      // at most
	Match *Matcher // nil: every line
}

// Result is the answer: lines in the order in which they were looked for.
type Result struct {
	Lines   []Line
	Reached Pos  // where to go on
	End     bool // there is nothing more in this direction
}

// Step looks for lines until it has enough of them or has looked at 64 MiB: then
// the answer has neither End nor all lines, and a query from Reached goes on.
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
				if len(h.lines) == 0 && !h.end { // the step is used up
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

// mergeHead is what is next of one log.
type mergeHead struct {
	at    int64 // where to look on, behind lines
	lines []Line
	times []time.Time
	end   bool
}

// resultAt is where the query stands: before what was looked at and not taken.
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
	look := f.forward
	if q.Back {
		look = f.backward
	}
	got, err := look(from, s)
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
	// In the file's order, each line without a time gets that of the one before it.
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

// timeBefore is the time of the nearest line above that has one; zero if none is near.
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

// nextHead is the log whose line is next: the one with the smallest time, or going back the greatest.
// Equal times go by the logs' order, which keeps a line without a time with the one before it.
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
