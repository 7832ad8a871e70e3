package slurm

import "testing"

func TestParseSrtctl(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		out    string
		failed bool
		want   Handed
	}{
		{
			`{"status":"submitted","slurm_job_id":"12","job_name":"x","output_dir":"/o/12"}` + "\n", false,
			Handed{"12", "/o/12"},
		},
		{`{"status":"submitted","slurm_job_id":"12","output_dir":"/o/12"}` + "\n", true, Handed{"12", "/o/12"}},
		{
			"loading\n{\"status\": \"submitted\", \"slurm_job_id\": 13, \"output_dir\": \"/o/13\"}\nbye", false,
			Handed{"13", "/o/13"},
		},
		{"checking\nSubmitted batch job 14\n", false, Handed{ID: "14"}},
		{"Submitted batch job 14\n", true, Handed{}},
		{"nothing was submitted: your job limit of 20 is reached\n", false, Handed{}},
		{"sbatch: could not be submitted after job 7\n", true, Handed{}},
		{`{"status":"error","error":"no such partition"}` + "\n", false, Handed{}},
		{`{"slurm_job_id":"12; rm -rf /"}`, false, Handed{ID: "12"}},
		{`{"slurm_job_id":"x"}`, false, Handed{}},
		{"", false, Handed{}},
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
