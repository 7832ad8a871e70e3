package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/safetext"
)

func (a *app) find(ctx context.Context, run string) (*engine.Engine, engine.RunRef, error) {
	e, err := a.engine()
	if err != nil {
		return nil, engine.RunRef{}, err
	}
	l, err := e.Find(ctx, run)
	return e, l, badInput(err)
}

func runsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "runs [ROOT...]", Short: "List runs: those submitted here, and those found below the roots",
		Long: "List the runs submitted from here and, below the given roots, harness directories\nand outputs of other tools; newest first.",
	}
	cmd.AddCommand(showCmd(a))
	cmd.RunE = func(cmd *cobra.Command, roots []string) error {
		e, err := a.engine()
		if err != nil {
			return err
		}
		for _, root := range roots {
			if info, err := os.Stat(root); err != nil {
				return badInput(fmt.Errorf("look for runs: %w", err))
			} else if !info.IsDir() {
				return badInput(fmt.Errorf("look for runs: %s is no folder; give one that runs lie below", root))
			}
		}
		runs, err := e.Runs(cmd.Context(), roots)
		if runs == nil && err != nil {
			return badInput(err)
		}
		if err != nil { // beside the runs that could be read
			if err := a.note("%s\n", safetext.Clean(strings.ReplaceAll(err.Error(), "\n", "; "))); err != nil {
				return err
			}
		}
		if a.json {
			if runs == nil {
				runs = []engine.Summary{}
			}
			return a.print(runs)
		}
		rows := [][]string{{"STATE", "RUN", "ID", "SOURCE", "USERS", "OUT TOK/S", "TTFT P95", "AGE", "WHY"}}
		for _, r := range runs {
			rows = append(rows, []string{
				string(r.State), clip(r.Name, 48), r.ID, r.Source, strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Levels), " ", ","), "[]"),
				figure(r.Output, 1, ""), figure(r.TTFT95, 3, " s"), sinceText(r.Since), clip(r.Message, 120),
			})
		}
		return a.table(rows)
	}
	return cmd
}

// clip shortens a text that somebody else wrote to at most n characters.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func figure(v *float64, decimals int, unit string) string {
	if v == nil {
		return "-"
	}
	return results.Decimal(*v, decimals) + unit
}

// sinceText is how long ago something was; a dash where that is not known.
func sinceText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return age(time.Since(t))
}

// age is a duration in coarse steps.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f m", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f d", d.Hours()/24)
}

func watchCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "watch RUN", Short: "Follow a run: events, phases and figures", Args: usage(cobra.ExactArgs(1)),
		Long: "Follow a run from its beginning until it ends, whenever the command is started.\nExit code 0 if it is done, 1 if it failed, was cancelled or timed out.",
	}
	var opt engine.WatchOptions
	speed := cmd.Flags().Float64("playback", 0, "play a run that has ended back, so many times as fast as it was: 1 to 100")
	cmd.Flags().BoolVar(&opt.UntilDone, "until-done", false, "wait out a run whose state is unknown instead of ending there")
	cmd.Flags().DurationVar(&opt.Interval, "interval", time.Second, "shortest time between two updates")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if opt.Interval < 0 {
			return badInput(fmt.Errorf("--interval %v: want a time above 0", opt.Interval))
		}
		e, l, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if !cmd.Flags().Changed("playback") {
			return a.watch(cmd.Context(), e, l, opt)
		}
		if !(*speed >= 1 && *speed <= 100) {
			return badInput(fmt.Errorf("--playback %g: want 1 to 100 times the run's own speed", *speed))
		}
		return a.playback(cmd.Context(), e, l, *speed, opt.Interval)
	}
	return cmd
}

// playback prints a run's updates as they were, at intervals of this moment's clock.
func (a *app) playback(ctx context.Context, e *engine.Engine, l engine.RunRef, speed float64, interval time.Duration) error {
	p, err := e.Playback(ctx, l)
	if err != nil {
		return badInput(err)
	}
	defer p.Close()
	tick := time.NewTicker(max(interval, time.Millisecond))
	defer tick.Stop()
	step := time.Duration(float64(max(interval, time.Millisecond)) * speed)
	for at := p.From; ; at = at.Add(step) {
		if at.After(p.To) {
			at = p.To
		}
		u, err := p.At(ctx, at)
		if err == nil {
			err = a.update(l, u)
		}
		if err != nil || u.Done {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return exitError{code: 1, err: errors.New("interrupted")}
		}
	}
}

func (a *app) update(l engine.RunRef, u engine.Update) error {
	if a.json {
		return a.updateJSON(l, u)
	}
	return a.updateText(u)
}

