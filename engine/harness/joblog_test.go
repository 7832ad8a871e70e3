package harness

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// readJobLog returns the launches of a job.log, and its artifact.
func readJobLog(t *testing.T, text string) (*Launches, *Artifact) {
	t.Helper()
	var r Run
	a := &Artifact{Name: JobLog}
	if err := r.parseLaunches(t.Context(), strings.NewReader(text), a); err != nil {
		t.Fatal(err)
	}
	checkPlaces(t, text, &r.Launches)
	return &r.Launches, a
}

// checkPlaces checks that the evidence of each variable, option and word is where it says.
func checkPlaces(t *testing.T, text string, ls *Launches) {
	t.Helper()
	lines := strings.Split(text, "\n")
	for _, a := range ls.Attempts {
		for _, l := range a.All() {
			all := []Evidence{l.OptionAt(l.Nodelist), l.WordAt("config", l.Config), l.WordAt("log", l.Log)}
			for _, v := range l.Env {
				all = append(all, v.At)
			}
			for _, w := range l.Args {
				all = append(all, l.WordAt("", w))
			}
			for _, ev := range all {
				if ev.Line < 1 || ev.Line > len(lines) {
					t.Errorf("%s: %+v is on no line", l.Name(), ev)
					continue
				}
				checkColumn(t, strings.TrimSuffix(lines[ev.Line-1], "\r"), ev)
			}
		}
	}
}

// launchText returns the text of the launch of a worker, without a mark.
func launchText(role string, index int, more string) string {
	return fmt.Sprintf("srun -l --nodelist n%d -N 1 -n 4 bash /h/start_worker_dynamo.sh %s %d /m 8101 e2e '64' true "+
		"/r false '0-0' /r/%s.yaml 'A=1 B=2%s' none none &> /r/3_output_%s_%d.log &",
		index, role, index, role, more, role, index)
}

func serviceText(name string) string {
	return "srun -l --nodelist n0 -N 1 -n 1 bash /h/start_dynamo_infra.sh " + name + " n0 8333 &> /r/4_output_" + name +
		".log &"
}

const mark = "[server] Executing: "

