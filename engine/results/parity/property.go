package parity

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// Property is an input or a setting of the runs.
type Property struct {
	Name      string `json:"name"` // settings have the key of the workload
	Reference string `json:"reference"`
	Candidate string `json:"candidate"` // empty if unknown
	Required  bool   `json:"required"`  // runs that differ in it are not comparable
	State     string `json:"state"`
	// Conflicts are contradictions within a side; empty if there are none.
	Conflicts [2]string `json:"conflicts,omitzero"`
}

// States of a Property.
const (
	Same      = "same"
	Different = "different"
	Unknown   = "unknown" // for a side
)

// Mark returns "=" for a property that is the same, "≠" for one that is different, else "?".
func (p Property) Mark() string {
	switch p.State {
	case Same:
		return "="
	case Different:
		return "≠"
	}
	return "?"
}

// mainSettings are the settings that are always listed as properties, even if no side knows them.
var mainSettings = []string{
	"max_tokens", "reasoning_effort", "max_starting_line_offset", identity.PhaseTimeoutKey, identity.SettlingKey,
	identity.TrajectoriesKey,
}

// readInputs reads the inputs of the run from its directory, if the path is in one.
func (s *Side) readInputs(ctx context.Context, isDir bool) (err error) {
	_, isStatistics := harness.ParseStem(strings.TrimSuffix(filepath.Base(s.Path), ".json"))
	isStatistics = isStatistics && filepath.Base(filepath.Dir(s.Path)) == harness.Results
	if !isDir && !isStatistics && filepath.Base(s.Path) != results.RollupFile {
		s.Inputs = identity.Inputs{Settings: map[string]identity.Setting{}, Conflicts: map[string]string{}}
		return nil
	}
	s.Inputs, err = identity.ReadInputs(ctx, identity.RunDir(s.Path), logDir(s.Path, isDir))
	return err
}

// completeAbout sets the unknown fields of About from the inputs, from the names of the outputs and
// from the identity in a roll-up.
func (s *Side) completeAbout(isDir bool) {
	in := &s.Inputs
	stem, stemmed := harness.ParseStem(s.Phase.Stem)
	if isDir && !stemmed {
		stem, stemmed = onlyStem(s.Path, s.Phase.Index)
		if n := s.Phase.Concurrency; stemmed && n > 0 && n != stem.Concurrency {
			in.Conflicts["concurrency"] = fmt.Sprintf("the rows have %s users, but the name of the output has %s",
				results.Count(n), results.Count(stem.Concurrency))
			stemmed = false
		}
	}
	if stemmed {
		in.AddStem(stem)
		s.About.Model = cmp.Or(s.About.Model, stem.Model)
	}
	s.About.fill(s.Inputs)
}

// logDir returns the log directory of a path that was loaded: it holds the client's output directory.
func logDir(path string, isDir bool) string {
	if !isDir {
		path = filepath.Dir(path)
	}
	if filepath.Base(path) == harness.Results {
		path = filepath.Dir(path)
	}
	return path
}

// onlyStem returns the stem of the output files of a phase that has no statistics file. If there are
// several, it is not known which of them was the last.
func onlyStem(path string, phase int) (harness.Stem, bool) {
	logs := filepath.Join(path, "logs")
	for _, dir := range []string{filepath.Join(path, harness.Results), filepath.Join(logs, harness.Results), path} {
		if stems, err := harness.OutputStems(dir, phase); err == nil && len(stems) == 1 {
			return stems[0], true
		}
	}
	return harness.Stem{}, false
}

// fill sets the fields that are unknown so far.
func (a *About) fill(in identity.Inputs) {
	setting := func(key string) string { return in.Settings[key].Value }
	a.Model = cmp.Or(a.Model, setting(identity.ModelKey))
	a.Seed = cmp.Or(a.Seed, setting(identity.SeedKey))
	a.Dataset = cmp.Or(a.Dataset, setting(identity.DatasetKey))
	a.Assignments = cmp.Or(a.Assignments, setting(identity.AssignmentsKey))
	a.ClientCommit = cmp.Or(a.ClientCommit, in.Commit.Value)
	a.DatasetHash = cmp.Or(a.DatasetHash, in.Identity.DatasetHash())
	if m := in.Identity.Model; m != nil {
		a.ModelRevision = cmp.Or(a.ModelRevision, m.Revision, m.Expected)
	}
	for key, v := range in.Settings {
		switch key {
		case identity.ModelKey, identity.SeedKey, identity.DatasetKey, identity.AssignmentsKey:
			continue
		}
		if a.Settings == nil {
			a.Settings = map[string]string{}
		}
		if _, given := a.Settings[key]; !given {
			a.Settings[key] = v.Value
		}
	}
}

