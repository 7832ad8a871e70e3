package results

import (
	"slices"
	"sync"
)

// partKeys is the number of keys that are deduplicated at a time, which bounds memory. With the
// margin of a part, they fit in a set of 2^20 slots.
const partKeys = 500_000

// keySet is a set of hashes other than 0. It uses open addressing and is at most half full.
type keySet struct {
	slots []uint64
	n     int
}

// slot returns the slot of the key, or the slot to insert it into.
func (s *keySet) slot(key uint64) *uint64 {
	mask := uint64(len(s.slots) - 1)
	i := slotBits(key) & mask
	for s.slots[i] != 0 && s.slots[i] != key {
		i = (i + 1) & mask
	}
	return &s.slots[i]
}

// add reports whether the key is new.
func (s *keySet) add(key uint64) bool {
	if 2*(s.n+1) > len(s.slots) {
		s.grow()
	}
	at := s.slot(key)
	if *at == key {
		return false
	}
	*at = key
	s.n++
	return true
}

func (s *keySet) has(key uint64) bool { return s.n > 0 && key != 0 && *s.slot(key) == key }

// slotBits returns the bits of the key that do not select a part, see dedupeInParts.
func slotBits(key uint64) uint64 { return key >> 20 }

func (s *keySet) grow() {
	old := s.slots
	s.slots, s.n = make([]uint64, max(1024, 2*len(old))), 0
	for _, key := range old {
		if key != 0 {
			s.add(key)
		}
	}
}

// reserve allocates slots for n keys in an empty set.
func (s *keySet) reserve(n int) {
	size := 1024
	for size < 2*n {
		size *= 2
	}
	if s.n == 0 && len(s.slots) < size {
		s.slots = make([]uint64, size)
	}
}

func (s *keySet) clear() {
	clear(s.slots)
	s.n = 0
}

// dedupe marks the rows that are not counted: duplicates of a request in the same file, and rows of
// a request that is also in a preferred file (analysis rows are preferred to live rows). It ignores
// rows of earlier client starts: a client may repeat its request ids. If only live rows of the same
// client start were added since the last call, only these are processed.
func (agg *Aggregator) dedupe() error {
	tables := agg.tables()
	rows, cutoff := agg.live.n+agg.analysisRows(), agg.cutoff()
	if rows == agg.dedupedRows && cutoff == agg.dedupedCutoff {
		return nil
	}
	if cutoff != agg.dedupedCutoff {
		for _, t := range tables {
			t.forgetKeys()
		}
		agg.dedupedCutoff = cutoff
	}
	parts := 1
	for parts*partKeys < rows {
		parts *= 2
	}
	var err error
	if parts == 1 {
		err = dedupeInMemory(tables, cutoff)
	} else {
		err = dedupeInParts(tables, cutoff, parts)
	}
	if err == nil {
		err = agg.fillFromLive(cutoff)
	}
	if err == nil {
		agg.dedupedRows = rows
	}
	return err
}

// forgetKeys drops what was derived from the keys.
func (t *table) forgetKeys() {
	t.keys, t.keyedRows, t.duplicates, t.superseded = keySet{}, 0, nil, nil
}

// dedupeInMemory keeps the keys of all rows, so that the next call processes only new rows.
func dedupeInMemory(tables []*table, cutoff float64) error {
	for _, t := range tables {
		err := t.scanKeys(t.keyedRows, cutoff, func(row int, keys []uint64) {
			for i, key := range keys {
				if key != 0 && !t.keys.add(key) {
					t.duplicates.set(row + i)
				}
			}
		})
		if err != nil {
			return err
		}
		t.keyedRows = t.n
	}
	for i, t := range tables[1:] {
		preferred := tables[:i+1]
		err := t.scanKeys(0, cutoff, func(row int, keys []uint64) {
			for i, key := range keys {
				if slices.ContainsFunc(preferred, func(b *table) bool { return b.keys.has(key) }) {
					t.superseded.set(row + i)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dedupeInParts splits the keys into parts by their low bits and scans all keys once per part. Several
// parts are processed in parallel.
func dedupeInParts(tables []*table, cutoff float64, parts int) error {
	for _, t := range tables {
		t.forgetKeys()
		t.duplicates, t.superseded = make(bitset, t.n/64+1), make(bitset, t.n/64+1)
	}
	var markMu sync.Mutex // parts set bits in the same words
	workers := workerCount()
	return parallel(workers, func(w int) error {
		r := partDeduper{parts: parts, cutoff: cutoff, markMu: &markMu}
		for part := w; part < parts; part += workers {
			r.betterKeys.clear()
			for i, t := range tables {
				if err := r.table(t, part, i < len(tables)-1); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// partDeduper deduplicates one part of the keys at a time.
type partDeduper struct {
	parts                 int
	cutoff                float64
	markMu                *sync.Mutex
	tableKeys, betterKeys keySet // of the current table and of the preferred ones before it
}

// table deduplicates the keys of a part in one table; more is true if other tables follow.
func (r *partDeduper) table(t *table, part int, more bool) error {
	r.tableKeys.clear()
	r.tableKeys.reserve(t.n / r.parts * 33 / 32)
	mask, want := uint64(r.parts-1), uint64(part)
	err := t.scanKeys(0, r.cutoff, func(row int, keys []uint64) {
		for i, key := range keys {
			if key&mask != want || key == 0 {
				continue
			}
			switch {
			case !r.tableKeys.add(key):
				r.mark(&t.duplicates, row+i)
			case r.betterKeys.has(key):
				r.mark(&t.superseded, row+i)
			}
		}
	})
	for _, key := range r.tableKeys.slots {
		if more && key != 0 {
			r.betterKeys.add(key)
		}
	}
	return err
}

func (r *partDeduper) mark(rows *bitset, row int) {
	r.markMu.Lock()
	defer r.markMu.Unlock()
	rows.set(row)
}

// tables returns the tables of all files, the preferred ones first and the live rows last.
func (agg *Aggregator) tables() []*table {
	var all []*table
	for _, name := range sortedKeys(agg.analysis) {
		all = append(all, agg.analysis[name])
	}
	return append(all, &agg.live)
}
