package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// makeFiles creates empty files below a directory.
func makeFiles(t *testing.T, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindRuns(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, p := range []string{
		"x/bm/c64/job.log", "x/bm/c1010/job.log", "x/bm/c8/other", "x/bm/cx/job.log", "deep/1/2/3/4/c1/job.log",
	} {
		path := filepath.Join(root, p)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(root, filepath.Join(root, "x/loop")); err != nil {
		t.Fatal(err)
	}
	got, err := FindRuns(t.Context(), root, 4)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(root, "x/bm/c1010"), filepath.Join(root, "x/bm/c64")}; !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
	if _, err := FindRuns(t.Context(), filepath.Join(root, "none"), 4); err == nil {
		t.Error("no error for a missing root")
	}
	link := filepath.Join(t.TempDir(), "bm")
	if err := os.Symlink(filepath.Join(root, "x/bm"), link); err != nil {
		t.Fatal(err)
	}
	got, err = FindRuns(t.Context(), link, 4)
	if want := []string{filepath.Join(link, "c1010"), filepath.Join(link, "c64")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("runs %v below a link, %v, want %v", got, err, want)
	}
}

// TestFindLayouts has a case for each layout of a run directory.
func TestFindLayouts(t *testing.T) {
	t.Parallel()
	const statistics = "agentperf/m__8u__phase0__dur9s__settle1s__traj3.json"
	for name, c := range map[string]struct {
		files string
		want  string // directory, with a ! behind it if it can't be ported
	}{
		"named c<N>":                  {"bm_a/c64/ctx_config.yaml", "bm_a/c64"},
		"compressed":                  {"bm_a/c64/job.log.gz", "bm_a/c64"},
		"without c<N>":                {"bm_agentperf_c1010/job_params.env", "bm_agentperf_c1010"},
		"the root itself":             {"job_params.env", "."},
		"client script":               {"bm/client_cmds_base.sh", "bm"},
		"log and engine config":       {"bm/job.log bm/gen_config.yaml", "bm"},
		"two compressed logs":         {"bm/job.log.gz bm/client.log.gz", "bm"},
		"request rows":                {"bm/agentperf/requests.jsonl", "bm"},
		"statistics":                  {"bm/" + statistics, "bm"},
		"outputs of each start":       {"bm/agentperf/1/phase_manifest.jsonl", "bm"},
		"predecessor":                 {"bm/agentperf/rwlt_requests.jsonl", "bm"},
		"shared files beside c<N>":    {"bm/job_params.env bm/c8/client.log bm/c16/client.log", "bm/c16 bm/c8"},
		"shared files beside no run":  {"bm/job_params.env bm/c8/notes.txt bm/other/job_params.env", "bm"},
		"inside c<N>":                 {"c8/job.log c8/c9/job.log", "c8"},
		"sources of the client":       {"src/agentperf/run.py c4/agentperf/run.py", ""},
		"a log alone":                 {"x/job.log x/job.log.1", ""},
		"engine configs alone":        {"configs/ctx_config.yaml configs/gen_config.yaml", ""},
		"recorded run":                {"out/L1/run.json out/L1/logs/agentperf/requests.jsonl", "out/L1!"},
		"run of srt-slurm":            {"out/17/config.yaml out/17/logs/agentperf/requests.jsonl", "out/17/logs!"},
		"recorded run that is staged": {"out/.staged/ab/run.json out/.staged/ab/c8/job.log", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			makeFiles(t, root, strings.Fields(c.files)...)
			found, unreadable, err := Find(t.Context(), root, 4)
			if err != nil || len(unreadable) > 0 {
				t.Fatalf("errors %v, %v", err, unreadable)
			}
			var got, portable []string
			for _, f := range found {
				rel, err := filepath.Rel(root, f.Dir)
				if err != nil {
					t.Fatal(err)
				}
				if f.Portable {
					portable = append(portable, f.Dir)
				} else {
					rel += "!"
				}
				got = append(got, rel)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("found %v, want %s", got, c.want)
			}
			runs, err := FindRuns(t.Context(), root, 4)
			if err != nil || !slices.Equal(runs, portable) {
				t.Errorf("FindRuns: %v, %v; want %v", runs, err, portable)
			}
			for _, dir := range runs { // what is found can be opened as a run
				if r, err := Open(dir); err != nil || !r.IsRun() {
					t.Errorf("open %s: %v", dir, err)
				}
			}
		})
	}
}

func TestFindUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root can read every directory")
	}
	root := t.TempDir()
	makeFiles(t, root, "c8/job.log", "other/c9/job.log", "c7/job.log")
	for _, dir := range []string{"c8", "other"} {
		path := filepath.Join(root, dir)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Error(err)
			}
		})
	}
	found, unreadable, err := Find(t.Context(), root, 4)
	want := []Found{{filepath.Join(root, "c7"), true}, {filepath.Join(root, "c8"), true}}
	if err != nil || !slices.Equal(found, want) || len(unreadable) != 1 {
		t.Errorf("found %v, unreadable %v, %v", found, unreadable, err)
	}
	found, _, err = Find(t.Context(), filepath.Join(root, "c8"), 4)
	if err != nil || !slices.Equal(found, want[1:]) {
		t.Errorf("an unreadable root that is a run: %v, %v", found, err)
	}
}

func TestFindCancelled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	makeFiles(t, root, "c8/job.log")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found, _, err := Find(ctx, root, 4); !errors.Is(err, context.Canceled) || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
}
