package identity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Setting is the value of a setting and where it was found, as artifact:line.
type Setting struct {
	Value string
	From  string // empty for the default of the client
}

// Inputs are the inputs and settings of a run, as far as they can be read from its directory. The
// keys are the same for runs of this program, runs of the harness, and copies of either.
type Inputs struct {
	Identity Identity // zero without an identity file
	Commit   Setting  // of the client; empty if unknown
	// Settings are the settings of the client by keys of the workload. A key without a value is
	// unknown.
	Settings map[string]Setting
	// Conflicts describes contradictions between the sources, by key. Settings has the preferred value.
	Conflicts map[string]string
	// HardwareMetrics says whether metrics of the nodes were collected during the run, which affects
	// it: srtctl does so by default, this program does not.
	HardwareMetrics Collected
	// Publishing is the flag with which workers publish metrics, or NotPublished; empty if unknown.
	Publishing string
	Engines    EngineConfigs
}

// Collected says whether something was collected during a run.
type Collected string

// The values of Collected; the zero value means unknown.
const (
	CollectedYes Collected = "collected"
	CollectedNo  Collected = "not collected"
)

// hardwareMetricsDir is the directory of srtctl's hardware metrics in the log directory, unless the recipe
// names another one.
const hardwareMetricsDir = "tachometer"

func hardwareMetrics(dir, logs string) Collected {
	if info, err := os.Stat(filepath.Join(logs, hardwareMetricsDir)); err == nil && info.IsDir() {
		return CollectedYes
	}
	if r, err := rundir.ReadRecord(dir); err == nil && r.Launcher != "srtctl" {
		return CollectedNo
	}
	return ""
}

// Keys of settings that are compared individually.
const (
	SeedKey        = "seed"
	DatasetKey     = "trajectory_path"
	AssignmentsKey = "user_assignments_path"
	ModelKey       = "model"
)

// Keys of the settings that are part of the names of the client's outputs.
const (
	PhaseTimeoutKey = "phase_timeout_seconds"
	SettlingKey     = "settling_time_seconds"
	TrajectoriesKey = "trajectories_per_user"
)

// notSettings are keys of the workload that are placeholders, or say where to write.
var notSettings = []string{"base_url", "api_key", "concurrencies", "results_dir", "exp_prefix", "power_dcgm_url"}

// RunDir returns the run directory of a log directory, of the client's output directory in it, or of a
// file in either. Any other path is returned as it is.
func RunDir(p string) string {
	p = filepath.Clean(p)
	if info, err := os.Stat(p); err == nil && !info.IsDir() {
		p = filepath.Dir(p)
	}
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
	}
	for _, name := range []string{harness.Results, rundir.LogsDir} {
		if filepath.Base(p) == name {
			p = filepath.Dir(p)
		}
	}
	return p
}

// ReadInputs reads the inputs of a run from its run directory and its log directory. Artifacts that are
// missing or can't be used leave their values unknown.
func ReadInputs(ctx context.Context, dir, logs string) (Inputs, error) {
	in := Inputs{Settings: map[string]Setting{}, Conflicts: map[string]string{}}
	var err error
	if in.Identity, err = Read(dir, logs); err != nil && !errors.Is(err, fs.ErrPermission) {
		return in, err
	}
	in.HardwareMetrics = hardwareMetrics(dir, logs)
	in.Publishing, in.Engines = publishing(dir), readEngineConfigs(dir, logs)
	in.Commit.Value = in.Identity.Client.String()
	if in.Commit.Value != "" {
		in.Commit.From = FileName
	}
	run, err := harness.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return in, nil
	}
	if err != nil {
		return in, fmt.Errorf("read the inputs of the run: %s: %w", dir, err)
	}
	if err := run.ReadClient(ctx); err != nil {
		return in, fmt.Errorf("read the inputs of the run: %w", err)
	}
	if run.Config == nil { // a run of this program has the workload as submitted
		if err := run.ReadConfig(ctx, rundir.WorkloadFile); err != nil {
			return in, fmt.Errorf("read the inputs of the run: %w", err)
		}
	}
	if v, ok := run.ClientCommit(); ok {
		in.addCommit(v)
	}
	for key, values := range run.Settings() {
		if !slices.Contains(notSettings, key) {
			for _, v := range values {
				in.add(key, v.Text, place(v.At))
			}
		}
	}
	if run.Config != nil {
		in.addDefaults()
		if v := in.Settings[ModelKey]; strings.HasPrefix(v.From, run.Config.Artifact+":") {
			delete(in.Settings, ModelKey) // a placeholder: the job sets the name
		}
	}
	return in, nil
}

