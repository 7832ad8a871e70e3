package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/safetext"
	"github.com/agentperf/agentperf-tui/texttable"
)

// say prints data for people; whatever is in it comes out without control characters.
func (a *app) say(format string, args ...any) error {
	_, err := io.WriteString(a.stdout, safetext.Lines(fmt.Sprintf(format, args...)))
	return err
}

// note prints a message beside the data, likewise.
func (a *app) note(format string, args ...any) error {
	_, err := io.WriteString(a.stderr, safetext.Lines(fmt.Sprintf(format, args...)))
	return err
}

// confirm puts a question that only a terminal can answer; no is the default.
func (a *app) confirm(ctx context.Context, question string) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return badInput(errors.New("nobody to ask: give --yes to go on without a question"))
	}
	if err := a.note("%s [y/N] ", question); err != nil {
		return err
	}
	answer := make(chan string, 1)
	go func() { // ends with the input, or with the program
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil {
			line = ""
		}
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return exitError{code: 1, err: errors.New("interrupted")}
	case s := <-answer:
		if s != "y" && s != "yes" {
			return exitError{code: 1, err: errors.New("not confirmed: nothing was done")}
		}
	}
	return nil
}

// print prints one JSON document.
func (a *app) print(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printLine prints one JSON object on a line, for streams.
func printLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// table prints rows in columns, the first row as header; a column is as wide as
// its widest cell. Cells are cleaned: they may come from other people's files.
func (a *app) table(rows [][]string) error {
	for _, r := range rows {
		for i, c := range r {
			r[i] = safetext.Clean(c)
		}
	}
	for _, line := range texttable.Lines(rows) {
		if err := a.say("%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) diagnostics(ds recipes.Diagnostics) error {
	for _, d := range ds {
		line := safetext.Clean(d.String())
		if d.Fix != "" {
			line += "\n    fix: " + safetext.Clean(d.Fix)
		}
		if err := a.say("%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// recipeFlag accepts -f FILE wherever a recipe is a positional argument.
func recipeFlag(cmd *cobra.Command) *string {
	return cmd.Flags().StringP("file", "f", "", "recipe file, instead of the argument")
}

// recipeArg is the recipe of a command line, given either way.
func recipeArg(args []string, flag string) (string, error) {
	switch {
	case flag != "" && len(args) > 0:
		return "", badInput(fmt.Errorf("two recipes are given, %s and -f %s", args[0], flag))
	case flag != "":
		return flag, nil
	case len(args) == 1:
		return args[0], nil
	}
	return "", badInput(fmt.Errorf("no recipe is given"))
}
