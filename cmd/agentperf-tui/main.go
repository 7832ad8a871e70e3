// Command agentperf-tui ports, checks, plans, runs, watches and compares
// AgentPerf trajectory-replay benchmarks.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// version is set by the linker (make build).
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return newApp(stdout, stderr).execute(ctx, args)
}

func (a *app) execute(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	var exit exitError
	if err != nil && !errors.As(err, &exit) {
		exit = exitError{code: 1, err: err}
	}
	if exit.err == nil {
		if failed := cmp.Or(a.stdout.err, a.stderr.err); failed != nil {
			exit = exitError{code: 1, err: failed}
		}
	}
	a.json = a.json || slices.Contains(args, "--json") // not parsed yet if a flag is invalid
	if exit.err != nil && a.report(exit) != nil {
		return 1
	}
	return exit.code
}

// report prints the error of the command to stderr: as text that ends with the id of the
// error or, with --json, as one object.
func (a *app) report(exit exitError) error {
	id := problem.Of(exit.err)
	if !a.json {
		return a.note("agentperf-tui: %s [%s]\n", exit.err, id)
	}
	return a.stderr.json(map[string]any{"error": errorJSON{
		ID: id, Message: safetext.CleanLines(exit.err.Error()), ExitCode: exit.code,
	}}, "")
}

// errorJSON is an error in JSON.
type errorJSON struct {
	ID       problem.ID `json:"id"`
	Message  string     `json:"message"`
	ExitCode int        `json:"exit_code"`
}

// exitError is an exit code with its error: 1 the check or run failed, 2 usage or bad
// input, 3 not comparable. Without err no message is printed.
type exitError struct {
	code int
	err  error
}

// Error returns the message, or the code if there is none.
func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

func badInput(err error) error {
	if err == nil {
		return nil
	}
	return exitError{code: 2, err: err}
}

func exitWith(code int) error {
	if code == 0 {
		return nil
	}
	return exitError{code: code}
}

// exitUnless returns exit code 1 if a check failed. Its result was already printed.
func exitUnless(ok bool) error {
	if ok {
		return nil
	}
	return exitWith(1)
}

// app holds the outputs and the global flags, which all commands share.
type app struct {
	stdout, stderr *output
	json           bool
	outputDir      string
	stateDir       string // empty: the default
}

func newApp(stdout, stderr io.Writer) *app {
	return &app{stdout: &output{Writer: stdout}, stderr: &output{Writer: stderr}}
}

// engine opens the engine. An invalid configuration is bad input.
func (a *app) engine() (*engine.Engine, error) {
	e, err := engine.New(engine.Options{
		Version: version, OutputDir: a.outputDir, StateDir: a.stateDir, PortReports: portReports{},
	})
	return e, badInput(err)
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use: "agentperf-tui", Short: "Port, run, watch and compare AgentPerf benchmarks",
		Long: `agentperf-tui is a workbench for AgentPerf trajectory-replay benchmarks. It ports old
harness runs to srt-slurm recipes, checks and plans them, runs them on Slurm or on this
machine, watches runs live, and compares them. Without a command it opens the workbench.`,
		Example: `  agentperf-tui
  agentperf-tui demo`,
		SilenceUsage: true, SilenceErrors: true, Version: version,
		Args: usage(cobra.NoArgs),
	}
	roots := root.Flags().StringArray("root", nil, "directory to search for external runs; repeatable")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if isTerminal() {
			return a.openWorkbench(cmd.Context(), *roots)
		}
		if err := cmd.Help(); err != nil {
			return err
		}
		return exitWith(2)
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return badInput(problem.Mark(problem.Usage, fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())))
	})
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON: one document, or for streams one object per line")
	root.AddCommand(
		portCmd(a), editCmd(a), checkCmd(a), explainCmd(a), diffCmd(a), migrateCmd(a),
		dryRunCmd(a), applyCmd(a), runsCmd(a), watchCmd(a), logsCmd(a), cancelCmd(a),
		resultsCmd(a), rollupCmd(a), parityCmd(a), exportCmd(a),
		replayCmd(a), mockServerCmd(a), demoCmd(a), doctorCmd(a), jobCmd(a), versionCmd(a),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Short, cmd.Example = "Show help for a command", "  agentperf-tui help port"
		case "completion":
			cmd.Short, cmd.Example = "Print a completion script for a shell", "  source <(agentperf-tui completion bash)"
		}
	}
	if err := a.complete(root); err != nil {
		panic(err) // two completions for one flag: a bug in the program
	}
	return root
}

func versionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: usage(cobra.NoArgs),
		Example: `  agentperf-tui version`,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.print(map[string]string{"version": version})
			}
			return a.say("agentperf-tui %s\n", version)
		},
	}
}
