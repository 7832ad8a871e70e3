package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
)

// logFlags holds the flags of logs.
type logFlags struct {
	follow, list, merge, errors, colors bool
	grep                                string
	last                                int
}

func logsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "logs RUN [STEP...]", Short: "Print the log of a step", Args: usage(cobra.MinimumNArgs(1)),
		Long: `Print the log of a step: client, job, frontend_0, prefill_0, decode_0 …; without STEP
that of the client. Control characters and terminal escapes are removed. With --merge,
several logs, or all of them, are printed in the order of the times in their lines.`,
		Example: `  agentperf-tui logs dsv4_12345 -f
  agentperf-tui logs dsv4_12345 prefill_0 --grep timeout
  agentperf-tui logs dsv4_12345 --merge --errors -n 20`,
	}
	var o logFlags
	flags := cmd.Flags()
	flags.BoolVarP(&o.follow, "follow", "f", false, "follow the log until the run ends")
	flags.StringVar(&o.grep, "grep", "",
		"print only lines that match this `regexp`; case-sensitive only if it has an upper-case letter")
	flags.BoolVar(&o.errors, "errors", false, "print only error lines")
	flags.IntVarP(&o.last, "lines", "n", 0, "print only the last `N` lines; 0 prints all")
	flags.BoolVar(&o.merge, "merge", false, "merge several logs, or without STEP all, by time")
	flags.BoolVar(&o.colors, "color", false, "keep the colors of the log")
	flags.BoolVar(&o.colors, "colour", false, "same as --color")
	flags.Lookup("colour").Hidden = true // the name in version 0.1
	flags.BoolVar(&o.list, "list", false, "list the logs")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		match, err := o.match()
		if err != nil {
			return badInput(err)
		}
		e, ref, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if o.list {
			return a.listLogs(e, ref)
		}
		files, err := o.files(e, ref, args[1:])
		if err != nil {
			return badInput(err)
		}
		return a.logs(cmd.Context(), e, ref, files, match, o)
	}
	return cmd
}

// match returns the filter of the flags, nil if every line is printed.
func (o logFlags) match() (*logview.Matcher, error) {
	var m *logview.Matcher
	if o.last < 0 {
		return nil, problem.Errorf(problem.FlagValue, "--lines: must be 0 or more, got %d", o.last)
	}
	if o.grep != "" {
		var err error
		if m, err = logview.Regexp(o.grep); err != nil {
			return nil, fmt.Errorf("--grep: %w", err)
		}
	}
	if o.errors {
		m = logview.Errors().And(m)
	}
	return m, nil
}

// files returns the logs to print.
func (o logFlags) files(e *engine.Engine, ref engine.RunRef, steps []string) ([]engine.LogFile, error) {
	switch {
	case o.merge && o.follow:
		return nil, problem.New(problem.FlagConflict,
			"logs: --merge and --follow can't be combined; follow one log, or use the workbench")
	case o.merge && len(steps) == 0:
		return e.LogFiles(ref)
	case len(steps) > 1 && !o.merge:
		return nil, problem.Errorf(
			problem.Usage,
			"logs: %d steps were given; name one, or pass --merge to print them by time",
			len(steps),
		)
	case len(steps) == 0:
		steps = []string{""}
	}
	var files []engine.LogFile
	for _, s := range steps {
		f, err := e.FindLog(ref, s, o.follow)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// logs prints the lines of the logs and, with --follow, new lines as they arrive.
func (a *app) logs(
	ctx context.Context, e *engine.Engine, ref engine.RunRef,
	files []engine.LogFile, match *logview.Matcher, o logFlags,
) error {
	within, stop := context.WithCancel(ctx)
	defer stop()
	paths := make([]string, 0, len(files))
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	v, _, err := e.LogView(within, paths...)
	if err != nil {
		return badInput(err)
	}
	defer v.Close()
	out := bufio.NewWriter(a.stdout)
	p := logPrinter{out: out, json: a.json, colors: o.colors}
	if len(files) > 1 {
		for _, f := range files {
			p.names = append(p.names, safetext.Clean(f.Step)) // file names are untrusted
		}
	}
	from := v.Start()
	if o.last > 0 {
		if from, err = lastLines(ctx, v, match, o.last); err != nil {
			return err
		}
	}
	reached, err := p.lines(ctx, v, logview.Query{From: from, Match: match, Lines: 512}, o.follow)
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	if err != nil || !o.follow {
		return err
	}
	chunks, err := e.FollowLog(ctx, ref, files[0].Path, reached[0])
	if err != nil {
		return badInput(err)
	}
	for c := range chunks {
		if c.Err != nil { // following continues
			a.note("%s\n", safetext.Clean(c.Err.Error()))
		}
		if c.Skipped > 0 {
			a.note("left out %d line(s) longer than 64 MiB\n", c.Skipped)
		}
		for _, raw := range c.Lines {
			if line := logview.LineOf(raw); match == nil || match.Match(line.Text) {
				err = errors.Join(err, p.line(line))
			}
		}
		if err = errors.Join(err, out.Flush(), a.stderr.err); err != nil {
			return err
		}
	}
	return nil
}

// lastLines returns the position before the last n lines.
func lastLines(ctx context.Context, v *logview.View, match *logview.Matcher, n int) (logview.Pos, error) {
	at, err := v.End()
	if err != nil {
		return nil, err
	}
	for n > 0 {
		got, err := v.Step(ctx, logview.Query{From: at, Back: true, Lines: min(n, 512), Match: match})
		if err != nil {
			return nil, err
		}
		if n, at = n-len(got.Lines), got.Reached; got.End {
			break
		}
	}
	return at, nil
}

// logPrinter prints log lines.
type logPrinter struct {
	out    *bufio.Writer
	json   bool
	colors bool
	names  []string // the step of each log, if there are several logs
}

// lines prints the results of a query up to the end of the logs and returns the position
// reached. With complete, it stops before a last line that is still being written.
func (p logPrinter) lines(ctx context.Context, v *logview.View, q logview.Query, complete bool) (logview.Pos, error) {
	for {
		got, err := v.Step(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, l := range got.Lines {
			if complete && l.Unfinished {
				return got.Reached.Before(l), nil
			}
			if err := p.line(l); err != nil {
				return nil, err
			}
		}
		if q.From = got.Reached; got.End {
			return got.Reached, nil
		}
	}
}

func (p logPrinter) line(l logview.Line) error {
	text := l.Text
	if p.colors && !p.json {
		text = l.Coloured()
	}
	if l.Cut > 0 {
		text += fmt.Sprintf(" … %d bytes more", l.Cut)
	}
	name := ""
	if p.names != nil {
		name = p.names[l.File]
	}
	if p.json {
		out := output{Writer: p.out}
		return out.json(struct {
			Step string `json:"step,omitempty"`
			Line string `json:"line"`
		}{name, text}, "")
	}
	if name != "" {
		text = texttable.AlignLeft(name, 12) + " " + text
	}
	_, err := fmt.Fprintln(p.out, text)
	return err
}

func (a *app) listLogs(e *engine.Engine, ref engine.RunRef) error {
	files, err := e.LogFiles(ref)
	if err != nil {
		return badInput(err)
	}
	if a.json {
		return a.print(files)
	}
	rows := [][]string{{"STEP", "FILE"}}
	for _, f := range files {
		rows = append(rows, []string{f.Step, f.Path})
	}
	return a.table(rows)
}