// watch prints updates until the last one; the exit code is the run's.
func (a *app) watch(ctx context.Context, e *engine.Engine, l engine.RunRef, opt engine.WatchOptions) error {
	updates, err := e.Watch(ctx, l, opt)
	if err != nil {
		return badInput(err)
	}
	var last engine.Update
	bound := false // its nodes are known
	for u := range updates {
		if !bound && a.json && len(u.Status.Steps) > 0 {
			bound = true
			if err := a.shellsJSON(e, l); err != nil {
				return err
			}
		}
		last = u
		if err := a.update(l, u); err != nil {
			return err
		}
	}
	if !last.Done {
		return exitError{code: 1, err: fmt.Errorf("watch %s: stopped before its end; the run goes on", l.Label())}
	}
	if last.Status.State != event.Done {
		why := last.Status.Message
		if why != "" {
			why = ": " + safetext.Clean(why)
		}
		return exitError{code: 1, err: fmt.Errorf("%s is %s%s", l.Label(), last.Status.State, why)}
	}
	return nil
}

func (a *app) updateJSON(l engine.RunRef, u engine.Update) error {
	for _, ev := range u.Events {
		if err := printLine(a.stdout, struct {
			Type string `json:"type"`
			event.Event
		}{"event", ev}); err != nil {
			return err
		}
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
	}{Type: "update", At: u.At.UTC(), Run: l.Label(), Status: u.Status, Output: u.Run, Recent: u.Recent, Done: u.Done}
	if u.Err != nil {
		doc.Error = u.Err.Error()
	}
	if since := u.Stalled(u.At); !since.IsZero() {
		since = since.UTC()
		doc.Stalled = &since
	}
	return printLine(a.stdout, doc)
}

func (a *app) updateText(u engine.Update) error {
	for _, ev := range u.Events {
		if err := a.say("%s  %s\n", ev.T.Local().Format("15:04:05"), safetext.Clean(eventText(ev))); err != nil {
			return err
		}
	}
	if u.Err != nil {
		if err := a.note("%s\n", safetext.Clean(u.Err.Error())); err != nil {
			return err
		}
	}
	if u.Done {
		if len(u.Run.Phases) == 0 {
			return a.say("state %s\n", u.Status.State)
		}
		return a.say("state %s\n\n%s", u.Status.State, u.Run.Text())
	}
	if since := u.Stalled(u.At); !since.IsZero() {
		if err := a.say("%s  STALLED: no request has ended and the client has written nothing since %s, %s ago\n", u.At.Local().Format("15:04:05"), since.Local().Format("15:04:05"), age(u.At.Sub(since))); err != nil {
			return err
		}
	}
	if len(u.Run.Phases) == 0 || u.Status.State == event.Post {
		return nil
	}
	line := phaseLine(u.Run.Phases[len(u.Run.Phases)-1])
	if r := u.Recent; r != nil && r.N > 0 {
		line += fmt.Sprintf(" · last %.0f s: out %s, TTFT p95 %s (n %d)", r.Seconds, r.Figures.Of("output_server_tok_s").Text(), r.Figures.Of("ttft_p95_s").Text(), r.N)
	}
	return a.say("%s  %s  %s\n", u.At.Local().Format("15:04:05"), u.Status.State, line)
}

// phaseLine is a phase while it runs, on one line.
func phaseLine(p results.Phase) string {
	s := fmt.Sprintf("phase %d · %d users · %d requests", p.Index, p.Concurrency, p.Total)
	if p.Requests == nil || p.Requests.Measured == 0 || p.Window == nil {
		return s
	}
	s += fmt.Sprintf(", %d measured (%s)", p.Requests.Measured, several(p.Requests.Failed, "error"))
	for _, k := range []struct{ key, label string }{{"output_server_tok_s", "out"}, {"ttft_p50_s", "TTFT p50"}, {"ttft_p95_s", "p95"}, {"cache_hit_rate", "cache"}} {
		s += " · " + k.label + " " + p.Figures.Of(k.key).Text()
	}
	return s + " (window " + p.Window.Source + ")"
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
			return fmt.Sprintf("healthy: %d of %d prefill, %d of %d decode workers", d.Have.Prefill, d.Want.Prefill, d.Have.Decode, d.Want.Decode)
		}
	case event.Phase:
		if d.Phase != nil {
			return fmt.Sprintf("client: phase %d, %d users: %s", *d.Phase, d.Level, strings.TrimSpace(string(d.State)+" "+d.Message))
		}
	}
	return strings.TrimSpace(string(e.Kind) + " " + e.Step + " " + d.Message)
}
