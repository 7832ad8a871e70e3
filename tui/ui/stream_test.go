package ui

import (
	"context"
	"slices"
	"testing"
)

func TestDrain(t *testing.T) {
	t.Parallel()
	one := func(int) int { return 1 }
	in := make(chan int, 10)
	for i := range 7 {
		in <- i
	}
	got, more := Drain(t.Context(), in, 4, one)
	if !slices.Equal(got, []int{0, 1, 2, 3}) || !more {
		t.Errorf("%v %v, want four and more", got, more)
	}
	if got, more = Drain(t.Context(), in, 4, func(int) int { return 2 }); !slices.Equal(got, []int{4, 5}) || !more {
		t.Errorf("%v %v, want two of size 2 and more", got, more)
	}
	if got, more = Drain(t.Context(), in, 4, one); !slices.Equal(got, []int{6}) || !more {
		t.Errorf("%v %v, want the value that is there and more", got, more)
	}
	in <- 7
	close(in)
	if got, more = Drain(t.Context(), in, 4, one); !slices.Equal(got, []int{7}) || more {
		t.Errorf("%v %v, want the last and no more", got, more)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, more = Drain(ctx, make(chan int), 4, one); got != nil || more {
		t.Errorf("%v %v, want nothing once the context is done", got, more)
	}
}

func TestWrapAtMost(t *testing.T) {
	t.Parallel()
	if got, want := WrapAtMost("one two three four five", 9, 2), []string{"one two", "three …"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := WrapAtMost("short", 9, 2); !slices.Equal(got, []string{"short"}) || len(WrapAtMost("x", 9, 0)) > 0 {
		t.Errorf("%q", got)
	}
}

func TestTitledRule(t *testing.T) {
	t.Parallel()
	th := NewTheme(true)
	for _, w := range []int{1, 5, 12, 20, 40, 100} {
		if n := Width(th.TitledRule("a title", "at the right", w)); n != max(w, 4) && n != w {
			t.Errorf("%d cells wide, want %d", n, w)
		}
	}
}
