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
	i := mix(key) & mask
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
func mix(key uint64) uint64 { return key >> 20 }

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
func (f *Aggregator) resolve() error {
	tables := f.tables()
	rows := f.live.n + f.analysed()
	if rows == f.resolved {
		return nil
	}
	parts := 1
	for parts*partKeys < rows {
		parts *= 2
	}
	var err error
	if parts == 1 {
		err = resolveShort(tables)
	} else {
		err = resolveLong(tables, parts)
	}
	if err == nil {
		f.resolved = rows
	}
	return err
}

// resolveShort keeps the keys, so that the next time only new rows are looked at.
func resolveShort(tables []*table) error {
	for _, t := range tables {
		err := t.eachKeys(t.keyed, func(row int, keys []uint64) {
			for i, key := range keys {
				if key != 0 && !t.keys.add(key) {
					t.repeated.set(row + i)
				}
			}
		})
		if err != nil {
			return err
		}
		t.keyed = t.n
	}
	for i, t := range tables[1:] {
		better := tables[:i+1]
		err := t.eachKeys(0, func(row int, keys []uint64) {
			for i, key := range keys {
				if slices.ContainsFunc(better, func(b *table) bool { return b.keys.has(key) }) {
					t.covered.set(row + i)
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
func resolveLong(tables []*table, parts int) error {
	for _, t := range tables {
		t.keys, t.keyed = keySet{}, 0
		t.repeated, t.covered = make(bitset, t.n/64+1), make(bitset, t.n/64+1)
	}
	var marking sync.Mutex // of the bits that parts share words of
	workers := processors()
	return parallel(workers, func(w int) error {
		r := resolver{parts: parts, marking: &marking}
		for part := w; part < parts; part += workers {
			r.better.clear()
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
type resolver struct {
	parts       int
	marking     *sync.Mutex
	own, better keySet // keys of this table, and of those before it
}

func (r *resolver) table(t *table, part int, more bool) error {
	r.own.clear()
	r.own.reserve(t.n / r.parts * 9 / 8)
	mask, want := uint64(r.parts-1), uint64(part)
	err := t.eachKeys(0, func(row int, keys []uint64) {
		for i, key := range keys {
			if key&mask != want || key == 0 {
				continue
			}
			switch {
			case !r.own.add(key):
				r.mark(&t.repeated, row+i)
			case r.better.has(key):
				r.mark(&t.covered, row+i)
			}
		}
	})
	for _, key := range r.own.slots {
		if more && key != 0 {
			r.better.add(key)
		}
	}
	return err
}

func (r *resolver) mark(rows *bitset, row int) {
	r.marking.Lock()
	defer r.marking.Unlock()
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
