package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// Columns must be aligned by terminal cells, also after wide characters and combining marks.
func TestTableAlignsWideCharacters(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	a := newApp(&out, io.Discard)
	if err := a.table([][]string{{"NAME", "STATE"}, {"模型一二", "done"}, {"e\u0301\x1b[31m", "failed"}}); err != nil {
		t.Fatal(err)
	}
	if want := "NAME      STATE\n模型一二  done\ne\u0301         failed\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// limitedWriter accepts left writes, then reports that no space is left.
type limitedWriter struct {
	strings.Builder
	left int
}

func (f *limitedWriter) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("no space left")
	}
	return f.Builder.Write(p)
}

// After a failed write nothing more may be written, and the command reports the first error.
func TestOutputStopsAtFirstError(t *testing.T) {
	t.Parallel()
	to := &limitedWriter{left: 1}
	a := newApp(to, io.Discard)
	first, second := a.say("one\n"), a.say("two\n")
	to.left = 1
	third := a.print(3)
	if first != nil || second == nil || third != second || to.String() != "one\n" {
		t.Errorf("got %v, %v, %v and %q", first, second, third, to.String())
	}
	if err := newApp(io.Discard, io.Discard).print(func() {}); err == nil {
		t.Error("no error for a value that can't be encoded as JSON")
	}
	var stderr strings.Builder
	code := execute(t.Context(), []string{"version"}, &limitedWriter{}, &stderr)
	if code != 1 || stderr.String() != "agentperf-tui: no space left [write-failed]\n" {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

// watch must end as soon as stdout or stderr can't be written, also before the first phase.
func TestWatchStopsIfOutputFails(t *testing.T) {
	t.Parallel()
	waiting := engine.Update{Events: []event.Event{{Kind: event.RunState}}, Err: errors.New("a file is not readable")}
	for name, a := range map[string]*app{
		"stdout": newApp(&limitedWriter{}, io.Discard), "stderr": newApp(io.Discard, &limitedWriter{}),
	} {
		if err := a.updateText(waiting); err == nil {
			t.Errorf("%s can't be written, but there is no error", name)
		}
	}
	if err := newApp(io.Discard, io.Discard).updateText(waiting); err != nil {
		t.Error(err)
	}
}

// The line of a phase marks figures that are invalid, and does not show an unknown number of users as 0.
func TestPhaseLineMarksFigures(t *testing.T) {
	t.Parallel()
	p := results.Phase{
		Total: 9, Requests: &results.Requests{Measured: 9}, Window: &results.Window{Source: results.Estimated},
		Figures: results.Figures{
			{Key: results.Primary, Value: 60, Class: results.Invalid, AtLeast: true},
			{Key: results.TTFT95, Value: 2, Class: results.Invalid, Invalid: "9 samples, p95 needs 200"},
		},
	}
	got := phaseLine(p)
	for _, want := range []string{"phase 0 · unknown number of users · 9 requests", "≥ 60.0 tok/s !", "2.000 s !"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// watch marks figures that are invalid, and says why, but not because the window is still short.
func TestWatchMarksInvalidFigures(t *testing.T) {
	t.Parallel()
	for every, want := range map[int]string{
		1e9: "out ~ 120.0 tok/s · TTFT p50 ~ 0.100 s · p95 ~ 0.100 s · cache - (window estimated)",
		2: "out ~ ≥ 60.0 tok/s ! · TTFT p50 ~ 0.100 s ! · p95 ~ 0.100 s ! · cache - (window estimated)" +
			" · figures not reliable: 600 of 1,200 rows could not be read",
	} {
		agg := results.NewAggregator()
		t.Cleanup(agg.Close)
		agg.SetRunning(true)
		agg.AddPlan(results.PlannedPhase{Phase: 0, Concurrency: 12, Timeout: 3600, MinMeasurement: 900})
		for i := range 1200 {
			start, tokens := 1000+0.25*float64(i), "30"
			if i%every == every-1 {
				tokens = ","
			}
			row := fmt.Sprintf(`{"phase_idx":0,"user_id":%d,"conversation_id":"c","conversation_idx":%d,"request_id":"r%d",`+
				`"start_time":%g,"end_time":%g,"ttft":0.1,"server_output_tokens":%s,"success":true}`,
				i%12, i, i, start, start+0.5, tokens)
			if err := agg.AddRequestRow([]byte(row)); (err != nil) != (tokens == ",") {
				t.Fatal(err)
			}
		}
		if got := phaseLine(agg.Snapshot(time.Unix(1300, 0)).Phases[0]); !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want the end %q", got, want)
		}
	}
}
