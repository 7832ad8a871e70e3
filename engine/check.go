package engine

import (
	"context"
	"slices"

	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/srtctlschema"
)

// AskSrtctl asks an installed srtctl about the keys that are unknown to this program, and adds its verdict
// to the findings: an error becomes a warning if srtctl accepts the key. srtctl runs only if there is such
// a key. The schema of srtctl is that of layout 2, so keys of recipes in layout 1 stay errors.
func (*Engine) AskSrtctl(ctx context.Context, pairs []*Pair) error {
	ofRecipe := func(p *Pair) string {
		if p.Recipe == nil || p.Recipe.Schema != 2 {
			return ""
		}
		return p.Recipe.File
	}
	ofCluster := func(p *Pair) string {
		if p.Cluster == nil {
			return ""
		}
		return p.Cluster.File
	}
	for _, of := range []struct {
		cluster bool
		file    func(*Pair) string
	}{{false, ofRecipe}, {true, ofCluster}} {
		if !slices.ContainsFunc(pairs, func(p *Pair) bool { return hasUnknownKey(p.Report.Diagnostics, of.file(p)) }) {
			continue
		}
		data, err := slurm.SrtctlSchema(ctx, of.cluster)
		if err != nil {
			return err
		}
		schema, err := srtctlschema.Parse(data)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if file := of.file(p); file != "" {
				schema.Judge(file, p.Report.Diagnostics)
			}
		}
	}
	return nil
}

// hasUnknownKey reports whether there is an error about an unknown key of a file.
func hasUnknownKey(found recipes.Diagnostics, file string) bool {
	return slices.ContainsFunc(found, func(d recipes.Diagnostic) bool {
		return file != "" && d.File == file && d.UnknownKey()
	})
}
