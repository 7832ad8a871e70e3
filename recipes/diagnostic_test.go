package recipes

import "testing"

func TestBySeverity(t *testing.T) {
	t.Parallel()
	ds := Diagnostics{
		{Line: 1, Severity: Note}, {Line: 2, Severity: Warning}, {Line: 3, Severity: Error}, {Line: 4, Severity: Warning},
	}
	got := ds.BySeverity()
	for i, want := range []int{3, 2, 4, 1} {
		if got[i].Line != want {
			t.Errorf("at %d: line %d, want %d", i, got[i].Line, want)
		}
	}
	if ds[0].Line != 1 {
		t.Error("BySeverity reordered its receiver")
	}
}
