package slurm

import "testing"

func TestParseSrtctl(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]Handed{
		`{"status":"submitted","slurm_job_id":"12","job_name":"x","output_dir":"/o/12"}` + "\n":      {"12", "/o/12"},
		"loading\n{\"status\": \"submitted\", \"slurm_job_id\": 13, \"output_dir\": \"/o/13\"}\nbye": {"13", "/o/13"},
		"✓ Submitted batch job 14\n":                            {ID: "14"},
		"Submitted: x (job 15) with 3 nodes\n":                  {ID: "15"},
		`{"status":"error","error":"no such partition"}` + "\n": {},
		`{"slurm_job_id":"12; rm -rf /"}`:                       {ID: "12"},
		`{"slurm_job_id":"x"}`:                                  {},
		"":                                                      {},
	} {
		if got := parseSrtctl(out); got != want {
			t.Errorf("%q: %+v, want %+v", out, got, want)
		}
	}
}

func FuzzParseSrtctl(f *testing.F) {
	f.Add(`{"slurm_job_id":"12","output_dir":"/o"}`)
	f.Add("Submitted batch job 14")
	f.Fuzz(func(t *testing.T, out string) {
		for _, c := range parseSrtctl(out).ID {
			if c < '0' || c > '9' {
				t.Errorf("id with %q", c)
			}
		}
	})
}
