package slurmtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// rows are the outcomes of the faults. The test binary logs them and writes them to the file
// $AGENTPERF_FAULT_TABLE.
type rows struct {
	mu   sync.Mutex
	rows []row
}

var table rows

// row is the outcome of a fault. noticed is the time from the fault until a watcher shows an
// error, ended the time until it shows the end. Both include up to 0.2 s for the interval of
// the watcher.
type row struct {
	fault, state   string
	code           int // exit code of the run
	noticed, ended time.Duration
	job            string // Slurm state of the job
	left           int    // number of processes that the job left
}

func (r row) String() string {
	after := func(d time.Duration) string {
		if d == 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f", d.Seconds())
	}
	return fmt.Sprintf("| %s | %s | %d | %s | %s | %s | %d |",
		r.fault, r.state, r.code, after(r.noticed), after(r.ended), r.job, r.left)
}

func (t *rows) add(s *site, r row) {
	s.t.Helper()
	s.t.Logf("fault %s", r)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, r)
}

func (t *rows) write(path string) error {
	if path == "" {
		return nil
	}
	slices.SortFunc(t.rows, func(a, b row) int { return strings.Compare(a.fault, b.fault) })
	text := "| fault | state shown | exit code | noticed after s | ended after s | job | processes left |\n" +
		"| --- | --- | --: | --: | --: | --- | --: |\n"
	for _, r := range t.rows {
		text += r.String() + "\n"
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// outcome watches a run to its end and adds its row. began is the time of the fault; nil for the
// fault of a stand-in, which has recorded the time.
func (s *site) outcome(fault string, rec submitted, began *time.Time) (status, int) {
	s.t.Helper()
	var noticed time.Time
	last, code := s.watch(rec.ID, func(st status) bool {
		if noticed.IsZero() && st.inTrouble() {
			noticed = time.Now()
		}
		return false
	})
	ended := time.Now()
	if began == nil {
		info, err := os.Stat(rec.Dir + "/logs/received/fault")
		if err != nil {
			s.t.Fatalf("%s did not happen: %v; the run is %+v", fault, err, last)
		}
		began = new(time.Time)
		*began = info.ModTime()
	}
	r := row{
		fault: fault, state: last.State, noticed: noticed.Sub(*began), ended: ended.Sub(*began),
		job: s.awaitJobEnd(rec.ID),
	}
	r.left = len(s.processes(rec.ID))
	if last.ExitCode != nil {
		r.code = *last.ExitCode
	}
	table.add(s, r)
	return last, code
}
