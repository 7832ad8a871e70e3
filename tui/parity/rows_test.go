package parity

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// In a row with two parts, each part is flagged for its own direction.
func TestEachPartHasItsOwnDirection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		local, sse         float64 // the candidate's; the reference has 66
		wantLocal, wantSSE string
		roleLocal, roleSSE ui.Role
	}{
		"both": {60, 72, "worse, beyond ±", "better, beyond ±", ui.Bad, ui.Warn},
		"one":  {66, 60, "", "worse, beyond ±", ui.OK, ui.Bad},
		"none": {66, 66, "", "", ui.OK, ui.OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := within()
			for i := range f.sides {
				figures := f.sides[i].Phase.Figures
				n := len(figures)
				figures[n-2].Value, figures[n-1].Value = 66, 66
			}
			figures := f.sides[1].Phase.Figures
			n := len(figures)
			figures[n-2].Value, figures[n-1].Value = c.local, c.sse
			comparison := parity.Compare(f.sides[0], f.sides[1], engine.ComparisonOptions{})
			lines := tableRows(comparison, 5)
			for label, want := range map[string]struct {
				flags string
				role  ui.Role
			}{"Speed p50 tok/s (local)": {c.wantLocal, c.roleLocal}, "Speed p50 tok/s (SSE)": {c.wantSSE, c.roleSSE}} {
				i := slices.IndexFunc(lines, func(l tableRow) bool { return l.cells[0].Text == label })
				if i < 0 {
					t.Fatalf("no row %s", label)
				}
				flags := lines[i].cells[7].Text
				if !strings.HasPrefix(flags, want.flags) || want.flags == "" && flags != "" || lines[i].cells[4].Role != want.role {
					t.Errorf("%s: %q in role %v, want %q in %v", label, flags, lines[i].cells[4].Role, want.flags, want.role)
				}
			}
			if _, role := summary(comparison); name == "one" && role != ui.Bad {
				t.Errorf("summary in role %v", role)
			}
		})
	}
}

func TestPickerListsRunsBelowRoots(t *testing.T) {
	t.Parallel()
	f := within()
	s := New(f, ui.NewTheme(true), "", "b", "/old", "/older")
	t.Cleanup(s.Close)
	s.Init()()
	if want := []string{"/old", "/older"}; !slices.Equal(f.roots, want) {
		t.Errorf("listed runs below %v, want %v", f.roots, want)
	}
}
