package results

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

const (
	blockRows = 4096
	// residentBlocks is the number of blocks that a table keeps in memory. The blocks of a
	// larger table are written to a temporary file.
	residentBlocks = 64
)

// Request is a request row, reduced to the values that figures need. Unknown floats are
// NaN, unknown counts and ids are -1, unknown hashes are 0.
type Request struct {
	Start, End            float64 // Unix s
	TTFT, ITL, SSE        float64 // in s, s/tok and tok/s
	Input, Output, Cached int32   // tokens as counted by the server
	User, Turn            int32
	concurrency           int32
	Conversation          uint32 // hash of conversation_id, consistent within a process
	// Pass is the number of earlier passes of the user through the conversation, in the
	// output of LoadRequests; before that it is a hash of request_id.
	Pass        uint32
	phase       uint16
	flags       rowFlags
	kind        uint8 // of error, an index into Aggregator.errorKinds; 0 if the row has none
	Failed      bool
	Measured    bool // started in the measuring window; set by LoadRequests only
	noStartTime bool // the row has no start_time; Start is a substitute
}

func (r *Request) seconds() float64 { return r.End - r.Start }

// block holds blockRows rows of a table. Keys are hashes of request identities, 0 if unknown.
// They are stored separately because deduplication reads only the keys.
type block struct {
	keys [blockRows]uint64
	rows [blockRows]Request
}

// extent describes the content of a block, so that scans can skip it.
type extent struct {
	n                     int
	minPhase, maxPhase    uint16
	firstStart, lastStart float64  // of requests, Unix s
	firstEnd, lastEnd     float64  // of requests, Unix s
	lacks                 rowFlags // keys that some rows do not have
	has                   rowFlags // flags of the keys that some rows have
}

func newExtent() extent {
	return extent{
		minPhase: math.MaxUint16, firstStart: math.Inf(1), lastStart: math.Inf(-1),
		firstEnd: math.Inf(1), lastEnd: math.Inf(-1),
	}
}

// add adds a row of the block.
func (x *extent) add(r *Request) {
	x.n++
	x.minPhase, x.maxPhase = min(x.minPhase, r.phase), max(x.maxPhase, r.phase)
	x.firstStart, x.lastStart = min(x.firstStart, r.Start), max(x.lastStart, r.Start)
	if r.End >= 0 {
		x.firstEnd, x.lastEnd = min(x.firstEnd, r.End), max(x.lastEnd, r.End)
	}
	x.lacks |= r.flags & lacksAny
	x.has |= ^r.flags & lacksAny
}

// table holds the rows of a file in file order.
type table struct {
	blocks     []*block // nil if in the spill file
	extents    []extent
	n          int
	spill      *os.File
	keys       keySet // of the first keyedRows rows, while the table is in memory
	keyedRows  int
	duplicates bitset // rows of a request that the file already contains
	superseded bitset // rows of a request that a preferred file contains
	lastStart  float64
	lastPhase  uint16 // of the last row
	filePhase  *int   // of all rows, in an analysis file
	unreadable unreadable
	latest     float64 // latest start or end of a row, Unix s
}

func (t *table) add(key uint64, r *Request) error {
	at := t.n % blockRows
	if at == 0 {
		if err := t.appendBlock(); err != nil {
			return err
		}
	}
	b := t.blocks[len(t.blocks)-1]
	b.keys[at], b.rows[at] = key, *r
	t.lastPhase = r.phase
	t.n++
	t.extents[len(t.extents)-1].add(r)
	if r.End >= 0 {
		t.latest = max(t.latest, r.End)
	}
	t.latest = max(t.latest, r.Start)
	return nil
}

// appendBlock appends an empty block. If too many are in memory, it first writes them to the spill file.
func (t *table) appendBlock() error {
	var next *block
	full := len(t.blocks)
	if t.spill != nil || full >= residentBlocks {
		if err := t.spillBlocks(); err != nil {
			return err
		}
		next, t.blocks[full-1] = t.blocks[full-1], nil
		if full == residentBlocks {
			runtime.GC() // the memory of the other blocks is used for what follows
		}
	}
	if next == nil {
		next = new(block)
	}
	t.blocks = append(t.blocks, next)
	t.extents = append(t.extents, newExtent())
	return nil
}

