package porter

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/rules"
)

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

// findDatasets searches for the datasets that the artifacts name, if there are roots. Files of the same name are
// told apart.
func (in *input) findDatasets(ctx context.Context) error {
	names := in.datasetNames()
	if in.datasets == nil && len(in.opt.DatasetRoots) > 0 && len(names) > 0 {
		found, err := IndexDatasets(ctx, in.opt.DatasetRoots, in.opt.Report)
		if err != nil {
			return err
		}
		in.datasets = found
	}
	in.candidates = map[string][]Candidate{}
	for _, name := range names {
		hits := in.datasets.Find(name)
		if err := addDigests(ctx, hits, in.opt.Report); err != nil {
			return err
		}
		in.candidates[name] = hits
	}
	return nil
}

// datasetField sets the path of a dataset: the original path if an artifact shows it, or else that
// of the only file of its name below the dataset roots.
func (p *porting) datasetField(key, otherwise string) {
	v, ok := p.datasetPath(key)
	if !ok {
		p.missingDataset(key, otherwise)
		return
	}
	name := path.Base(v.Text)
	if !isNodeLocal(v.Text) && strings.HasPrefix(v.Text, "/") {
		text, from := p.rewritePath(v.Text, v.At)
		p.setWorkload(key, plain(text), from)
		return
	}
	const why = "the old run read a node-local copy"
	originals := p.originals(name)
	if len(originals) == 1 {
		text, rule := p.rewrites.Apply(originals[0].Text)
		p.setWorkload(key, plain(text), inferred(rules.Join("the only other path of a file of that name in the "+
			"artifacts", rule),
			why, v.At, originals[0].At))
		return
	}
	hits := p.candidates[name]
	if len(hits) == 1 {
		text, rule := p.rewrites.Apply(hits[0].Value)
		rule = rules.Join("the only file of that name below the dataset roots", rule)
		p.setWorkload(key, plain(text),
			inferred(rule, why, v.At, Evidence{Artifact: "dataset root", Key: name, Raw: hits[0].Value}))
		return
	}
	t := Todo{Kind: MustFix, File: Workload, Path: key, Evidence: []Evidence{v.At}}
	switch {
	case len(hits) > 1:
		t.Message = fmt.Sprintf("%d files below the dataset roots are named %s%s: choose "+
			"one", len(hits), name, compareDigests(hits))
		for _, h := range hits {
			h.Value, _ = p.rewrites.Apply(h.Value)
			t.Candidates = append(t.Candidates, h)
		}
	case len(originals) > 1:
		t.Message = fmt.Sprintf("%s of %s, and the artifacts name several files of that name: choose one", why, name)
	case p.datasets == nil:
		t.Message = fmt.Sprintf("%s of %s: give the original, or port with --dataset-root", why, name)
	default:
		t.Message = fmt.Sprintf("no file named %s below the dataset roots: give its path", name)
	}
	for _, o := range originals {
		text, _ := p.rewrites.Apply(o.Text)
		t.Candidates, t.Evidence = append(t.Candidates, Candidate{Value: text}), append(t.Evidence, o.At)
	}
	p.setWorkload(key, plain("/TODO/"+name), placeholder(why, v.At))
	p.addTodo("", t)
}

// originals returns the different paths of a file name that the client script or the job parameters name,
// without those of node-local copies. The script copies the originals to the nodes.
func (in *input) originals(name string) []harness.Value {
	var out []harness.Value
	add := func(text string, at func() Evidence) {
		if path.Base(text) == name && path.IsAbs(text) && !isNodeLocal(text) && len(out) < maxEvidence &&
			!slices.ContainsFunc(out, func(o harness.Value) bool { return o.Text == text }) {
			out = append(out, harness.Value{Text: text, At: at()})
		}
	}
	for _, c := range in.run.Client.Commands {
		for _, w := range c.Words {
			add(w.Text, func() Evidence { return in.run.Client.At(name, w) })
		}
		for _, a := range c.Assigns {
			add(a.Value.Text, func() Evidence { return in.run.Client.At(a.Name, a.Value) })
		}
	}
	for _, variable := range slices.Sorted(maps.Keys(in.run.Params)) {
		v := in.run.Params[variable]
		add(v.Text, func() Evidence { return v.At })
	}
	return out
}

// isNodeLocal reports whether a path is that of a node-local copy, which was removed with the job.
func isNodeLocal(p string) bool {
	for _, dir := range []string{"/tmp/", "/var/tmp/", "/dev/shm/"} {
		if strings.HasPrefix(p, dir) {
			return true
		}
	}
	return strings.Contains(p, "$") || strings.Contains(p, "<")
}

// missingDataset sets the key of a dataset that no artifact names.
func (p *porting) missingDataset(key, otherwise string) {
	banner := p.run.Banner
	v, ok := banner.Values[bannerAssignments]
	switch {
	case key == assignmentsKey && ok:
		p.setWorkload(key, null(), translated("None → null", "", v.At))
	case key == assignmentsKey && banner.Complete:
		at := Evidence{Artifact: p.artifact(harness.ClientLog).Name, Line: banner.First}
		p.setWorkload(key, null(), inferred("the banner names no user assignments", "", at))
		p.ask(Confirm, Workload, key, "", nil, "the banner names no user assignments: confirm that the old run had none")
	default:
		p.setWorkload(key, plain("/TODO/"+otherwise), placeholder("no artifact names the file"))
		p.ask(MustFix, Workload, key, "", nil, "no artifact names the file: give its path")
	}
}
