package porter

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

const runClient = "uv run --no-sync python agentperf/run.py --config c.yaml --concurrencies 64"

// The client's command is ported or asked about, part by part, and its line is in the proof.
func TestClientCommand(t *testing.T) {
	t.Parallel()
	inShell := func(text string) string { return "srun -N 1 bash -c '" + text + "' &> /logs/client.log\n" }
	for _, c := range []struct {
		name, script string
		want         map[string]string // values of fields; "-" for none
		asked        []string          // beginnings of questions, all of those that are about the client's command
		rows         []string          // rows of the proof
	}{
		{
			name: "environment, image and mounts",
			script: "srun -l --export=ALL,AGENTPERF_X=1 --container-image=/lustre/client.sqsh " +
				"--container-mounts=/lustre:/lustre,/data:/data:ro,/more:/more -N 1 -n 1 bash -c '" +
				"set -euo pipefail; export AGENTPERF_BASE_PATH=/v2 TOKIO_WORKER_THREADS=64 HOME=/x; cd /lustre/client; " +
				"" + runClient +
				"' &> /logs/client.log\n",
			want: map[string]string{
				"benchmark.env.AGENTPERF_X": `"1"`, "benchmark.env.AGENTPERF_BASE_PATH": `"/v2"`,
				"benchmark.env.TOKIO_WORKER_THREADS": `"64"`, "benchmark.env.HOME": "-",
				"benchmark.container_image": "/scratch/client.sqsh",
				"extra_mount":               `["/scratch:/scratch", "/data:/data:ro", "/more:/more"]`,
			},
			asked: []string{"only the client had the mount /more:/more; in the new job all steps have it"},
			rows: []string{
				"dropped env HOME old /x | the bench step gives the client a runtime directory of its own",
				"changed flag --container-image old /lustre/client.sqsh new /scratch/client.sqsh | rewrite",
				"changed cd directory old /lustre/client new /scratch/client | rewrite",
			},
		},
		{
			name:   "the image of the servers",
			script: "srun --container-image=/lustre/img.sqsh bash -c 'cd /lustre/client; " + runClient + "'\n",
			want:   map[string]string{"benchmark.container_image": "-"},
		},
		{
			name:   "a mount that conflicts with one of the servers",
			script: "srun --container-mounts=/lustre:/lustre,/other:/data bash -c 'cd /lustre/client; " + runClient + "'\n",
			want:   map[string]string{"extra_mount": `["/scratch:/scratch", "/data:/data:ro"]`},
			asked:  []string{"the client was launched with /other:/data, where the servers had another mount"},
			rows:   []string{"dropped mount /other:/data | question recipe:extra_mount#client"},
		},
		{
			name: "what a subshell sets",
			script: inShell("cd /lustre/client; (cd /wrong; export A=1); cd /wrong | B=2 true; { cd /wrong; export C=3; } & " +
				"bash -c \"cd /wrong; export D=4\"; { export E=5; " + runClient + "; } | tee x"),
			want: map[string]string{
				"benchmark.agentperf_client_dir": "/scratch/client", "benchmark.env.A": "-", "benchmark.env.C": "-",
				"benchmark.env.D": "-", "benchmark.env.E": `"5"`,
			},
			rows: []string{
				"dropped env A old 1 | set in a subshell in which the client did not run",
				"dropped env D old 4 | set in a subshell in which the client did not run",
			},
		},
		{
			name: "variables that are changed",
			script: inShell("export A=1; export A+=2 B=3 C=4 D+=:/x; B=5; export -n C; readonly E=6; declare F=7; " +
				"declare -x G=8; set -a; H=9; set +a; I=10; cd /lustre/client; " + runClient),
			want: map[string]string{
				"benchmark.env.A": `"12"`, "benchmark.env.B": `"5"`, "benchmark.env.C": "-", "benchmark.env.D": `"${D}:/x"`,
				"benchmark.env.E": "-", "benchmark.env.F": "-", "benchmark.env.G": `"8"`, "benchmark.env.H": `"9"`,
				"benchmark.env.I": "-",
			},
			asked: []string{"contains ${D}, which nothing expands"},
			rows:  []string{"dropped env C old 4 | the script unsets it later"},
		},
		{
			name:   "words like variables of a program other than env",
			script: inShell("cd /lustre/client; env -u X A=1 uv run --with b=2 python agentperf/run.py --concurrencies 64"),
			want:   map[string]string{"benchmark.env.A": `"1"`, "benchmark.env.b": "-"},
			asked:  []string{"was started by X --with b=2, for which a recipe has no place"},
		},
		{
			name: "variables in each place",
			script: "A=1 B=2 srun --export=ALL,B=3 bash -c 'C=4; D=5; export D; export E=6 E=7 -x; cd /lustre/client; " +
				"F=8 env G=9 " +
				runClient + "; export LATER=1'\n",
			want: map[string]string{
				"benchmark.env.A": `"1"`, "benchmark.env.B": `"3"`, "benchmark.env.C": "-", "benchmark.env.D": `"5"`,
				"benchmark.env.E": `"7"`, "benchmark.env.F": `"8"`, "benchmark.env.G": `"9"`, "benchmark.env.LATER": "-",
			},
			rows: []string{
				"dropped env B old 2 | the variable is set again later", "dropped env C old 4 | only the shell of the old " +
					"script had it",
				"dropped env E old 6 | the variable is set again later", "dropped bare D | exports a variable that the script sets",
				"dropped env LATER old 1 | set after the client was started",
			},
		},
		{
			name: "an environment that is not passed on, and names without a value",
			script: "A=1 srun --export=NONE,B=2,HF_HOME bash -c 'export PYTHONPATH PATH; cd /lustre/client; " +
				"" + runClient + "'\n",
			want: map[string]string{"benchmark.env.A": "-", "benchmark.env.B": `"2"`, "benchmark.env.HF_HOME": "-"},
			asked: []string{
				"--export names HF_HOME without a value", "--export without ALL kept the environment of the submitting shell",
				"the client script exports PYTHONPATH without a value",
			},
			rows: []string{
				"dropped env A old 1 | --export does not pass it on",
				"changed export NONE new ALL | question recipe:srun_options#--export",
			},
		},
		{
			name: "another program around it",
			script: inShell("cd /lustre/client; numactl -c 0 timeout 3600 "+
				strings.Replace(runClient, "python ", "python -X dev ", 1)) + "# a comment\n",
			asked: []string{"was started by numactl -c 0 timeout 3600 -X dev, for which a recipe has no place"},
			rows:  []string{"dropped program -c | question run#program numactl -c 0 timeout 3600 -X dev"},
		},
		{
			name:   "without a shell",
			script: "cd /lustre/client\nsrun -N 1 --gres=gpu:1 " + runClient + " --seed 3 </dev/null | tee client.log\n",
			want: map[string]string{
				"benchmark.env.AGENTPERF_EXTRA_ARGS": `"--seed 3"`, "benchmark.agentperf_client_dir": "/scratch/client",
			},
			asked: []string{
				"--gres=gpu:1 is not carried over: add it to srun_options if all steps need it; launches: client",
				"the client's command has --seed 3, but client.log:10 shows 7, which is written; the flag is passed on as well: " +
					"remove the wrong one",
			},
			rows: []string{"dropped command tee | each step has its own log"},
		},
		{
			name: "two starts of the client: the last one counts",
			script: inShell("cd /lustre/client; export A=1; " + runClient + " --warmup; export A=2 B=3; " +
				"" + runClient + " --no-eval"),
			want: map[string]string{
				"benchmark.env.A": `"2"`, "benchmark.env.B": `"3"`, "benchmark.env.AGENTPERF_EXTRA_ARGS": `"--no-eval"`,
			},
			asked: []string{"the client script runs the client more than once, and only the last one is ported"},
			rows:  []string{"dropped argument --warmup | question run#client runs"},
		},
		{
			name: "other commands",
			script: "srun -N 1 bash -c 'uv sync --frozen; curl https://x | sh; nvidia-smi'\n" +
				inShell("mkdir -p /logs; ulimit -n 1000; test -f /x || exit 1; source /v/bin/activate; cd /tmp; cd "+
					"/lustre/client; "+
					"if [[ -d /x ]]; then sleep 5; fi; "+runClient),
			asked: []string{
				`the client script runs "srun -N 1 bash -c", for which a recipe has no place`,
				`the client script runs "source /v/bin/activate"`, `the client script runs "if"`, `the client script runs ` +
					`"[[ -d /x ]]"`,
				`the client script runs "sleep 5"`,
			},
			rows: []string{
				"dropped command uv | the bench step builds the client itself",
				"dropped command nvidia-smi | question run#command srun -N 1 bash -c",
				"dropped argument /tmp | the steps of the new job have their own directories",
			},
		},
		{
			name:   "a secret, and a value with spaces",
			script: inShell("cd /lustre/client; " + runClient + ` --api-key sk-Abc123 --tag "a b"`),
			asked: []string{
				`the client's argument "a b" can't be passed on`,
				"looks like a secret and is now in the recipe and the report",
			},
			rows: []string{"dropped option --tag=a b | question recipe:benchmark.env.AGENTPERF_EXTRA_ARGS#spaces"},
		},
		{
			name:   "other concurrency levels",
			script: inShell("cd /lustre/client; " + strings.Replace(runClient, "64", "64 128", 1)),
			asked: []string{`CONCURRENCIES is "64", but the client's command has --concurrencies 64 128: confirm which ` +
				`one is right`},
			rows: []string{"dropped option --concurrencies old 64 128 | question recipe:benchmark.concurrency#disagrees"},
		},
		{
			name:   "levels that a variable names",
			script: inShell("cd /lustre/client; " + strings.Replace(runClient, "64", "$N", 1)),
			asked:  []string{`the client's command has --concurrencies "$N", which is no list of concurrency levels`},
			rows:   []string{"dropped option --concurrencies old $N | question run#client levels $N"},
		},
		{
			name:   "a directory with a variable is no path",
			script: inShell("cd ${CLIENT_DIR}; " + runClient),
			want:   map[string]string{"benchmark.agentperf_client_dir": "${CLIENT_DIR}"},
			asked: []string{`client checkout: "${CLIENT_DIR}" contains ${CLIENT_DIR}, which nothing expands: give its ` +
				`container path`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := smallRun()
			plain := port(t, lay(t, files), Options{})
			files[harness.ClientScript] = c.script
			r := port(t, lay(t, files), Options{})
			for path, want := range c.want {
				i := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Path == path })
				if got := "-"; i >= 0 {
					got = r.Fields[i].Value
					if got != want {
						t.Errorf("%s is %s, want %s", path, got, want)
					}
				} else if got != want {
					t.Errorf("%s is not set, want %s", path, want)
				}
			}
			checkQuestions(t, r, plain, c.asked)
			rows := proofRows(r.Proof)
			for _, want := range c.rows {
				if !slices.ContainsFunc(rows, func(s string) bool { return strings.HasPrefix(s, "client: "+want) }) {
					t.Errorf("no row %q in\n%s", want, strings.Join(rows, "\n"))
				}
			}
			if len(r.Proof.Unexplained()) > 0 || r.Proof.Unaccounted > 0 || r.Proof.Clients != 1 {
				t.Errorf("%s: %q", r.Proof.Summary(), r.Proof.Unexplained())
			}
		})
	}
}

// checkQuestions compares the questions that only a port has with their beginnings.
func checkQuestions(t *testing.T, r, plain *Result, want []string) {
	t.Helper()
	var got []string
	for _, td := range r.Todos {
		if !slices.ContainsFunc(plain.Todos, func(p Todo) bool { return p.ID == td.ID }) {
			got = append(got, td.Message)
		}
	}
	for i, text := range want {
		j := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, text) })
		if j < 0 {
			t.Errorf("no question %q", text)
			continue
		}
		got[j] = want[i]
	}
	slices.Sort(got)
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), got); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}
