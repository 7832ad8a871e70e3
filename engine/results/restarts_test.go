package results

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// event is a request of a synthetic run.
type event struct {
	user         int
	conversation string
	turn         int
	pass         string
	start, end   float64
	phase        int
	concurrency  int
}

func (e event) row() string {
	users := e.concurrency
	if users == 0 {
		users = 2
	}
	return fmt.Sprintf(`{"phase_idx":%d,"concurrency":%d,"conversation_id":%q,"conversation_idx":%d,"user_id":%d,`+
		`"request_id":%q,`+
		`"start_time":%g,"end_time":%g,"server_input_tokens":10,"server_output_tokens":5,"success":true}`,
		e.phase, users, e.conversation, e.turn, e.user, e.pass, e.start, e.end)
}

func TestRestartDetection(t *testing.T) {
	t.Parallel()
	// Two users, which start their first conversation at turn 4 and 3.
	first := []event{
		{0, "a", 4, "p1", 100, 101, 0, 0},
		{1, "b", 3, "p2", 101, 102, 0, 0},
		{0, "a", 5, "p1", 102, 103, 0, 0},
		{1, "b", 4, "p2", 103, 104, 0, 0},
	}
	again := func(at float64) []event {
		pass := fmt.Sprint("p", at) // unique
		return []event{
			{1, "b", 3, pass + "b", at + 1, at + 1.5, 0, 0},
			{0, "a", 4, pass + "a", at, at + 2, 0, 0},
			{0, "a", 5, pass + "a", at + 3, at + 4, 0, 0},
		}
	}
	tests := []struct {
		name    string
		events  []event
		started float64
		earlier int
		phases  string // rows of the manifest
	}{
		{name: "one start", events: first},
		{name: "all users repeat their first request", events: append(first[:4:4], again(130)...), earlier: 4},
		{name: "three starts", events: append(append(first[:4:4], again(130)...), again(160)...), earlier: 7},
		{name: "gap too short for a restart", events: append(first[:4:4], again(106)...)},
		{name: "users continue after a stall", events: append(first[:4:4],
			event{0, "a", 6, "p1", 400, 401, 0, 0}, event{1, "b", 5, "p2", 401, 402, 0, 0})},
		{name: "one user continues, one starts over", events: append(first[:4:4],
			event{0, "a", 4, "p3", 400, 401, 0, 0}, event{1, "b", 5, "p2", 401, 402, 0, 0})},
		{name: "single user repeats its trajectory", events: []event{
			{0, "a", 0, "p1", 100, 101, 0, 0}, {0, "a", 1, "p1", 102, 103, 0, 0}, {0, "a", 0, "p2", 120, 121, 0, 0},
		}},
		{name: "single user starts over after a long gap", events: []event{
			{0, "a", 0, "p1", 100, 101, 0, 0}, {0, "a", 1, "p1", 102, 103, 0, 0}, {0, "a", 0, "p2", 200, 201, 0, 0},
		}, earlier: 2},
		{
			name: "start in the manifest", events: append(first[:4:4], again(106)...), earlier: 4,
			phases: `{"phase_idx":0,"phase_start":106,"settling_end":106,"actual_phase_end":120}`,
		},
		{
			name: "several phases in the manifest", events: append(first[:4:4], event{0, "a", 4, "p5", 210, 211, 1, 4}),
			phases: `{"phase_idx":1,"phase_start":210,"settling_end":210,"actual_phase_end":220}` + "\n" +
				`{"phase_idx":0,"phase_start":90,"settling_end":90,"actual_phase_end":120}`,
		},
		{name: "other trajectories after a long gap", events: []event{
			{0, "a", 0, "p1", 100, 101, 0, 0},
			{1, "b", 0, "p2", 101, 102, 0, 0},
			{2, "c", 0, "p3", 101, 103, 0, 0},
			{0, "a", 7, "q1", 200, 201, 0, 0},
			{1, "b", 8, "q2", 201, 202, 0, 0},
			{2, "c", 9, "q3", 201, 203, 0, 0},
		}, earlier: 3},
		{name: "back from phase 1 to phase 0", events: append(first[:4:4],
			event{0, "a", 4, "p5", 110, 111, 1, 4}, event{0, "a", 4, "p6", 112, 113, 0, 2}), earlier: 5},
		{name: "late row of phase 0", events: append(first[:4:4],
			event{0, "a", 4, "p5", 110, 111, 1, 4}, event{1, "b", 5, "p2", 104, 112, 0, 2})},
		{name: "another concurrency", events: append(first[:4:4],
			event{0, "a", 4, "p5", 110, 111, 0, 64}, event{1, "b", 3, "p6", 111, 112, 0, 64}), earlier: 4},
		{name: "users start over in the next phase", events: append(first[:4:4],
			event{0, "a", 4, "p5", 210, 211, 1, 4}, event{1, "b", 3, "p6", 211, 212, 1, 4})},
		{name: "the same ids after a short gap", events: append(first[:4:4], event{0, "a", 4, "p1", 106, 107, 0, 0},
			event{1, "b", 3, "p2", 107, 108, 0, 0}, event{0, "a", 5, "p1", 108, 109, 0, 0}), earlier: 4},
		{name: "given start", events: append(first[:4:4], again(130)...), started: 101.5, earlier: 2},
		{name: "given start after all rows", events: first, started: 500, earlier: 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := NewAggregator()
			if tt.started != 0 {
				f.SetStart(time.UnixMilli(int64(tt.started * 1000)))
				f.SetStart(time.Unix(50, 0)) // an earlier one has no effect
			}
			for _, e := range tt.events {
				if err := f.AddRequestRow([]byte(e.row())); err != nil {
					t.Fatal(err)
				}
			}
			for line := range strings.Lines(tt.phases) {
				if err := f.AddManifestRow([]byte(line)); err != nil {
					t.Fatal(err)
				}
			}
			run := f.Snapshot(f.lastTime())
			total := 0
			for _, p := range run.Phases {
				total += p.Total
			}
			if run.EarlierStartRows != tt.earlier || total != len(tt.events)-tt.earlier {
				t.Errorf("earlier start: %d rows, this run %d; want %d, %d", run.EarlierStartRows, total, tt.earlier,
					len(tt.events)-tt.earlier)
			}
		})
	}
}
