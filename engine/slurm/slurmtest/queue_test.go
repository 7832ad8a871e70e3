package slurmtest

import (
	"context"
	"os"
	"strconv"
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
	s.open(term, rec.ID)
	term.WaitFor("BeginTime")
	for range 10 {
		<-ended
	}
	data, err := os.ReadFile(count)
	if err != nil {
		t.Fatal(err)
	}
	// One question begins two seconds after the answer to the one before at the
	// soonest. Those after the watchers' end don't count: one that is killed while it
	// asks leaves no answer.
	var asked []float64
	for line := range strings.Lines(string(data)) {
		at, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			t.Fatal(err)
		}
		if at < float64(began.UnixNano())/1e9+seconds {
			asked = append(asked, at)
		}
	}
	for i := 1; i < len(asked); i++ {
		if gap := asked[i] - asked[i-1]; gap < 1.99 {
			t.Errorf("squeue was asked again after %.2f s", gap)
		}
	}
	if len(asked) < 2 {
		t.Errorf("squeue was asked %d times in %d s", len(asked), seconds)
	}
	t.Logf("ten watchers and a workbench asked squeue %d times in %d s", len(asked), seconds)
	s.slurm("scancel", rec.ID)
}
