package main

import (
	"github.com/spf13/cobra"
)

func doctorCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "What this machine has, and where this program keeps things",
		Args: usage(cobra.NoArgs),
	}
	cmd.Flags().StringVar(&a.outputDir, "output-dir", "", "base of run folders")
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
