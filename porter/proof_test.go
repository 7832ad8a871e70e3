package porter

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// proofRows returns a proof's differences as "launch: difference | rule".
func proofRows(p Proof) []string {
	var out []string
	for _, l := range p.Lines {
		for _, d := range l.Differences {
			out = append(out, l.Launches[0]+": "+d.String()+" | "+d.Rule)
		}
	}
	return out
}

func TestProofRows(t *testing.T) {
	t.Parallel()
	gen := workerLine("GEN", 0, "-w n2 -N 1 -n 4", "A=1")
	etcd := func(export string) string {
		return strings.Replace(frontendLine("n1", export), "frontend n1 8333", "etcd n1 2379", 1)
	}
	for _, c := range []struct {
		name    string
		job     string
		params  string
		answers []Answer
		want    []string // with "…" for any text
	}{
		{
			name: "rename, rewrite, drop, replace, add",
			job: jobLog(
				workerLine(
					"CTX", 0, "-w n1 -N 1 -n 4",
					"DYN_KV_BLOCK_SIZE=64 DYN_UCX_TLS=rc UCX_TLS=tcp E=/lustre/x DYN_LOG=debug DYN_SYSTEM_PORT=1 "+
						"TRTLLM_EPLB_SHM_NAME=x",
				),
				gen,
			),
			want: []string{
				"CTX 0: dropped env HOME old /home/u | set by srt-slurm or", "CTX 0: renamed env DYN_KV_BLOCK_SIZE → " +
					"DYN_TRTLLM_KV_BLOCK_SIZE | only the harness",
				"CTX 0: renamed env DYN_UCX_TLS → UCX_TLS | the harness", "CTX 0: dropped env UCX_TLS old tcp | replaced by " +
					"DYN_UCX_TLS",
				"CTX 0: changed env E old /lustre/x new /scratch/x | rewrite /lustre/", "CTX 0: changed env " +
					"TRTLLM_EPLB_SHM_NAME old x new moe_shared_prefill0_{job_id} | srt-slurm sets it",
				"GEN 0: added env DYN_LOG new info | the default log level",
			},
		},
		{
			name: "a renamed value that is a path", job: jobLog(
				workerLine("CTX", 0, "-w n1 -N 1 -n 4", "DYN_UCX_TLS=/lustre/x"), gen,
			),
			want: []string{"CTX 0: renamed env DYN_UCX_TLS → UCX_TLS | rewrite /lustre/"},
		},
		{
			name: "commas, bare names, flags of the frontend",
			job: jobLog(
				strings.Replace(
					frontendLine("n1", ",UCX_TLS=a,b,LD_LIBRARY_PATH"), "8333 ",
					"8333 --http-port 9 --dyn-tool-call-parser x --reset --cache-dir=/lustre/c --router-mode round ", 1,
				),
				workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"), gen,
			),
			want: []string{
				`frontend: changed env UCX_TLS old a,b new a,b | srun split the old value at its commas and passed "a"`,
				"frontend: changed env LD_LIBRARY_PATH | question recipe:frontend.env#export LD_LIBRARY_PATH",
				"frontend: dropped flag --dyn-tool-call-parser old x | the frontend refuses", "frontend: changed flag " +
					"--cache-dir old /lustre/c new /scratch/c | rewrite",
				"frontend: changed flag --router-mode old round new kv | question recipe:frontend.args.router-mode#launched",
				"frontend: added flag --kv-cache-block-size new 128 | fallback for DYN_KV_BLOCK_SIZE",
				"frontend: added flag --enforce-disagg | fixed: prefill and decode",
			},
		},
		{
			name: "workers that differ",
			job: jobLog(
				workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1 C=1"), workerLine("CTX", 1, "-w n3 -N 1 -n 4", "A=2 B=1"),
				workerLine("CTX", 2, "-w n4 -N 1 -n 4", "A=2 B=1"), gen,
			),
			want: []string{
				"CTX 1: changed env A old 2 new 1 | workers differ, and a role has one environment: question " +
					"recipe:backend.prefill_environment.A#differs",
				"CTX 1: dropped env B old 1 | workers differ", "CTX 1: added env C new 1 | workers differ",
			},
		},
		{
			name: "answers", job: jobLog(workerLine("CTX", 0, "-w n1 -N 1 -n 4 --gres=gpu:4 --reservation r1", "A=1"), gen),
			answers: []Answer{
				{ID: "recipe:backend.prefill_environment.A", Value: "2"},
				{ID: "recipe:backend.prefill_environment.N", Value: "3"},
				{ID: "recipe:backend.trtllm_config.prefill.x", Value: "1"},
				{ID: "recipe:backend.trtllm_config.prefill.tensor_parallel_size", Value: "8"},
				{ID: "recipe:srun_options#--gres", Value: `{gres: "gpu:4", wait: "60"}`},
				{ID: "recipe:extra_mount", Value: "[/a:/a]"},
				{ID: "recipe:frontend.args.zz", Value: "1"},
				{ID: "recipe:model.path", Value: "/m"},
			},
			want: []string{
				"CTX 0: changed env A old 1 new 2 | answer recipe:backend.prefill_environment.A", "CTX 0: added env N new 3 | " +
					"answer", "CTX 0: added config x new 1 | answer recipe:backend.trtllm_config.prefill.x",
				"CTX 0: changed config tensor_parallel_size old 4 new 8 | answer", "CTX 0: dropped flag --reservation old r1 | " +
					"question recipe:srun_options#--reservation",
				"GEN 0: added flag --gres | answer recipe:srun_options#--gres", "CTX 0: changed argument model old " +
					"/lustre/models/m-fp8 new /m | answer recipe:model.path",
			},
		},
		{
			name: "two answers to one worker's size", job: jobLog(
				workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"), workerLine("CTX", 1, "-w n3 -N 1 -n 4", "A=1"), gen,
			),
			answers: []Answer{
				{ID: "recipe:resources.prefill_workers", Value: "1"}, {ID: "recipe:resources.prefill_nodes", Value: "2"},
			},
			want: []string{
				"CTX 0: changed flag --nodes old 1 new 2 | answer recipe:resources.prefill_workers",
				"CTX 1: dropped launch the whole launch | answer recipe:resources.prefill_workers",
			},
		},
		{
			name: "a worker on more nodes than it needs", job: jobLog(
				strings.ReplaceAll(
					workerLine("CTX", 0, "-w n1,n3 -N 2 -n 2", "A=1"), "CUDA_VISIBLE_DEVICES=0,1,2,3", "CUDA_VISIBLE_DEVICES=0",
				),
				gen,
			),
			want: []string{"CTX 0: changed flag --nodes old 2 new 1 | question recipe:resources#layout"},
		},
		{
			name: "etcd", job: jobLog(
				strings.Replace(etcd(",ETCD_QUOTA_BACKEND_BYTES=1,ETCD_ENDPOINTS=http://n1:2379"), "-n 1", "-n 1 --mpi=pmix", 1),
				workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"), gen,
			),
			want: []string{
				"etcd: dropped env ROUTER_MODE old kv | etcd does not read it", "etcd: dropped env ETCD_QUOTA_BACKEND_BYTES old " +
					"1 | question run#etcd ETCD_QUOTA_BACKEND_BYTES",
				"etcd: dropped env ETCD_ENDPOINTS old http://n1:2379 | set by srt-slurm or the image",
				"etcd: dropped flag --mpi old " +
					"pmix | etcd is not an MPI program",
			},
		},
		{
			name: "other mounts and images", job: jobLog(
				workerLine(
					"CTX", 0, "-w n1 -N 1 -n 4 --container-mounts=/lustre:/lustre,/other:/other --container-image=/lustre/other.sqsh",
					"A=1",
				),
				workerLine(
					"GEN", 0, "-w n2 -N 1 -n 4 --container-image=/lustre/img.sqsh --container-mounts=/lustre:/lustre,/data:/data:ro",
					"A=1",
				),
			),
			want: []string{
				"CTX 0: dropped mount /other:/other | question recipe:extra_mount#CTX 0", "CTX 0: added mount /data:/data:ro | " +
					"question recipe:extra_mount#CTX 0",
				"CTX 0: changed flag --container-image old /lustre/other.sqsh new /scratch/img.sqsh | question " +
					"recipe:model.container#launched", "GEN 0: changed mount /lustre:/lustre new /scratch:/scratch | containers",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := smallRun()
			files[harness.JobLog] = c.job
			dir := lay(t, files)
			for _, schema := range []int{1, 2} {
				r := port(t, dir, Options{Schema: schema, Answers: c.answers})
				rows := proofRows(r.Proof)
				for _, want := range c.want {
					if !slices.ContainsFunc(rows, func(s string) bool { return matches(s, want) }) {
						t.Errorf("schema %d: no row %q in %s\n%s", schema, want, r.Proof.Summary(), strings.Join(rows, "\n"))
					}
				}
				if bad := r.Proof.Unexplained(); len(bad) > 0 {
					t.Errorf("schema %d: unexplained %q", schema, bad)
				}
			}
		})
	}
}

