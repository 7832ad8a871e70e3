package replay

import (
	"slices"
	"testing"
)

// The expected values are the output of CPython 3.11 for
// r = random.Random(seed); [r.randint(0, most) for _ in range(n)].
func TestPyRandomMatchesCPython(t *testing.T) {
	t.Parallel()
	tests := []struct {
		seed int64
		most int
		want []int
	}{
		{seed: 42, most: 10, want: []int{10}},
		{seed: 43, most: 10, want: []int{0}},
		{seed: 44, most: 10, want: []int{6}},
		{seed: 45, most: 10, want: []int{4}},
		{seed: 46, most: 10, want: []int{1}},
		{seed: 49, most: 10, want: []int{1}},
		{seed: 0, most: 0, want: []int{0, 0, 0}},
		{seed: 0, most: 1, want: []int{1, 1, 0, 1, 1}},
		{seed: 1, most: 1, want: []int{0, 0, 1, 0, 1}},
		{seed: 7, most: 3, want: []int{2, 1, 3, 0, 0}},
		{seed: 1 << 32, most: 10, want: []int{1, 5, 6, 0, 0}},
		{seed: 1<<40 + 5, most: 100, want: []int{64, 66, 34, 84, 3}},
		{seed: 123456789, most: 1 << 31, want: []int{1899526012, 1705848077, 1305108171, 2004409099, 1705576544}},
		{seed: 5, most: 1 << 33, want: []int{6970309701, 7480918169, 4051686260, 2787324501, 3869338171}},
		{seed: -42, most: 10, want: []int{10, 1, 0, 4, 3}},
		{seed: 42, most: 1 << 40, want: []int{247559453085, 538052153943, 305901360862, 226501419177, 70531617177}},
	}
	for _, tt := range tests {
		r := newPyRandom(tt.seed)
		var got []int
		for range tt.want {
			got = append(got, r.randint(tt.most))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("seed %d, randint(0, %d): got %v, want %v", tt.seed, tt.most, got, tt.want)
		}
	}
}

// 2000 draws recompute the 624 words of state several times.
func TestPyRandomRefillsState(t *testing.T) {
	t.Parallel()
	r := newPyRandom(42)
	sum := 0
	for range 2000 {
		sum += r.randint(1 << 20)
	}
	if want := 1069629094; sum != want {
		t.Errorf("sum of 2000 draws: got %d, want %d", sum, want)
	}
}
