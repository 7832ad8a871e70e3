package parity

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// maxFile is the size limit in MiB of a roll-up or file of figures.
const maxFile = 256

// AnyPhase makes Load use the only phase.
const AnyPhase = -1

// Side is a run to compare, or a file of figures.
type Side struct {
	Name  string // title of the column
	Path  string // loaded file or directory
	About About
	Phase results.Phase
	// Failure says why the run is incomplete, such as "failed: …"; empty if it is complete.
	Failure string
	// Inputs were read from the directory of the run, and are repeated in About; zero for files of figures.
	Inputs identity.Inputs
	// Warnings are the errors and warnings of the run, which may affect all its phases.
	Warnings []string
	// Requests are the requests of the phase, see results.LoadRequests; empty for files.
	Requests []results.Request

	file os.FileInfo // of Path, to recognize a side that is given twice; nil unless set by Load
}

// About identifies a run. Empty fields are unknown; the caller sets those that Load can't
// determine.
type About struct {
	Name          string `json:"name,omitempty"`
	Cluster       string `json:"cluster,omitempty"`
	Job           string `json:"job,omitempty"`
	Recipe        string `json:"recipe,omitempty"`
	ClientCommit  string `json:"client_commit,omitempty"`
	Model         string `json:"model,omitempty"`
	ModelRevision string `json:"model_revision,omitempty"`
	Dataset       string `json:"dataset,omitempty"`
	DatasetHash   string `json:"dataset_hash,omitempty"` // of the contents of all datasets
	Seed          string `json:"seed,omitempty"`
	Nodes         string `json:"nodes,omitempty"`            // number and names
	Date          string `json:"date,omitempty"`             // of the measurement, else of the submission
	ToolVersions  string `json:"tool_versions,omitempty"`    // of the programs of the run
	Assignments   string `json:"user_assignments,omitempty"` // file, or null for none
	// Settings are the other settings of the client, by keys of the workload.
	Settings map[string]string `json:"settings,omitempty"`
}

// Load reads a side from a directory that [results.Load] accepts, a roll-up, or a file that
// [figurefile] reads. A file of figures has the keys of the statistics file and, under "about",
// those of [About]. Phase is the index of the phase, or AnyPhase; it is ignored for files with a
// single phase. "#" and a number or name after the path of a file choose one of its sets of figures.
func Load(ctx context.Context, path string, phase int, rc results.RunContext) (Side, error) {
	path, choice := splitChoice(path)
	info, err := os.Stat(path)
	if err != nil {
		return Side{}, fmt.Errorf("load figures: %w", err)
	}
	s := Side{Path: path, file: info}
	if err := s.readInputs(ctx, info.IsDir()); err != nil {
		return Side{}, fmt.Errorf("load figures: %s: %w", path, err)
	}
	if len(rc.Planned) == 0 && rc.MinMeasurement == 0 {
		rc.MinMeasurement = s.Inputs.MinMeasurement()
	}
	if info.IsDir() {
		run, requests, err := results.LoadRequests(ctx, path, rc, phase)
		if err == nil {
			s.Requests, s.Warnings = requests, slices.Concat(run.Errors, run.Warnings)
			if s.Phase, err = choosePhase(run.Phases, phase, path); len(run.Phases) == 0 {
				err = run.WithoutFigures(path)
			}
		}
		if err != nil {
			return Side{}, err
		}
	} else if err := s.loadFile(phase, choice, rc); err != nil {
		return Side{}, err
	}
	s.completeAbout(info.IsDir())
	if w := s.Phase.Window; w != nil && s.About.Date == "" {
		s.About.Date = DateText(w.Start)
	}
	s.Name = cmp.Or(s.About.Name, displayName(path))
	return s, nil
}

// displayName returns the last element of the path that identifies the run.
func displayName(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	for {
		switch name := filepath.Base(abs); name {
		case "agentperf", "logs", results.RollupFile:
			abs = filepath.Dir(abs)
		default:
			for _, extension := range []string{".yaml", ".json", ".jsonl", ".md"} {
				name = strings.TrimSuffix(name, extension)
			}
			return name
		}
	}
}

