package watch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// cursor is a moment of the playback: a fold with all that had happened by a time.
type cursor struct {
	at      time.Time
	fold    *results.Aggregator
	file    *os.File
	rows    *bufio.Reader
	pending []byte // the row that comes next, which ended at due
	due     float64
	ahead   []byte  // the row behind it; nil at the end of the file
	end     float64 // of the request of ahead, in Unix s; NaN when it does not tell
	events  int     // that were told
	status  event.Status
	started int // entries of manifest and stats that were given
	stated  int
}

// maxRow is longer than any row of requests.jsonl, in bytes.
const maxRow = 1 << 20

func (p *Playback) rewind() (*cursor, error) {
	f, _, err := smallfile.Open(filepath.Join(p.logs, "agentperf", results.RequestsFile))
	if err != nil {
		return nil, err
	}
	c := &cursor{fold: results.NewAggregator(), file: f, rows: bufio.NewReaderSize(f, 1<<16), due: math.Inf(-1)}
	c.fold.AddPlan(p.context.Planned...)
	if !p.context.Start.IsZero() {
		c.fold.SetStart(p.context.Start)
	}
	return c, nil
}

func (c *cursor) close() {
	c.fold.Close()
	_ = c.file.Close() // was only read
}

// advance gives the cursor everything up to a time.
func (p *Playback) advance(ctx context.Context, c *cursor, t time.Time) error {
	for ; c.events < len(p.events) && !p.events[c.events].T.After(t); c.events++ {
		c.status.Apply(p.events[c.events])
	}
	until := float64(t.UnixNano()) / 1e9
	for n := 0; c.due <= until; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if c.pending != nil {
			_ = c.fold.AddRequestRow(c.pending) // what is wrong with it is among the run's warnings
		}
		if err := c.next(); err != nil {
			return err
		}
	}
	for ; c.started < len(p.manifest) && !p.manifest[c.started].at.After(t); c.started++ {
		_ = c.fold.AddManifestRow(p.manifest[c.started].data)
	}
	for ; c.stated < len(p.stats) && !p.stats[c.stated].at.After(t); c.stated++ {
		_ = c.fold.AddStatistics(p.stats[c.stated].stem, p.stats[c.stated].data)
	}
	return nil
}

// apart is how far a row must be from the ones before and behind it for its time to
// be wrong, in s. A client that was started again goes on where it is then.
const apart = 24 * 3600

// next reads the row that comes next; at the end none is due any more. A row whose time
// is wrong is left out: with it the run would seem to last for years.
func (c *cursor) next() error {
	if c.ahead == nil { // at the beginning, or at the end
		if err := c.read(); err != nil {
			return err
		}
	}
	for {
		if c.ahead == nil {
			c.pending, c.due = nil, math.Inf(1)
			return nil
		}
		end := c.end
		c.pending, c.ahead = c.ahead, c.pending[:0]
		if err := c.read(); err != nil {
			return err
		}
		behind := c.end
		if c.ahead == nil && !math.IsInf(c.due, -1) {
			behind = c.due
		}
		if end > c.due+apart && behind < end-apart {
			continue
		}
		if end > c.due { // rows are in the order of their ends
			c.due = end
		}
		return nil
	}
}

// read reads the row that is to come behind the next one.
func (c *cursor) read() error {
	line, err := c.rows.ReadSlice('\n')
	c.ahead = append(c.ahead[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = c.rows.ReadSlice('\n')
		if len(c.ahead) < maxRow {
			c.ahead = append(c.ahead, line...)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if c.end = results.RowEndTime(c.ahead); len(c.ahead) == 0 {
		c.ahead, c.end = nil, math.NaN()
	}
	return nil
}