const blockBytes = int64(unsafe.Sizeof(block{}))

// bytes returns the memory of a block. It is written only to files that this process reads.
func (b *block) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(b)), blockBytes) }

func (b *block) keyBytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&b.keys)), unsafe.Sizeof(b.keys))
}

// spillBlocks writes all blocks in memory to the spill file. The last block is kept for reuse.
func (t *table) spillBlocks() error {
	if t.spill == nil {
		f, err := os.CreateTemp("", "agentperf-rows-*")
		if err != nil {
			return fmt.Errorf("create a temporary file for rows: %w; set TMPDIR to a directory with free space", err)
		}
		t.spill = f
		if err := os.Remove(f.Name()); err != nil { // the open file exists until it is closed
			return fmt.Errorf("remove the name of a temporary file: %w", err)
		}
	}
	for i, b := range t.blocks {
		if b == nil {
			continue
		}
		if _, err := t.spill.WriteAt(b.bytes(), int64(i)*blockBytes); err != nil {
			return fmt.Errorf("write rows to a temporary file: %w; set TMPDIR to a directory with free space", err)
		}
		if i < len(t.blocks)-1 {
			t.blocks[i] = nil
		}
	}
	return nil
}

func (t *table) close() {
	if t.spill != nil {
		_ = t.spill.Close() // the file was already removed
		t.spill = nil
	}
}

// loadBlock returns a block. If it is not in memory, it is read into buf.
func (t *table) loadBlock(i int, buf *block) (*block, error) {
	if t.blocks[i] != nil {
		return t.blocks[i], nil
	}
	if _, err := t.spill.ReadAt(buf.bytes(), int64(i)*blockBytes); err != nil {
		return nil, fmt.Errorf("read rows from a temporary file: %w", err)
	}
	return buf, nil
}

func (x *extent) containsPhase(phase int) bool {
	return int(x.minPhase) <= phase && phase <= int(x.maxPhase)
}

// scan visits the counted rows, starting at row index from, in the blocks for which wanted
// returns true. The blocks are divided among workers; each visits its rows in file order.
func (t *table) scan(workers, from int, wanted func(*extent) bool, visit func(worker int, r *Request)) error {
	first := from / blockRows
	n := len(t.blocks) - first
	return parallel(workers, func(w int) error {
		var buf *block
		if t.spill != nil {
			buf = new(block)
		}
		for i := first + w*n/workers; i < first+(w+1)*n/workers; i++ {
			if wanted != nil && !wanted(&t.extents[i]) {
				continue
			}
			b, err := t.loadBlock(i, buf)
			if err != nil {
				return err
			}
			at := i * blockRows
			for k := max(0, from-at); k < t.extents[i].n; k++ {
				if !t.duplicates.has(at+k) && !t.superseded.has(at+k) {
					visit(w, &b.rows[k])
				}
			}
		}
		return nil
	})
}

// scanKeys visits the keys starting at row index from, one block at a time. The keys of rows
// that start before the cutoff are 0.
func (t *table) scanKeys(from int, cutoff float64, visit func(row int, keys []uint64)) error {
	var buf *block
	if t.spill != nil {
		buf = new(block)
	}
	var later *[blockRows]uint64
	for i := from / blockRows; i < len(t.blocks); i++ {
		x := &t.extents[i]
		if x.lastStart < cutoff {
			continue
		}
		b, mixed := t.blocks[i], x.firstStart < cutoff
		switch {
		case b != nil:
		case mixed:
			var err error
			if b, err = t.loadBlock(i, buf); err != nil {
				return err
			}
		default:
			b = buf
			if _, err := t.spill.ReadAt(b.keyBytes(), int64(i)*blockBytes); err != nil {
				return fmt.Errorf("read rows from a temporary file: %w", err)
			}
		}
		keys := &b.keys
		if mixed {
			if later == nil {
				later = new([blockRows]uint64)
			}
			*later = b.keys
			for k := range x.n {
				if b.rows[k].Start < cutoff {
					later[k] = 0
				}
			}
			keys = later
		}
		at := i * blockRows
		begin := max(0, from-at)
		visit(at+begin, keys[begin:x.n])
	}
	return nil
}

