package runs

import (
	"path/filepath"
	"testing"
)

// A directory with the client's sources is not a run.
func TestFindRuns(t *testing.T) {
	t.Parallel()
	got, err := findRuns(t.Context(), "../../testdata")
	if err != nil || len(got) == 0 {
		t.Fatalf("got %v, %v", got, err)
	}
	for _, dir := range got {
		if filepath.Base(dir) == "checkout" {
			t.Errorf("%s is not a run", dir)
		}
	}
}
