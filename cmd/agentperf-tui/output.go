package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
)

// output is the stdout or stderr of a command. After a failed write it drops all later
// writes and keeps the error, which execute reports at the end. So callers check the error
// only to leave a loop early.
type output struct {
	io.Writer
	err error
}

// Write writes p, unless an earlier write failed.
func (o *output) Write(p []byte) (n int, err error) {
	if o.err == nil {
		n, o.err = o.Writer.Write(p)
		o.err = problem.Mark(problem.WriteFailed, o.err)
	}
	return n, o.err
}

// text writes formatted text without control characters.
func (o *output) text(format string, args []any) error {
	_, err := io.WriteString(o, safetext.CleanLines(fmt.Sprintf(format, args...)))
	return err
}

// json writes v as JSON, on one line or indented.
func (o *output) json(v any, indent string) error {
	enc := json.NewEncoder(o)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); o.err == nil {
		o.err = err // v can't be encoded as JSON
	}
	return o.err
}

// say prints to stdout.
func (a *app) say(format string, args ...any) error { return a.stdout.text(format, args) }

// note prints a message to stderr.
func (a *app) note(format string, args ...any) error { return a.stderr.text(format, args) }

// notes prints untrusted messages to stderr, one per line.
func (a *app) notes(messages []string) {
	for _, m := range messages {
		a.note("%s\n", safetext.Clean(m))
	}
}

// print prints v as an indented JSON document.
func (a *app) print(v any) error { return a.stdout.json(v, "  ") }

// printLine prints v as one line of JSON, for streams.
func (a *app) printLine(v any) error { return a.stdout.json(v, "") }

// table prints rows in aligned columns. The first row is the header; cells are untrusted text.
func (a *app) table(rows [][]string) error {
	for _, r := range rows {
		for i, c := range r {
			r[i] = safetext.Clean(c)
		}
	}
	return a.say("%s\n", strings.Join(texttable.Lines(rows), "\n"))
}

// lines prints untrusted text of several lines.
func (a *app) lines(text string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		a.say("%s\n", safetext.Clean(line))
	}
}

func (a *app) diagnostics(ds recipes.Diagnostics) {
	for _, d := range ds {
		a.say("%s\n", safetext.Clean(d.String()))
		if d.Fix != "" {
			a.say("    fix: %s\n", safetext.Clean(d.Fix))
		}
	}
}

// confirm asks a question on the terminal. The default answer is no.
func (a *app) confirm(ctx context.Context, question string) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return badInput(problem.New(problem.ConfirmationRequired, "stdin is not a terminal: pass --yes"))
	}
	if err := a.note("%s [y/N] ", question); err != nil {
		return err
	}
	answer := make(chan string, 1)
	go func() { // ends with stdin or with the process
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil {
			line = ""
		}
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return exitError{code: 1, err: problem.New(problem.Interrupted, "interrupted")}
	case s := <-answer:
		if s != "y" && s != "yes" {
			return exitError{code: 1, err: problem.New(problem.NotConfirmed, "not confirmed; nothing was done")}
		}
	}
	return nil
}
