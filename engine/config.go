package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// config is the user's configuration file, with the overrides of the environment.
type config struct {
	OutputDir   string  `yaml:"output_dir"`
	BandPercent float64 `yaml:"band_percent"` // tolerance band of the parity verdict; 2 if not given
	Tiers       []tier  `yaml:"tiers"`
	// QueueSeconds is the shortest time between two calls of squeue, see [slurm.DefaultInterval]. A
	// site can set it with $AGENTPERF_TUI_QUEUE_SECONDS; the longer time applies.
	QueueSeconds float64 `yaml:"queue_seconds"`
	// StallSeconds is how long a client may write nothing before its run is reported
	// as stalled. $AGENTPERF_TUI_STALL_SECONDS overrides it.
	StallSeconds float64 `yaml:"stall_seconds"`
	// ProgramsDir holds agentperf-tui-linux-amd64 and -arm64, for clusters whose
	// nodes have another architecture than this machine.
	ProgramsDir string `yaml:"programs_dir"`
}

// tier is a service level in the configuration file.
type tier struct {
	Name        string  `yaml:"name"`
	SpeedFloor  float64 `yaml:"speed_floor_tok_s"`
	TTFTCeiling float64 `yaml:"ttft_ceiling_s"`
}

// Environment variables with settings of a site, in seconds.
const (
	queueEnv = "AGENTPERF_TUI_QUEUE_SECONDS" // shortest time between two calls of squeue
	stallEnv = "AGENTPERF_TUI_STALL_SECONDS" // how long a client may write nothing
)

// defaultStall is the default of StallSeconds. Even long requests take less time.
const defaultStall = 300

// readConfig reads the configuration file. If the file is missing, the defaults apply.
func readConfig(path string, getenv func(string) string) (config, error) {
	c := config{BandPercent: 2}
	data, err := recipes.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("read configuration: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, problem.Errorf(problem.ConfigInvalid, "read configuration %s: %s; known keys: output_dir, band_percent, "+
			"tiers, queue_seconds, stall_seconds, programs_dir", path, describeYAMLError(err))
	}
	if text := getenv(queueEnv); text != "" {
		site, err := strconv.ParseFloat(text, 64)
		if err != nil || !(site > 0 && site <= 3600) {
			return c, problem.Errorf(problem.EnvironmentInvalid,
				"read $%s: must be more than 0 and at most 3600 seconds, got %q", queueEnv, text)
		}
		c.QueueSeconds = max(c.QueueSeconds, site)
	}
	if text := getenv(stallEnv); text != "" {
		if c.StallSeconds, err = strconv.ParseFloat(text, 64); err != nil || !(c.StallSeconds > 0) {
			return c, problem.Errorf(problem.EnvironmentInvalid,
				"read $%s: must be more than 0 seconds, got %q", stallEnv, text)
		}
	}
	wrong := ""
	switch {
	case !(c.BandPercent > 0 && c.BandPercent <= 100):
		wrong = fmt.Sprintf("band_percent must be more than 0 and at most 100, got %g", c.BandPercent)
	case !(c.StallSeconds >= 0 && c.StallSeconds <= 86400):
		wrong = fmt.Sprintf("stall_seconds must be between 0 and 86400, got %g", c.StallSeconds)
	case !(c.QueueSeconds >= 0 && c.QueueSeconds <= 3600):
		wrong = fmt.Sprintf("queue_seconds must be between 0 and 3600, got %g", c.QueueSeconds)
	default:
		c.QueueSeconds = cmp.Or(c.QueueSeconds, slurm.DefaultInterval.Seconds())
		c.StallSeconds = cmp.Or(c.StallSeconds, defaultStall)
		return c, nil
	}
	return c, problem.Errorf(problem.ConfigInvalid, "read configuration %s: %s", path, wrong)
}

// tiers returns the configured service levels.
func (c config) tiers() []results.Tier {
	out := make([]results.Tier, 0, len(c.Tiers))
	for _, t := range c.Tiers {
		out = append(out, results.Tier{Name: t.Name, SpeedFloor: t.SpeedFloor, TTFTCeiling: t.TTFTCeiling})
	}
	return out
}

// Messages of the YAML library that name Go types.
var (
	wrongType  = regexp.MustCompile("(line \\d+): cannot unmarshal !!\\w+ (`[^`]*` )?into \\S+")
	unknownKey = regexp.MustCompile(`(line \d+): field (\S+) not found in type \S+`)
)

// describeYAMLError describes an error of the YAML library without naming Go types.
func describeYAMLError(err error) string {
	text := strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:")), " ")
	text = unknownKey.ReplaceAllString(text, "$1: unknown key $2")
	return wrongType.ReplaceAllString(text, "$1: value ${2}has the wrong type for its key")
}
