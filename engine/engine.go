// Package engine is the facade: everything that a user can do, as functions that
// take a context and return values or streams. It wires loading, checking,
// planning, running and reading results together, and knows where a user's
// configuration, state and outputs lie. It never prints.
package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/adrg/xdg"
	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/engine/watch"
	"github.com/agentperf/agentperf-tui/recipes"
)

const appName = "agentperf-tui"

// readHome reads the environment into the XDG library's variables, which are the
// process's own and not safe to write twice.
var readHome sync.Once

// Engine does the work. Make it with [New].
type Engine struct {
	*draft.Drafts
	*runs.Store
	*watch.Watcher

	Paths    Paths
	Config   Config
	Program  string // this executable, copied into each run
	Version  string
	getenv   func(string) string
	now      func() time.Time
	host     string
	registry rundir.Registry
	stall    float64 // s of a client's silence
	beside   func(recipe string) string
}

// Paths are the places of user-visible state, one for each kind.
type Paths struct {
	Config string `json:"config"` // config.yaml, $XDG_CONFIG_HOME/agentperf-tui
	State  string `json:"state"`  // records of known runs, $XDG_STATE_HOME/agentperf-tui
	Output string `json:"output"` // base of run folders: --output-dir, config.yaml, or ./outputs
}

// Config is the user's configuration file.
type Config struct {
	OutputDir   string  `yaml:"output_dir"`
	BandPercent float64 `yaml:"band_percent"` // of the parity verdict; 2 if not given
	Tiers       []Tier  `yaml:"tiers"`
	// QueueSeconds is the shortest time between two questions to squeue. A site
	// sets it with $AGENTPERF_TUI_QUEUE_SECONDS; of the two the longer one holds.
	QueueSeconds float64 `yaml:"queue_seconds"`
	// StallSeconds is how long a client may say nothing until its run is called
	// stalled; 300 if not given. $AGENTPERF_TUI_STALL_SECONDS wins.
	StallSeconds float64 `yaml:"stall_seconds"`
	// ProgramsDir has agentperf-tui-linux-amd64 and -arm64, for clusters whose
	// nodes are of another architecture than this machine.
	ProgramsDir string `yaml:"programs_dir"`
}

// Tier is a service level as the configuration file has it.
type Tier struct {
	Name        string  `yaml:"name"`
	SpeedFloor  float64 `yaml:"speed_floor_tok_s"`
	TTFTCeiling float64 `yaml:"ttft_ceiling_s"`
}

// Options are what a program passes to [New]; the zero value is the real world.
type Options struct {
	Version string
	// OutputDir beats the configuration file's.
	OutputDir string
	// StateDir is used instead of the user's state folder.
	StateDir string
	Getenv   func(string) string
	Now      func() time.Time
	Program  string // default: this executable
	// Beside names a file that goes with a recipe into the run's folder, where there
	// is one: the report of the port that it came from. It may be nil.
	Beside func(recipe string) string
}

// New finds the user's folders and reads the configuration. A configuration
// file that can't be read is an error that names it.
func New(opt Options) (*Engine, error) {
	readHome.Do(xdg.Reload)
	e := &Engine{Version: opt.Version, getenv: opt.Getenv, now: opt.Now, Program: opt.Program, beside: opt.Beside}
	if e.getenv == nil {
		e.getenv = os.Getenv
	}
	if e.now == nil {
		e.now = time.Now
	}
	var err error
	if e.Program == "" {
		if e.Program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
	}
	if e.host, err = os.Hostname(); err != nil {
		return nil, fmt.Errorf("find this machine's name: %w", err)
	}
	if opt.StateDir == "" && e.getenv("HOME") == "" && e.getenv("XDG_STATE_HOME") == "" {
		return nil, errors.New("neither HOME nor XDG_STATE_HOME is set: there is no place to remember runs in; set one of them")
	}
	e.Paths = Paths{Config: filepath.Join(xdg.ConfigHome, appName, "config.yaml"), State: filepath.Join(xdg.StateHome, appName)}
	if opt.StateDir != "" {
		e.Paths.State = opt.StateDir
	}
	if e.Config, err = readConfig(e.Paths.Config); err != nil {
		return nil, err
	}
	e.Paths.Output = "outputs"
	for _, o := range []string{opt.OutputDir, e.Config.OutputDir} {
		if o != "" {
			e.Paths.Output = o
			break
		}
	}
	if e.Paths.Output, err = filepath.Abs(e.Paths.Output); err != nil {
		return nil, fmt.Errorf("find the output folder: %w", err)
	}
	if e.stall, err = e.stallSeconds(); err != nil {
		return nil, err
	}
	every, err := e.queueEvery()
	if err != nil {
		return nil, err
	}
	e.Drafts = draft.New(draft.Options{Getenv: e.getenv, Now: e.now, Host: e.host, State: e.Paths.State})
	e.registry = rundir.Registry{Dir: filepath.Join(e.Paths.State, "runs")}
	status := runs.NewResolver(&slurm.Queue{Dir: e.Paths.State, Every: every, Now: e.now}, e.now, e.host)
	e.Store, e.Watcher = runs.New(e.registry, status), watch.New(status, e.now)
	return e, nil
}

