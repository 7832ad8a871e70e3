package slurmtest

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Ten watchers and a workbench together call squeue once per configured interval.
func TestWatchersShareQueueAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t, "ten watchers of one run")
	s.env = append(s.env, "AGENTPERF_TUI_QUEUE_SECONDS=2")
	rec := s.apply(withName("watched")...)
	count := s.dir + "/count"
	s.wrap("squeue", `date +%s.%N >>`+count+`; exec $real "$@"`)
	const seconds = 9
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
	defer cancel()
	term := s.workbench()
	ended := make(chan int)
	for range 10 {
		go func() {
			cmd := s.command(ctx, "watch", rec.ID, "--json", "--until-done", "--interval", "100ms")
			_ = cmd.Run() // killed at the end
			ended <- cmd.ProcessState.ExitCode()
		}()
	}
	s.openRun(term, rec.ID)
	term.WaitFor("BeginTime")
	for range 10 {
		<-ended
	}
	data, err := os.ReadFile(count)
	if err != nil {
		t.Fatal(err)
	}
	// A call starts two seconds after the previous answer at the earliest. Calls after the end of
	// the watchers do not count, since a watcher that is killed during a call leaves no answer.
	var calls []float64
	for line := range strings.Lines(string(data)) {
		at, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			t.Fatal(err)
		}
		if at < float64(began.UnixNano())/1e9+seconds {
			calls = append(calls, at)
		}
	}
	for i := 1; i < len(calls); i++ {
		if gap := calls[i] - calls[i-1]; gap < 1.99 {
			t.Errorf("squeue was called again after %.2f s", gap)
		}
	}
	if len(calls) < 2 {
		t.Errorf("squeue was called %d times in %d s", len(calls), seconds)
	}
	t.Logf("ten watchers and a workbench called squeue %d times in %d s", len(calls), seconds)
	s.slurm("scancel", rec.ID)
}
