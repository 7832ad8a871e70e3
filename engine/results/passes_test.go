package results

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func rowOf(t *testing.T, agg *Aggregator, line string) {
	t.Helper()
	if err := agg.AddRequestRow([]byte(line)); err != nil {
		t.Fatal(err)
	}
}

// TestPassesWithoutRequestIDs checks that rows of repeated trajectories are not treated as
// duplicates if they have no request id.
func TestPassesWithoutRequestIDs(t *testing.T) {
	t.Parallel()
	f := NewAggregator()
	for i := range 20 {
		at := 1000 + float64(i)
		rowOf(t, f, fmt.Sprintf(`{"phase_idx":0,"concurrency":1,"conversation_id":"c","conversation_idx":%d,"user_id":0,`+
			`"start_time":%v,"end_time":%v,"server_output_tokens":10,"success":true}`, i%5, at, at+0.5))
	}
	if err := f.AddManifestRow([]byte(`{"phase_idx":0,"settling_end":1000,"actual_phase_end":1030}`)); err != nil {
		t.Fatal(err)
	}
	run := f.Snapshot(time.Time{})
	if p := run.Phases[0]; p.Total != 20 || p.Requests.Measured != 20 {
		t.Errorf("%d in total, %d measured: %v %v", p.Total, p.Requests.Measured, run.Warnings, p.Warnings)
	}
}

// TestRepeatedTrajectoriesAreNotARestart checks that users repeating their trajectories
// after long tool calls are not taken for a restart if the manifest covers the rows.
func TestRepeatedTrajectoriesAreNotARestart(t *testing.T) {
	t.Parallel()
	f := NewAggregator()
	for i := range 20 {
		for u := range 3 {
			at := 1000 + float64(i)*8 + float64(u)*0.1
			rowOf(t, f, fmt.Sprintf(`{"phase_idx":0,"concurrency":3,"conversation_id":"c%d","conversation_idx":%d,`+
				`"user_id":%d,"request_id":"%012d","start_time":%v,"end_time":%v,"server_output_tokens":10,"success":true}`,
				u, i%2, u, i/2*3+u, at, at+1))
		}
	}
	if err := f.AddManifestRow([]byte(`{"phase_idx":0,"settling_end":999,"actual_phase_end":1200}`)); err != nil {
		t.Fatal(err)
	}
	run := f.Snapshot(time.Time{})
	if p := run.Phases[0]; p.Total != 60 || run.EarlierStartRows != 0 {
		t.Errorf("%d in total, %d of an earlier start", p.Total, run.EarlierStartRows)
	}
}

func TestNegativeValuesAreNotSummed(t *testing.T) {
	t.Parallel()
	f := NewAggregator()
	rowOf(t, f, `{"phase_idx":0,"user_id":0,"conversation_id":"a","request_id":"a","start_time":1000,"end_time":999,`+
		`"server_output_tokens":-5,"ttft":-5,"success":true}`)
	if err := f.AddManifestRow([]byte(`{"phase_idx":0,"settling_end":900,"actual_phase_end":1200}`)); err != nil {
		t.Fatal(err)
	}
	run := f.Snapshot(time.Time{})
	for _, key := range []string{"output_server_tok_s", "ttft_p50_s", "e2e_p50_s"} {
		if v := run.Phases[0].Figures.Get(key).Value; !math.IsNaN(v) && v < 0 {
			t.Errorf("%s is %v", key, v)
		}
	}
}
