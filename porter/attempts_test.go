package porter

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

func TestAttemptsAreApart(t *testing.T) {
	t.Parallel()
	ctx := func(i int, env string) string {
		return workerLine("CTX", i, "-w n"+string('1'+rune(i))+" -N 1 -n 4", env)
	}
	front := frontendLine("n1", "")
	gen := workerLine("GEN", 0, "-w n9 -N 1 -n 4", "A=1")
	const registered = "[server] All workers registered after 9 s"
	first := []string{front, gen, ctx(0, "A=1"), ctx(1, "A=1")}
	with := func(lines ...string) map[string]string {
		return map[string]string{harness.JobLog: jobLog(append(first[:4:4], lines...)...)}
	}
	for _, c := range []inputCase{
		{
			name: "fewer workers, which are not known to have registered", files: with(registered, front, gen, ctx(0, "A=2")),
			want: map[string]string{"resources.prefill_workers": "1", "backend.prefill_environment.A": `"2"`},
			todos: []string{
				"must-fix resources.prefill_workers: job.log shows 2 attempts to start the servers; the workers are those of " +
					"attempt 2, but nothing shows that they registered",
			},
		},
		{
			name: "fewer workers, which registered", files: with(registered, front, gen, ctx(0, "A=1"), registered),
			want: map[string]string{"resources.prefill_workers": "1"},
			todos: []string{
				"confirm : job.log shows 2 attempts to start the servers; the workers are those of attempt 2: confirm that it",
			},
		},
		{
			name: "the second one is not complete", files: with(registered, front, gen),
			want: map[string]string{"resources.prefill_workers": "2"},
			todos: []string{
				"confirm : job.log shows 2 attempts to start the servers; the workers are those of attempt 1: confirm",
			},
		},
		{
			name: "the same again", files: with(registered, first[0], first[1], first[2], first[3]),
			want:  map[string]string{"resources.prefill_workers": "2"},
			todos: []string{"note : job.log shows 2 attempts to start the servers; the workers are those of attempt 2"},
		},
		{
			name: "other nodes", files: with(front, gen, ctx(2, "A=1"), ctx(3, "A=1"), registered),
			todos: []string{"confirm : job.log shows 2 attempts"},
		},
		{
			name: "only the frontend again", files: with(frontendLine("n1", ",B=2")),
			want: map[string]string{"resources.prefill_workers": "2", "frontend.env.B": `"2"`},
			todos: []string{"note : frontend was launched 2 times; the last launch (line 5) was " +
				"used"}, silent: []string{"attempts"},
		},
	} {
		t.Run(c.name, c.run)
	}
	r := port(t, lay(t, with(registered, frontendLine("n1", ",B=2"), gen, ctx(1, "A=2 C=3"))), Options{})
	// The second attempt has a gap, so that the first one is used.
	used := "attempt 1 (job.log:1-4), all workers registered (job.log:5), used:\n"
	if got := detailsOf(t, r, "run#attempts"); !strings.HasPrefix(got, used) {
		t.Errorf("details:\n%s", got)
	}
	r = port(t, lay(t, with(registered, frontendLine("n1", ",B=2"), gen, ctx(0, "A=2 C=3"))), Options{})
	want := `attempt 2 (job.log:6-8), used:
  n1: frontend, CTX 0 (GPU 0-3)
  n9: GEN 0 (GPU 0-3)
attempt 1 (job.log:1-4), all workers registered (job.log:5):
  n1: frontend, CTX 0 (GPU 0-3)
  n2: CTX 1 (GPU 0-3)
  n9: GEN 0 (GPU 0-3)
  frontend: B: not set (job.log:1), 2 (job.log:6)
  CTX 0: A: 1 (job.log:3), 2 (job.log:8)
  CTX 0: C: not set (job.log:3), 3 (job.log:8)`
	if got := detailsOf(t, r, "recipe:resources.prefill_workers#attempts"); got != want {
		t.Errorf("details:\n%s\nwant:\n%s", got, want)
	}
}

