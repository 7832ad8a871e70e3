package porter

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// What has no place in a recipe is one question per decision, which names its launches, and is not said to be
// lost or kept until it is answered.
func TestTokensWithoutPlace(t *testing.T) {
	t.Parallel()
	ctx, gen := workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1"), workerLine("GEN", 0, "-w n2 -N 1 -n 4", "A=1")
	frontend := frontendLine("n1", "")
	etcd := strings.Replace(frontend, "frontend n1 8333", "etcd n1 2379", 1)
	all := func(old, new string) []string {
		var out []string
		for _, l := range []string{frontend, ctx, gen} {
			out = append(out, strings.Replace(l, old, new, 1))
		}
		return out
	}
	for _, c := range []struct {
		name  string
		lines []string
		asked []string // beginnings of all additional questions
		steps string   // end of the first one
		count int      // tokens that are asked about
	}{
		{
			"a mode and other values than usual", all("e2e '64' true", "gen_only '64' false"),
			[]string{
				`argument 5 of the start script (benchmark mode) is "gen_only", not the usual "e2e"`,
				`argument 7 of the start script is "false", not the usual "true"`,
			},
			"; launches: CTX 0, GEN 0", 4,
		},
		{
			"levels that are none", all("e2e '64' true", "e2e '$N' true"),
			[]string{`argument 6 of the start script (concurrency) is "$N", for which a recipe has no place`},
			"; launches: CTX 0, GEN 0", 2,
		},
		{
			"an argument more", all("none &>", "none patch.yaml &>"),
			[]string{`argument 15 of the start script is ` +
				`"patch.yaml", for`},
			"; launches: CTX 0, GEN 0", 2,
		},
		{
			"another order of the arguments", all("true /d", "/d"),
			[]string{
				"the start script has other arguments than the known version of it: 5 e2e, 6 64, 7 /d, 8 false, 9 0-0, " +
					"12 none, 13 none, for",
			},
			"; launches: CTX 0, GEN 0", 14,
		},
		{
			"a program before the script", all(" bash /h/start_worker", " numactl -m 0 bash -x /h/start_worker"),
			[]string{"was started by numactl -m 0, for which a recipe has no place"},
			"; launches: CTX 0, GEN 0", 6,
		},
		{
			"a program before srun", all("Executing: srun", "Executing: exec sudo -E srun"),
			[]string{"was started by sudo -E, for which a recipe has no place"},
			"; launches: frontend, CTX 0, GEN 0", 6,
		},
		{
			"another script", all("start_worker_dynamo.sh", "start_worker.sh"),
			[]string{"the start script is start_worker.sh, not that of dynamo"},
			"; launches: CTX 0, GEN 0", 2,
		},
		{
			"an input", all("none &>", "none <in.txt 2>/dev/null &>"),
			[]string{"was launched with < in.txt, for which a recipe has no place"},
			"; launches: CTX 0, GEN 0", 2,
		},
		{
			"an entry of --export that is no variable", all("--export=ALL,", "--export=ALL,2x,"),
			[]string{`the entry "2x" of --export is no variable`},
			"; launches: frontend, CTX 0, GEN 0", 3,
		},
		{
			"arguments of services",
			[]string{etcd[:strings.Index(etcd, " </dev")] + " --quota 1 &", strings.Replace(frontend, "8333 ", "8333 "+
				"stray ", 1), ctx, gen},
			[]string{
				`etcd was started with the argument "--quota"`, `etcd was started with the argument "1"`,
				`frontend was started with the argument "stray"`,
			},
			"; launches: etcd", 3,
		},
		{
			"other commands in the lines",
			[]string{
				frontend, "[server] Executing: nvidia-smi -lgc 1980", "[server] Executing: mkdir -p /x", ctx,
				gen + " nvidia-smi -lgc 1980; echo started", "[server] Executing: export A=1",
			},
			[]string{`job.log runs "nvidia-smi -lgc 1980", for which a recipe has no place`, `job.log runs "export A=1"`},
			"", 7,
		},
		{
			"names without a value, on any worker",
			[]string{
				frontend, ctx, workerLine("GEN", 0, "-w n2 -N 1 -n 4", "A=1"),
				strings.Replace(workerLine("GEN", 1, "-w n3 -N 1 -n 4", "A=1"), "ALL,", "ALL,LD_LIBRARY_PATH,", 1),
			},
			[]string{"--export names LD_LIBRARY_PATH without a value"},
			"; launches: GEN 1", 1,
		},
		{
			"an empty list", all("--export=ALL,HOME=/home/u", "--export="),
			[]string{"--export without ALL kept the environment of the submitting shell"},
			"; launches: CTX 0, GEN 0", 2,
		},
		{
			"an empty list of mounts", all("--mpi", "--container-mounts= --mpi"), nil, "", 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := smallRun()
			plain := port(t, lay(t, files), Options{})
			files[harness.JobLog] = jobLog(c.lines...)
			dir := lay(t, files)
			r := port(t, dir, Options{})
			checkQuestions(t, r, plain, c.asked)
			if len(c.asked) > 0 && c.steps != "" {
				i := slices.IndexFunc(r.Todos, func(td Todo) bool { return strings.HasPrefix(td.Message, c.asked[0]) })
				if i < 0 || !strings.HasSuffix(r.Todos[i].Message, c.steps) {
					t.Errorf("the question does not name its launches: %+v", r.Todos)
				}
			}
			if p := r.Proof; p.Asked != c.count || p.Unaccounted > 0 || len(p.Unexplained()) > 0 ||
				p.Complete() != (c.count == 0) || strings.Contains(p.Summary(), "0 lost") != (c.count == 0) {
				t.Errorf("%d tokens are asked about, want %d: %s\n%q\n%s", p.Asked, c.count, p.Summary(), p.Unexplained(), p.Text())
			}
			var answers []Answer
			for _, td := range r.Todos {
				if td.Kind == Confirm || td.File == "" {
					answers = append(answers, Answer{ID: td.ID, Accepted: true})
				}
			}
			if p := port(t, dir, Options{Answers: answers}).Proof; p.Asked != 0 {
				t.Errorf("%d tokens are asked about after the questions were answered:\n%s", p.Asked, p.Text())
			}
		})
	}
}
