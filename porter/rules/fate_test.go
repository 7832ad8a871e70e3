package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// readRun reads a run directory with a job.log and a client script.
func readRun(t *testing.T, jobLog, clientScript string) *harness.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "c8")
	err := os.Mkdir(dir, 0o755)
	for name, text := range map[string]string{harness.JobLog: jobLog, harness.ClientScript: clientScript} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
		}
	}
	var r *harness.Run
	if err == nil {
		r, err = harness.Open(dir)
	}
	if err == nil {
		err = r.Read(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fateText returns a fate as "action", or as "ask: topic" with a ! if it is urgent.
func fateText(f Fate) string {
	switch {
	case f.Action == "":
		return "compared"
	case f.Action != Ask:
		return string(f.Action)
	case f.Urgent:
		return "ask! " + f.Topic
	}
	return "ask " + f.Topic
}

// compareFates compares the fates of tokens, by the values of the tokens.
func compareFates(t *testing.T, got map[string]Fate, want map[string]string) {
	t.Helper()
	for value, fate := range want {
		f, ok := got[value]
		if !ok || fateText(f) != fate {
			t.Errorf("%q: %q (%v), want %q", value, fateText(f), ok, fate)
		}
	}
	for value, f := range got {
		if f.Action == Ask && (f.Topic == "" || f.Text == "" || f.Why != "") ||
			(f.Action == Drop || f.Action == Managed) && f.Why == "" {
			t.Errorf("%q: incomplete %+v", value, f)
		}
	}
}

const workerStart = "[server] Executing: srun -N 1 -n 4 --nodelist n1 bash /h/start_worker_dynamo.sh CTX 0 /m 8102 "

func TestFatesOfLaunches(t *testing.T) {
	t.Parallel()
	const end = " none none &> /d/3_output_CTX_0.log &\n"
	for name, c := range map[string]struct {
		line string
		want map[string]string
	}{
		"plain worker": {
			workerStart + "e2e '8' true /d false '0-0' /d/ctx_config.yaml 'A=1 B=2'" + end,
			map[string]string{
				"srun": "move", "bash": "move", "/h/start_worker_dynamo.sh": "move", "CTX": "move", "0": "move", "/m": "compared",
				"8102": "move", "e2e": "drop", "8": "compared", "true": "drop", "/d": "move", "false": "drop", "0-0": "drop",
				"/d/ctx_config.yaml": "compared", "none": "drop", "/d/3_output_CTX_0.log": "move",
			},
		},
		"other arguments": {
			workerStart + "ctx_only '8' false /d true '1-9' /d/ctx_config.yaml 'A=1 B=2' 'nsys profile' x.yaml more " +
				"2>> /d/l &\n",
			map[string]string{
				"ctx_only": "ask! argument 5 ctx_only", "false": "ask argument 7 false", "true": "ask argument 9 true",
				"1-9": "ask argument 10 1-9", "nsys profile": "ask argument 13 nsys profile", "x.yaml": "ask argument 14 x.yaml",
				"more": "ask argument 15 more", "/d/l": "move",
			},
		},
		"arguments in another order": {
			workerStart + "'A=1 B=2' e2e /d/ctx_config.yaml < /dev/null &> /d/3_output_CTX_0.log &\n",
			map[string]string{
				"CTX": "move", "/m": "compared", "e2e": "ask arguments 6 e2e", "/d/ctx_config.yaml": "compared",
				"/dev/null": "drop",
			},
		},
		"other programs": {
			"[server] Executing: timeout 9h srun --export=ALL,9bad,X=1 -N 1 -n 4 --nodelist n1 numactl -l env nohup bash " +
				"/h/start_worker.sh CTX 0 /m 8102 e2e '8' true /d false '0-0' /d/ctx_config.yaml 'A=1 B=2'" + end,
			map[string]string{
				"ALL": "compared", "9bad": "ask export entry 9bad", "numactl": "ask program timeout 9h numactl -l",
				"env": "move", "nohup": "move", "/h/start_worker.sh": "ask script start_worker.sh",
			},
		},
		"service": {
			"[server] Executing: srun -N 1 -n 1 --nodelist n1 bash /h/start_dynamo_infra.sh etcd n1 2379 --auto-tls < /d/in\n",
			map[string]string{
				"etcd": "move", "n1": "move", "2379": "move", "--auto-tls": "ask etcd argument --auto-tls",
				"/d/in": "ask redirect < /d/in",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readRun(t, c.line, "")
			all := r.Launches.All()
			if len(all) != 1 {
				t.Fatalf("%d launches of %q", len(all), c.line)
			}
			got := map[string]Fate{}
			for _, token := range all[0].Tokens() {
				if token.Part != harness.SrunFlag && token.Part != harness.Variable {
					got[token.Value] = Of(all[0], token)
				}
			}
			compareFates(t, got, c.want)
		})
	}
}

func TestFatesOfCommands(t *testing.T) {
	t.Parallel()
	line := "[server] Executing: mkdir -p /d && ulimit -n 9 && ulimit -l && > /d/x && A=1 B=$C && export D=2 E && " +
		"rm -rf /tmp/x && sudo sh /h/tune.sh && " + strings.TrimPrefix(workerStart, "[server] Executing: ") +
		"e2e '8' true /d false '0-0' /d/ctx_config.yaml 'A=1 B=2' none none &> /d/l &\n"
	r := readRun(t, line, "")
	got, asked := map[string]Fate{}, map[string]bool{}
	for _, b := range r.Launches.Beside {
		f := OfCommand(b.Command, "job.log")
		got[b.Text()], asked[f.Topic] = f, true
	}
	compareFates(t, got, map[string]string{
		"mkdir -p /d": "drop", "ulimit -n 9": "drop", "ulimit -l": "ask command ulimit -l",
		"rm -rf /tmp/x": "ask command rm -rf /tmp/x", "sudo sh /h/tune.sh": "ask command sudo sh /h/tune.sh",
	})
	for _, topic := range []string{"command A=1 B=$C", "command export D=2 E"} {
		if !asked[topic] {
			t.Errorf("not asked: %s; asked %v", topic, asked)
		}
	}
}

func TestFatesOfClient(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   map[string]string
	}{
		"as the bench step does": {
			"srun --export=ALL,X=1 -N 1 bash -c 'set -e; export -p; export RUNTIME=/tmp/x PATH; export RUNTIME; " +
				"uv sync; mkdir -p /logs; cd /lustre/client; uv run --no-sync python agentperf/run.py --config c.yaml " +
				"--concurrencies 8 --no-eval' &> /d/client.log\n",
			map[string]string{
				"uv": "move", "run": "move", "--no-sync": "move", "python": "move", "agentperf/run.py": "move",
				"c.yaml": "move", "8": "compared", "/lustre/client": "compared", "sync": "drop", "mkdir": "drop", "/logs": "drop",
				"set": "drop", "-e": "drop", "/d/client.log": "move", "ALL": "compared",
			},
		},
		"with other commands": {
			"export LICENSE; srun -N 1 bash -c 'pip install x; cd /lustre/client; python agentperf/run.py --concurrencies 4; " +
				"perf record python agentperf/run.py --concurrencies 8'; srun -N 1 nvidia-smi -q\n",
			map[string]string{
				"pip": "ask command pip install x", "install": "ask command pip install x", "4": "ask client runs",
				"perf": "ask program perf record", "8": "compared", "nvidia-smi": "ask command srun -N 1 nvidia-smi -q",
			},
		},
		"inside another step": {
			"srun -N 1 sudo bash -c 'modprobe x; sysctl -w y=1'; cd /lustre/client; python agentperf/run.py --concurrencies 8\n",
			map[string]string{
				"modprobe": "ask command srun -N 1 sudo bash -c",
				"sysctl":   "ask command srun -N 1 sudo bash -c",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := &readRun(t, "", c.script).Client
			got := map[string]Fate{}
			var exports []string
			for _, token := range client.Tokens() {
				if token.Part == harness.BareVariable {
					exports = append(exports, token.Name+" "+fateText(OfClient(client, token)))
					continue
				}
				got[token.Value] = OfClient(client, token)
			}
			compareFates(t, got, c.want)
			for _, e := range exports {
				if !strings.HasSuffix(e, " drop") && !strings.HasSuffix(e, " move") &&
					e != "LICENSE ask client export LICENSE" {
					t.Errorf("export %s", e)
				}
			}
			if strings.Contains(c.script, "LICENSE") != (len(exports) == 1) {
				t.Errorf("exports %v", exports)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flag  Flag
		value string
		want  bool
	}{
		{Flag{}, "x", false},
		{Flag{Action: MustMatch, Expected: "pmix"}, "pmix", true},
		{Flag{Action: MustMatch, Expected: "pmix"}, "none", false},
		{Flag{Action: Managed}, "anything", true},
		{Flag{Action: Drop, Same: []string{"0"}}, "0", true},
		{Flag{Action: Drop, Same: []string{"0"}}, "8G", false},
	} {
		if got := c.flag.Covers(c.value); got != c.want {
			t.Errorf("%+v covers %q: %v", c.flag, c.value, got)
		}
	}
	for _, c := range [][3]string{{"a", "b", "a; b"}, {"", "b", "b"}, {"a", "", "a"}, {"", "", ""}} {
		if got := Join(c[0], c[1]); got != c[2] {
			t.Errorf("join %q and %q: %q", c[0], c[1], got)
		}
	}
}