func readConfig(path string) (Config, error) {
	c := Config{BandPercent: 2}
	data, err := recipes.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read configuration: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, fmt.Errorf("read configuration %s: %s; known keys are output_dir, band_percent, tiers, queue_seconds, stall_seconds, programs_dir", path, inYAML(err))
	}
	if !(c.BandPercent > 0 && c.BandPercent <= 100) {
		return c, fmt.Errorf("read configuration %s: band_percent is %g: want more than 0 and at most 100", path, c.BandPercent)
	}
	return c, nil
}

// The words of the YAML library about values and keys, which name Go's types.
var (
	oddValue = regexp.MustCompile("(line \\d+): cannot unmarshal !!\\w+ (`[^`]*`)? ?into \\S+")
	oddKey   = regexp.MustCompile(`(line \d+): field (\S+) not found in type \S+`)
)

// inYAML says what is wrong in a file in the file's words.
func inYAML(err error) string {
	text := strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:")), " ")
	text = oddKey.ReplaceAllString(text, "$1: there is no key $2")
	return oddValue.ReplaceAllString(text, "$1: $2 is not the kind of value that its key takes")
}

// queueSetting is how a site says how often squeue may be asked, in s.
const queueSetting = "AGENTPERF_TUI_QUEUE_SECONDS"

func (e *Engine) queueEvery() (time.Duration, error) {
	seconds := e.Config.QueueSeconds
	if text := e.getenv(queueSetting); text != "" {
		site, err := strconv.ParseFloat(text, 64)
		if err != nil || !(site > 0 && site <= 3600) {
			return 0, fmt.Errorf("%s is %q: want seconds, more than 0 and at most 3600", queueSetting, text)
		}
		seconds = max(seconds, site)
	}
	if !(seconds >= 0 && seconds <= 3600) {
		return 0, fmt.Errorf("read configuration %s: queue_seconds is %g: want at most 3600", e.Paths.Config, seconds)
	}
	if seconds == 0 {
		return slurm.DefaultEvery, nil
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// stallSetting is a client's silence that counts, for one submit, in s.
const stallSetting = "AGENTPERF_TUI_STALL_SECONDS"

// defaultStall is longer than a long answer takes.
const defaultStall = 300

func (e *Engine) stallSeconds() (float64, error) {
	seconds := e.Config.StallSeconds
	if text := e.getenv(stallSetting); text != "" {
		var err error
		if seconds, err = strconv.ParseFloat(text, 64); err != nil || !(seconds > 0) {
			return 0, fmt.Errorf("%s is %q: want seconds, more than 0", stallSetting, text)
		}
	}
	switch {
	case !(seconds >= 0 && seconds <= 86400):
		return 0, fmt.Errorf("read configuration %s: stall_seconds is %g: want at most 86400", e.Paths.Config, seconds)
	case seconds == 0:
		return defaultStall, nil
	}
	return seconds, nil
}

// Tiers are the configured service levels.
func (e *Engine) Tiers() []results.Tier {
	out := make([]results.Tier, 0, len(e.Config.Tiers))
	for _, t := range e.Config.Tiers {
		out = append(out, results.Tier{Name: t.Name, SpeedFloor: t.SpeedFloor, TTFTCeiling: t.TTFTCeiling})
	}
	return out
}
