package runs

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// A directory with the client's sources is not a run.
func TestFindRuns(t *testing.T) {
	t.Parallel()
	got, err := findRuns(t.Context(), "../../testdata")
	if err != nil || len(got) == 0 {
		t.Fatalf("got %v, %v", got, err)
	}
	portable, err := harness.FindRuns(t.Context(), "../../testdata", searchDepth)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range portable {
		if !slices.Contains(got, dir) {
			t.Errorf("%s can be ported, but is not listed", dir)
		}
	}
	for _, dir := range got {
		if filepath.Base(dir) == "checkout" {
			t.Errorf("%s is not a run", dir)
		}
	}
}
