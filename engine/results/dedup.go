package results

import (
	"slices"
	"sync"
)

// partKeys is how many keys are held at once while repeated rows are sought.
const partKeys = 1 << 19

// keySet is a set of hashes other than 0: open addressing, at most half full.
type keySet struct {
	slots []uint64
	n     int
}

// slot is where the key is, or where it goes.
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

// mix takes bits that the choice of a part leaves open.
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

// reserve makes an empty set large enough for n keys, which saves growing.
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

// resolve finds the rows that don't count: those of a request that the same file had before, and
// those of a request that a better file has too (analysis rows win over live ones). What was found
// before is kept while only live rows were added.
func (f *Aggregator) dedupe() error {
	tables := f.tables()
	rows := f.live.n + f.analysisRows()
	if rows == f.dedupedRows {
		return nil
	}
	parts := 1
	for parts*partKeys < rows {
		parts *= 2
	}
	var err error
	if parts == 1 {
		err = dedupeInMemory(tables)
	} else {
		err = dedupeInParts(tables, parts)
	}
	if err == nil {
		f.dedupedRows = rows
	}
	return err
}

// resolveShort keeps the keys, so that the next time only new rows are looked at.
func dedupeInMemory(tables []*table) error {
	for _, t := range tables {
		err := t.scanKeys(t.keyedRows, func(row int, keys []uint64) {
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
		better := tables[:i+1]
		err := t.scanKeys(0, func(row int, keys []uint64) {
			for i, key := range keys {
				if slices.ContainsFunc(better, func(b *table) bool { return b.keys.has(key) }) {
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

// resolveLong goes over all keys once for each part of them, with several parts side by side.
func dedupeInParts(tables []*table, parts int) error {
	for _, t := range tables {
		t.keys, t.keyedRows = keySet{}, 0
		t.duplicates, t.superseded = make(bitset, t.n/64+1), make(bitset, t.n/64+1)
	}
	var marking sync.Mutex // of the bits that parts share words of
	workers := workerCount()
	return parallel(workers, func(w int) error {
		r := partDeduper{parts: parts, markMu: &marking}
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

// resolver goes over the tables for one part of the keys after the other.
type partDeduper struct {
	parts                 int
	markMu                *sync.Mutex
	tableKeys, betterKeys keySet // keys of this table, and of those before it
}

func (r *partDeduper) table(t *table, part int, more bool) error {
	r.tableKeys.clear()
	r.tableKeys.reserve(t.n / r.parts * 9 / 8)
	mask, want := uint64(r.parts-1), uint64(part)
	err := t.scanKeys(0, func(row int, keys []uint64) {
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

// tables are all files' rows, the better ones first; the live rows come last.
func (f *Aggregator) tables() []*table {
	var all []*table
	for _, name := range sortedKeys(f.analysis) {
		all = append(all, f.analysis[name])
	}
	return append(all, &f.live)
}
