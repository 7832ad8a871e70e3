package replay

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// manifestRow is the window of a finished phase, all times in Unix seconds.
type manifestRow struct {
	Phase       int        `json:"phase_idx"`
	Concurrency int        `json:"concurrency"`
	Start       float64    `json:"phase_start"`
	SettlingEnd float64    `json:"settling_end"` // planned; the phase may have ended before
	End         float64    `json:"actual_phase_end"`
	StopReason  stopReason `json:"stop_reason"`
	Client      string     `json:"client"`
}

// write writes the files of a phase whose requests have all ended. The manifest
// comes last: a phase in it is complete.
func (p *phase) write(end time.Time, reason stopReason) error {
	w := window{begin: p.clock.seconds(p.settled), end: p.clock.seconds(end)}
	s := measure(p.samples, w)
	s.Phase, s.Concurrency = p.index, p.users
	s.Requests.Total = p.counts.Successful + p.counts.Failed
	s.Client, s.StopReason, s.CutOff = p.cfg.clientName(), reason, p.counts.CutOff
	if err := p.analysis.publish(); err != nil {
		return err
	}
	text := summary(s)
	base := filepath.Join(p.cfg.ResultsDir, p.stem)
	if err := smallfile.WriteJSON(base+".json", s, 0o644); err != nil {
		return fmt.Errorf("write the statistics of phase %d: %w", p.index, err)
	}
	if err := renameio.WriteFile(base+".txt", []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the summary of phase %d: %w", p.index, err)
	}
	row := manifestRow{
		Phase: p.index, Concurrency: p.users, Start: p.clock.seconds(p.start),
		SettlingEnd: w.begin, End: w.end, StopReason: reason, Client: p.cfg.clientName(),
	}
	if err := appendRow(p.manifestPath(), row); err != nil {
		return fmt.Errorf("write the phase manifest: %w", err)
	}
	p.log.print(text)
	return nil
}
