package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
)

// Columns of a table stand where they belong whatever other people's names are of.
func TestTableAlignsWideNames(t *testing.T) {
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

// failing takes some writes, then has no space left.
type failing struct {
	strings.Builder
	left int
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("no space left")
	}
	return f.Builder.Write(p)
}

// Nothing follows a gap in what is written, and what failed first is told in the end.
func TestOutputEndsAtTheFirstError(t *testing.T) {
	t.Parallel()
	to := &failing{left: 1}
	a := newApp(to, io.Discard)
	first, second := a.say("one\n"), a.say("two\n")
	to.left = 1
	third := a.print(3)
	if first != nil || second == nil || third != second || to.String() != "one\n" {
		t.Errorf("got %v, %v, %v and %q", first, second, third, to.String())
	}
	if err := newApp(io.Discard, io.Discard).print(func() {}); err == nil {
		t.Error("a value without a JSON form is printed")
	}
	var said strings.Builder
	code := execute(t.Context(), []string{"version"}, &failing{}, &said)
	if code != 1 || said.String() != "agentperf-tui: no space left [write-failed]\n" {
		t.Errorf("exit code %d, %q", code, said.String())
	}
}

// Who watches learns at once that nothing can be written, on either side: a run that has
// no phase yet may take hours.
func TestWatchEndsWithItsOutput(t *testing.T) {
	t.Parallel()
	waiting := engine.Update{Events: []event.Event{{Kind: event.RunState}}, Err: errors.New("a file is not readable")}
	for name, a := range map[string]*app{
		"data": newApp(&failing{}, io.Discard), "messages": newApp(io.Discard, &failing{}),
	} {
		if err := a.updateText(waiting); err == nil {
			t.Errorf("%s that can't be written are no error", name)
		}
	}
	if err := newApp(io.Discard, io.Discard).updateText(waiting); err != nil {
		t.Error(err)
	}
}
