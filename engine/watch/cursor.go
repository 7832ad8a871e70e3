package watch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// cursor is a position of a playback: the status and the results at one time.
type cursor struct {
	playback        *Playback
	at              time.Time
	aggregator      *results.Aggregator
	file            *os.File
	rows            *bufio.Reader
	row             []byte  // the row to apply next
	rowEnd          float64 // end of its request, in Unix s
	nextRow         []byte  // the row after it; nil at the end of the file
	nextEnd         float64 // end of its request, in Unix s; NaN if unknown
	eventsApplied   int
	status          event.Status
	manifestApplied int
	statsApplied    int
}

// maxRowBytes limits how much of a row is kept. All rows of the client are shorter.
const maxRowBytes = 1 << 20

// newCursor returns a cursor before the first event and row.
func newCursor(p *Playback) (*cursor, error) {
	f, _, err := smallfile.Open(results.RequestsPath(results.OutputDir(p.logs)))
	if err != nil {
		return nil, err
	}
	c := &cursor{
		playback: p, aggregator: results.NewAggregator(), file: f, rows: bufio.NewReaderSize(f, 1<<16), rowEnd: math.Inf(-1),
	}
	c.aggregator.AddPlan(p.context.Planned...)
	c.aggregator.SetMinMeasurement(p.context.MinMeasurement)
	if !p.context.Start.IsZero() {
		c.aggregator.SetStart(p.context.Start)
	}
	return c, nil
}

func (c *cursor) close() {
	c.aggregator.Close()
	_ = c.file.Close() // opened for reading, so the error can be ignored
}

// advance applies all events, rows and files up to a time.
func (c *cursor) advance(ctx context.Context, t time.Time) error {
	p := c.playback
	for ; c.eventsApplied < len(p.events) && !p.events[c.eventsApplied].T.After(t); c.eventsApplied++ {
		c.status.Apply(p.events[c.eventsApplied])
	}
	until := float64(t.UnixNano()) / 1e9
	for n := 0; c.rowEnd <= until; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if c.row != nil {
			_ = c.aggregator.AddRequestRow(c.row) // errors are in the warnings of the run
		}
		if err := c.nextValidRow(); err != nil {
			return err
		}
	}
	for ; c.manifestApplied < len(p.manifest) && !p.manifest[c.manifestApplied].at.After(t); c.manifestApplied++ {
		_ = c.aggregator.AddManifestRow(p.manifest[c.manifestApplied].data)
	}
	for ; c.statsApplied < len(p.stats) && !p.stats[c.statsApplied].at.After(t); c.statsApplied++ {
		_ = c.aggregator.AddStatistics(p.stats[c.statsApplied].stem, p.stats[c.statsApplied].data)
	}
	return nil
}

// maxRowGap is the longest plausible time between the end times of neighboring rows, in s. The end
// time of a row that is further from both its neighbors is wrong. After a restart of the client,
// only the gap to the previous row is long.
const maxRowGap = 24 * 3600

// nextValidRow reads the next row. It sets rowEnd to infinity at the end of the file. It skips rows
// with a wrong end time, which would make the run seem to last for years.
func (c *cursor) nextValidRow() error {
	if c.nextRow == nil { // at the beginning or the end of the file
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
		following := c.nextEnd
		if c.nextRow == nil && !math.IsInf(c.rowEnd, -1) {
			following = c.rowEnd
		}
		if end > c.rowEnd+maxRowGap && following < end-maxRowGap {
			continue
		}
		if end > c.rowEnd { // rows are ordered by end time
			c.rowEnd = end
		}
		return nil
	}
}

// readRow reads a row into nextRow.
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
