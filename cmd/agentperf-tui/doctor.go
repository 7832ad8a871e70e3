package main

import (
	"github.com/spf13/cobra"
)

func doctorCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "Show the environment and where files are kept", Args: usage(cobra.NoArgs),
		Long: `Show what this program finds on this machine (Slurm, srtctl, the terminal, the file
system) and where it keeps its files.`,
		Example: `  agentperf-tui doctor`,
	}
	cmd.Flags().StringVar(&a.outputDir, "output-dir", "", "parent of run directories")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		e, err := a.engine()
		if err != nil {
			return err
		}
		facts := e.Doctor(cmd.Context())
		if a.json {
			return a.print(facts)
		}
		rows := [][]string{{"WHAT", "FOUND", "NOTE"}}
		for _, f := range facts {
			rows = append(rows, []string{f.What, f.Found, f.Note})
		}
		return a.table(rows)
	}
	return cmd
}