// The proof finds changes to the fields after the port.
func TestProofFindsChangedFields(t *testing.T) {
	t.Parallel()
	drop := func(path string) func(*draft) {
		return func(d *draft) {
			n := len(d.res.Fields)
			d.res.Fields = slices.DeleteFunc(d.res.Fields, func(f Field) bool { return f.Path == path })
			if len(d.res.Fields) == n {
				t.Errorf("no field %s", path)
			}
		}
	}
	set := func(path, value string) func(*draft) {
		return func(d *draft) {
			for i := range d.res.Fields {
				if f := &d.res.Fields[i]; f.Path == path {
					n := *f.node
					n.Value, f.node = value, &n
					return
				}
			}
			t.Errorf("no field %s", path)
		}
	}
	add := func(base, name string) func(*draft) {
		return func(d *draft) {
			path := base + "." + name
			d.addField(Field{File: Recipe, base: base, sub: keys(name), node: quoted("x"), Class: Copied, Path: path})
		}
	}
	for _, c := range []struct {
		name   string
		change func(*draft)
		want   []string
	}{
		{
			"a variable lost", drop("backend.prefill_environment.TRTLLM_ENABLE_PDL"),
			[]string{"CTX 0: dropped env TRTLLM_ENABLE_PDL old 1"},
		},
		{
			"a variable changed", set("backend.decode_environment.HF_HUB_OFFLINE", "0"),
			[]string{"GEN 0: changed env HF_HUB_OFFLINE old 1 new 0"},
		},
		{
			"a renamed variable changed", set("backend.prefill_environment.UCX_TLS", "tcp"),
			[]string{"CTX 0: changed env DYN_UCX_TLS old cuda_ipc,cuda_copy,sm,self,tcp new tcp"},
		},
		{"an extra variable", add("backend.prefill_environment", "ZZ"), []string{"CTX 0: added env ZZ new x"}},
		{
			"a variable of the frontend lost", drop("frontend.env.DYN_TOKENIZER_CACHE"),
			[]string{"frontend: dropped env DYN_TOKENIZER_CACHE old 1"},
		},
		{"an extra flag", add("frontend.args", "zz"), []string{"frontend: added flag --zz new x"}},
		{
			"an engine value lost", drop("backend.trtllm_config.decode.max_batch_size"),
			[]string{"GEN 0: dropped config max_batch_size old 16"},
		},
		{
			"an engine value changed", set("backend.trtllm_config.prefill.max_seq_len", "1"),
			[]string{"CTX 0: changed config max_seq_len old 147456 new 1"},
		},
		{"an extra engine value", add("backend.trtllm_config.prefill", "zz"), []string{`CTX 0: added config zz new "x"`}},
		{
			"a worker lost", func(d *draft) { set("resources.prefill_workers", "4")(d); set("resources.prefill_nodes", "4")(d) },
			[]string{"CTX 4: dropped launch the whole launch"},
		},
		{
			"other sizes", set("resources.gpus_per_node", "2"),
			[]string{"CTX 0: changed flag --ntasks old 4 new 2", "GEN 0: changed flag --ntasks old 32 new 16"},
		},
		{"the image changed", set("model.container", "/x"), []string{
			"etcd: changed flag --container-image old " +
				"/lustre/fsw/portfolios/perf/users/bench-user/images/dynamo_1a2b3c4d_trtllm_9f8e7d6c.sqsh new /x",
		}},
		{
			"the model changed", set("model.path", "/x"),
			[]string{
				"CTX 0: changed argument model old /lustre/fsw/portfolios/perf/models/deepseek-v4-pro-nvfp4/hf/hf-0c0ffee_orig " +
					"new /x",
			},
		},
		{
			"a mount lost", drop("extra_mount"),
			[]string{"etcd: dropped mount /lustre:/lustre", "etcd: dropped mount /scratch:/scratch"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := newPorting(t.Context(), sampleDir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			p.decideFields()
			p.checkAndSort()
			c.change(p.draft)
			p.res.Proof, p.res.recipe = Proof{}, nil
			(&checker{porting: p}).prove()
			got := p.res.Proof.Unexplained()
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("unexplained %q, want %q", got, want)
				}
			}
			if all := todoLines(p.res); !slices.ContainsFunc(all, func(s string) bool {
				return strings.HasPrefix(s, "must-fix : a bug in the porter: "+c.want[0])
			}) {
				t.Errorf("no question about it:\n%s", strings.Join(all, "\n"))
			}
			text := p.res.Proof.Text()
			if !strings.Contains(text, " UNEXPLAINED: a bug in the porter\n") || !strings.Contains(text, "| UNEXPLAINED") {
				t.Errorf("report:\n%s", text)
			}
		})
	}
}

