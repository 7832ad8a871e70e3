package porter

import (
	"context"
	"fmt"
	"path"
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
	if in.datasets == nil && len(opt.DatasetRoots) > 0 && len(in.datasetNames()) > 0 {
		found, err := IndexDatasets(ctx, opt.DatasetRoots, opt.Report)
		if err != nil {
			return nil, err
		}
		in.datasets = found
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
	mounts, _ := in.oldMounts()
	for _, m := range in.rewrites.Mounts(mounts) {
		parts := strings.Split(m, ":")
		if dir := parts[min(1, len(parts)-1)]; p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
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

// datasetPath returns the path of a dataset as the old client read it.
func (in *input) datasetPath(key string) (harness.Value, bool) {
	node, ev, ok := in.configValue(key)
	if ok && node.Kind == yaml.ScalarNode && node.Tag == "!!str" && node.Value != "" {
		return harness.Value{Text: node.Value, At: ev}, true
	}
	labels := []string{harness.LabelTrajectories}
	if key == assignmentsKey {
		labels = []string{bannerAssignments, harness.LabelAssignments}
	}
	for _, l := range labels {
		if v, ok := in.run.Banner.Values[l]; ok && v.Text != "" && v.Text != "None" {
			return v, true
		}
	}
	return harness.Value{}, false
}

// datasetNames returns the base names of the datasets that the artifacts name.
func (in *input) datasetNames() []string {
	var names []string
	for _, key := range []string{trajectoriesKey, assignmentsKey} {
		if v, ok := in.datasetPath(key); ok {
			names = append(names, path.Base(v.Text))
		}
	}
	return names
}
