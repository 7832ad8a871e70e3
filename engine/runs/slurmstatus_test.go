package runs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/engine/slurm"
)

// slurmRun returns a resolver at a fixed time and a Slurm run that was submitted ten minutes
// earlier.
func slurmRun(t *testing.T) (*runs.Resolver, runs.Ref, time.Time) {
	t.Helper()
	now := time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)
	r := runs.NewResolver(nil, func() time.Time { return now }, "login2")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, rundir.LogsDir), 0o755); err != nil {
		t.Fatal(err)
	}
	rec := rundir.Record{
		ID: "7", Name: "x", Launcher: "slurm", Host: "login1", Created: now.Add(-10 * time.Minute),
		Comment: "agentperf-tui:a", Cluster: "c",
	}
	return r, runs.Ref{Dir: dir, Logs: rundir.Logs(dir), Record: rec}, now
}

func TestResolveJob(t *testing.T) {
	t.Parallel()
	r, l, now := slurmRun(t)
	fresh := func(jobs ...slurm.Job) slurm.Answer {
		return slurm.Answer{At: now.Add(-4 * time.Second), Tried: now.Add(-4 * time.Second), Cluster: "c", Jobs: jobs}
	}
	job := func(state, reason string) slurm.Job {
		return slurm.Job{ID: "7", State: state, Reason: reason, Comment: "agentperf-tui:a"}
	}
	waits := job("PENDING", "Resources")
	waits.Start = now.Add(time.Hour)
	measuring := event.Status{State: event.Measuring, Last: now.Add(-2 * time.Second)}
	outage := slurm.Answer{
		At: now.Add(-45 * time.Second), Tried: now, Error: "squeue: Unable to contact slurm controller",
		Jobs: []slurm.Job{job("RUNNING", "")},
	}
	for _, c := range []struct {
		name   string
		status event.Status
		answer slurm.Answer
		state  event.State
		says   []string
	}{
		{"no request yet", event.Status{}, slurm.Answer{}, event.Pending, nil},
		{"pending", event.Status{}, fresh(waits), event.Pending, []string{"Resources", "expected to start "}},
		{"on hold", event.Status{}, fresh(job("PENDING", "JobHeldUser")), event.Pending, []string{"scontrol release 7"}},
		{"nodes are booting", event.Status{}, fresh(job("CONFIGURING", "")), event.Pending, nil},
		{"batch script starts", event.Status{}, fresh(job("RUNNING", "")), event.Starting, nil},
		{"running", measuring, fresh(job("RUNNING", "")), event.Measuring, nil},
		{"running, older answer", measuring, fresh(waits), event.Measuring, nil},
		{
			"requeued",
			event.Status{State: event.Measuring, Last: now.Add(-time.Minute)},
			fresh(waits),
			event.Pending,
			[]string{"requeued the job"},
		},
		{"suspended", measuring, fresh(job("SUSPENDED", "")), event.Measuring, []string{"SUSPENDED"}},
		{"nodes are completing", measuring, fresh(job("COMPLETING", "")), event.Post, []string{"COMPLETING"}},
		{
			"failed without a final event", measuring, fresh(job("FAILED", "NonZeroExitCode")), event.Failed,
			[]string{"FAILED NonZeroExitCode", "log of the job"},
		},
		{"node failed", measuring, fresh(job("NODE_FAIL", "")), event.Failed, []string{"NODE_FAIL"}},
		{"time limit reached", measuring, fresh(job("TIMEOUT", "TimeLimit")), event.Timeout, nil},
		{
			"cancelled while pending",
			event.Status{},
			fresh(job("CANCELLED", "Dependency")), event.Cancelled,
			[]string{"not started: Slurm state CANCELLED Dependency"},
		},
		{"completed", measuring, fresh(job("COMPLETED", "")), event.Done, nil},
		{"unknown Slurm state", measuring, fresh(job("LAUNCH_ODD", "")), event.Unknown, []string{"LAUNCH_ODD"}},
		{
			"outage", measuring, outage, event.Unknown,
			[]string{"last answered 45s ago", "Unable to contact", "last activity 2s ago: measuring"},
		},
		{
			"outage before any answer",
			event.Status{},
			slurm.Answer{Tried: now, Error: "squeue: no answer within 10s"},
			event.Unknown,
			[]string{"has not answered yet", "no activity seen"},
		},
		{
			"answer of another cluster", measuring,
			slurm.Answer{At: now, Tried: now, Cluster: "other"},
			event.Unknown,
			[]string{"on cluster c", "belongs to cluster other"},
		},
		{"no Slurm on this host, recent files", measuring, slurm.Answer{Error: "x", NoSlurm: true}, event.Measuring, nil},
		{
			"no Slurm on this host, old files",
			event.Status{State: event.Ramp, Last: now.Add(-time.Hour)},
			slurm.Answer{Error: "x", NoSlurm: true},
			event.Unknown,
			[]string{"login1"},
		},
		{
			"another job has the id",
			event.Status{},
			slurm.Answer{
				At: now.Add(-11 * time.Minute), Tried: now,
				Jobs: []slurm.Job{{ID: "7", State: "RUNNING", Comment: "mine"}},
			},
			event.Pending, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := r.ResolveJob(l, c.status, c.answer)
			if got.State != c.state {
				t.Errorf("state %s (%s), want %s", got.State, got.Message, c.state)
			}
			for _, words := range c.says {
				if !strings.Contains(got.Message, words) {
					t.Errorf("message %q lacks %q", got.Message, words)
				}
			}
			if wantCode := c.state.Final(); wantCode != (got.ExitCode != nil) {
				t.Errorf("exit code %v in state %s", got.ExitCode, got.State)
			}
		})
	}
}

