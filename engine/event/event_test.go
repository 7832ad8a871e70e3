package event

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func TestAppendAfterIncompleteLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	now := func() time.Time { return start }
	a, err := OpenAppender(path, now)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Add(Info, "", Data{Message: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"v":1,"seq":3,"kind":"in`); err != nil { // the write was interrupted here
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if a, err = OpenAppender(path, now); err != nil {
		t.Fatal(err)
	}
	if err := a.Add(Info, "", Data{Message: "b"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	events, err := ReadFile(path)
	if err != nil || len(events) != 3 || events[2].Seq != 3 || events[2].Data.Message != "b" {
		t.Errorf("got %+v, %v", events, err)
	}
}

func TestParseInvalid(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "x", "[]", `{"v":1}`, `{"kind":"info"}`, `{"v":1,"kind":"info"`, `{"v":1,"kind":"info","t":"never"}`,
	} {
		if e, err := Parse([]byte(line)); err == nil {
			t.Errorf("%q is taken for %+v", line, e)
		}
	}
}

func TestParseAfterByteOrderMark(t *testing.T) {
	t.Parallel()
	const line = `{"v":1,"t":"2026-09-17T12:00:00Z","kind":"info"}` + "\n"
	if all := parseAll([]byte("\ufeff" + line + line)); len(all) != 2 || all[0].Kind != all[1].Kind {
		t.Errorf("%+v", all)
	}
}

func phase(n, seconds int, s State, why string) Event {
	return Event{
		V: 1, T: at(seconds), Kind: Phase, Step: "client", Data: Data{Phase: &n, Concurrency: 12, State: s, Message: why},
	}
}

func state(seconds int, s State, why string, code ...int) Event {
	e := Event{V: 1, T: at(seconds), Kind: RunState, Data: Data{State: s, Message: why}}
	if len(code) > 0 {
		e.Data.ExitCode = &code[0]
	}
	return e
}

// The status does not depend on how the events of the two files are interleaved.
func TestStatusOfInterleavedFiles(t *testing.T) {
	t.Parallel()
	orchestrator := []Event{state(0, Starting, ""), state(5, Ready, ""), state(40, Post, ""), state(42, Done, "", 0)}
	client := []Event{
		phase(0, 6, Ramp, ""), phase(0, 10, Settling, ""), phase(0, 12, Measuring, ""), phase(0, 38, Post, "timeout"),
	}
	for name, events := range map[string][]Event{
		"orchestrator first": append(append([]Event{}, orchestrator...), client...),
		"client first":       append(append([]Event{}, client...), orchestrator...),
	} {
		var s Status
		for _, e := range events {
			s.Apply(e)
		}
		if s.State != Done || s.Message != "" || !s.Since.Equal(at(42)) || *s.ExitCode != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if len(s.Phases) != 1 || s.Phases[0].Reason != "timeout" || !s.Phases[0].Measuring.Equal(at(12)) ||
			!s.Phases[0].Stop.Equal(at(38)) {
			t.Errorf("%s: phases %+v", name, s.Phases)
		}
	}
}

func TestStatusBeforeTheEnd(t *testing.T) {
	t.Parallel()
	code := 1
	for _, c := range []struct {
		name   string
		events []Event
		state  State
		why    string
	}{
		{"no events", nil, "", ""},
		{"measuring", []Event{state(0, Starting, ""), state(5, Ready, ""), phase(0, 12, Measuring, "")}, Measuring, ""},
		{"second phase", []Event{state(5, Ready, ""), phase(0, 38, Post, "criteria"), phase(1, 39, Ramp, "")}, Ramp, ""},
		{
			"failed while it measures", []Event{
				phase(0, 12, Measuring, ""), state(20, Post, ""), state(21, Failed, "decode_0 exited", 1),
			}, Failed, "decode_0 exited",
		},
		{"late event of the client", []Event{state(21, Failed, "x", 1), phase(0, 22, Post, "interrupted")}, Failed, "x"},
	} {
		var s Status
		for _, e := range c.events {
			s.Apply(e)
		}
		if s.State != c.state || s.Message != c.why {
			t.Errorf("%s: %s %q, want %s %q", c.name, s.State, s.Message, c.state, c.why)
		}
	}
	var s Status
	s.Apply(Event{T: at(0), Kind: StepStart, Step: "client", Data: Data{Log: "benchmark.out"}})
	s.Apply(Event{T: at(1), Kind: StepReady, Step: "unknown"})
	s.Apply(Event{T: at(3), Kind: StepExit, Step: "client", Data: Data{ExitCode: &code}})
	if len(s.Steps) != 1 || s.Steps[0].State != "exited" || s.ClientExitCode == nil || *s.ClientExitCode != 1 {
		t.Errorf("steps %+v, client %v", s.Steps, s.ClientExitCode)
	}
}

// Requests are cut off during the drain, so the events after the stop count them.
func TestStatusCountsRequestsCutOff(t *testing.T) {
	t.Parallel()
	counted := func(seconds, cut int, s State, why string) Event {
		e := phase(0, seconds, s, why)
		e.Data.Cut = cut
		return e
	}
	var s Status
	for _, step := range []struct {
		e    Event
		want int
	}{
		{counted(0, 0, Ramp, ""), 0},
		{counted(38, 0, Post, "timeout"), 0},
		{counted(40, 3, "", "drained timeout"), 3},
		{counted(41, 3, "", "phase_end timeout"), 3},
	} {
		s.Apply(step.e)
		if got := s.Phases[0].Cut; got != step.want {
			t.Errorf("after %+v: %d requests cut off, want %d", step.e.Data, got, step.want)
		}
	}
	if p := s.Phases[0]; s.State != Post || !p.Stop.Equal(at(38)) || p.Reason != "timeout" {
		t.Errorf("state %s, phase %+v", s.State, p)
	}
	s.Apply(counted(50, 0, Ramp, ""))
	if got := s.Phases[0].Cut; got != 0 {
		t.Errorf("a phase that has started again: %d requests cut off", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(
		`{"v":1,"t":"2026-11-30T12:00:00Z","seq":1,"kind":"phase","step":"client","data":{"phase":0,"state":"ramp"}}`))
	f.Add([]byte(`{"v":1,"kind":"health","data":{"have":{"prefill":1}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := Parse(line)
		if err != nil {
			return
		}
		var s Status
		s.Apply(e)
		s.Apply(e)
		if len(s.Phases) > 1 {
			t.Errorf("one phase became %d", len(s.Phases))
		}
	})
}

func TestReadFileIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, maxLogMiB<<20+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("got %v", err)
	}
}
