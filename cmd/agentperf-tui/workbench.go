package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/tui"
	"github.com/agentperf/agentperf-tui/tui/dashboard"
	"github.com/agentperf/agentperf-tui/tui/edit"
	"github.com/agentperf/agentperf-tui/tui/parity"
	"github.com/agentperf/agentperf-tui/tui/port"
	"github.com/agentperf/agentperf-tui/tui/runs"
	"github.com/agentperf/agentperf-tui/tui/submit"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// fps is the maximum frame rate: smooth scrolling with little load on the login node.
const fps = 20

// isTerminal reports whether stdin and stdout are a terminal.
func isTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// screens returns the factory of all screens. reference is the default reference of a
// comparison, if it is not empty.
func screens(
	e *engine.Engine, ported port.Engine, compare parity.Engine, reference string, launch plan.Target, roots ...string,
) tui.Factory {
	return func(what ui.Open, th ui.Theme) ui.Screen {
		switch o := what.(type) {
		case ui.OpenPort:
			return port.New(ported, th, o.Dir)
		case ui.OpenEdit:
			return edit.New(editEngine{e}, th, o.Recipe, o.Workload)
		case ui.OpenSubmit:
			return submit.New(e, th, o.Recipe, o.Workload, launch)
		case ui.OpenRun:
			return dashboard.New(e, th, o.Run)
		case ui.OpenParity:
			if o.Ref == "" {
				o.Ref = reference
			}
			return parity.New(compare, th, o.Ref, o.Cand, roots...)
		}
		return runs.New(e, th, nil)
	}
}

// editEngine is the engine of the editor, with access to port reports.
type editEngine struct{ *engine.Engine }

// Ported returns recipe and workload as they were ported, from the report beside the recipe.
func (editEngine) Ported(_ context.Context, recipePath string) (recipe, workload string, err error) {
	p, err := porter.LoadProvenance(porter.ProvenancePath(recipePath))
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", problem.Errorf(
			problem.ReportMissing,
			"compare with the port: %s: no port report found",
			recipePath,
		)
	}
	if err != nil {
		return "", "", err
	}
	return p.Texts[porter.Recipe], p.Texts[porter.Workload], nil
}

// portEngine is the engine of the port wizard.
type portEngine struct{ session.Session }

// FileView opens an artifact.
func (portEngine) FileView(ctx context.Context, path string) (*engine.LogView, <-chan engine.LogGrowth, error) {
	return engine.FileView(ctx, path)
}

// portSession returns a port session that keeps its state in the state directory.
func portSession(e *engine.Engine) portEngine {
	return portEngine{session.Session{StateDir: e.Paths.State}}
}

// workbench runs the terminal UI until the user quits.
func (a *app) workbench(ctx context.Context, m *tui.Model) error {
	if !isTerminal() {
		return badInput(problem.New(problem.TerminalRequired,
			"workbench: not a terminal; every screen is also a command, see --help"))
	}
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(fps)}
	if os.Getenv("NO_COLOR") != "" { // any value, see no-color.org
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	_, err := tea.NewProgram(m, opts...).Run()
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return exitError{code: 1, err: fmt.Errorf("workbench: crashed; runs continue: %w", err)}
	case errors.Is(err, tea.ErrInterrupted), errors.Is(err, context.Canceled):
		return nil
	}
	return err
}

// openWorkbench opens the workbench on a screen. External runs below roots are listed.
func (a *app) openWorkbench(ctx context.Context, roots []string, first ...ui.Open) error {
	e, err := a.engine()
	if err != nil {
		return err
	}
	factory := screens(e, portSession(e), e, "", plan.Slurm, roots...)
	return a.workbench(ctx, tui.New(factory, runs.New(e, ui.NewTheme(true), roots), tui.Options{Dark: true, Open: first}))
}

func editCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "edit [RECIPE]", Short: "Edit a recipe and its workload", Args: usage(cobra.MaximumNArgs(1)),
		Long: `Edit a recipe and its workload side by side in the workbench. Both are checked on each
keystroke. If the recipe does not exist, it starts from an example.`,
		Example: `  agentperf-tui edit r.yaml --workload w.yaml`,
	}
	flag := addRecipeFlag(cmd)
	workload := cmd.Flags().String("workload", "",
		"workload file (default: agentperf_config of the recipe, if it is visible here)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		recipe, err := recipeArg(args, *flag)
		if err != nil {
			return err
		}
		return a.openWorkbench(cmd.Context(), nil, ui.OpenEdit{Recipe: recipe, Workload: *workload})
	}
	return cmd
}
