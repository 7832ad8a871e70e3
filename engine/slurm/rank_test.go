package slurm

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseRanks(t *testing.T) {
	t.Parallel()
	const out = "7|batch\n9|gb300\nnonsense\n8|batch,gb300\n3|batch\n12|gb300\n"
	want := map[string]Rank{"8": {3, 5}, "3": {3, 3}, "12": {3, 3}, "7": {1, 3}}
	if diff := cmp.Diff(want, parseRanks(out, []string{"8", "3", "12", "7", "404"})); diff != "" {
		t.Error(diff)
	}
}

// Ranks are requested only while a job of the user is pending, and once a minute at most.
func TestRanksDue(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	pending, running := []Job{{State: "RUNNING"}, {State: "PENDING"}}, []Job{{State: "RUNNING"}}
	for _, c := range []struct {
		name string
		a    Answer
		want bool
	}{
		{"never requested", Answer{At: now, Jobs: pending}, true},
		{"no pending job", Answer{At: now, Jobs: running}, false},
		{"requested just now", Answer{At: now, Jobs: pending, Ranked: now.Add(-59 * time.Second)}, false},
		{"requested a minute ago", Answer{At: now, Jobs: pending, Ranked: now.Add(-time.Minute)}, true},
		{"old jobs", Answer{At: now.Add(-10 * time.Hour), Jobs: pending}, false},
		{"outage", Answer{At: now, Jobs: pending, Error: "no answer"}, false},
	} {
		if got := c.a.ranksDue(now, 10*time.Second); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