// The cancel record names the user and host, which Slurm does not.
func TestCancelledWithThisProgram(t *testing.T) {
	t.Parallel()
	r, l, now := slurmRun(t)
	if err := os.WriteFile(filepath.Join(l.Dir, rundir.CancelFile), []byte(`{"user": "ada", "host": "login3"}`),
		0o644); err != nil {
		t.Fatal(err)
	}
	a := slurm.Answer{
		At: now, Tried: now, Cluster: "c",
		Jobs: []slurm.Job{{ID: "7", State: "CANCELLED", Reason: "Dependency", Comment: "agentperf-tui:a"}},
	}
	if got := r.ResolveJob(l, event.Status{}, a); got.State != event.Cancelled ||
		got.Message != "cancelled by ada on login3" {
		t.Errorf("%s: %s", got.State, got.Message)
	}
}

// Every job state of Slurm, for a run that has not started and for one that is measuring.
func TestEveryJobState(t *testing.T) {
	t.Parallel()
	r, l, now := slurmRun(t)
	for jobState, want := range map[string][2]event.State{
		"PENDING":       {event.Pending, event.Pending},
		"CONFIGURING":   {event.Pending, event.Measuring},
		"RUNNING":       {event.Starting, event.Measuring},
		"COMPLETING":    {event.Post, event.Post},
		"SIGNALING":     {event.Starting, event.Measuring},
		"STAGE_OUT":     {event.Starting, event.Measuring},
		"SUSPENDED":     {event.Starting, event.Measuring},
		"STOPPED":       {event.Starting, event.Measuring},
		"RESIZING":      {event.Pending, event.Measuring},
		"REQUEUED":      {event.Pending, event.Pending},
		"REQUEUE_FED":   {event.Pending, event.Pending},
		"REQUEUE_HOLD":  {event.Pending, event.Pending},
		"RESV_DEL_HOLD": {event.Pending, event.Pending},
		"SPECIAL_EXIT":  {event.Pending, event.Pending},
		"COMPLETED":     {event.Done, event.Done},
		"CANCELLED":     {event.Cancelled, event.Cancelled},
		"REVOKED":       {event.Cancelled, event.Cancelled},
		"PREEMPTED":     {event.Cancelled, event.Cancelled},
		"TIMEOUT":       {event.Timeout, event.Timeout},
		"DEADLINE":      {event.Timeout, event.Timeout},
		"FAILED":        {event.Failed, event.Failed},
		"NODE_FAIL":     {event.Failed, event.Failed},
		"BOOT_FAIL":     {event.Failed, event.Failed},
		"OUT_OF_MEMORY": {event.Failed, event.Failed},
		"LAUNCH_FAILED": {event.Failed, event.Failed},
		"RECONFIG_FAIL": {event.Failed, event.Failed},
		"POWER_UP_NODE": {event.Unknown, event.Unknown},
		"EXPEDITING":    {event.Unknown, event.Unknown},
	} {
		for i, s := range []event.Status{{}, {State: event.Measuring, Last: now.Add(-time.Minute)}} {
			a := slurm.Answer{
				At: now, Tried: now, Cluster: "c",
				Jobs: []slurm.Job{{ID: "7", State: jobState, Comment: "agentperf-tui:a"}},
			}
			got := r.ResolveJob(l, s, a)
			if got.State != want[i] {
				t.Errorf("%s after %q: %s (%s), want %s", jobState, s.State, got.State, got.Message, want[i])
			}
			if jobState == "PREEMPTED" && !strings.Contains(got.Message, "higher priority") {
				t.Errorf("preempted: %s", got.Message)
			}
		}
	}
}

// The end of a job that has left the queue comes from the accounting database, if there is one.
func TestJobsThatLeftTheQueue(t *testing.T) {
	for _, c := range []struct {
		name, sacct string
		last        time.Duration // ago
		state       event.State
		says        string
	}{
		{
			"end is recorded", `echo "7|NODE_FAIL|2026-11-30T03:50:00|Unknown|Unknown|n1|agentperf-tui:a"`, time.Minute,
			event.Failed, "NODE_FAIL",
		},
		{
			"accounting lags", `echo "7|RUNNING|2026-11-30T03:50:00|Unknown|Unknown|n1|agentperf-tui:a"`, time.Minute,
			event.Unknown, "does not show its end yet",
		},
		{
			"an older job with the same id", `echo "7|COMPLETED|2025-11-30T03:50:00|Unknown|Unknown|n1|"`, 11 * time.Minute,
			event.Failed, "wrote no final event",
		},
		{
			"no accounting", `echo "Slurm accounting storage is disabled" >&2; exit 1`, time.Minute, event.Failed,
			"accounting storage is disabled",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, l, now := slurmRun(t)
			l.Record.Created = now.Add(-20 * time.Minute)
			dir := t.TempDir()
			if err := os.WriteFile(dir+"/sacct", []byte("#!/bin/sh\n"+c.sacct+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+":/usr/bin:/bin")
			got := r.ResolveJob(l, event.Status{State: event.Ready, Last: now.Add(-c.last)},
				slurm.Answer{At: now, Tried: now, Cluster: "c"})
			if got.State != c.state || !strings.Contains(got.Message, c.says) {
				t.Errorf("%s: %s", got.State, got.Message)
			}
		})
	}
}
