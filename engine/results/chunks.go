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
	chunkBytes  = 4 << 20   // part of a file that a worker parses at a time
	bufferBytes = 256 << 10 // read buffer of a worker, which fits in the CPU cache
)

// loadRows adds the rows that a file contained when it was opened. Lines that can't be
// parsed are counted by the aggregator. A last line without a newline is added only if
// it is complete. The phase is negative if each row has its own.
func (l *loader) loadRows(ctx context.Context, path string, t *table, phase int) error {
	file, info, err := smallfile.Open(path)
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	defer file.Close()
	name := filepath.Base(path)
	tooLong := 0
	in := chunkReader{file: file, size: info.Size(), chunkSize: chunkBytes, maxLine: maxLine, phase: phase}
	err = in.forEach(ctx, func(p *parsedChunk) error {
		f := l.agg
		before := f.lineCounts[name]
		for _, r := range p.rejected {
			f.lineCounts[name] = before + r.line
			_ = f.reject(name, r.err) // reported in Run.Warnings
		}
		f.lineCounts[name] = before + p.lines
		for i := range p.rows {
			f.addRow(t, name, &p.rows[i])
		}
		t.unreadable.add(t, len(p.rejected)+p.tooLong)
		tooLong += p.tooLong
		if p.incomplete != nil {
			l.notes = append(l.notes, fmt.Sprintf("%s: incomplete last line not counted (line %d, %v)",
				name, f.lineCounts[name]+1, p.incomplete))
		}
		return f.storeErr
	})
	if tooLong > 0 {
		l.notes = append(l.notes, fmt.Sprintf("%s: %d line(s) longer than 64 MiB not counted", name, tooLong))
	}
	if err != nil {
		return fmt.Errorf("read results: %s: %w", path, err)
	}
	return nil
}

// parsedChunk holds the parsed lines that start in a chunk of a file.
type parsedChunk struct {
	rows       []row
	lines      int
	rejected   []rejectedLine
	tooLong    int   // number of lines over the limit
	incomplete error // why the last line of the file is incomplete; nil if it is complete
}

type rejectedLine struct {
	line int // from 1, within the chunk
	err  error
}

// chunkReader parses the rows of a file with n workers. Worker w parses the chunks w, w+n,
// w+2n and so on; the results are delivered in file order.
type chunkReader struct {
	file      io.ReaderAt
	size      int64
	chunkSize int
	maxLine   int // bytes, including the newline
	phase     int
}

// forEach calls visit for each chunk in order. The chunk is valid until visit returns.
func (in *chunkReader) forEach(ctx context.Context, visit func(*parsedChunk) error) error {
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
		if err := visit(p); err != nil {
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

// runWorker parses the chunks first, first+step and so on below count. It takes empty
// chunks from free and sends them to out.
func (in *chunkReader) runWorker(
	ctx context.Context, first, step, count int64, out chan<- *parsedChunk, free <-chan *parsedChunk,
) error {
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

// parseChunk parses the lines that start in the chunk at offset from. It returns buf for reuse.
func (in *chunkReader) parseChunk(from int64, buf []byte, p *parsedChunk) ([]byte, error) {
	end := min(from+int64(in.chunkSize), in.size)
	at := max(0, from-1) // offset of buf in the file; the byte before the chunk shows whether a line starts with it
	if cap(buf) > 4*bufferBytes {
		buf = nil // it was allocated for a very long line
	}
	buf = buf[:0]
	i := 0           // start of the line
	scanned := 0     // end of the part of buf without a newline
	skip := from > 0 // until the first line that starts in this chunk
	for at+int64(i) < end {
		n := bytes.IndexByte(buf[scanned:], '\n')
		switch {
		case n < 0 && skip:
			at, buf, i, scanned = at+int64(len(buf)), buf[:0], 0, 0
			if at >= end {
				return buf, nil
			}
		case n < 0:
			scanned = len(buf)
		}
		if n >= 0 {
			line := buf[i : scanned+n]
			i, scanned = scanned+n+1, scanned+n+1
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
		case rest >= in.maxLine: // the line ends in a later chunk
			p.lines, p.tooLong = p.lines+1, p.tooLong+1
			return buf, nil
		case at+int64(len(buf)) >= in.size:
			p.lines++
			p.incomplete = in.parseLastLine(buf[i:], p)
			return buf, nil
		}
		var err error
		if buf, err = in.refill(buf, i, at+int64(len(buf))); err != nil {
			return buf, err
		}
		at, i, scanned = at+int64(i), 0, rest
	}
	return buf, nil
}

// refill moves buf[i:] to the front and reads more data after it, from offset next.
func (in *chunkReader) refill(buf []byte, i int, next int64) ([]byte, error) {
	rest := len(buf) - i
	if need := max(bufferBytes, 2*rest); cap(buf) < need {
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
	if isBlank(line) {
		return
	}
	p.rows = append(p.rows, row{})
	if err := parseRow(line, in.phase, &p.rows[len(p.rows)-1]); err != nil {
		p.rejected = append(p.rejected, rejectedLine{p.lines, err})
		p.rows = p.rows[:len(p.rows)-1]
	}
}

// checkObject returns an error if a line is not a complete JSON object.
func checkObject(line []byte) error {
	return jsonrow.Members(smallfile.TrimBOM(line), func(_, _ []byte, _ int) error { return nil })
}

// parseLastLine parses a line without a newline. It returns an error if the line is incomplete.
func (in *chunkReader) parseLastLine(line []byte, p *parsedChunk) error {
	if !isBlank(line) {
		if err := checkObject(line); err != nil {
			p.lines--
			return err
		}
	}
	in.parseLine(line, p)
	return nil
}
