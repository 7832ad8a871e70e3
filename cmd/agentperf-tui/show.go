package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/safetext"
)

// showCmd tells of one run what is not in its figures.
func showCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show RUN", Short: "One run: its state, what it ran with, and how to open a shell beside its steps", Args: usage(cobra.ExactArgs(1)),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, l, err := a.find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		s, err := e.State(l)
		if err != nil {
			return err
		}
		id, err := e.Identity(l)
		if err != nil {
			return err
		}
		shells, err := e.Shells(l)
		if err != nil {
			return err
		}
		if a.json {
			return a.print(struct {
				Record   rundir.Record      `json:"run"`
				Dir      string             `json:"dir"`
				Status   event.Status       `json:"status"`
				Identity *identity.Identity `json:"identity,omitempty"`
				Shells   []engine.Shell     `json:"shells"`
			}{l.Record, l.Dir, s, known(id), shells})
		}
		why := strings.TrimSuffix(string(s.State)+": "+safetext.Clean(s.Message), ": ")
		if s.State == "" {
			why = string(event.Unknown) // outputs of another tool, which keeps no diary
		}
		if err := a.say("%s\nfolder %s\nstate %s\n", l.Label(), l.Dir, why); err != nil {
			return err
		}
		if err := a.ranWith(id); err != nil {
			return err
		}
		for _, sh := range shells {
			if err := a.say("shell beside %s on %s\n  %s\n", sh.Step, sh.Node, sh.Line); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// shellsJSON is the line of a watch's stream that says how to look around.
func (a *app) shellsJSON(e *engine.Engine, l engine.RunRef) error {
	shells, err := e.Shells(l)
	if err != nil || len(shells) == 0 {
		return err
	}
	return printLine(a.stdout, struct {
		Type   string         `json:"type"`
		Shells []engine.Shell `json:"shells"`
	}{"shells", shells})
}