// choosePhase returns the phase with an index, or the only phase for [AnyPhase].
func choosePhase(phases []results.Phase, index int, path string) (results.Phase, error) {
	var have []string
	for _, p := range phases {
		if p.Index == index || index == AnyPhase && len(phases) == 1 {
			return p, nil
		}
		have = append(have, fmt.Sprintf("%d (%s)", p.Index, p.UsersText()))
	}
	if len(have) == 0 {
		return results.Phase{}, problem.Errorf(problem.ResultsNotFound, "load figures: %s: no phase has started", path)
	}
	what := "more than one phase"
	if index != AnyPhase {
		what = fmt.Sprintf("no phase %d", index)
	}
	return results.Phase{}, problem.Errorf(problem.PhaseUnknown,
		"load figures: %s: %s; choose one with --phase (available: %s)", path, what, strings.Join(have, ", "))
}

// loadRollup reads a roll-up; it returns false if data is not a roll-up. The recomputed
// figures in it are preferred to the client's, as in [results.Load].
func (s *Side) loadRollup(data []byte, phase int, rc results.RunContext) (bool, error) {
	var doc struct {
		Benchmark string                `json:"benchmark"`
		Phases    []results.RollupPhase `json:"phases"`
		Partial   bool                  `json:"partial"`
		Ours      *results.Run          `json:"agentperf_tui"`
		Identity  identity.Identity     `json:"identity"`
	}
	if err := json.Unmarshal(data, &doc); err != nil || doc.Phases == nil {
		return false, nil // loadStatistics reports what is wrong
	}
	if doc.Benchmark != "agentperf" {
		return true, problem.Errorf(problem.FiguresInvalid,
			"load figures: %s: is a roll-up of benchmark %q, must be of agentperf", s.Path, doc.Benchmark)
	}
	if s.Inputs.Identity.Version == 0 { // else that of the directory is newer
		s.Inputs.Identity = doc.Identity
		s.Inputs.Commit.Value = cmp.Or(s.Inputs.Commit.Value, doc.Identity.Client.String())
	}
	agg := results.NewAggregator()
	agg.SetMinMeasurement(rc.MinMeasurement)
	for _, p := range doc.Phases {
		stem, ok := harness.ParseStem(strings.TrimSuffix(p.File, ".json"))
		if !ok {
			stem = harness.Stem{Concurrency: p.Concurrency, Phase: p.PhaseIdx}
		}
		if err := agg.AddStatistics(stem, p.Stats); err != nil {
			return true, fmt.Errorf("load figures: %s: %w", s.Path, err)
		}
	}
	run := agg.Snapshot(time.Time{})
	if doc.Ours != nil && len(doc.Ours.Phases) > 0 {
		run = *doc.Ours
	}
	ofPhase := func(p results.Phase) bool { return p.Partial != "" } // then the run is partial because of it
	if doc.Partial && !slices.ContainsFunc(run.Phases, ofPhase) {
		s.Failure = strings.TrimSuffix("is partial: "+run.Partial, ": ")
	}
	s.Warnings = slices.Concat(run.Errors, run.Warnings)
	var err error
	s.Phase, err = choosePhase(run.Phases, phase, s.Path)
	return true, err
}

// fields returns pointers to all fields by their keys.
func (a *About) fields() map[string]*string {
	return map[string]*string{
		"name": &a.Name, "cluster": &a.Cluster, "job": &a.Job, "recipe": &a.Recipe, "client_commit": &a.ClientCommit,
		"model": &a.Model, "model_revision": &a.ModelRevision, "dataset": &a.Dataset, "dataset_hash": &a.DatasetHash,
		"seed": &a.Seed, "user_assignments": &a.Assignments, "nodes": &a.Nodes, "date": &a.Date,
		"tool_versions": &a.ToolVersions,
	}
}

// window returns the length of the measuring window in seconds, or NaN if it is unknown. If
// it is not in the file, it is derived from the number of output tokens and their rate.
func (s *Side) window() (seconds float64, derived bool) {
	p := &s.Phase
	if p.Window != nil {
		return p.Window.Seconds, false
	}
	rate := p.Figures.Get(results.Primary).Value
	tokens := p.Figures.Get(results.OutputSum).Value
	if math.IsNaN(tokens) && p.Requests != nil {
		tokens = p.Figures.Get(results.AvgOutput).Value * float64(p.Requests.Successful)
	}
	if !(rate > 0) {
		return math.NaN(), true
	}
	return tokens / rate, true
}

// stripControl removes characters that could move the cursor or reorder the line.
func stripControl(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}
