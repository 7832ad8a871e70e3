package layout

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// load returns a recipe of layout 1 with nodes of 4 GPUs.
func load(t testing.TB, engine, resources string) *recipes.Recipe {
	t.Helper()
	text := fmt.Sprintf("name: x\nmodel: {path: /m, container: /i, precision: f}\n"+
		"resources: {gpu_type: gb300, gpus_per_node: 4, %s}\nbackend: {type: %s}\n", resources, engine)
	r, ds := recipes.ParseRecipe("r.yaml", []byte(text))
	if ds.Errors() > 0 {
		t.Fatal(ds)
	}
	return r
}

// describe formats workers as role:nodes/ranks, followed by the GPUs of a part of a node.
func describe(workers []Worker) string {
	var out []string
	for _, w := range workers {
		s := fmt.Sprintf("%s:%v/%d", w.Role.Name, w.Nodes, w.Ranks)
		if w.GPUs != nil {
			s += fmt.Sprint(w.GPUs)
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestWorkers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, engine, resources, want string }{
		{"4 and 2", "trtllm", "agg_nodes: 2, agg_workers: 1, gpus_per_agg: 6", "agg:[0 1]/6"},
		{"whole nodes", "trtllm", "agg_nodes: 2, agg_workers: 1", "agg:[0 1]/8"},
		{"other engines use whole nodes", "sglang", "agg_nodes: 2, agg_workers: 1, gpus_per_agg: 6", "agg:[0 1]/8"},
		{
			"the rest of the last node is left for small workers", "trtllm",
			"prefill_nodes: 2, prefill_workers: 1, gpus_per_prefill: 6, decode_nodes: 0, decode_workers: 1, gpus_per_decode: 2",
			"prefill:[0 1]/6 decode:[1]/2[2 3]",
		},
		{
			"a large worker starts on an unused node", "trtllm", "agg_nodes: 4, agg_workers: 2, gpus_per_agg: 6",
			"agg:[0 1]/6 agg:[2 3]/6",
		},
		{
			"small workers", "trtllm", "agg_nodes: 2, agg_workers: 3, gpus_per_agg: 2",
			"agg:[0]/2[0 1] agg:[0]/2[2 3] agg:[1]/2[0 1]",
		},
		{"3 of 4", "trtllm", "agg_nodes: 2, agg_workers: 2, gpus_per_agg: 3", "agg:[0]/3[0 1 2] agg:[1]/3[0 1 2]"},
		{
			"spread", "trtllm", "spread_workers: true, agg_nodes: 3, agg_workers: 2, gpus_per_agg: 1",
			"agg:[0]/1[0] agg:[1]/1[0]",
		},
		{
			"decode of layout 1 has the GPUs of prefill", "trtllm",
			"prefill_nodes: 2, prefill_workers: 2, gpus_per_prefill: 2, decode_nodes: 0, decode_workers: 2",
			"prefill:[0]/2[0 1] prefill:[0]/2[2 3] decode:[1]/2[0 1] decode:[1]/2[2 3]",
		},
	} {
		l, err := New(load(t, c.engine, c.resources))
		if got := describe(l.Workers); err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.name, got, err, c.want)
		}
	}
}

func TestNoPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		resources string
		want      NoPlace
	}{
		{
			"prefill_nodes: 2, prefill_workers: 1, gpus_per_prefill: 2, decode_nodes: 0, decode_workers: 3, gpus_per_decode: 2",
			NoPlace{Role: schema.Decode, Index: 2, GPUs: 2, Nodes: 2, GPUsPerNode: 4, Free: 2},
		},
		{
			"agg_nodes: 3, agg_workers: 2, gpus_per_agg: 6",
			NoPlace{Role: schema.Agg, Index: 1, GPUs: 6, Nodes: 3, GPUsPerNode: 4, Free: 2},
		},
		{
			"agg_nodes: 1, agg_workers: 1, gpus_per_agg: 8",
			NoPlace{Role: schema.Agg, GPUs: 8, Nodes: 1, GPUsPerNode: 4},
		},
	} {
		_, err := New(load(t, "trtllm", c.resources))
		var got NoPlace
		if !errors.As(err, &got) || got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.resources, err, c.want)
		}
	}
	_, err := New(load(t, "trtllm", "agg_nodes: 1, agg_workers: 5000"))
	if want := (TooLarge{1, 5000}); err != want {
		t.Errorf("got %v, want %v", err, want)
	}
}

// Workers never share a GPU, and each has as many as it needs.
func FuzzNew(f *testing.F) {
	f.Add(uint8(2), uint8(1), uint8(6), uint8(1), uint8(2), uint8(3), true)
	f.Add(uint8(3), uint8(4), uint8(1), uint8(0), uint8(5), uint8(9), false)
	f.Fuzz(func(t *testing.T, pn, pw, pg, dn, dw, dg uint8, trtllm bool) {
		engine := "sglang"
		if trtllm {
			engine = "trtllm"
		}
		r := load(t, engine, fmt.Sprintf("prefill_nodes: %d, prefill_workers: %d, gpus_per_prefill: %d, "+
			"decode_nodes: %d, decode_workers: %d, gpus_per_decode: %d", pn, pw, max(pg, 1), dn, dw, max(dg, 1)))
		l, err := New(r)
		if err != nil {
			return
		}
		taken := map[[2]int]bool{}
		for _, w := range l.Workers {
			for i, n := range w.Nodes {
				gpus := w.GPUs
				if gpus == nil {
					for g := range min(4, w.Ranks-4*i) {
						gpus = append(gpus, g)
					}
				}
				for _, g := range gpus {
					if at := [2]int{n, g}; taken[at] || n >= l.Nodes || g > 3 {
						t.Fatalf("GPU %v is taken twice or does not exist: %s", at, describe(l.Workers))
					} else {
						taken[at] = true
					}
				}
			}
			if want := r.GPUsPerWorker(w.Role); w.Ranks < want || trtllm && w.Ranks != want || w.Ranks > want+3 {
				t.Fatalf("%s: a worker needs %d GPUs", describe(l.Workers), want)
			}
		}
		if want := r.Prefill.Workers + r.Decode.Workers; len(l.Workers) != want {
			t.Fatalf("%d workers, want %d", len(l.Workers), want)
		}
	})
}
