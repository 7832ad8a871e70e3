package results

import "sync"

// partKeys is how many keys are held at once while repeated rows are sought.
const partKeys = 1 << 18

// keySet is a set of hashes other than 0: open addressing, at most half full.
type keySet struct {
	slots []uint64
	n     int
}

// add reports whether the key is new.
func (s *keySet) add(key uint64) bool {
	if 2*(s.n+1) > len(s.slots) {
		s.grow()
	}
	mask := uint64(len(s.slots) - 1)
	for i := mix(key) & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case 0:
			s.slots[i] = key
			s.n++
			return true
		case key:
			return false
		}
	}
}

func (s *keySet) has(key uint64) bool {
	if s.n == 0 {
		return false
	}
	mask := uint64(len(s.slots) - 1)
	for i := mix(key) & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case 0:
			return false
		case key:
			return true
		}
	}
}

// mix takes the bits that the choice of a part leaves open.
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

func (s *keySet) clear() {
	clear(s.slots)
	s.n = 0
}

// resolve finds the rows that don't count: those of a request that the same
// file had before, and those of a request that a better file has too (analysis
// rows win over live ones). What was found before is kept while only live rows
// were added.
func (f *Fold) resolve() error {
	tables := f.tables()
	rows := 0
	for _, t := range tables {
		rows += t.n
	}
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
		err := t.eachKey(t.keyed, func(row int, key uint64) {
			if key != 0 && !t.keys.add(key) {
				t.repeated.set(row)
			}
		})
		if err != nil {
			return err
		}
		t.keyed = t.n
	}
	for i, t := range tables[1:] {
		better := tables[:i+1]
		err := t.eachKey(0, func(row int, key uint64) {
			for _, b := range better {
				if b.keys.has(key) {
					t.covered.set(row)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// resolveLong goes over all keys once for each part of them, with several parts
// side by side.
func resolveLong(tables []*table, parts int) error {
	for _, t := range tables {
		t.keys, t.keyed = keySet{}, 0
		t.repeated, t.covered = make(bitset, t.n/64+1), make(bitset, t.n/64+1)
	}
	var marking sync.Mutex // of the bits that parts share words of
	workers := processors()
	return parallel(workers, func(w int) error {
		var own, better keySet
		for part := w; part < parts; part += workers {
			better.clear()
			for i, t := range tables {
				own.clear()
				mark := func(rows *bitset, row int) {
					marking.Lock()
					defer marking.Unlock()
					rows.set(row)
				}
				err := t.eachKey(0, func(row int, key uint64) {
					switch {
					case key == 0 || int(key)&(parts-1) != part:
					case !own.add(key):
						mark(&t.repeated, row)
					case better.has(key):
						mark(&t.covered, row)
					}
				})
				if err != nil {
					return err
				}
				if i < len(tables)-1 {
					for _, key := range own.slots {
						if key != 0 {
							better.add(key)
						}
					}
				}
			}
		}
		return nil
	})
}

// tables are all files' rows, the better ones first; the live rows come last.
func (f *Fold) tables() []*table {
	var all []*table
	for _, name := range sortedKeys(f.analysis) {
		all = append(all, f.analysis[name])
	}
	return append(all, &f.live)
}
