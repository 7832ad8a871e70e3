package harness

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

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
