package slurmtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// rows are what the faults came to. The test binary prints them with -v, and writes
// them to the file that $AGENTPERF_FAULT_TABLE names.
type rows struct {
	mu   sync.Mutex
	rows []row
}

var table rows

// row is one fault's outcome. Noticed is from the fault until a watcher shows the
// run as one in trouble, ended until it shows the end; each has up to 0.2 s of the
// watch's own interval in it.
type row struct {
	fault, state   string
	code           int // the run's
	noticed, ended time.Duration
	job            string // how Slurm calls the job's end
	left           int    // processes of the job
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

// outcome watches a run to its end and adds its row; began is when the fault
// struck, or nil for one of a stand-in, which has marked that.
func (s *site) outcome(fault string, rec submitted, began *time.Time) (status, int) {
	s.t.Helper()
	var noticed time.Time
	last, code := s.watch(rec.ID, func(st status) bool {
		if noticed.IsZero() && st.trouble() {
			noticed = time.Now()
		}
		return false
	})
	ended := time.Now()
	if began == nil {
		info, err := os.Stat(rec.Dir + "/logs/received/fault")
		if err != nil {
			s.t.Fatalf("%s never struck: %v; the run came to %+v", fault, err, last)
		}
		began = new(time.Time)
		*began = info.ModTime()
	}
	r := row{fault: fault, state: last.State, noticed: noticed.Sub(*began), ended: ended.Sub(*began), job: s.ended(rec.ID)}
	r.left = len(s.processes(rec.ID))
	if last.ExitCode != nil {
		r.code = *last.ExitCode
	}
	table.add(s, r)
	return last, code
}
