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
)

// config is the user's configuration file, with what the environment says instead.
type config struct {
	OutputDir   string  `yaml:"output_dir"`
	BandPercent float64 `yaml:"band_percent"` // of the parity verdict; 2 if not given
	Tiers       []tier  `yaml:"tiers"`
	// QueueSeconds is the shortest time between two questions to squeue, see [slurm.DefaultEvery]. A
	// site sets it with $AGENTPERF_TUI_QUEUE_SECONDS; of the two the longer one holds.
	QueueSeconds float64 `yaml:"queue_seconds"`
	// StallSeconds is how long a client may say nothing until its run is called
	// stalled. $AGENTPERF_TUI_STALL_SECONDS wins.
	StallSeconds float64 `yaml:"stall_seconds"`
	// ProgramsDir has agentperf-tui-linux-amd64 and -arm64, for clusters whose
	// nodes are of another architecture than this machine.
	ProgramsDir string `yaml:"programs_dir"`
}

// tier is a service level as the configuration file has it.
type tier struct {
	Name        string  `yaml:"name"`
	SpeedFloor  float64 `yaml:"speed_floor_tok_s"`
	TTFTCeiling float64 `yaml:"ttft_ceiling_s"`
}

// Settings of a site, in s.
const (
	queueSetting = "AGENTPERF_TUI_QUEUE_SECONDS" // how often squeue may be asked
	stallSetting = "AGENTPERF_TUI_STALL_SECONDS" // a client's silence that counts, for one submit
)

// defaultStall is longer than a long answer takes.
const defaultStall = 300

// readConfig reads the configuration; one that is not there has the defaults.
func readConfig(path string, getenv func(string) string) (config, error) {
	c := config{BandPercent: 2}
	data, err := recipes.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("read configuration: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, fmt.Errorf("read configuration %s: %s; known keys are output_dir, band_percent, tiers, queue_seconds, "+
			"stall_seconds, programs_dir", path, inYAML(err))
	}
	if text := getenv(queueSetting); text != "" {
		site, err := strconv.ParseFloat(text, 64)
		if err != nil || !(site > 0 && site <= 3600) {
			return c, fmt.Errorf("%s is %q: want seconds, more than 0 and at most 3600", queueSetting, text)
		}
		c.QueueSeconds = max(c.QueueSeconds, site)
	}
	if text := getenv(stallSetting); text != "" {
		if c.StallSeconds, err = strconv.ParseFloat(text, 64); err != nil || !(c.StallSeconds > 0) {
			return c, fmt.Errorf("%s is %q: want seconds, more than 0", stallSetting, text)
		}
	}
	switch {
	case !(c.BandPercent > 0 && c.BandPercent <= 100):
		err = fmt.Errorf("band_percent is %g: want more than 0 and at most 100", c.BandPercent)
	case !(c.StallSeconds >= 0 && c.StallSeconds <= 86400):
		err = fmt.Errorf("stall_seconds is %g: want at most 86400", c.StallSeconds)
	case !(c.QueueSeconds >= 0 && c.QueueSeconds <= 3600):
		err = fmt.Errorf("queue_seconds is %g: want at most 3600", c.QueueSeconds)
	default:
		c.QueueSeconds = cmp.Or(c.QueueSeconds, slurm.DefaultEvery.Seconds())
		c.StallSeconds = cmp.Or(c.StallSeconds, defaultStall)
		return c, nil
	}
	return c, fmt.Errorf("read configuration %s: %w", path, err)
}

// tiers are the configured service levels.
func (c config) tiers() []results.Tier {
	out := make([]results.Tier, 0, len(c.Tiers))
	for _, t := range c.Tiers {
		out = append(out, results.Tier{Name: t.Name, SpeedFloor: t.SpeedFloor, TTFTCeiling: t.TTFTCeiling})
	}
	return out
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
