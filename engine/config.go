package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes"
)

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

// tiers are the configured service levels.
func (c Config) tiers() []results.Tier {
	out := make([]results.Tier, 0, len(c.Tiers))
	for _, t := range c.Tiers {
		out = append(out, results.Tier{Name: t.Name, SpeedFloor: t.SpeedFloor, TTFTCeiling: t.TTFTCeiling})
	}
	return out
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

func queueEvery(c Config, path string, getenv func(string) string) (time.Duration, error) {
	seconds := c.QueueSeconds
	if text := getenv(queueSetting); text != "" {
		site, err := strconv.ParseFloat(text, 64)
		if err != nil || !(site > 0 && site <= 3600) {
			return 0, fmt.Errorf("%s is %q: want seconds, more than 0 and at most 3600", queueSetting, text)
		}
		seconds = max(seconds, site)
	}
	if !(seconds >= 0 && seconds <= 3600) {
		return 0, fmt.Errorf("read configuration %s: queue_seconds is %g: want at most 3600", path, seconds)
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

func stallSeconds(c Config, path string, getenv func(string) string) (float64, error) {
	seconds := c.StallSeconds
	if text := getenv(stallSetting); text != "" {
		var err error
		if seconds, err = strconv.ParseFloat(text, 64); err != nil || !(seconds > 0) {
			return 0, fmt.Errorf("%s is %q: want seconds, more than 0", stallSetting, text)
		}
	}
	switch {
	case !(seconds >= 0 && seconds <= 86400):
		return 0, fmt.Errorf("read configuration %s: stall_seconds is %g: want at most 86400", path, seconds)
	case seconds == 0:
		return defaultStall, nil
	}
	return seconds, nil
}