func TestLaunchDifferences(t *testing.T) {
	t.Parallel()
	line := workerLine("CTX", 0, "-w n1 -N 1 -n 4", "A=1")
	again := strings.NewReplacer("-w n1 -N 1", "-w n2 -N 1 --mem=0", "e2e", "gen_only", "m-fp8", "m2").Replace(line)
	r := port(t, lay(t, map[string]string{harness.JobLog: jobLog(line, again)}), Options{})
	want := `CTX 0: nodes: n1 (job.log:1), n2 (job.log:2)
CTX 0: --mem: not set (job.log:1), 0 (job.log:2)
CTX 0: argument 3: /lustre/models/m-fp8 (job.log:1), /lustre/models/m2 (job.log:2)
CTX 0: argument 5: e2e (job.log:1), gen_only (job.log:2)`
	if got := detailsOf(t, r, "run#CTX 0 launches"); got != want {
		t.Errorf("details:\n%s\nwant:\n%s", got, want)
	}
}

func TestClientStartsAreCompared(t *testing.T) {
	t.Parallel()
	again := strings.NewReplacer("Max tokens: 100", "Max tokens: 4000", "600.0s", "900.0s", "0:   Seed: "+
		"7\n", "").Replace(smallBanner)
	r := port(t, lay(t, map[string]string{
		harness.ClientLog: smallBanner + again, harness.JobParams: smallRun()[harness.JobParams],
	}), Options{})
	want := `Phase Timeout: 600.0s (client.log:2), 900.0s (client.log:14)
Max tokens: 100 (client.log:6), 4000 (client.log:18)
Seed: 7 (client.log:10), not shown by the start on line 13`
	if got := detailsOf(t, r, "run#starts"); got != want {
		t.Errorf("details:\n%s\nwant:\n%s", got, want)
	}
	for path, value := range map[string]string{"max_tokens": "4000", "phase_timeout_seconds": "900.0", "seed": "42"} {
		if f := fieldOf(r, path); f.Value != value {
			t.Errorf("%s: %+v, want %s", path, f, value)
		}
	}
	cut := again[:strings.Index(again, "0: Loading")]
	for _, c := range []inputCase{
		{
			name: "the last start does not run", files: map[string]string{harness.ClientLog: smallBanner + cut},
			want: map[string]string{"max_tokens": "100"},
			todos: []string{
				"confirm : client.log shows 2 starts of the client (lines 1, 13); the values are those of the last one that " +
					"ran, on line 1",
			},
		},
		{
			name: "the same settings", files: map[string]string{harness.ClientLog: strings.Repeat(smallBanner, 12)},
			todos: []string{
				"note : client.log shows 12 starts of the client (lines 1, 13, 25, 37, 49, 61, 73, … 4 more …, 133); the values " +
					"are those of " +
					"the last one",
			},
		},
		{
			name: "the file ends within the banner", files: map[string]string{
				harness.ClientLog: smallBanner[:strings.Index(smallBanner, "00\n0:   Reasoning")],
			},
			want: map[string]string{"max_tokens": "16384", "max_workers": "4", "seed": "42"},
			todos: []string{
				"confirm : the banner in client.log (lines 1 to 5) is incomplete: the file ends within line 6 (Max tokens: " +
					"1)…fields: seed, " +
					"max_tokens, reasoning_effort, send_conversation_routing_headers, use_dynamo_conv_aware_routing",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}

// What a start of the client shows again with another value is asked about, and a switch is read in each spelling.
func TestBannerShowsMore(t *testing.T) {
	t.Parallel()
	files := smallRun()
	files[harness.ClientLog] = strings.Replace(smallBanner, "0:   Seed: 7\n",
		"0:   Tool-call delays: Enabled\n0:   Power sampling: maybe\n0:   Seed: 7\n", 1) +
		"0: Loading trajectories from /data/more.jsonl...\n"
	r := port(t, lay(t, files), Options{})
	for text, want := range map[string]int{
		"the client also read /data/more.jsonl": 1, "tool-call delays": 0,
		`the banner shows Power sampling as "maybe", which is neither on nor off`: 1,
	} {
		if got := len(questionsAbout(r, text)); got != want {
			t.Errorf("%d questions with %q, want %d", got, text, want)
		}
	}
}