func TestLaunchesAreFound(t *testing.T) {
	t.Parallel()
	ctx, gen := launchText("CTX", 0, ""), launchText("GEN", 0, "")
	for _, c := range []struct {
		name, log string
		want      string // names of the launches with their lines
		unread    []string
	}{
		{"one a line", mark + ctx + "\n" + mark + gen + "\n", "CTX 0:1 GEN 0:2", nil},
		{"two commands after one mark", mark + ctx + " " + gen + "\n", "CTX 0:1 GEN 0:1", nil},
		{"two marks on one line", mark + ctx + mark + gen + "\n", "CTX 0:1 GEN 0:1", nil},
		{
			"two marks, not in the background", mark + strings.TrimSuffix(ctx, " &") + mark + gen + "\n",
			"CTX 0:1 GEN 0:1", nil,
		},
		{
			"two marks, the second command is cut", mark + ctx + mark + "srun bash start_worker_dynamo.sh GEN 0 'x\n",
			"CTX 0:1",
			[]string{"1: launch line can't be parsed"},
		},
		{
			"continued lines", "x\n" + mark + strings.ReplaceAll(ctx, " -", " \\\n    -") + "\n" + mark + gen + "\n",
			"CTX 0:2 GEN 0:7", nil,
		},
		{
			"continued lines with CRLF and a tag",
			mark + strings.ReplaceAll(ctx, " --nodelist", " \\\r\n[server] --nodelist") + "\r\n" + mark + gen + "\n",
			"CTX 0:1 GEN 0:3", nil,
		},
		{
			"a quoted list over several lines",
			mark + strings.ReplaceAll(ctx, " B=2", "\n  B=2\n  C=3") + "\n" + mark + gen + "\n",
			"CTX 0:1 GEN 0:4", nil,
		},
		{
			"a quote that never closes", mark + "srun bash start_worker_dynamo.sh CTX 0 'A=1\n" + mark + gen + "\n",
			"GEN 0:2",
			[]string{"1: launch line can't be parsed"},
		},
		{"nested in bash -c", mark + "bash -c \"" + ctx + "\"\n", "CTX 0:1", nil},
		{"behind another command", mark + "X=1 nohup " + ctx + "\n", "CTX 0:1", nil},
		{"in colors", "\x1b[32m" + mark + "\x1b[0m" + ctx + "\x1b[0m\n", "CTX 0:1", nil},
		{
			"another program", mark + "srun -N 1 nvidia-smi\n" + mark + "mkdir /r\n", "",
			[]string{"1: runs no start script of the harness"},
		},
		{
			"the file ends within a line", mark + ctx + "\n" + mark + gen, "CTX 0:1",
			[]string{"2: the file ends within the line, so it may have been cut"},
		},
		{
			"the file ends within a continued line", mark + "srun -l \\\n  -N 1 \\", "",
			[]string{"1: the file ends within the line, so it may have been cut"},
		},
		{
			"an unknown role", mark + "srun bash start_worker_dynamo.sh AGG 0 m\n", "",
			[]string{`1: unknown worker role "AGG"; only CTX and GEN can be ported`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ls, a := readJobLog(t, c.log)
			var got []string
			for _, l := range ls.All() {
				got = append(got, fmt.Sprintf("%s:%d", l.Name(), l.Line))
				if b, ok := l.Lookup("B"); !ok || b.Value != "2" || l.Tasks != 4 || !strings.HasSuffix(l.Log.Text, ".log") ||
					l.Config.Text != "/r/"+RoleName(l.Role)+".yaml" || l.LogDir.Text != "/r" {
					t.Errorf("%s: %+v", l.Name(), l)
				}
			}
			var unread []string
			for _, u := range ls.Unread {
				unread = append(unread, fmt.Sprintf("%d: %s", u.At.Line, u.Reason))
			}
			if strings.Join(got, " ") != c.want || ls.Count != len(got) || len(unread) != len(c.unread) ||
				ls.Seen() != len(got)+len(unread) || len(a.Problems) != len(unread) {
				t.Fatalf("launches %q of %d, unread %q, problems %v; want %q, %q", got, ls.Seen(), unread, a.Problems, c.want,
					c.unread)
			}
			for i, want := range c.unread {
				if !strings.HasPrefix(unread[i], want) {
					t.Errorf("unread %q, want %q", unread[i], want)
				}
			}
		})
	}
}

