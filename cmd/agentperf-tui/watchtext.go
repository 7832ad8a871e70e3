package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

func (a *app) update(ref engine.RunRef, u engine.Update) error {
	if a.json {
		return a.updateJSON(ref, u)
	}
	return a.updateText(u)
}

func (a *app) updateJSON(ref engine.RunRef, u engine.Update) error {
	for _, ev := range u.Events {
		a.printLine(struct {
			Type string `json:"type"`
			event.Event
		}{"event", ev})
	}
	doc := struct {
		Type    string          `json:"type"`
		At      time.Time       `json:"t"`
		Run     string          `json:"run"`
		Status  event.Status    `json:"status"`
		Output  results.Run     `json:"results"`
		Recent  *results.Recent `json:"recent,omitempty"`
		Stalled *time.Time      `json:"stalled_since,omitempty"`
		Done    bool            `json:"done"`
		Error   string          `json:"error,omitempty"`
	}{Type: "update", At: u.At.UTC(), Run: ref.Label(), Status: u.Status, Output: u.Run, Recent: u.Recent, Done: u.Done}
	if u.Err != nil {
		doc.Error = u.Err.Error()
	}
	if since := u.StalledSince(u.At); !since.IsZero() {
		since = since.UTC()
		doc.Stalled = &since
	}
	return a.printLine(doc)
}

func (a *app) updateText(u engine.Update) error {
	for _, ev := range u.Events {
		a.say("%s  %s\n", clock(ev.T), safetext.Clean(eventText(ev)))
	}
	if u.Err != nil {
		a.note("%s\n", safetext.Clean(u.Err.Error()))
	}
	if u.Done {
		if len(u.Run.Phases) == 0 {
			return a.say("state %s\n", u.Status.State)
		}
		return a.say("state %s\n\n%s", u.Status.State, u.Run.Text())
	}
	if since := u.StalledSince(u.At); !since.IsZero() {
		a.say("%s  STALLED: no completed request and no output of the client since %s, %s ago\n",
			clock(u.At), clock(since), age(u.At.Sub(since)))
	}
	if len(u.Run.Phases) == 0 || u.Status.State == event.Post {
		return cmp.Or(a.stdout.err, a.stderr.err)
	}
	line := phaseLine(u.Run.Phases[len(u.Run.Phases)-1])
	if r := u.Recent; r != nil && r.N > 0 {
		line += fmt.Sprintf(" · last %.0f s: out %s, TTFT p95 %s (n %d)",
			r.Seconds, r.Figures.Get(results.Primary).MarkedText(), r.Figures.Get(results.TTFT95).MarkedText(), r.N)
	}
	return a.say("%s  %s  %s\n", clock(u.At), u.Status.State, line)
}

func clock(t time.Time) string { return t.Local().Format(time.TimeOnly) }

// phaseLine returns the progress of a phase on one line.
func phaseLine(p results.Phase) string {
	s := fmt.Sprintf("phase %d · %s · %d requests", p.Index, p.UsersText(), p.Total)
	if p.Requests == nil || p.Requests.Measured == 0 || p.Window == nil {
		return s
	}
	s += fmt.Sprintf(", %d measured (%s)", p.Requests.Measured, ui.Plural(p.Requests.Failed, "error"))
	figures := p.FiguresSoFar()
	for _, m := range results.Metrics {
		if m.Watch != "" {
			s += " · " + m.Watch + " " + figures.Get(m.Key).MarkedText()
		}
	}
	s += " (window " + p.Window.Source + ")"
	if reasons := p.InvalidSoFar(); len(reasons) > 0 {
		s += " · figures not reliable: " + strings.Join(reasons, "; ")
	}
	return s
}

func eventText(e event.Event) string {
	d := e.Data
	switch e.Kind {
	case event.RunState:
		return strings.TrimSuffix("run "+string(d.State)+": "+d.Message, ": ")
	case event.StepStart:
		return fmt.Sprintf("%s started, pid %d, log %s", e.Step, d.PID, d.Log)
	case event.StepReady:
		return fmt.Sprintf("%s ready after %.1f s", e.Step, d.Seconds)
	case event.StepExit:
		if d.ExitCode == nil {
			return e.Step + " ended"
		}
		return strings.TrimSuffix(fmt.Sprintf("%s ended with code %d: %s", e.Step, *d.ExitCode, d.Message), ": ")
	case event.Health:
		if d.Have != nil && d.Want != nil {
			return fmt.Sprintf("healthy: %d of %d prefill, %d of %d decode workers",
				d.Have.Prefill, d.Want.Prefill, d.Have.Decode, d.Want.Decode)
		}
	case event.Phase:
		if d.Phase != nil {
			what := strings.TrimSpace(string(d.State) + " " + d.Message)
			return fmt.Sprintf("client: phase %d, %d users: %s", *d.Phase, d.Concurrency, what)
		}
	}
	return strings.TrimSpace(string(e.Kind) + " " + e.Step + " " + d.Message)
}

// shellsJSON prints the shell commands for the steps of a run, as one line of the stream.
func (a *app) shellsJSON(e *engine.Engine, ref engine.RunRef) error {
	shells, err := e.Shells(ref)
	if err != nil || len(shells) == 0 {
		return err
	}
	return a.printLine(struct {
		Type   string         `json:"type"`
		Shells []engine.Shell `json:"shells"`
	}{"shells", shells})
}
