package porter

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func sameNumber(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && x == y
}

// workloadLevels writes the same levels as the recipe; they are overridden at
// run time, but the client wants valid ones.
func (b *builder) workloadLevels() {
	for _, f := range b.res.Fields {
		if f.base != "benchmark.concurrency" && f.base != "benchmark.concurrencies" {
			continue
		}
		list := f.node
		if list.Kind == yaml.ScalarNode {
			list = flowList(f.node)
		}
		w := work("concurrencies", list, f.Class, f.Rule, "a placeholder: the recipe's levels are injected", f.Evidence...)
		if node, ev, ok := b.configured("concurrencies"); ok && flowText(node) != flowText(list) {
			b.ask(Note, Workload, "concurrencies", "disagrees", fmt.Sprintf("%s says %s, %s is written", b.configName, flowText(node), flowText(list)), ev)
		}
		b.put(w)
		return
	}
}

// settling writes the settling time, which stands in the names of the outputs.
func (b *builder) settling() {
	const key = "settling_time_seconds"
	var at []Evidence
	var values []string
	for _, name := range b.stems {
		s, _ := parseStem(strings.TrimSuffix(name, path.Ext(name)))
		if !slices.Contains(values, s.settle) {
			values = append(values, s.settle)
			at = append(at, Evidence{Artifact: nameResults + "/" + name, Key: "settle", Raw: s.settle})
		}
	}
	node, ev, configured := b.configured(key)
	switch {
	case configured:
		b.put(work(key, node, Copied, "", "the client's own configuration goes before the names of its outputs", append([]Evidence{ev}, at...)...))
		if len(values) > 0 && !sameNumber(values[0], node.Value) {
			b.compare(key, node, number(values[0]), "settle in the output's name", ev, at[0])
		}
	case len(values) == 0:
		b.put(work(key, number("240.0"), Default, "fallback", "no output file shows it"))
		b.ask(Confirm, Workload, key, "", "no output file shows the settling time: confirm the fallback")
	default:
		seconds, _ := asSeconds(values[0])
		if seconds == nil {
			seconds = number("240.0")
		}
		b.put(work(key, seconds, Translated, "settle<S>s in the names of the outputs", "", at...))
	}
	if len(values) > 1 {
		t := Todo{Kind: Confirm, File: Workload, Path: key, Message: "phases settled for different times (" + strings.Join(values[:min(len(values), 16)], ", ") + " s), but a workload has one: choose", Evidence: at[:min(len(at), 16)]}
		for _, v := range values[:min(len(values), 16)] {
			t.Candidates = append(t.Candidates, Candidate{Value: v})
		}
		b.todo("phases", t)
	}
}

// isStaged recognises node-local copies, which are gone with the job.
func isStaged(p string) bool {
	for _, dir := range []string{"/tmp/", "/var/tmp/", "/dev/shm/"} {
		if strings.HasPrefix(p, dir) {
			return true
		}
	}
	return strings.Contains(p, "$") || strings.Contains(p, "<")
}

// datasetEvidence is the path of a dataset as the old client saw it.
func (b *builder) datasetEvidence(key string) (located, bool) {
	if node, ev, ok := b.configured(key); ok && node.Kind == yaml.ScalarNode && node.Tag == "!!str" && node.Value != "" {
		return located{node.Value, ev}, true
	}
	labels := []string{labelTrajectories}
	if key == "user_assignments_path" {
		labels = []string{"User assignments", labelAssignments}
	}
	for _, l := range labels {
		if v, ok := b.banner.values[l]; ok && v.value != "" && v.value != "None" {
			return v, true
		}
	}
	return located{}, false
}

// dataset writes the path of a dataset: the original if the client's
// configuration has it, else the one file of that name below the dataset roots.
func (b *builder) dataset(key, placeholder string) {
	v, ok := b.datasetEvidence(key)
	if !ok {
		b.noDataset(key, placeholder)
		return
	}
	name := path.Base(v.value)
	if !isStaged(v.value) && strings.HasPrefix(v.value, "/") {
		text, class, rule, why := b.moved(v.value)
		b.put(work(key, plain(text), class, rule, why, v.at))
		return
	}
	hits := b.datasets.find(name)
	if len(hits) == 1 {
		text, rule := b.rewrites.apply(hits[0].Value)
		b.put(work(key, plain(text), Inferred, join("the only file of that name below the dataset roots", rule), "the old run read a node-local copy",
			v.at, Evidence{Artifact: "dataset root", Key: name, Raw: hits[0].Value}))
		return
	}
	t := Todo{Kind: MustFix, File: Workload, Path: key, Evidence: []Evidence{v.at}}
	switch {
	case len(hits) > 1:
		t.Message = fmt.Sprintf("%d files below the dataset roots are named %s: choose one", len(hits), name)
		for _, h := range hits {
			h.Value, _ = b.rewrites.apply(h.Value)
			t.Candidates = append(t.Candidates, h)
		}
	case b.datasets == nil:
		t.Message = fmt.Sprintf("the old run read a node-local copy of %s: give the original, or port with --dataset-root", name)
	default:
		t.Message = fmt.Sprintf("no file named %s below the dataset roots: give its path", name)
	}
	b.put(work(key, plain("/TODO/"+name), Missing, "placeholder", "the old run read a node-local copy", v.at))
	b.todo("", t)
}

// noDataset handles a dataset that no artifact names.
func (b *builder) noDataset(key, placeholder string) {
	if v, ok := b.banner.values["User assignments"]; key == "user_assignments_path" && (ok || b.banner.complete) {
		if ok {
			b.put(work(key, null(), Translated, "None → null", "", v.at))
			return
		}
		b.put(work(key, null(), Inferred, "the banner names no user assignments", "", Evidence{Artifact: nameClient, Line: b.banner.first}))
		b.ask(Confirm, Workload, key, "", "the banner names no user assignments: confirm that the old run had none")
		return
	}
	b.put(work(key, plain("/TODO/"+placeholder), Missing, "placeholder", "no artifact names the file"))
	b.ask(MustFix, Workload, key, "", "no artifact names the file: give its path")
}

// furtherKeys carries over what the client's left-over configuration holds
// beyond the ported keys: spawn rate, stop criteria, and what we don't know.
func (b *builder) furtherKeys() {
	if b.config == nil {
		return
	}
	ported := map[string]bool{}
	for _, f := range b.workload.Fields()[:schema.PortedWorkloadKeys] {
		ported[f.Name()] = true
	}
	for _, leaf := range b.config.leaves {
		key := leaf.keys[0].Value
		ev := b.config.ev(b.configName, leaf)
		switch {
		case ported[key]:
			continue
		case key == "results_dir":
			b.res.Dropped = append(b.res.Dropped, Dropped{"workload", key, "drop", "the bench step sets it", ev})
			continue
		}
		f := Field{File: Workload, sub: leaf.keys, Class: Copied, Evidence: []Evidence{ev}}
		f.node, f.Rule = b.rewriteNode(leaf.node)
		if f.Rule != "" {
			f.Class, f.Why = Translated, whyRewrite
		}
		b.put(f)
	}
}