// update visits the rows in the blocks for which wanted returns true, in file order. Rows
// for which visit returns true were changed and are stored.
func (t *table) update(wanted func(*extent) bool, visit func(row int, key uint64, r *Request) bool) error {
	var buf *block
	if t.spill != nil {
		buf = new(block)
	}
	for i := range t.blocks {
		if !wanted(&t.extents[i]) {
			continue
		}
		b, err := t.loadBlock(i, buf)
		if err != nil {
			return err
		}
		changed, x := false, newExtent()
		for k := range t.extents[i].n {
			changed = visit(i*blockRows+k, b.keys[k], &b.rows[k]) || changed
			x.add(&b.rows[k])
		}
		if !changed {
			continue
		}
		t.extents[i] = x
		t.latest = max(t.latest, x.lastStart, x.lastEnd)
		if t.blocks[i] != nil {
			continue
		}
		if _, err := t.spill.WriteAt(b.bytes(), int64(i)*blockBytes); err != nil {
			return fmt.Errorf("write rows to a temporary file: %w; set TMPDIR to a directory with free space", err)
		}
	}
	return nil
}

// workerCount returns the number of parallel workers.
func workerCount() int { return min(runtime.GOMAXPROCS(0), 8) }

// parallel runs the workers in parallel and returns the first error.
func parallel(workers int, work func(worker int) error) error {
	if workers == 1 {
		return work(0)
	}
	errs := make([]error, workers)
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() { errs[w] = work(w) })
	}
	done.Wait()
	return cmp.Or(errs...)
}

// bitset is a set of row indices.
type bitset []uint64

func (s bitset) has(i int) bool { return i>>6 < len(s) && s[i>>6]>>(i&63)&1 != 0 }

func (s *bitset) set(i int) {
	for len(*s) <= i>>6 {
		*s = append(*s, 0)
	}
	(*s)[i>>6] |= 1 << (i & 63)
}

func (s bitset) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// maxRequests is the largest number of requests that LoadRequests returns. They are all
// held in memory, at 80 bytes each.
const maxRequests = 1 << 20

// LoadRequests is like Load and also returns the requests of a phase, ordered by start. A negative
// index selects the only phase. It returns no requests if the phase has more than 2^20.
func LoadRequests(ctx context.Context, dir string, rc RunContext, phase int) (Run, []Request, error) {
	l, err := load(ctx, dir, rc)
	if err != nil {
		return Run{}, nil, err
	}
	defer l.agg.Close()
	run := l.run()
	for _, p := range run.Phases {
		if p.Index == phase || phase < 0 && len(run.Phases) == 1 {
			all, err := l.agg.collectRequests(p)
			return run, all, err
		}
	}
	return run, nil, nil
}

func (agg *Aggregator) collectRequests(p Phase) ([]Request, error) {
	if p.Total > maxRequests || agg.spans.phases[p.Index] == nil {
		return nil, nil
	}
	all := make([]Request, 0, p.Total)
	err := agg.phaseRequests(p.Index)(1, func(_ int, r *Request) {
		all = append(all, *r)
		all[len(all)-1].Measured = p.Window.measures(r)
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b Request) int { return cmp.Compare(a.Start, b.Start) })
	type passKey struct {
		user               int32
		conversation, pass uint32
	}
	number := map[passKey]uint32{}
	next := map[passKey]uint32{}
	for i := range all {
		r := &all[i]
		of := passKey{r.User, r.Conversation, 0}
		key := passKey{r.User, r.Conversation, r.Pass}
		n, seen := number[key]
		if !seen {
			n = next[of]
			number[key], next[of] = n, n+1
		}
		r.Pass = n
	}
	return all, nil
}
