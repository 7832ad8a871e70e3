package slurmtest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// Ten watchers and a workbench ask the queue once in the time that is set.
func TestWatchersShareOneAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t, "ten watchers of one run")
	s.env = append(s.env, "AGENTPERF_TUI_QUEUE_SECONDS=2")
	rec := s.apply(named("watched")...)
	count := s.dir + "/count"
	s.wrap("squeue", `date +%s.%N >>`+count+`; exec $real "$@"`)
	const seconds = 9
	ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
	defer cancel()
	began := time.Now()
	term := s.workbench()
	ended := make(chan int)
	for range 10 {
		go func() {
			cmd := s.command(ctx, "watch", rec.ID, "--json", "--until-done", "--interval", "100ms")
			_ = cmd.Run() // killed at the end
			ended <- cmd.ProcessState.ExitCode()
		}()
	}
	s.open(term, rec.ID)
	term.WaitFor("BeginTime")
	for range 10 {
		<-ended
	}
	took := time.Since(began).Seconds()
	data, err := os.ReadFile(count)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "\n"); n < 2 || float64(n) > 1+took/2 {
		t.Errorf("squeue was asked %d times in %.1f s", n, took)
	}
	s.slurm("scancel", rec.ID)
}
