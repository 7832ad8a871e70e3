package porter

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// input holds the artifacts and options that the fields are derived from.
type input struct {
	opt      Options
	run      *harness.Run
	rewrites rules.Rewrites
	datasets *Datasets // nil if there was no search for datasets
	// candidates are the files below the dataset roots with the names of the datasets.
	candidates map[string][]Candidate
}

// openRun opens a run directory.
func openRun(ctx context.Context, dir string) (*harness.Run, error) {
	run, err := harness.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("port %s: %w", dir, err)
	}
	if run.IsRun() {
		return run, nil
	}
	runs, err := harness.FindRuns(ctx, dir, 4)
	if err != nil {
		return nil, err
	}
	if len(runs) > 0 {
		return nil, &ParentError{dir, runs}
	}
	return nil, problem.Errorf(problem.HarnessRunNotFound,
		"port %s: is not a harness run directory: it contains none of %s, and no run directory was found below it", dir,
		strings.Join(harness.ArtifactNames, ", "))
}

// readInput reads the artifacts and searches for the datasets that they name.
func readInput(ctx context.Context, run *harness.Run, opt Options) (*input, error) {
	in := &input{opt: opt, run: run, rewrites: slices.Clone(opt.PathRewrites), datasets: opt.Datasets}
	if !opt.NoDefaultRewrites {
		in.rewrites = append(in.rewrites, rules.DefaultRewrites...)
	}
	progress := func(name string, done, total int64) {
		opt.Report(Progress{Stage: "read", Name: name, Done: done, Total: total})
	}
	run.Rewrite = func(path string) string {
		path, _ = in.rewrites.Apply(path)
		return path
	}
	if err := run.Read(ctx, progress); err != nil {
		return nil, fmt.Errorf("port %s: %w", run.Dir, err)
	}
	if err := in.findDatasets(ctx); err != nil {
		return nil, err
	}
	return in, nil
}

// artifact returns the artifact of a kind. Its name is the kind if there is none.
func (in *input) artifact(kind string) Artifact {
	for _, a := range in.run.Artifacts {
		if a.Kind == kind {
			return a
		}
	}
	return Artifact{Name: kind, Kind: kind}
}

// source returns the name of the run directory in reports, which is the same on every machine.
func (in *input) source() string {
	return filepath.Base(filepath.Dir(in.run.Real)) + "/" + filepath.Base(in.run.Real)
}

// rewritePath rewrites the prefix of a path. The origin is a copy if no rewrite applies.
func (in *input) rewritePath(s string, ev ...Evidence) (string, origin) {
	out, rule := in.rewrites.Apply(s)
	if rule == "" {
		return out, copied(ev...)
	}
	return out, translated(rule, rules.WhyRewrite, ev...)
}

// rewriteNode rewrites the strings of a YAML value as rewritePath does.
func (in *input) rewriteNode(n *yaml.Node, ev ...Evidence) (*yaml.Node, origin) {
	out, rule := in.rewrites.Node(n)
	if rule == "" {
		return out, copied(ev...)
	}
	return out, translated(rule, rules.WhyRewrite, ev...)
}

// isMounted reports whether one of the recipe's mounts covers a container path.
func (in *input) isMounted(p string) bool {
	list, _ := in.oldMounts()
	servers := in.rewrites.Mounts(list)
	more, _ := in.clientMounts(servers)
	for _, m := range append(servers, more...) {
		parts := strings.Split(m, ":")
		if dir := parts[min(1, len(parts)-1)]; p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}

// configOrigin returns the origin of a value of the client's own configuration.
func (in *input) configOrigin(why string, ev ...Evidence) origin {
	if in.run.ConfigNamed.Text == "" {
		return inferred("the client's configuration has its usual name; no artifact names it", why, ev...)
	}
	return origin{class: Copied, why: why, evidence: ev}
}

// configValue returns the value of a key in the client's own configuration.
func (in *input) configValue(key string) (*yaml.Node, Evidence, bool) {
	if in.run.Config == nil {
		return nil, Evidence{}, false
	}
	leaf, ok := in.run.Config.Find(key)
	if !ok {
		return nil, Evidence{}, false
	}
	return leaf.Node, in.run.Config.At(leaf), true
}
