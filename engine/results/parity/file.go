package parity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/figurefile"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// IsFile reports whether a name given to Load is that of a file, possibly with a choice.
func IsFile(name string) bool {
	path, _ := splitChoice(name)
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// splitChoice splits the choice of a set of figures off the path of a file.
func splitChoice(name string) (path, choice string) {
	if _, err := os.Stat(name); err == nil {
		return name, ""
	}
	for i := range name {
		if name[i] != '#' {
			continue
		}
		if info, err := os.Stat(name[:i]); err == nil && !info.IsDir() {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// loadFile reads a roll-up or a file of figures.
func (s *Side) loadFile(phase int, choice string, rc results.RunContext) error {
	data, err := smallfile.Read(s.Path, maxFile)
	if err != nil {
		return fmt.Errorf("load figures: %w", err)
	}
	data = smallfile.TrimBOM(data)
	if trimmed := bytes.TrimSpace(data); bytes.HasPrefix(trimmed, []byte("{")) {
		if done, err := s.loadRollup(data, phase, rc); done || err != nil {
			return err
		}
	}
	stem, isStem := harness.ParseStem(strings.TrimSuffix(filepath.Base(s.Path), ".json"))
	about := s.About.fields()
	file := figurefile.File{
		Path: s.Path, Choice: choice, About: slices.Concat(slices.Collect(maps.Keys(about)), mainSettings),
		IsStatistics: isStem,
	}
	set, err := file.Parse(data)
	if err != nil {
		return fmt.Errorf("load figures: %w", err)
	}
	for key, value := range set.About {
		if field, ok := about[key]; ok {
			*field = value
			continue
		}
		if s.About.Settings == nil {
			s.About.Settings = map[string]string{}
		}
		s.About.Settings[key] = value
	}
	if s.About.Name == "" {
		s.About.Name = set.Name
	}
	if !isStem {
		var head struct{ Phase int }
		if err := json.Unmarshal(results.WithoutNaN(set.Statistics), &head); err != nil {
			return problem.Errorf(problem.FiguresInvalid, "load figures: %s: phase: %w", s.Path, err)
		}
		stem.Phase = head.Phase
	}
	if s.Phase, err = results.ReadStated(stem, set.Statistics, set.StatedBy, rc.MinMeasurement); err != nil {
		return fmt.Errorf("load figures: %s: %w", s.Path, err)
	}
	if !isStem {
		s.Phase.Stem = ""
	}
	any := false
	for i := range s.Phase.Figures {
		f := &s.Phase.Figures[i]
		if any = any || !math.IsNaN(f.Value); !math.IsNaN(f.Value) {
			set.Stated[f.Key].Apply(f)
		}
	}
	if !any {
		return problem.Errorf(problem.FiguresInvalid, "load figures: %s: no figure found; use the keys of the client's "+
			"statistics file, such as throughput: {output_server_tok_s: 60822.2}", s.Path)
	}
	s.Phase.Warnings = append(s.Phase.Warnings, set.Notes...)
	s.Phase.Warnings = append(s.Phase.Warnings, "figures as stated by "+set.StatedBy+", without request rows")
	return nil
}
