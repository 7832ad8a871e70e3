package logview

import (
	"bytes"
	"context"
	"sort"
	"sync"

	"github.com/agentperf/agentperf-tui/engine/follow"
)

// maxMarks bounds an index: at 10 GB there is one for each 2 MiB or so.
const maxMarks = 8192

// Index knows the numbers of a log's lines. It is built in steps, keeps a bounded
// number of marks, and may be asked while it is built.
type Index struct {
	file *logFile

	mu         sync.Mutex
	stride     int64   // bytes between two marks
	marks      []int64 // newlines before each k × stride
	counted    int64   // bytes counted
	lines      int64   // newlines in them
	unfinished bool    // the last of them is none
}

// NewIndex is an empty index of one of the view's logs.
func (v *View) NewIndex(file int) *Index {
	return &Index{file: v.files[file], stride: 64 << 10, marks: []int64{0}}
}

// Last is the number of the last line among those that have been counted, from 1.
func (x *Index) Last() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.unfinished {
		return x.lines + 1
	}
	return x.lines
}

// countStep counts on for 64 MiB; true at the end of the file.
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

// addMark notes the count so far; where that makes too many marks every other goes.
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

// Number is the number, from 1, of the line that begins at a byte; 0 if the index is
// more than a step away from it.
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

// Seek is where a line begins, by its number from 1. An index that is not that far counts on for a
// step; false if that is not enough. A number beyond the last line is the end.
func (x *Index) Seek(ctx context.Context, line int64) (int64, bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if at, ok, err := x.find(ctx, line); x.counted > 0 && ok || err != nil {
		return at, ok, err
	}
	end, err := x.countStep(ctx) // of an index that is empty at least one, for Last
	if err != nil {
		return 0, false, err
	}
	if at, ok, err := x.find(ctx, line); ok || err != nil {
		return at, ok, err
	}
	return x.counted, end, nil
}

// find is where a line begins among those that have been counted.
func (x *Index) find(ctx context.Context, line int64) (int64, bool, error) {
	want := max(line-1, 0) // newlines before it
	if want > x.lines {
		return 0, false, nil
	}
	if want == 0 {
		return 0, true, nil
	}
	k := max(sort.Search(len(x.marks), func(i int) bool { return x.marks[i] >= want })-1, 0)
	at, left := int64(k)*x.stride, want-x.marks[k]
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
		for left > 0 {
			i := bytes.IndexByte(data, '\n')
			if i < 0 {
				break
			}
			data, left = data[i+1:], left-1
		}
		at += int64(n)
		if left == 0 {
			return at - int64(len(data)), true, nil
		}
		if eof {
			return at, true, nil
		}
	}
}

// Growth tells that a log of a view has changed.
type Growth struct {
	File      int   // which of the view's
	Restarted bool  // truncated or replaced: places in it mean nothing any more
	Err       error // why it can't be read now; watching goes on
}

// Watch is a view with what tells of its growth from its end on, until ctx ends. If
// it can't be read it is closed.
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

// watch tells of every growth until ctx ends, from the places on that the view's end had. Then it
// closes the channel. What grows while nobody listens is told in one.
func (v *View) watch(ctx context.Context, from Pos) (<-chan Growth, error) {
	out := make(chan Growth)
	streams := make([]<-chan follow.Chunk, 0, len(v.files))
	ctx, cancel := context.WithCancel(ctx)
	for i, f := range v.files {
		const held = 64 << 10 // only whether it grows is wanted
		in, err := follow.File(ctx, f.path, follow.Options{From: from[i], PartialGrowth: true, MaxLine: held})
		if err != nil {
			cancel()
			return nil, err
		}
		streams = append(streams, in)
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
