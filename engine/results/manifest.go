package results

import (
	"bytes"
	"fmt"
	"math"

	"github.com/agentperf/agentperf-tui/engine/jsonrow"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// manifestRow is a row of the phase manifest.
type manifestRow struct {
	Phase       int
	SettlingEnd float64 // Unix s
	End         float64 // Unix s
	Start       float64 // Unix s; NaN if unknown, as not every client writes it
	Reason      string  // why the phase ended; empty if unknown
	invalid     string  // first invalid value, with its key; it is treated as unknown
	state       valueState
}

// parseManifestRow parses a line of the phase manifest. Phase, settling end and phase end
// must be known.
func parseManifestRow(line []byte) (manifestRow, error) {
	nan := math.NaN()
	m := manifestRow{Phase: -1, SettlingEnd: nan, End: nan, Start: nan}
	number := func(to *float64, value []byte) (ok valueState) {
		*to, ok = parseNumber(value, maxValue(startField))
		return ok
	}
	err := jsonrow.Members(smallfile.TrimBOM(line), func(key, value []byte, _ int) error {
		var ok valueState
		switch string(key) {
		case "phase_idx":
			var phase int32
			phase, ok = parseWhole(value, math.MaxUint16)
			m.Phase = int(phase)
		case "settling_end":
			ok = number(&m.SettlingEnd, value)
		case "actual_phase_end":
			ok = number(&m.End, value)
		case "phase_start":
			ok = number(&m.Start, value)
		case "stop_reason":
			m.Reason = ""
			if value[0] == '"' {
				text, err := jsonrow.Unquote(value)
				m.Reason = string(text)
				return err
			}
		}
		if ok != valueValid && m.invalid == "" {
			m.invalid, m.state = fmt.Sprintf("%s %.40s", key, value), ok
		}
		return nil
	})
	if err == nil && (m.Phase < 0 || math.IsNaN(m.SettlingEnd) || math.IsNaN(m.End)) {
		err = problem.New(problem.RowsUnreadable, "phase_idx, settling_end or actual_phase_end is missing")
		if m.invalid != "" {
			err = fmt.Errorf("%w: found %s", err, m.invalid)
		}
	}
	return m, err
}

// ManifestPhase returns the phase of a line of the phase manifest, or -1 if the line can't be parsed.
func ManifestPhase(line []byte) int {
	m, err := parseManifestRow(line)
	if err != nil {
		return -1
	}
	return m.Phase
}

// AddManifestRow adds a line of phase_manifest.jsonl.
func (agg *Aggregator) AddManifestRow(line []byte) error {
	if agg.lineCounts[ManifestFile]++; isBlank(line) {
		return nil
	}
	m, err := parseManifestRow(line)
	if err != nil {
		return agg.reject(ManifestFile, err)
	}
	switch m.state {
	case valueOutOfRange:
		addIssue(agg.outOfRange, ManifestFile, m.invalid)
	case valueOfWrongType:
		addIssue(agg.wrongType, ManifestFile, m.invalid)
	}
	agg.manifest = append(agg.manifest, m)
	return nil
}

// isBlank reports whether a line contains only white space and a byte-order mark.
func isBlank(line []byte) bool {
	return (len(line) == 0 || line[0] != '{') && len(bytes.TrimSpace(smallfile.TrimBOM(line))) == 0
}