func TestColumnsAreThoseOfTheLine(t *testing.T) {
	t.Parallel()
	line := "\x1b[1m" + mark + "srun \x1b[32m-N\x1b[0m 1 -n 4 bash /h/start_worker_dynamo.sh CTX 0 /m\xff " +
		"'A=1 B=\x1b[1m2' &"
	ls, _ := readJobLog(t, line+"\n")
	l := ls.First(schema.Prefill)
	for name, column := range map[string]int{"A": strings.Index(line, "A=1") + 1, "B": 0} {
		if v, _ := l.Lookup(name); v.At.Column != column || v.At.Line != 1 {
			t.Errorf("%s: %+v, want column %d", name, v.At, column)
		}
	}
	if l.Model != "/m\ufffd" || l.At("", "/m", 0).Column != strings.Index(line, "/m")+1 ||
		l.WordAt("", l.Args[2]).Column != 0 {
		t.Errorf("model %q", l.Model)
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	start := func(texts ...string) string { return mark + strings.Join(texts, "\n"+mark) + "\n" }
	ctx := func(i int) string { return launchText("CTX", i, "") }
	etcd, front, gen := serviceText("etcd"), serviceText("frontend"), launchText("GEN", 0, "")
	full := start(etcd, front, gen, ctx(0), ctx(1)) + "[server] Waiting for 3 workers\n"
	const registered = "[server] All workers registered after 9 s\n"
	for _, c := range []struct {
		name, log string
		want      []string // launches of each attempt; the chosen one begins with *
	}{
		{"one", full, []string{"*etcd frontend CTX 0 CTX 1 GEN 0"}},
		{
			"two", full + registered + start(etcd, front, gen, ctx(0)),
			[]string{"etcd frontend CTX 0 CTX 1 GEN 0", "*etcd frontend CTX 0 GEN 0"},
		},
		{
			"the second is not complete", full + registered + start(etcd, front, gen),
			[]string{"*etcd frontend CTX 0 CTX 1 GEN 0", "etcd frontend GEN 0"},
		},
		{
			"fewer workers than it waits for",
			full + registered + start(etcd, front, gen, ctx(0)) + "[server] Waiting for 3 workers\n",
			[]string{"*etcd frontend CTX 0 CTX 1 GEN 0", "etcd frontend CTX 0 GEN 0"},
		},
		{
			"a gap, but all registered", full + start(etcd, front, gen, ctx(1)) + registered,
			[]string{"etcd frontend CTX 0 CTX 1 GEN 0", "*etcd frontend CTX 1 GEN 0"},
		},
		{
			"only the frontend again", full + registered + start(front),
			[]string{"*etcd frontend CTX 0 CTX 1 GEN 0"},
		},
		{
			"services again before any worker", start(etcd, front, etcd, front, gen, ctx(0)),
			[]string{"*etcd frontend CTX 0 GEN 0"},
		},
		{"a worker again", full + start(ctx(1)), []string{"*etcd frontend CTX 0 CTX 1 GEN 0"}},
		{"nothing", "[server] Nodes: n1\n", []string{"*"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ls, _ := readJobLog(t, c.log)
			var got []string
			for i, a := range ls.Attempts {
				var names []string
				for _, l := range a.All() {
					names = append(names, l.Name())
				}
				text := strings.Join(names, " ")
				if i == ls.Chosen {
					text = "*" + text
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAttemptFacts(t *testing.T) {
	t.Parallel()
	launches := func(texts ...string) string { return mark + strings.Join(texts, "\n"+mark) + "\n" }
	first := "[server] Nodes: n[1-3]\n" +
		launches(serviceText("frontend"), launchText("CTX", 0, ""), launchText("CTX", 3, "")) +
		"[server] Waiting for 3 workers\n[server] All 3 workers registered\n"
	second := "[server] Nodes: n4\n[server] Nodes: ${X}\n" +
		launches(serviceText("frontend"), launchText("CTX", 0, " C=3"), launchText("CTX", 0, " C=4")) +
		"[server] Waiting for 12"
	ls, _ := readJobLog(t, first+second)
	a, b := ls.Attempts[0], ls.Attempts[1]
	if a.Nodes.Text != "n[1-3]" || a.Nodes.At.Line != 1 || a.Waiting.Text != "3" || a.Registered.Line != 6 ||
		a.FirstLine != 2 || a.LastLine != 4 || !cmp.Equal(a.Gaps(schema.Prefill), []int{1, 2}) {
		t.Errorf("first attempt: %+v", a)
	}
	l := b.First(schema.Prefill)
	if b.Nodes.Text != "n4" || b.Waiting.Text != "" || b.WorkerCount() != 1 || l.Starts != 2 || l.Previous == nil ||
		l.Previous.Line != 10 {
		t.Errorf("second attempt: %+v", b)
	}
	many, _ := readJobLog(t, strings.Repeat(first, 40))
	if len(many.Attempts) != maxAttempts || many.Skipped != 40-maxAttempts || many.Count != 120 {
		t.Errorf("%d attempts, %d skipped, %d launches", len(many.Attempts), many.Skipped, many.Count)
	}
}

func TestFrontendRestart(t *testing.T) {
	t.Parallel()
	log := mark + serviceText("frontend") + "\n" + mark + launchText("GEN", 0, "") + "\n" + mark +
		serviceText("frontend --reset") + "\n"
	ls, _ := readJobLog(t, log)
	if f := ls.Frontend; f.Line != 3 || f.Starts != 2 || f.Previous.Line != 1 || !cmp.Equal(f.StartLines, []int{1, 3}) ||
		ls.WorkerCount() != 1 {
		t.Errorf("frontend: %+v", f)
	}
}