// newProperties compares the inputs and settings of the runs.
func newProperties(ref, cand *Side) []Property {
	users := func(s *Side) string {
		if s.Phase.Concurrency > 0 {
			return results.Count(s.Phase.Concurrency)
		}
		return ""
	}
	a, b := &ref.About, &cand.About
	var out []Property
	add := func(name, key, x, y string, required bool, same func(x, y string) bool) {
		p := Property{Name: name, Reference: stripControl(x), Candidate: stripControl(y), Required: required, State: Unknown}
		p.Conflicts = [2]string{stripControl(ref.Inputs.Conflicts[key]), stripControl(cand.Inputs.Conflicts[key])}
		if x != "" && y != "" {
			if p.State = Different; same(x, y) {
				p.State = Same
			}
		}
		out = append(out, p)
	}
	sameAs := func(key string) func(x, y string) bool {
		return func(x, y string) bool { return identity.Same(key, x, y) }
	}
	// Files with equal contents are the same, whatever their names.
	sameFile := func(x, y string) bool {
		return a.DatasetHash != "" && a.DatasetHash == b.DatasetHash || identity.Same(identity.DatasetKey, x, y)
	}
	add("concurrency", "concurrency", users(ref), users(cand), true, sameAs(""))
	add("model", identity.ModelKey, a.Model, b.Model, true, sameAs(identity.ModelKey))
	add("model revision", "", a.ModelRevision, b.ModelRevision, true, identity.SameCommit)
	add("seed", identity.SeedKey, a.Seed, b.Seed, true, sameAs(""))
	add("dataset", identity.DatasetKey, a.Dataset, b.Dataset, true, sameFile)
	add("assignments", identity.AssignmentsKey, a.Assignments, b.Assignments, true, sameFile)
	if a.DatasetHash != "" && b.DatasetHash != "" {
		add("dataset contents", "", a.DatasetHash, b.DatasetHash, true, sameAs(""))
	}
	add("client commit", "client_commit", a.ClientCommit, b.ClientCommit, true, identity.SameCommit)
	if ref.Inputs.Publishing != "" || cand.Inputs.Publishing != "" {
		add("metrics of workers", "", ref.Inputs.Publishing, cand.Inputs.Publishing, false, sameAs(""))
	}
	keys := slices.Clone(mainSettings)
	keys = append(keys, slices.Sorted(maps.Keys(a.Settings))...)
	keys = append(keys, slices.Sorted(maps.Keys(b.Settings))...)
	done := map[string]bool{}
	for _, key := range keys {
		if !done[key] {
			add(key, key, a.Settings[key], b.Settings[key], false, sameAs(key))
		}
		done[key] = true
	}
	return out
}

// propertyReasons returns a reason for each property that must be equal but differs, or for which a
// side has contradictory values.
func propertyReasons(all []Property) []string {
	var reasons []string
	for _, p := range all {
		switch {
		case !p.Required:
			continue
		case p.State == Different && p.Name == "dataset contents":
			reasons = append(reasons, "dataset contents differ")
		case p.State == Different:
			reasons = append(reasons, fmt.Sprintf("%s differs: %s vs. %s", p.Name, p.Reference, p.Candidate))
		}
		for i, text := range p.Conflicts {
			if text != "" {
				reasons = append(reasons, fmt.Sprintf("%s of the %s is uncertain: %s", p.Name, sideNames[i], text))
			}
		}
	}
	return reasons
}

// propertyNotes lists the required properties that are unknown for a side, and the other properties
// that differ, are unknown, or for which a side has contradictory values.
func propertyNotes(all []Property) []string {
	var unknown, differ, conflicts, unknownSettings, notes []string
	for _, p := range all {
		switch {
		case p.State == Unknown && p.Required:
			unknown = append(unknown, p.Name)
		case p.State == Unknown:
			unknownSettings = append(unknownSettings, p.Name)
		case p.State == Different && !p.Required:
			differ = append(differ, fmt.Sprintf("%s %s vs. %s", p.Name, p.Reference, p.Candidate))
		}
		for i, text := range p.Conflicts {
			if text != "" && !p.Required {
				conflicts = append(conflicts, fmt.Sprintf("%s: %s is uncertain: %s", sideNames[i], p.Name, text))
			}
		}
	}
	list := func(title string, items []string) {
		if len(items) > 0 {
			notes = append(notes, title+": "+strings.Join(items, ", "))
		}
	}
	list("not checked because unknown for at least one side", unknown)
	list("settings differ", differ)
	notes = append(notes, conflicts...)
	list("settings not checked because unknown for at least one side", unknownSettings)
	return notes
}
