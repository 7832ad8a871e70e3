package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// turn is one recorded model request.
type turn struct {
	line            int // in the file
	index           int
	messages, tools span          // byte ranges in the file; tools is empty if the turn has none
	limit           int           // output tokens, 0 for none
	delay           time.Duration // duration of the tool call after the response
}

// conversation is one trajectory with its turns in order.
type conversation struct {
	id    string
	turns []turn
}

// trajectories is the index of a trajectory file. The file stays open, because the messages
// of a turn are read when it is sent.
type trajectories struct {
	file          *os.File
	conversations []conversation // in order of first appearance
	byID          map[string]int
	turns         int
}

// maxLine limits the length of a row of a trajectory file, in bytes. Rows of the public datasets
// are shorter than 1 MB.
const maxLine = 256 << 20

// openTrajectories indexes the file at path. Errors name the file and line.
func openTrajectories(ctx context.Context, path, delayKey string) (*trajectories, error) {
	f, _, err := smallfile.Open(path)
	if err != nil {
		return nil, openError("trajectories", "trajectory_path", err)
	}
	t := &trajectories{file: f, byID: make(map[string]int)}
	if err := t.index(ctx, delayKey); err != nil {
		return nil, errors.Join(fmt.Errorf("trajectories: %w", err), f.Close())
	}
	return t, nil
}

func (t *trajectories) index(ctx context.Context, delayKey string) error {
	name := t.file.Name()
	rows, err := scanRows(ctx, t.file, name, delayKey)
	if err != nil {
		return err
	}
	for _, r := range rows {
		i, ok := t.byID[r.conversation]
		if !ok {
			i = len(t.conversations)
			t.byID[r.conversation] = i
			t.conversations = append(t.conversations, conversation{id: r.conversation})
		}
		t.conversations[i].turns = append(t.conversations[i].turns, r.turn)
	}
	if len(rows) == 0 {
		return problem.Errorf(problem.DatasetInvalid, "%s: no rows; the file must hold one turn per line", name)
	}
	t.turns = len(rows)
	for i := range t.conversations {
		if err := t.conversations[i].sortTurns(name); err != nil {
			return err
		}
	}
	return nil
}

// sortTurns sorts the turns and checks that they are numbered from 0 without gaps.
func (c *conversation) sortTurns(file string) error {
	slices.SortStableFunc(c.turns, func(a, b turn) int { return a.index - b.index })
	for i, t := range c.turns {
		switch {
		case i > 0 && t.index == c.turns[i-1].index:
			return problem.Errorf(problem.DatasetInvalid,
				"%s:%d: duplicate turn %d of conversation %q, first on line %d; remove one of them",
				file, t.line, t.index, c.id, c.turns[i-1].line)
		case t.index != i:
			return problem.Errorf(problem.DatasetInvalid,
				"%s:%d: conversation %q has turn %d but no turn %d; number turns from 0 without gaps",
				file, t.line, c.id, t.index, i)
		}
	}
	return nil
}

// line is a line of the file that is sent to a parser.
type line struct {
	number int
	off    int64
	data   []byte
}

// scanRows parses all lines in parallel, since files can be several gigabytes long, and returns
// the rows in file order. If several lines are invalid, the error is that of the first one.
func scanRows(ctx context.Context, r io.Reader, name, delayKey string) ([]row, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := make(chan line)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		rows  []row
		bad   error
		badAt int
	)
	for range parsers {
		wg.Go(func() {
			for l := range lines {
				r, err := l.parse(delayKey)
				mu.Lock()
				if err == nil {
					rows = append(rows, r)
				} else if bad == nil || l.number < badAt {
					bad, badAt = fmt.Errorf("%s:%d: %w", name, l.number, err), l.number
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	err := splitLines(ctx, r, name, lines)
	close(lines)
	wg.Wait()
	if err = cmp.Or(bad, err); err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b row) int { return a.line - b.line })
	return rows, nil
}

// parsers is the number of parallel parsers, enough to keep up with a disk. Each holds one line.
const parsers = 8

// parse parses a line into a row whose spans refer to the file.
func (l line) parse(delayKey string) (row, error) {
	r, err := parseRow(l.data, delayKey)
	r.line = l.number
	r.messages.off += l.off
	r.tools.off += l.off
	return r, err
}

// splitLines sends the lines of r that are not blank to out, until r or ctx ends.
func splitLines(ctx context.Context, r io.Reader, name string, out chan<- line) error {
	in := bufio.NewReaderSize(r, 1<<20)
	var off int64
	for number := 1; ; number++ {
		data, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
		row := data
		if number == 1 {
			row = smallfile.TrimBOM(data)
		}
		if len(bytes.TrimSpace(row)) > 0 {
			select {
			case out <- line{number: number, off: off + int64(len(data)-len(row)), data: row}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err != nil {
			return nil
		}
		off += int64(len(data))
	}
}

// readLine returns one line with its newline, in a new slice.
func readLine(in *bufio.Reader) ([]byte, error) {
	var data []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(data)+len(part) > maxLine {
			return nil, problem.Errorf(problem.DatasetInvalid, "line longer than %d MiB", maxLine>>20)
		}
		data = append(data, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return data, err
		}
	}
}

// read returns the JSON list at s, which belongs to a line of the file.
func (t *trajectories) read(s span, line int) ([]byte, error) {
	buf := make([]byte, s.len)
	if _, err := t.file.ReadAt(buf, s.off); err != nil {
		return nil, fmt.Errorf("read a turn: %s:%d: %w", t.file.Name(), line, problem.Mark(problem.DatasetChanged, err))
	}
	if buf[0] != '[' || buf[len(buf)-1] != ']' {
		return nil, problem.Errorf(problem.DatasetChanged,
			"read a turn: %s:%d: the file changed after it was indexed; start the replay again", t.file.Name(), line)
	}
	return buf, nil
}
