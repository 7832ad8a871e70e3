package session

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Limits of a page: a line longer than a row goes on in the next one, and a page
// holds what one read gives, however large the file is.
const (
	maxRow  = 16 << 10
	maxPage = 256 << 10
)

// Row is a line of a file, or a part of a very long one.
type Row struct {
	At   int64  // byte offset in the file
	Text string // as found, escapes and all, without its line end
	Part bool   // it goes on with the line of the row before
}

// Page is a window on a file.
type Page struct {
	Rows []Row
	From int64 // where the window begins
	To   int64 // where it ends; Size at the end of the file
	Size int64 // of the file
	Line int   // number of the first row, from 1; 0 where nobody counted
}

// PageFrom reads a window of a file that begins at an offset, which begins a row.
func (Session) PageFrom(_ context.Context, path string, at int64) (Page, error) {
	f, size, err := openFile(path)
	if err != nil {
		return Page{}, err
	}
	defer f.Close()
	return pageFrom(f, size, at)
}

func pageFrom(f *os.File, size, at int64) (Page, error) {
	p := Page{From: min(max(at, 0), size), Size: size}
	data, err := readAt(f, p.From, maxPage)
	if err != nil {
		return Page{}, err
	}
	within, err := inLine(f, p.From)
	if err != nil {
		return Page{}, err
	}
	p.To = p.From + int64(len(data))
	p.Rows = rowsOf(data, p.From, within)
	if p.From == 0 {
		p.Line = 1
	}
	if n := len(p.Rows); n > 1 && p.To < size { // the last one is not whole
		if last := p.Rows[n-1]; len(last.Text) < maxRow {
			p.Rows, p.To = p.Rows[:n-1], last.At
		}
	}
	return p, nil
}

// PageBefore reads the window that ends at an offset.
func (Session) PageBefore(_ context.Context, path string, at int64) (Page, error) {
	f, size, err := openFile(path)
	if err != nil {
		return Page{}, err
	}
	defer f.Close()
	p := Page{To: min(max(at, 0), size), Size: size}
	p.From = max(p.To-maxPage, 0)
	data, err := readAt(f, p.From, int(p.To-p.From))
	if err != nil {
		return Page{}, err
	}
	part := p.From > 0
	if cut := bytes.IndexByte(data, '\n'); part && cut >= 0 && cut < len(data)-1 { // the first one is not whole
		data, part = data[cut+1:], false
		p.From += int64(cut) + 1
	}
	p.Rows = rowsOf(data, p.From, part)
	if p.From == 0 {
		p.Line = 1
	}
	return p, nil
}

// PageAt reads a window that begins some lines before the given one, counted from
// the start of the file; ctx bounds how long that is looked for.
func (s Session) PageAt(ctx context.Context, path string, line, before int) (Page, error) {
	f, size, err := openFile(path)
	if err != nil {
		return Page{}, err
	}
	defer f.Close()
	first := max(line-before, 1)
	at, n, err := seekLine(ctx, f, first)
	if err != nil {
		return Page{}, fmt.Errorf("look for line %d of %s: %w", line, path, err)
	}
	if n < first {
		return Page{}, fmt.Errorf("%s has no line %d: it ends on line %d; it was changed since it was ported", path, line, n)
	}
	p, err := pageFrom(f, size, at)
	p.Line = first
	return p, err
}

// seekLine is the offset of a line; n is the number of the last line if there are fewer.
func seekLine(ctx context.Context, f *os.File, line int) (at int64, n int, err error) {
	n = 1
	buf := make([]byte, maxPage)
	for n < line {
		if err := ctx.Err(); err != nil {
			return 0, n, err
		}
		k, err := f.ReadAt(buf, at)
		data := buf[:k]
		if have := bytes.Count(data, []byte{'\n'}); n+have < line {
			n, at = n+have, at+int64(k)
		} else {
			for n < line {
				cut := bytes.IndexByte(data, '\n') + 1
				data, at, n = data[cut:], at+int64(cut), n+1
			}
			return at, n, nil
		}
		if errors.Is(err, io.EOF) {
			return at, n, nil
		}
		if err != nil {
			return 0, n, err
		}
	}
	return at, n, nil
}

