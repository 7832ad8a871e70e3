package replay

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// Notes are counted for the measured successful requests and shown with their share.
func TestRunCountsNotes(t *testing.T) {
	t.Parallel()
	answers := []answer{
		good(sseStop, sseUsage, sseDone), good(sseUsage, sseDone), good(sseStop, sseDone, sseUsage),
		{header: "application/json", reads: []string{jsonGood}},
		good("data: boom\n\n"),
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct{ Content string } `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
			return
		}
		var i int
		if _, err := fmt.Sscanf(body.Messages[0].Content, "%d", &i); err != nil {
			t.Error(err)
			return
		}
		answers[i].serve(w, r)
	}
	base := serveHandler(t, http.HandlerFunc(handler))
	cfg := testConfig(t, base, writeTrajectories(t, conversations(len(answers), 1, 200)))
	cfg.TrajectoriesPerUser, cfg.MinTotalTrajectories = len(answers), len(answers)
	var log strings.Builder
	cfg.Log = &log
	if err := runConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	stem := filepath.Join(cfg.ResultsDir, "org_model__1u__phase0__dur20s__settle0s__traj5")
	var s statistics
	if err := json.Unmarshal([]byte(readText(t, stem+".json")), &s); err != nil {
		t.Fatal(err)
	}
	want := map[string]noteCount{
		"json_answer": {1, 0.25}, "no_finish_reason": {1, 0.25}, "data_after_done": {1, 0.25}, "no_usage": {1, 0.25},
	}
	if fmt.Sprint(s.Notes) != fmt.Sprint(want) || s.Errors[errorMalformed] != 1 || s.TokensServer.OutputKnown != 3 {
		t.Errorf("got the notes %v, the errors %v and %d known counts, want %v, one malformed and 3",
			s.Notes, s.Errors, s.TokensServer.OutputKnown, want)
	}
	const share = "1 of 4 successful requests (25.0%)"
	text := readText(t, stem+".txt")
	for _, line := range []string{
		"\nNote: complete JSON answer instead of a stream, TTFT unknown: " + share + "\n",
		"\nNote: no finish reason: " + share + "\n",
		"\nNote: data after [DONE], not counted: " + share + "\n",
		"\nNote: no usage block before [DONE], server tokens unknown: " + share + "\n",
		"\n  Output: 15 (5.0 per request, median 5.0), a lower bound: unknown in " + share + "\n",
		" tok/s, a lower bound: unknown in " + share + "\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the summary lacks %q:\n%s", line, text)
		}
	}
	if n := strings.Count(log.String(), "first response with a note: "); n != 4 {
		t.Errorf("the log has %d notes, want each of the 4 once:\n%s", n, log.String())
	}
	rows := readRows[analysisRow](t, stem+".jsonl")
	noted := 0
	for _, r := range rows {
		noted += len(r.Notes)
		if r.ErrorKind != "" && r.Notes != nil {
			t.Errorf("a failure has the notes %v", r.Notes)
		}
	}
	if noted != 4 {
		t.Errorf("got %d notes in the rows, want 4", noted)
	}
}

// More cached than input tokens can't be, so there is no hit rate.
func TestMeasureImpossibleHitRate(t *testing.T) {
	t.Parallel()
	x := sample{start: 1, input: 100, output: 5, cached: 150, notes: noteCached}
	s := measure([]sample{x}, window{begin: 0, end: 2})
	if !math.IsNaN(float64(s.TokensServer.HitRate)) || s.Notes["cached_above_input"] != (noteCount{1, 1}) {
		t.Errorf("got the hit rate %v and the notes %v, want none and one note", s.TokensServer.HitRate, s.Notes)
	}
}
