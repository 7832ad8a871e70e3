package replay

import "math/bits"

// pyRandom generates the same numbers as Python's random.Random, a 32-bit Mersenne Twister.
// It makes a user's starting offset the same as in the external client.
type pyRandom struct {
	state [624]uint32
	next  int
}

// newPyRandom returns random.Random(seed). Like CPython, it seeds with the absolute value, split into
// 32-bit words, lowest first (init_by_array of the reference implementation).
func newPyRandom(seed int64) *pyRandom {
	magnitude := uint64(seed)
	if seed < 0 {
		magnitude = -magnitude
	}
	key := []uint32{uint32(magnitude)}
	if high := uint32(magnitude >> 32); high != 0 {
		key = append(key, high)
	}
	r := &pyRandom{next: 624}
	s := &r.state
	s[0] = 19650218
	for i := 1; i < 624; i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	for range 624 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + key[j] + uint32(j)
		i, j = i+1, (j+1)%len(key)
		if i == 624 {
			s[0], i = s[623], 1
		}
	}
	for range 623 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		i++
		if i == 624 {
			s[0], i = s[623], 1
		}
	}
	s[0] = 1 << 31
	return r
}

func (r *pyRandom) uint32() uint32 {
	if r.next == 624 {
		s := &r.state
		for i := range 624 {
			y := s[i]&(1<<31) | s[(i+1)%624]&(1<<31-1)
			s[i] = s[(i+397)%624] ^ y>>1 ^ -(y&1)&0x9908b0df
		}
		r.next = 0
	}
	y := r.state[r.next]
	r.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// randint returns random.randint(0, high) for high ≥ 0. Like CPython, it generates numbers with as
// many bits as high+1 has until one of them is in range.
func (r *pyRandom) randint(high int) int {
	n := uint64(high) + 1
	k := bits.Len64(n)
	for {
		if x := r.bits(k); x < n {
			return int(x)
		}
	}
}

// bits returns random.getrandbits(k) for k from 1 to 64. The first 32-bit number is the low word; of
// the last number only the highest bits are used.
func (r *pyRandom) bits(k int) uint64 {
	if k <= 32 {
		return uint64(r.uint32() >> (32 - k))
	}
	low := uint64(r.uint32())
	return low | uint64(r.uint32()>>(64-k))<<32
}