// addCommit adds the commit that is part of the name of the checkout.
func (in *Inputs) addCommit(v harness.Value) {
	if known := in.Commit.Value; known == "" {
		in.Commit = Setting{v.Text, place(v.At)}
	} else if !SameCommit(strings.SplitN(known, "-", 2)[0], v.Text) {
		in.Conflicts["client_commit"] = fmt.Sprintf("%s has %s, but %s shows %s", in.Commit.From, known, place(v.At), v.Text)
	}
}

// add adds a value of a setting. A later value that is not the same is a conflict.
func (in *Inputs) add(key, value, from string) {
	known, ok := in.Settings[key]
	switch {
	case !ok || known.From == "":
		in.Settings[key] = Setting{value, from}
	case key != ModelKey && !Same(key, known.Value, value) && in.Conflicts[key] == "":
		in.Conflicts[key] = fmt.Sprintf("%s has %s, but %s shows %s", known.From, known.Value, from, value)
	}
}

// addDefaults adds the values that the client uses for keys that its configuration leaves out.
func (in *Inputs) addDefaults() {
	for _, f := range schema.Workload().Fields() {
		if key := f.Name(); !f.Required && !slices.Contains(notSettings, key) {
			if _, ok := in.Settings[key]; !ok {
				in.Settings[key] = Setting{Value: harness.CanonicalSetting(f.Default)}
			}
		}
	}
}

// AddStem adds the settings that are part of the name of an output file. They are preferred to other
// sources, because the client writes its actual settings there.
func (in *Inputs) AddStem(s harness.Stem) {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	const from = "name of the output"
	for key, value := range map[string]string{
		PhaseTimeoutKey: number(s.Timeout), SettlingKey: number(s.Settling), TrajectoriesKey: strconv.Itoa(s.Trajectories),
	} {
		known, ok := in.Settings[key]
		if ok && known.From != "" && known.Value != "null" && !Same(key, known.Value, value) && in.Conflicts[key] == "" {
			in.Conflicts[key] = fmt.Sprintf("%s has %s, but the %s has %s", known.From, known.Value, from, value)
		}
		in.Settings[key] = Setting{value, from}
	}
}

// minMeasurementKey is the key of the minimum length of the measuring window.
const minMeasurementKey = "min_measurement_seconds"

// MinMeasurement returns the minimum length of the measuring window, in seconds, that the client's
// configuration asks for, or 0.
func (in *Inputs) MinMeasurement() float64 {
	v := in.Settings[minMeasurementKey]
	if v.From == "" { // the default of another version of the client may be another one
		return 0
	}
	return positiveSeconds(v.Value)
}

// MinMeasurement is like [Inputs.MinMeasurement], but reads only the configuration in a run directory,
// its log directory, or the client's output directory.
func MinMeasurement(dir string) (float64, error) {
	run, err := harness.Open(RunDir(dir))
	if err == nil {
		err = run.ReadConfig(context.Background(), "")
	}
	if err != nil {
		return 0, fmt.Errorf("read the client's configuration: %s: %w", dir, err)
	}
	for _, v := range run.Settings()[minMeasurementKey] {
		return positiveSeconds(v.Text), nil
	}
	return 0, nil
}

// positiveSeconds parses a number above 0. It returns 0 for anything else.
func positiveSeconds(text string) float64 {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return seconds
}

// place formats where a value was found.
func place(at harness.Evidence) string {
	if at.Line == 0 {
		return at.Artifact
	}
	return at.Artifact + ":" + strconv.Itoa(at.Line)
}

// Same reports whether two values of a setting mean the same. A model may be given by its path, its
// served name or its name in a file name, where "/" is replaced by "_". A dataset may be in another
// directory on another machine, or be a copy on a node.
func Same(key, a, b string) bool {
	switch key {
	case ModelKey:
		a, b = strings.ReplaceAll(a, "/", "_"), strings.ReplaceAll(b, "/", "_")
		return a == b || strings.HasSuffix(a, "_"+b) || strings.HasSuffix(b, "_"+a)
	case DatasetKey, AssignmentsKey:
		return path.Base(a) == path.Base(b)
	}
	return harness.CanonicalSetting(a) == harness.CanonicalSetting(b)
}

// commitPrefix is the minimum number of digits that identify a commit.
const commitPrefix = 7

// SameCommit reports whether two hashes of commits are the same; one of them may be abbreviated. If
// there are uncommitted changes, they must be the same as well.
func SameCommit(a, b string) bool {
	a, changesA, _ := strings.Cut(strings.ToLower(a), "-")
	b, changesB, _ := strings.Cut(strings.ToLower(b), "-")
	if changesA != changesB {
		return false
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || hexDigits.MatchString(a) && hexDigits.MatchString(b) && strings.HasPrefix(b, a)
}

var hexDigits = regexp.MustCompile(fmt.Sprintf(`^[0-9a-f]{%d,}$`, commitPrefix))