func TestProofProblem(t *testing.T) {
	t.Parallel()
	files := smallRun()
	files[harness.JobLog] = "noise\n"
	const none = "0 launch lines read of 0 seen, and the client's command; 14 tokens read, 14 unaccounted; " +
		"not compared: job.log shows no launch line"
	if r := port(t, lay(t, files), Options{}); r.Proof.Summary() != none {
		t.Errorf("no launch: %s", r.Proof.Summary())
	}
	files[harness.JobLog] = jobLog(
		frontendLine("n1", ""),
		workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"),
		workerLine("GEN", 0, "-w n2 -N 1 -n 4", "A=1"),
	)
	r := port(t, lay(t, files), Options{WorkloadOut: "/w.yaml", Answers: []Answer{
		{
			ID:    "recipe:resources.prefill_workers",
			Value: "9",
		}, {ID: "workload:trajectory_path", Value: "/t"}, {ID: "workload:user_assignments_path", Value: "/u"},
	}})
	if diff := cmp.Diff([]string{"recipe:resources#proof"}, mustFixIDs(r)); diff != "" ||
		!strings.Contains(r.Proof.Problem, "prefill worker 0 needs 0 GPUs") {
		t.Errorf("%s (-want +got):\n%s", r.Proof.Problem, diff)
	}
}

func mustFixIDs(r *Result) []string {
	var out []string
	for _, td := range r.Todos {
		if td.Kind == MustFix {
			out = append(out, td.ID)
		}
	}
	return out
}
