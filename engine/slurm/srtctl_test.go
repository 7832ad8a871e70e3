package slurm

import (
	"strings"
	"testing"
	"time"
)

func TestParseSrtctl(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		out    string
		failed bool
		want   SrtctlJob
	}{
		{
			`{"status":"submitted","slurm_job_id":"12","job_name":"x","output_dir":"/o/12"}` + "\n", false,
			SrtctlJob{"12", "/o/12"},
		},
		{`{"status":"submitted","slurm_job_id":"12","output_dir":"/o/12"}` + "\n", true, SrtctlJob{"12", "/o/12"}},
		{
			"loading\n{\"status\": \"submitted\", \"slurm_job_id\": 13, \"output_dir\": \"/o/13\"}\nbye", false,
			SrtctlJob{"13", "/o/13"},
		},
		{"checking\nSubmitted batch job 14\n", false, SrtctlJob{ID: "14"}},
		{"Submitted batch job 14\n", true, SrtctlJob{}},
		{"nothing was submitted: your job limit of 20 is reached\n", false, SrtctlJob{}},
		{"sbatch: could not be submitted after job 7\n", true, SrtctlJob{}},
		{`{"status":"error","error":"no such partition"}` + "\n", false, SrtctlJob{}},
		{`{"slurm_job_id":"12; rm -rf /"}`, false, SrtctlJob{ID: "12"}},
		{`{"slurm_job_id":"x"}`, false, SrtctlJob{}},
		{"", false, SrtctlJob{}},
	} {
		if got := parseSrtctl(c.out, !c.failed); got != c.want {
			t.Errorf("%q, failed %v: %+v, want %+v", c.out, c.failed, got, c.want)
		}
	}
}

func FuzzParseSrtctl(f *testing.F) {
	f.Add(`{"slurm_job_id":"12","output_dir":"/o"}`)
	f.Add("Submitted batch job 14")
	f.Fuzz(func(t *testing.T, out string) {
		for _, c := range parseSrtctl(out, true).ID {
			if c < '0' || c > '9' {
				t.Errorf("id with %q", c)
			}
		}
	})
}

// A schema is asked for with a time limit and without a shell.
func TestSrtctlSchema(t *testing.T) {
	fake(t, "srtctl", `[ "$*" = "schema --cluster" ] && echo '{}' || exec sleep 60`)
	if out, err := srtctlSchema(t.Context(), schemaLimit, true); err != nil || string(out) != "{}\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := srtctlSchema(t.Context(), 50*time.Millisecond, false); err == nil ||
		!strings.Contains(err.Error(), "ask srtctl for its schema: srtctl: no answer within 50ms") {
		t.Errorf("a program that hangs: %v", err)
	}
	fake(t, "srtctl", `trap '' PIPE; head -c 40000000 /dev/zero; exec sleep 60`)
	if _, err := srtctlSchema(t.Context(), 3*time.Second, false); err == nil ||
		!strings.Contains(err.Error(), "more than 32 MB of output") {
		t.Errorf("a program that prints without end: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := SrtctlSchema(t.Context(), false); err == nil || !strings.Contains(err.Error(), "no srtctl on the PATH") {
		t.Errorf("without srtctl: %v", err)
	}
}
