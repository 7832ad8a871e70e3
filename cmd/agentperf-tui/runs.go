package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

func runsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "runs [ROOT...]", Short: "List recorded runs and the runs below ROOT",
		Long: `List the recorded runs and, below each ROOT, harness run directories and output
directories of other tools; newest first.`,
		Example: `  agentperf-tui runs
  agentperf-tui runs /lustre/results --json
  agentperf-tui runs show dsv4_12345`,
	}
	cmd.AddCommand(showCmd(a))
	cmd.RunE = func(cmd *cobra.Command, roots []string) error {
		e, err := a.engine()
		if err != nil {
			return err
		}
		for _, root := range roots {
			if info, err := os.Stat(root); err != nil {
				return badInput(fmt.Errorf("runs: %w", err))
			} else if !info.IsDir() {
				return badInput(problem.Errorf(problem.NotADirectory, "runs: %s: is not a directory", root))
			}
		}
		runs, err := e.Runs(cmd.Context(), roots)
		if runs == nil && err != nil {
			return badInput(err)
		}
		if err != nil { // some runs can't be read; list the others
			a.note("%s\n", safetext.Clean(strings.ReplaceAll(err.Error(), "\n", "; ")))
		}
		if a.json {
			if runs == nil {
				runs = []engine.Summary{}
			}
			return a.print(runs)
		}
		head := []string{"STATE", "RUN", "ID", "SOURCE", "USERS"}
		for _, m := range results.RunsColumnMetrics {
			head = append(head, m.Runs.Title)
		}
		rows := [][]string{append(head, "AGE", "MESSAGE")}
		for _, r := range runs {
			levels := strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Levels), " ", ","), "[]")
			row := []string{string(r.State), clip(r.Name, 48), r.ID, r.Source, levels}
			for _, m := range results.RunsColumnMetrics {
				f := r.Figures.Get(m.Key)
				row = append(row, f.Marked(m.RunsText(f.Value, m.Decimals)))
			}
			rows = append(rows, append(row, sinceText(r.Since), clip(r.Message, 120)))
		}
		return a.table(rows)
	}
	return cmd
}

// clip shortens s to at most n characters.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// sinceText returns the time since t, or a dash if t is unknown.
func sinceText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return age(time.Since(t))
}

// age formats a duration in its largest unit.
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

// showCmd shows a run except its figures.
func showCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show RUN", Short: "Show state, identity and shell commands of a run", Args: usage(cobra.ExactArgs(1)),
		Example: `  agentperf-tui runs show dsv4_12345`,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, ref, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		s, err := e.State(ref)
		if err != nil {
			return err
		}
		id, err := e.Identity(ref)
		if err != nil {
			return err
		}
		shells, err := e.Shells(ref)
		if err != nil {
			return err
		}
		if a.json {
			return a.print(struct {
				Record   engine.Record      `json:"run"`
				Dir      string             `json:"dir"`
				Status   event.Status       `json:"status"`
				Identity *identity.Identity `json:"identity,omitempty"`
				Shells   []engine.Shell     `json:"shells"`
			}{ref.Record, ref.Dir, s, recorded(id), shells})
		}
		why := strings.TrimSuffix(string(s.State)+": "+safetext.Clean(s.Message), ": ")
		if s.State == "" {
			why = string(event.Unknown) // an external run has no event log
		}
		a.say("%s\ndirectory %s\nstate %s\n", ref.Label(), ref.Dir, why)
		a.identity(id)
		for _, sh := range shells {
			a.say("shell beside step %s on %s\n  %s\n", sh.Step, sh.Node, sh.Line)
		}
		return a.stdout.err
	}
	return cmd
}
