package slurm

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/rundir"
)

func local(text string) time.Time {
	t, err := time.ParseInLocation(timeLayout, text, time.Local)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

func TestParseQueue(t *testing.T) {
	t.Parallel()
	out := "12|PENDING|Resources|2026-11-30T04:00:00|2026-11-30T05:00:00|N/A||agentperf-tui:ab with | a bar\n" +
		"13|RUNNING|None|2026-11-30T04:00:00|2026-11-30T04:00:01|2026-11-30T05:00:01|gb300-T[01-02]|(null)\n" +
		"torn line|x\n\n"
	want := []Job{
		{
			ID: "12", State: "PENDING", Reason: "Resources", Submitted: local("2026-11-30T04:00:00"),
			Start: local("2026-11-30T05:00:00"), Comment: "agentperf-tui:ab with | a bar",
		},
		{
			ID: "13", State: "RUNNING", Submitted: local("2026-11-30T04:00:00"), Start: local("2026-11-30T04:00:01"),
			End: local("2026-11-30T05:00:01"), Nodes: "gb300-T[01-02]",
		},
	}
	if diff := cmp.Diff(want, parseQueue(out)); diff != "" {
		t.Error(diff)
	}
}

func TestParseAccounting(t *testing.T) {
	t.Parallel()
	const times = "2026-11-30T04:00:00|2026-11-30T04:00:01|2026-11-30T04:10:00"
	out := "12|CANCELLED by 1000|" + times + "|gb300-T01|agentperf-tui:ab\n" +
		"12|COMPLETED|2025-01-01T00:00:00|Unknown|Unknown|None assigned|\n"
	want := []Job{
		{
			ID: "12", State: "CANCELLED", Reason: "by 1000", Submitted: local("2026-11-30T04:00:00"),
			Start: local("2026-11-30T04:00:01"), End: local("2026-11-30T04:10:00"), Nodes: "gb300-T01",
			Comment: "agentperf-tui:ab",
		},
		{ID: "12", State: "COMPLETED", Submitted: local("2025-01-01T00:00:00"), Nodes: "None assigned"},
	}
	if diff := cmp.Diff(want, parseAccounting(out)); diff != "" {
		t.Error(diff)
	}
}

// A cluster reuses job ids.
func TestJobMatchesByCommentOrSubmitTime(t *testing.T) {
	t.Parallel()
	at := local("2026-11-30T04:00:00")
	r := rundir.Record{ID: "12", Comment: "agentperf-tui:ab", Created: at}
	for _, c := range []struct {
		name string
		job  Job
		want bool
	}{
		{"same comment", Job{ID: "12", Comment: "agentperf-tui:ab two words"}, true},
		{"another id", Job{ID: "13", Comment: "agentperf-tui:ab", Submitted: at}, false},
		{"another comment", Job{ID: "12", Comment: "agentperf-tui:cd", Submitted: at}, false},
		{"no comment, same time", Job{ID: "12", Submitted: at.Add(3 * time.Second)}, true},
		{"no comment, a year before", Job{ID: "12", Submitted: at.AddDate(-1, 0, 0)}, false},
	} {
		if got := c.job.belongsTo(r); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestParseSteps(t *testing.T) {
	t.Parallel()
	out := "StepId=3.batch UserId=0 State=RUNNING Name=batch Network=(null)\n" +
		"StepId=3.0 UserId=0 State=RUNNING Name=prefill_0 Network=(null)\n"
	if diff := cmp.Diff(map[string]string{"batch": "3.batch", "prefill_0": "3.0"}, parseSteps(out)); diff != "" {
		t.Error(diff)
	}
}

func TestParseJobID(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"12\n": "12", "12;cluster\n": "12", "": "", "Submitted batch job 12\n": "",
		"-1": "", "12_3": "",
	} {
		if got := parseJobID(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	env := []string{
		"HOME=/h", "SBATCH_PARTITION=x", "SQUEUE_FORMAT=%i", "SLURM_CONF=/c", "SLURM_TIME_FORMAT=relative",
		"SBATCH_ACCOUNT=y",
	}
	if got := environment(env); !slices.Equal(got, []string{"HOME=/h", "SLURM_CONF=/c"}) {
		t.Errorf("got %v", got)
	}
	if got := SbatchVars(env); !slices.Equal(got, []string{"SBATCH_ACCOUNT", "SBATCH_PARTITION"}) {
		t.Errorf("got %v", got)
	}
}

func TestParsePartition(t *testing.T) {
	t.Parallel()
	out := "batch|1-00:00:00|1-infinite|3|idle\nbatch|1-00:00:00|1-infinite|10|allocated\nlong|infinite|1-8|2|idle\n"
	got, err := parsePartition(out, "batch")
	if err != nil || got.String() != "partition batch: nodes 3 idle, 10 allocated; time limit 1-00:00:00" ||
		got.Nodes != 13 || got.Idle != 3 {
		t.Errorf("got %+v %v", got, err)
	}
	if got, err := parsePartition(out, "long"); err != nil ||
		got.String() != "partition long: nodes 2 idle; time limit infinite; nodes per job 1-8" {
		t.Errorf("got %+v %v", got, err)
	}
	const says = "no such partition: bach (available: batch, long)"
	if _, err := parsePartition(out, "bach"); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v", err)
	}
}

func TestJobEndedAndNearTimeLimit(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{
		"PENDING": false, "RUNNING": false, "COMPLETING": false, "COMPLETED": true,
		"NODE_FAIL": true, "TIMEOUT": true,
	} {
		if got := (Job{State: state}).Ended(); got != want {
			t.Errorf("%s: %v", state, got)
		}
	}
	now := local("2026-11-30T04:00:00")
	for end, want := range map[time.Duration]bool{
		90 * time.Second: true, 150 * time.Second: true, 10 * time.Minute: false,
	} {
		if got := (Job{End: now.Add(end)}).NearTimeLimit(now); got != want {
			t.Errorf("%v before the end: %v", end, got)
		}
	}
	if (Job{}).NearTimeLimit(now) {
		t.Error("a job without a time limit is near it")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"12|PENDING|None|2026-11-30T04:00:00|N/A|N/A||c\n", "12|CANCELLED by 0|Unknown|Unknown|Unknown||\n",
		"StepId=3.0 Name=a\n", "12;x\n", "batch|1:00|1-8|3|idle\n", "NodeName=a Arch=x86_64 =",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lines := strings.Count(s, "\n") + 1
		if n := len(parseQueue(s)); n > lines {
			t.Errorf("%d jobs in %d lines", n, lines)
		}
		if n := len(parseAccounting(s)); n > lines {
			t.Errorf("%d jobs in %d lines", n, lines)
		}
		if n := len(parseSteps(s)); n > lines {
			t.Errorf("%d steps in %d lines", n, lines)
		}
		if id := parseJobID(s); strings.ContainsAny(id, "; \n-") {
			t.Errorf("id %q", id)
		}
		if p, err := parsePartition(s, "batch"); err == nil && (p.TimeLimit == "" || p.Idle > p.Nodes && p.Nodes >= 0) {
			t.Errorf("%+v", p)
		}
	})
}
