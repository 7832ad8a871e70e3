package porter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

func TestFilesOfOneNameAreToldApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, a, b string
		want       string
		digests    bool
	}{
		{"the same content", "one\n", "one\n", "traj.jsonl, with the same content: choose one", true},
		{"the same size", "one\n", "two\n", "traj.jsonl, with different content: choose one", true},
		{"another size", "one\n", "three\n", "traj.jsonl, with different content: choose one", false},
		{"empty files", "", "", "traj.jsonl, with the same content: choose one", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			put(t, filepath.Join(root, "a", "traj.jsonl"), c.a)
			put(t, filepath.Join(root, "b", "traj.jsonl"), c.b)
			r := port(t, lay(t, smallRun()), Options{DatasetRoots: []string{root}})
			for _, x := range r.Todos {
				if x.ID != "workload:trajectory_path" {
					continue
				}
				if len(x.Candidates) != 2 || !strings.HasSuffix(x.Message, c.want) {
					t.Errorf("%+v, want %q", x, c.want)
				}
				for _, f := range x.Candidates {
					if (len(f.SHA256) == 64) != c.digests {
						t.Errorf("candidate %+v", f)
					}
				}
				if same := x.Candidates[0].SHA256 == x.Candidates[1].SHA256; c.digests && same != (c.a == c.b) {
					t.Errorf("candidates %+v", x.Candidates)
				}
			}
		})
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "x"), "one\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files := []Candidate{{Value: filepath.Join(dir, "x"), Size: 4}, {Value: filepath.Join(dir, "gone"), Size: 4}}
	if err := addDigests(ctx, files, func(Progress) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := addDigests(t.Context(), files, func(Progress) {}); err != nil || files[0].SHA256 == "" ||
		files[1].SHA256 != "" || compareDigests(files) != "" {
		t.Errorf("an unreadable file: %+v, %v", files, err)
	}
}

func TestOriginalsOfNodeLocalDatasets(t *testing.T) {
	t.Parallel()
	script := smallRun()[harness.ClientScript]
	params := smallRun()[harness.JobParams]
	for _, c := range []inputCase{
		{
			name: "copied by the client's command",
			files: map[string]string{
				harness.ClientScript: strings.Replace(
					script, "cd /lustre", "cp /lustre/d/traj.jsonl /tmp/x/traj.jsonl; cd /lustre", 1,
				),
			},
			want: map[string]string{"trajectory_path": "/scratch/d/traj.jsonl", "user_assignments_path": "/TODO/users.json"},
		},
		{
			name:  "a job parameter",
			files: map[string]string{harness.JobParams: params + "USERS=/lustre/d/users.json\n"},
			want:  map[string]string{"user_assignments_path": "/scratch/d/users.json"},
		},
		{
			name: "two of them",
			files: map[string]string{
				harness.ClientScript: "export " +
					"T=/lustre/d/traj.jsonl\n" + script, harness.JobParams: params + "T=/data/traj.jsonl\n",
			},
			todos: []string{
				"must-fix trajectory_path: the old run read a node-local copy of traj.jsonl, and the artifacts name several",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}

func TestConfigFoundByItsUsualName(t *testing.T) {
	t.Parallel()
	files := smallRun()
	files[harness.ClientConfig] = "seed: 3\nsettling_time_seconds: 60\n"
	for _, c := range []struct {
		params string
		want   Class
	}{{"", Inferred}, {"BENCHMARK_CONFIG=/lustre/r/benchmark_config.yaml\n", Copied}} {
		files[harness.JobParams] = smallRun()[harness.JobParams] + c.params
		r := port(t, lay(t, files), Options{})
		for _, key := range []string{"seed", "settling_time_seconds"} {
			if f := fieldOf(r, key); f.Class != c.want || f.Evidence[0].Artifact != harness.ClientConfig {
				t.Errorf("%q: %+v, want %s", c.params, f, c.want)
			}
		}
	}
}

func TestNameOfALinkedDirectory(t *testing.T) {
	t.Parallel()
	dir := lay(t, smallRun())
	link := filepath.Join(t.TempDir(), "latest")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	r := port(t, link, Options{})
	if f := fieldOf(r, "name"); f.Value != "bm-x" || r.Source != "bm_x/c64" {
		t.Errorf("named %s, source %s", f.Value, r.Source)
	}
	for _, f := range r.Fields {
		for _, ev := range f.Evidence {
			checkEvidence(t, link, f.Path, ev)
		}
	}
}
