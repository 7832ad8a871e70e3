package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

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

func TestRead(t *testing.T) {
	t.Parallel()
	r, err := Open("../../testdata/bm_agentperf_dsv4_5p1d/c1010")
	if err != nil {
		t.Fatal(err)
	}
	if !r.IsRun() {
		t.Error("the sample is not recognized as a run")
	}
	if err := r.Read(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	prefill, decode := r.Launches.Workers[schema.Prefill], r.Launches.Workers[schema.Decode]
	if len(prefill) != 5 || len(decode) != 1 || r.Launches.Frontend == nil || r.Launches.Etcd == nil ||
		r.Launches.Count != 8 {
		t.Errorf("%d prefill workers, %d decode workers, %d launches", len(prefill), len(decode), r.Launches.Count)
	}
	if v, ok := decode[0].Lookup("HF_HUB_OFFLINE"); !ok || v.Value != "1" || v.At.Artifact != JobLog || v.At.Column == 0 {
		t.Errorf("a variable of the decode worker: %+v", v)
	}
	for _, c := range []struct {
		name string
		got  Value
		want string
		at   string
	}{
		{"concurrency", r.Params["CONCURRENCIES"], "1010", JobParams},
		{"seed", r.Banner.Values["Seed"], "42", ClientLog},
		{"max tokens", r.Banner.Values["Max tokens"], "2000", ClientLog},
		{"dataset", r.Banner.Values[LabelTrajectories], "traj.jsonl", ClientLog},
		{"checkout", r.Client.Checkout, "agentperf", ClientScript},
		{
			"settling", r.Settling[0], "240",
			Results + "/hf-0c0ffee_orig__1010u__phase0__dur2400s__settle240s__traj3.json",
		},
	} {
		if !strings.Contains(c.got.Text, c.want) || c.got.At.Artifact != c.at {
			t.Errorf("%s: %+v, want %s in %s", c.name, c.got, c.want, c.at)
		}
	}
	if leaf, ok := r.Engines[schema.Decode].Find("max_batch_size"); !ok || r.Engines[schema.Decode].At(leaf).Line == 0 {
		t.Errorf("an engine value: %+v", leaf)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Read(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled read: %v", err)
	}
}
