package results

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/agentperf/agentperf-tui/engine/jsonrow"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

const (
	chunkBytes  = 4 << 20   // of a file, for one worker at a time
	windowBytes = 256 << 10 // of a piece that are looked at at once: they stay in the processor's cache
)

// rows reads the rows that were in a file when it was opened. What is wrong
// with a line is counted by the fold; a last line without its newline counts
// only when it is whole. The phase is negative when each row says its own.
func (l *loader) loadRows(ctx context.Context, path string, t *table, phase int) error {
	file, info, err := smallfile.Open(path)
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	defer file.Close()
	name := filepath.Base(path)
	skipped := 0
	in := chunkReader{file: file, size: info.Size(), chunkSize: chunkBytes, maxLine: maxLine, phase: phase}
	err = in.forEach(ctx, func(p *parsedChunk) error {
		f := l.agg
		before := f.lineCounts[name]
		for _, fault := range p.rejected {
			f.lineCounts[name] = before + fault.line
			_ = f.reject(name, fault.err) // counted by the fold, and told with the run
		}
		f.lineCounts[name] = before + p.lines
		for i := range p.rows {
			f.addRow(t, name, &p.rows[i])
		}
		skipped += p.tooLong
		if p.incomplete {
			l.notes = append(l.notes, name+": the last line is half written, not counted")
		}
		return f.storeErr
	})
	if skipped > 0 {
		l.notes = append(l.notes, fmt.Sprintf("%s: %d line(s) longer than 64 MiB, not counted", name, skipped))
	}
	if err != nil {
		return fmt.Errorf("read results: %s: %w", path, err)
	}
	return nil
}

// parsed is what the lines that begin in a piece of the file hold.
type parsedChunk struct {
	rows       []row
	lines      int
	rejected   []rejectedLine
	tooLong    int  // lines over the limit
	incomplete bool // the file's last line is half written
}

type rejectedLine struct {
	line int // from 1, in the piece
	err  error
}

// pieces reads a file's rows with several workers: worker w takes the pieces
// w, w+n, w+2n … of the n workers, and what they parsed is given on in order.
type chunkReader struct {
	file      io.ReaderAt
	size      int64
	chunkSize int
	maxLine   int // bytes of a line, with its newline
	phase     int
}

func (in *chunkReader) forEach(ctx context.Context, take func(*parsedChunk) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := int64(workerCount())
	count := (in.size + int64(in.chunkSize) - 1) / int64(in.chunkSize)
	outs, frees := make([]chan *parsedChunk, n), make([]chan *parsedChunk, n)
	errs := make(chan error, n)
	for w := range n {
		outs[w], frees[w] = make(chan *parsedChunk, 1), make(chan *parsedChunk, 2)
		frees[w] <- &parsedChunk{}
		frees[w] <- &parsedChunk{}
		go func() { errs <- in.runWorker(ctx, w, n, count, outs[w], frees[w]) }()
	}
	var failed []error
	for i := range count {
		p, ok := <-outs[i%n]
		if !ok {
			break
		}
		if err := take(p); err != nil {
			failed = append(failed, err)
			break
		}
		frees[i%n] <- p
	}
	cancelled := ctx.Err()
	cancel()
	for range n {
		if err := <-errs; err != nil && !errors.Is(err, context.Canceled) {
			failed = append(failed, err)
		}
	}
	return errors.Join(append(failed, cancelled)...)
}

func (in *chunkReader) runWorker(ctx context.Context, first, step, count int64, out chan<- *parsedChunk, free <-chan *parsedChunk) error {
	defer close(out)
	var buf []byte
	for i := first; i < count; i += step {
		var p *parsedChunk
		select {
		case p = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		*p = parsedChunk{rows: p.rows[:0], rejected: p.rejected[:0]}
		var err error
		if buf, err = in.parseChunk(i*int64(in.chunkSize), buf, p); err != nil {
			return err
		}
		select {
		case out <- p:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// parse parses the lines that begin in the piece at from. It returns its buffer for the next time.
func (in *chunkReader) parseChunk(from int64, buf []byte, p *parsedChunk) ([]byte, error) {
	end := min(from+int64(in.chunkSize), in.size)
	at := max(0, from-1) // of buf in the file; the byte before the piece tells whether a line begins with it
	if cap(buf) > 4*windowBytes {
		buf = nil // it was made for a very long line
	}
	buf = buf[:0]
	i := 0 // where the line begins
	looked := 0
	skip := from > 0 // up to the first line that begins here
	for at+int64(i) < end {
		n := bytes.IndexByte(buf[looked:], '\n')
		switch {
		case n < 0 && skip:
			at, buf, i, looked = at+int64(len(buf)), buf[:0], 0, 0
			if at >= end {
				return buf, nil
			}
		case n < 0:
			looked = len(buf)
		}
		if n >= 0 {
			line := buf[i : looked+n]
			i, looked = looked+n+1, looked+n+1
			switch {
			case skip:
				skip = false
			case len(line) >= in.maxLine:
				p.lines, p.tooLong = p.lines+1, p.tooLong+1
			default:
				p.lines++
				in.parseLine(line, p)
			}
			continue
		}
		rest := len(buf) - i
		switch {
		case rest >= in.maxLine: // the next line is not of this piece
			p.lines, p.tooLong = p.lines+1, p.tooLong+1
			return buf, nil
		case at+int64(len(buf)) >= in.size:
			p.lines++
			p.incomplete = !in.parseLastLine(buf[i:], p)
			return buf, nil
		}
		var err error
		if buf, err = in.refill(buf, i, at+int64(len(buf))); err != nil {
			return buf, err
		}
		at, i, looked = at+int64(i), 0, rest
	}
	return buf, nil
}

// slide moves what stands from i on to the front, and reads more behind it.
func (in *chunkReader) refill(buf []byte, i int, next int64) ([]byte, error) {
	rest := len(buf) - i
	if need := max(windowBytes, 2*rest); cap(buf) < need {
		buf = append(make([]byte, 0, need), buf[i:]...)
	} else {
		copy(buf, buf[i:])
	}
	n := int(min(int64(cap(buf)-rest), in.size-next))
	buf = buf[:rest+n]
	got, err := in.file.ReadAt(buf[rest:], next)
	if got == n {
		return buf, nil
	}
	if errors.Is(err, io.EOF) {
		err = problem.New(problem.FileChanged, "file was truncated while being read; try again")
	}
	return buf, err
}

func (in *chunkReader) parseLine(line []byte, p *parsedChunk) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	p.rows = append(p.rows, row{})
	if err := parseRow(line, in.phase, &p.rows[len(p.rows)-1]); err != nil {
		p.rejected = append(p.rejected, rejectedLine{p.lines, err})
		p.rows = p.rows[:len(p.rows)-1]
	}
}

// last parses a line without newline; false means that it is half written.
func (in *chunkReader) parseLastLine(line []byte, p *parsedChunk) bool {
	if jsonrow.Members(line, func(_, _ []byte, _ int) error { return nil }) != nil {
		p.lines--
		return false
	}
	in.parseLine(line, p)
	return true
}
