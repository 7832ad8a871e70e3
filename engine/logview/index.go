package logview

import (
	"bytes"
	"context"
	"sort"
	"sync"

	"github.com/agentperf/agentperf-tui/engine/follow"
)

// maxMarks limits the size of an index. For 10 GB there is one mark every 2 MiB or so.
const maxMarks = 8192

// Index maps byte offsets of a log to line numbers and back. It is built in steps, keeps a
// bounded number of marks, and can be used while it is incomplete.
type Index struct {
	file *logFile

	mu         sync.Mutex
	stride     int64   // bytes between two marks
	marks      []int64 // number of newlines before offset k × stride
	counted    int64   // bytes counted
	lines      int64   // number of newlines in the counted bytes
	unfinished bool    // the last counted byte is not a newline
}

// NewIndex returns an empty index of one log of the view.
func (v *View) NewIndex(file int) *Index {
	return &Index{file: v.files[file], stride: 64 << 10, marks: []int64{0}}
}

// Last returns the number, from 1, of the last line counted so far.
func (x *Index) Last() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.unfinished {
		return x.lines + 1
	}
	return x.lines
}

// countStep counts the next 64 MiB. It returns true at the end of the file.
func (x *Index) countStep(ctx context.Context) (bool, error) {
	buf := make([]byte, blockBytes)
	for limit := x.counted + stepBytes; x.counted < limit; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		room := x.stride - x.counted%x.stride // up to the next mark
		n, eof, err := x.file.readAt(buf[:min(int64(len(buf)), room)], x.counted)
		if err != nil {
			return false, err
		}
		x.lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
		x.counted += int64(n)
		if n > 0 {
			x.unfinished = buf[n-1] != '\n'
		}
		if n > 0 && x.counted%x.stride == 0 {
			x.addMark()
		}
		if eof {
			return true, nil
		}
	}
	return false, nil
}

// addMark records the current count. If there are too many marks, it drops every other one.
func (x *Index) addMark() {
	if x.marks = append(x.marks, x.lines); len(x.marks) <= maxMarks {
		return
	}
	kept := x.marks[:0]
	for i := 0; i < len(x.marks); i += 2 {
		kept = append(kept, x.marks[i])
	}
	x.marks, x.stride = kept, 2*x.stride
}

// Number returns the number, from 1, of the line that begins at offset at. It is 0 if the index
// would need more than one step to reach it.
func (x *Index) Number(ctx context.Context, at int64) (int64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if at > x.counted+stepBytes {
		return 0, nil
	}
	if at > x.counted {
		if _, err := x.countStep(ctx); err != nil {
			return 0, err
		}
	}
	k := min(at/x.stride, int64(len(x.marks)-1))
	n := x.marks[k]
	buf := make([]byte, pageBytes)
	for from := k * x.stride; from < at; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		got, eof, err := x.file.readAt(buf[:min(int64(len(buf)), at-from)], from)
		if err != nil {
			return 0, err
		}
		n += int64(bytes.Count(buf[:got], []byte{'\n'}))
		if from += int64(got); eof {
			break
		}
	}
	return n + 1, nil
}

// Seek returns the offset of a line, by its number from 1. If the index does not reach the line, it
// counts one more step and returns false if that is not enough. For a number beyond the last line
// it returns the end.
func (x *Index) Seek(ctx context.Context, line int64) (int64, bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if at, ok, err := x.find(ctx, line); x.counted > 0 && ok || err != nil {
		return at, ok, err
	}
	end, err := x.countStep(ctx) // an empty index always counts a step, so that Last is valid
	if err != nil {
		return 0, false, err
	}
	if at, ok, err := x.find(ctx, line); ok || err != nil {
		return at, ok, err
	}
	return x.counted, end, nil
}

// find returns the offset of a line that has been counted, or false.
func (x *Index) find(ctx context.Context, line int64) (int64, bool, error) {
	want := max(line-1, 0) // newlines before it
	if want > x.lines {
		return 0, false, nil
	}
	if want == 0 {
		return 0, true, nil
	}
	k := max(sort.Search(len(x.marks), func(i int) bool { return x.marks[i] >= want })-1, 0)
	at, remaining := int64(k)*x.stride, want-x.marks[k]
	buf := make([]byte, pageBytes)
	for {
		if err := ctx.Err(); err != nil {
			return 0, false, err
		}
		n, eof, err := x.file.readAt(buf, at)
		if err != nil {
			return 0, false, err
		}
		data := buf[:n]
		for remaining > 0 {
			i := bytes.IndexByte(data, '\n')
			if i < 0 {
				break
			}
			data, remaining = data[i+1:], remaining-1
		}
		at += int64(n)
		if remaining == 0 {
			return at - int64(len(data)), true, nil
		}
		if eof {
			return at, true, nil
		}
	}
}

// Growth reports that a log of a view has changed.
type Growth struct {
	File      int   // index of the log in the view
	Restarted bool  // truncated or replaced: earlier positions are invalid
	Err       error // why it can't be read now; watching continues
}

// Watch reports the growth of a view's logs after their current end, until ctx ends. It
// closes the view if it returns an error.
func Watch(ctx context.Context, v *View) (*View, <-chan Growth, error) {
	end, err := v.End()
	if err != nil {
		v.Close()
		return nil, nil, err
	}
	grown, err := v.watch(ctx, end)
	if err != nil {
		v.Close()
	}
	return v, grown, err
}

// watch reports growth beyond the given position until ctx ends, and then closes the channel.
// Growth is combined while the receiver is not ready.
func (v *View) watch(ctx context.Context, from Pos) (<-chan Growth, error) {
	out := make(chan Growth)
	streams := map[int]<-chan follow.Chunk{}
	ctx, cancel := context.WithCancel(ctx)
	for i, f := range v.files {
		if f.isUnpacked() {
			continue // a compressed log does not grow
		}
		const maxLine = 64 << 10 // the lines are not used
		in, err := follow.File(ctx, f.path, follow.Options{From: from[i], PartialGrowth: true, MaxLine: maxLine})
		if err != nil {
			cancel()
			return nil, err
		}
		streams[i] = in
	}
	var all sync.WaitGroup
	for i, in := range streams {
		all.Go(func() {
			for c := range in {
				select {
				case out <- Growth{File: i, Restarted: c.Restarted, Err: c.Err}:
				case <-ctx.Done():
				}
			}
		})
	}
	go func() {
		defer close(out)
		defer cancel()
		all.Wait()
	}()
	return out, nil
}
