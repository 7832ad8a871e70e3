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
	// residentBlocks of a table stay in memory; a longer table goes to a
	// temporary file, so that gigabytes of rows need no gigabytes of memory.
	residentBlocks = 64
)

// Request is one request row, reduced to what the figures need. Unknown floats are
// NaN, unknown counts and ids -1, unknown hashes 0.
type Request struct {
	Start, End            float64 // Unix s
	TTFT, ITL, SSE        float64 // s, s/tok, tok/s
	Input, Output, Cached int32   // tokens by the server's count
	User, Turn            int32
	concurrency           int32
	Conversation          uint32 // hash of conversation_id, the same for all runs that this process reads
	// Pass is how often the user had begun the conversation before, where LoadRequests
	// gives the row; until then it is a hash of request_id.
	Pass        uint32
	phase       uint16
	kind        uint8 // of failure, an index into Aggregator.kinds; 0 when the row has none
	Failed      bool
	Measured    bool // it started in the measurement window, where LoadRequests gives the row
	noStartTime bool // the row has no start_time, and Start stands in for it
}

func (r *Request) seconds() float64 { return r.End - r.Start }

// block is a piece of a table. Keys are hashes of the requests' identities, 0 where a row names
// nothing; they stand together, since telling repeated rows needs nothing else.
type block struct {
	keys [blockRows]uint64
	rows [blockRows]Request
}

// extent is what a block holds, so that a look for some rows can leave it out.
type extent struct {
	n                  int
	minPhase, maxPhase uint16
	firstEnd, lastEnd  float64 // end
}

// table holds the rows of one file in file order.
type table struct {
	blocks     []*block // nil when in the spill file
	extents    []extent
	n          int
	spill      *os.File
	keys       keySet // of the rows before keyed, while the table is short
	keyedRows  int
	duplicates bitset // rows of a request that was there before
	superseded bitset // rows that another file's win over
	lastStart  float64
	latest     float64 // latest time of any row
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
	t.n++
	x := &t.extents[len(t.extents)-1]
	x.n++
	x.minPhase, x.maxPhase = min(x.minPhase, r.phase), max(x.maxPhase, r.phase)
	if r.End >= 0 {
		x.firstEnd, x.lastEnd = min(x.firstEnd, r.End), max(x.lastEnd, r.End)
		t.latest = max(t.latest, r.End)
	}
	t.latest = max(t.latest, r.Start)
	return nil
}

// extend begins a block; what is too much for memory goes to the file first.
func (t *table) appendBlock() error {
	var next *block
	full := len(t.blocks)
	if t.spill != nil || full >= residentBlocks {
		if err := t.spillBlocks(); err != nil {
			return err
		}
		next, t.blocks[full-1] = t.blocks[full-1], nil
	}
	if next == nil {
		next = new(block)
	}
	t.blocks = append(t.blocks, next)
	t.extents = append(t.extents, extent{minPhase: math.MaxUint16, firstEnd: math.Inf(1), lastEnd: math.Inf(-1)})
	return nil
}

const blockBytes = int64(unsafe.Sizeof(block{}))

// bytes of a block, for a file that no other process and no later one reads.
func (b *block) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(b)), blockBytes) }

func (b *block) keyBytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&b.keys)), unsafe.Sizeof(b.keys))
}

// unload writes all blocks that are in memory, and keeps the last one's memory.
func (t *table) spillBlocks() error {
	if t.spill == nil {
		f, err := os.CreateTemp("", "agentperf-rows-*")
		if err != nil {
			return fmt.Errorf("set rows aside: %w; point TMPDIR to a folder with space", err)
		}
		t.spill = f
		if err := os.Remove(f.Name()); err != nil { // the open file lives on, and goes with the process
			return fmt.Errorf("set rows aside: %w", err)
		}
	}
	for i, b := range t.blocks {
		if b == nil {
			continue
		}
		if _, err := t.spill.WriteAt(b.bytes(), int64(i)*blockBytes); err != nil {
			return fmt.Errorf("set rows aside: %w; point TMPDIR to a folder with space", err)
		}
		if i < len(t.blocks)-1 {
			t.blocks[i] = nil
		}
	}
	return nil
}

func (t *table) close() {
	if t.spill != nil {
		_ = t.spill.Close() // it has no name and no reader left
		t.spill = nil
	}
}

// load gives a block, read into buf when it is not in memory.
func (t *table) loadBlock(i int, buf *block) (*block, error) {
	if t.blocks[i] != nil {
		return t.blocks[i], nil
	}
	if _, err := t.spill.ReadAt(buf.bytes(), int64(i)*blockBytes); err != nil {
		return nil, fmt.Errorf("read rows that were set aside: %w", err)
	}
	return buf, nil
}

func (x *extent) containsPhase(phase int) bool {
	return int(x.minPhase) <= phase && phase <= int(x.maxPhase)
}

// scan visits the rows that count, those from the row index from on, of blocks
// that are wanted. Each worker visits its part of the blocks in file order.
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

// eachKeys visits the keys from row from on, a block's at a time.
func (t *table) scanKeys(from int, visit func(row int, keys []uint64)) error {
	var buf *block
	if t.spill != nil {
		buf = new(block)
	}
	for i := from / blockRows; i < len(t.blocks); i++ {
		b := t.blocks[i]
		if b == nil {
			b = buf
			if _, err := t.spill.ReadAt(b.keyBytes(), int64(i)*blockBytes); err != nil {
				return fmt.Errorf("read rows that were set aside: %w", err)
			}
		}
		at := i * blockRows
		begin := max(0, from-at)
		visit(at+begin, b.keys[begin:t.extents[i].n])
	}
	return nil
}

// processors is how many workers scan side by side.
func workerCount() int { return min(runtime.GOMAXPROCS(0), 8) }

// parallel runs the workers and gives the first one's error.
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

// maxRequests is how many requests of a phase LoadRequests returns: a comparison
// of single requests holds them all in memory, 80 bytes each.
const maxRequests = 1 << 20

// LoadRequests is Load, and the requests of one phase in the order of their start: of the only one
// when the index is negative. There are none when the phase has more than maxRequests.
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

func (f *Aggregator) collectRequests(p Phase) ([]Request, error) {
	if p.Total > maxRequests || f.spans.phases[p.Index] == nil {
		return nil, nil
	}
	all := make([]Request, 0, p.Total)
	err := f.phaseRequests(p.Index)(1, func(_ int, r *Request) {
		all = append(all, *r)
		all[len(all)-1].Measured = p.Window.measures(r)
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b Request) int { return cmp.Compare(a.Start, b.Start) })
	type begun struct {
		user               int32
		conversation, pass uint32
	}
	number := map[begun]uint32{}
	next := map[begun]uint32{}
	for i := range all {
		r := &all[i]
		of := begun{r.User, r.Conversation, 0}
		key := begun{r.User, r.Conversation, r.Pass}
		n, seen := number[key]
		if !seen {
			n = next[of]
			number[key], next[of] = n, n+1
		}
		r.Pass = n
	}
	return all, nil
}