// Found is where a text was found.
type Found struct {
	At    int64 // of the row that holds it; -1: nowhere
	Lines int   // line ends between the start of the search and that row
}

// Find looks for a text, whatever its case, from a row on to the end of a file, or
// in the rows before it back to the start. A very long line is looked at in parts.
func (Session) Find(ctx context.Context, path, text string, from int64, back bool) (Found, error) {
	f, size, err := openFile(path)
	if err != nil {
		return Found{}, err
	}
	defer f.Close()
	want := bytes.ToLower([]byte(text))
	if len(want) == 0 {
		return Found{At: -1}, nil
	}
	if back {
		return findBack(ctx, f, want, min(from, size))
	}
	return findForth(ctx, f, want, from)
}

func findForth(ctx context.Context, f *os.File, want []byte, from int64) (Found, error) {
	r := bufio.NewReaderSize(io.NewSectionReader(f, from, 1<<62), maxRow)
	found := Found{At: from}
	for n := 0; ; n++ {
		if n%64 == 0 && ctx.Err() != nil {
			return Found{}, ctx.Err()
		}
		part, err := r.ReadSlice('\n')
		if bytes.Contains(bytes.ToLower(part), want) {
			return found, nil
		}
		found.At += int64(len(part))
		switch {
		case err == nil:
			found.Lines++
		case errors.Is(err, io.EOF):
			return Found{At: -1}, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return Found{}, err
		}
	}
}

func findBack(ctx context.Context, f *os.File, want []byte, to int64) (Found, error) {
	lines := 0
	for to > 0 {
		if ctx.Err() != nil {
			return Found{}, ctx.Err()
		}
		from := max(to-maxPage, 0)
		data, err := readAt(f, from, int(to-from))
		if err != nil {
			return Found{}, err
		}
		part := from > 0
		if cut := bytes.IndexByte(data, '\n'); part && cut >= 0 && cut < len(data)-1 {
			data, from, part = data[cut+1:], from+int64(cut)+1, false
		}
		rows := rowsOf(data, from, part)
		for i := len(rows) - 1; i >= 0; i-- {
			if i < len(rows)-1 && !rows[i+1].Part || i == len(rows)-1 && bytes.HasSuffix(data, []byte{'\n'}) {
				lines++
			}
			if bytes.Contains(bytes.ToLower([]byte(rows[i].Text)), want) {
				return Found{rows[i].At, lines}, nil
			}
		}
		to = from
	}
	return Found{At: -1}, nil
}

// rowsOf cuts what was read from an offset into rows.
func rowsOf(data []byte, at int64, part bool) []Row {
	var rows []Row
	for len(data) > 0 {
		n, ended := bytes.IndexByte(data, '\n'), true
		if n < 0 {
			n, ended = len(data), false
		}
		if n > maxRow {
			n, ended = maxRow, false
		}
		rows = append(rows, Row{at, string(bytes.TrimSuffix(data[:n], []byte{'\r'})), part})
		if part = !ended; ended {
			n++
		}
		data, at = data[n:], at+int64(n)
	}
	return rows
}

// inLine says whether an offset is inside a line.
func inLine(f *os.File, at int64) (bool, error) {
	if at == 0 {
		return false, nil
	}
	b, err := readAt(f, at-1, 1)
	return len(b) == 1 && b[0] != '\n', err
}

// openFile opens what must be a plain file: a pipe would never answer.
func openFile(path string) (*os.File, int64, error) {
	path = Home(path)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: it is no plain file", path)
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	return f, info.Size(), err
}

func readAt(f *os.File, at int64, n int) ([]byte, error) {
	data := make([]byte, n)
	n, err := f.ReadAt(data, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:n], err
}
