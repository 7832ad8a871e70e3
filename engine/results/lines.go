package results

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// lines feeds the lines of a file that were there when it was opened. What is
// wrong with a line is counted by the fold; a last line without its newline
// counts only when it is whole.
func (l *loaded) lines(ctx context.Context, path string, feed func([]byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	in := &lineReader{limit: maxLine, in: bufio.NewReaderSize(io.LimitReader(file, info.Size()), 1<<20)}
	name := filepath.Base(path)
	for ctx.Err() == nil {
		line, ended, err := in.next()
		if errors.Is(err, io.EOF) {
			if in.skipped > 0 {
				l.notes = append(l.notes, fmt.Sprintf("%s: %d line(s) longer than 64 MiB, not counted", name, in.skipped))
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("read results: %w", err)
		}
		if !ended && scanObject(line, nil) != nil {
			l.notes = append(l.notes, name+": the last line is half written, not counted")
			continue
		}
		_ = feed(line) // counted by the fold, and told with the run
	}
	return fmt.Errorf("read results from %s: %w", path, ctx.Err())
}

const (
	batchLines = 4096
	batchBytes = 4 << 20
)

// batch collects lines of a file, so that they can be parsed side by side; they
// are added in file order.
type batch struct {
	fold *Fold
	add  func(parsed) error
	text []byte
	ends []int // of each line in text
	rows []parsed
}

// rows feeds the rows of a file.
func (l *loaded) rows(ctx context.Context, path string, add func(parsed) error) error {
	b := &batch{fold: l.fold, add: add}
	if err := l.lines(ctx, path, b.line); err != nil {
		return err
	}
	b.flush()
	return nil
}

func (b *batch) line(line []byte) error {
	b.text = append(b.text, line...)
	b.ends = append(b.ends, len(b.text))
	if len(b.ends) >= batchLines || len(b.text) >= batchBytes {
		b.flush()
	}
	return nil
}

func (b *batch) flush() {
	n := len(b.ends)
	if cap(b.rows) < n {
		b.rows = make([]parsed, batchLines)
	}
	b.rows = b.rows[:n]
	workers := min(runtime.GOMAXPROCS(0), 8)
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() { b.parse(w*n/workers, (w+1)*n/workers) })
	}
	done.Wait()
	for _, p := range b.rows {
		_ = b.add(p) // counted by the fold, and told with the run
	}
	b.text, b.ends = b.text[:0], b.ends[:0]
}

func (b *batch) parse(from, to int) {
	for i := from; i < to; i++ {
		start := 0
		if i > 0 {
			start = b.ends[i-1]
		}
		b.rows[i] = b.fold.parse(b.text[start:b.ends[i]])
	}
}

// lineReader reads lines of at most limit bytes, newline included; longer ones
// are counted and left out.
type lineReader struct {
	in      *bufio.Reader
	limit   int
	long    []byte // a line that is longer than the reader's buffer
	skipped int
}

// next returns a line without its newline, valid until the call after, and
// whether it had one. At the end it returns io.EOF.
func (r *lineReader) next() (line []byte, ended bool, err error) {
	r.long = r.long[:0]
	over := false
	for {
		part, err := r.in.ReadSlice('\n')
		if err == nil && len(r.long) == 0 && !over && len(part) <= r.limit {
			return part[:len(part)-1], true, nil
		}
		if over = over || len(r.long)+len(part) > r.limit; !over {
			r.long = append(r.long, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !errors.Is(err, io.EOF):
			return nil, false, err
		case over:
			r.skipped++
			r.long, over = r.long[:0], false
			if err != nil {
				return nil, false, err
			}
		case err != nil && len(r.long) == 0:
			return nil, false, io.EOF
		default:
			line := r.long
			if err == nil {
				line = line[:len(line)-1]
			}
			return line, err == nil, nil
		}
	}
}
