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
	at              time.Time
	fold            *results.Aggregator
	file            *os.File
	rows            *bufio.Reader
	row             []byte // the row that comes next, which ended at due
	rowEnd          float64
	nextRow         []byte  // the row behind it; nil at the end of the file
	nextEnd         float64 // of the request of ahead, in Unix s; NaN when it does not tell
	eventsApplied   int     // that were told
	status          event.Status
	manifestApplied int // entries of manifest and stats that were given
	statsApplied    int
}

// maxRowBytes is longer than any row of requests.jsonl, in bytes.
const maxRowBytes = 1 << 20

func (p *Playback) rewind() (*cursor, error) {
	f, _, err := smallfile.Open(filepath.Join(p.logs, "agentperf", results.RequestsFile))
	if err != nil {
		return nil, err
	}
	c := &cursor{fold: results.NewAggregator(), file: f, rows: bufio.NewReaderSize(f, 1<<16), rowEnd: math.Inf(-1)}
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
	for ; c.eventsApplied < len(p.events) && !p.events[c.eventsApplied].T.After(t); c.eventsApplied++ {
		c.status.Apply(p.events[c.eventsApplied])
	}
	until := float64(t.UnixNano()) / 1e9
	for n := 0; c.rowEnd <= until; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if c.row != nil {
			_ = c.fold.AddRequestRow(c.row) // what is wrong with it is among the run's warnings
		}
		if err := c.nextDue(); err != nil {
			return err
		}
	}
	for ; c.manifestApplied < len(p.manifest) && !p.manifest[c.manifestApplied].at.After(t); c.manifestApplied++ {
		_ = c.fold.AddManifestRow(p.manifest[c.manifestApplied].data)
	}
	for ; c.statsApplied < len(p.stats) && !p.stats[c.statsApplied].at.After(t); c.statsApplied++ {
		_ = c.fold.AddStatistics(p.stats[c.statsApplied].stem, p.stats[c.statsApplied].data)
	}
	return nil
}

// maxRowGap is how far a row must be from the ones before and behind it for its time to
// be wrong, in s. A client that was started again goes on where it is then.
const maxRowGap = 24 * 3600

// nextDue reads the row that comes next; at the end none is due any more. A row whose time
// is wrong is left out: with it the run would seem to last for years.
func (c *cursor) nextDue() error {
	if c.nextRow == nil { // at the beginning, or at the end
		if err := c.readRow(); err != nil {
			return err
		}
	}
	for {
		if c.nextRow == nil {
			c.row, c.rowEnd = nil, math.Inf(1)
			return nil
		}
		end := c.nextEnd
		c.row, c.nextRow = c.nextRow, c.row[:0]
		if err := c.readRow(); err != nil {
			return err
		}
		behind := c.nextEnd
		if c.nextRow == nil && !math.IsInf(c.rowEnd, -1) {
			behind = c.rowEnd
		}
		if end > c.rowEnd+maxRowGap && behind < end-maxRowGap {
			continue
		}
		if end > c.rowEnd { // rows are in the order of their ends
			c.rowEnd = end
		}
		return nil
	}
}

// readRow reads the row that is to come behind the next one.
func (c *cursor) readRow() error {
	line, err := c.rows.ReadSlice('\n')
	c.nextRow = append(c.nextRow[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = c.rows.ReadSlice('\n')
		if len(c.nextRow) < maxRowBytes {
			c.nextRow = append(c.nextRow, line...)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if c.nextEnd = results.RowEndTime(c.nextRow); len(c.nextRow) == 0 {
		c.nextRow, c.nextEnd = nil, math.NaN()
	}
	return nil
}
