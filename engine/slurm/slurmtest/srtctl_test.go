package slurmtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The job of srtctl can be watched, listed and cancelled like any other. It is found by its
// comment if the output of srtctl is lost.
func TestSrtctl(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		env  []string
		end  func(s *site, rec submitted)
		want string
	}{
		{"completed", nil, func(*site, submitted) {}, "done"},
		{"output lost", []string{"SRTCTL_FAULT=lost"}, func(*site, submitted) {}, "done"},
		{
			"cancelled",
			[]string{"SRTCTL_ROWS=3000"},
			func(s *site, rec submitted) { s.want(0, "cancel", rec.ID, "--yes") }, "cancelled",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "a run of srtctl: "+c.name)
			s.env = append(s.env, c.env...)
			s.prependPath(filepath.Join(filepath.Dir(s.c.Source), "standins", "srtctl"))
			rec := s.apply(twoNodes("--launcher", "srtctl", "--set", "sbatch_directives.comment=mine")...)
			if rec.Dir != s.dir+"/out/"+rec.ID {
				t.Errorf("run directory %s", rec.Dir)
			}
			s.until(rec.ID, "ramp", "settling", "measuring")
			c.end(s, rec)
			if last, _ := s.watch(rec.ID, nil); last.State != c.want {
				t.Errorf("%+v, want %s", last, c.want)
			}
			given, err := os.ReadFile(rec.Dir + "/config.yaml")
			if err != nil || !strings.Contains(string(given), rec.Comment+" mine") {
				t.Errorf("the recipe of srtctl was replaced or has no comment: %v\n%s", err, given)
			}
			if out := s.want(0, "runs"); !strings.Contains(out, rec.ID) || !strings.Contains(out, "srtctl") {
				t.Errorf("runs:\n%s", out)
			}
			if left, err := filepath.Glob(s.dir + "/out/.staged/*"); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

func TestSrtctlNotFound(t *testing.T) {
	t.Parallel()
	s := newSite(t, "no srtctl")
	_, errs, code := s.run(append([]string{"apply", "r.yaml", "--yes", "--launcher", "srtctl"}, s.settings()...)...)
	if code != 1 || !strings.Contains(errs, "no srtctl on the PATH") ||
		s.slurm("squeue", "-h", "--name=bm-agentperf-dsv4-5p1d-srtctl") != "" {
		t.Errorf("exit %d: %s", code, errs)
	}
	smoke := append([]string{"dry-run", "r.yaml", "--launcher", "srtctl", "--smoke"}, s.settings()...)
	if _, errs, code := s.run(smoke...); code == 0 || !strings.Contains(errs, "use --launcher slurm") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
