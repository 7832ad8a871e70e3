package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentperf/agentperf-tui/engine/rundir"
)

// eachCommand calls f for every command, hidden ones and those of cobra included.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, f)
	}
}

// verbs are the first words of the commands' descriptions: imperatives.
var verbs = []string{
	"Build", "Check", "Compare", "Convert", "Edit", "Explain", "Export", "Follow", "Generate", "List", "Port", "Print",
	"Replay", "Run", "Serve", "Show", "Stop", "Supervise", "Write",
}

func TestCommandHelp(t *testing.T) {
	t.Parallel()
	n := 0
	eachCommand(newRoot(newApp(io.Discard, io.Discard)), func(cmd *cobra.Command) {
		if cmd.HasParent() && cmd.Parent().Name() == "completion" {
			return // of cobra, one per shell
		}
		n++
		verb, _, _ := strings.Cut(strings.ReplaceAll(cmd.Short, ",", ""), " ")
		if len(cmd.Short) > 50 || strings.HasSuffix(cmd.Short, ".") || !slices.Contains(verbs, verb) {
			t.Errorf("%s: Short is not an imperative of at most 50 characters: %q", cmd.CommandPath(), cmd.Short)
		}
		if cmd.Runnable() && !strings.Contains(cmd.Example, cmd.CommandPath()) {
			t.Errorf("%s: has no example", cmd.CommandPath())
		}
		if cmd.Runnable() && cmd.Flags().Lookup("json") == nil && cmd.InheritedFlags().Lookup("json") == nil {
			t.Errorf("%s: has no --json", cmd.CommandPath())
		}
	})
	if n < 25 {
		t.Errorf("walked %d commands", n)
	}
}

// Each line of an example must be accepted as a command line: known flags, allowed values.
func TestCommandExamplesParse(t *testing.T) {
	t.Parallel()
	eachCommand(newRoot(newApp(io.Discard, io.Discard)), func(cmd *cobra.Command) {
		for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", "")) {
			args := strings.Fields(line)
			if len(args) == 0 || args[0] != "agentperf-tui" {
				continue
			}
			root := newRoot(newApp(io.Discard, io.Discard))
			found, rest, err := root.Find(args[1:])
			if err != nil || !strings.HasPrefix(found.CommandPath(), cmd.CommandPath()) {
				t.Errorf("%q: is an example of %s, finds %s: %v", strings.TrimSpace(line), cmd.Name(), found.Name(), err)
				continue
			}
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("%q: %v", strings.TrimSpace(line), err)
			}
			if found.Args != nil {
				if err := found.Args(found, found.Flags().Args()); err != nil {
					t.Errorf("%q: %v", strings.TrimSpace(line), err)
				}
			}
		}
	})
}

// completed returns the completions of a command line, without descriptions.
func completed(t *testing.T, stateDir string, args ...string) (words []string, directive string) {
	t.Helper()
	var out bytes.Buffer
	a := newApp(&out, io.Discard)
	a.stateDir = stateDir
	root := newRoot(a)
	root.SetOut(&out)
	root.SetErr(io.Discard)
	root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, args...))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	for line := range strings.Lines(out.String()) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(word, ":") {
			return words, word
		}
		words = append(words, word)
	}
	t.Fatalf("%v: no directive in %q", args, out.String())
	return nil, ""
}

// recordRuns writes a state directory with n recorded runs, whose directories don't exist.
func recordRuns(tb testing.TB, n int) (stateDir string) {
	tb.Helper()
	stateDir = tb.TempDir()
	registry := rundir.Registry{Dir: filepath.Join(stateDir, "runs")}
	for i := range n {
		if err := registry.Add(rundir.Record{
			Version: 1, ID: fmt.Sprint(1000 + i), Name: "dsv4", Launcher: "slurm", Dir: "/nonexistent/" + fmt.Sprint(i),
			Created: time.Unix(int64(i), 0),
		}); err != nil {
			tb.Fatal(err)
		}
	}
	return stateDir
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	state := recordRuns(t, 3)
	runs := []string{"dsv4_1002", "dsv4_1001", "dsv4_1000"} // the latest first
	const plain, noFiles, noSpace, byExt, dirs, ordered = ":0", ":4", ":6", ":8", ":16", ":32"
	for _, tt := range []struct {
		args      []string
		directive string
		want      []string // all of these
	}{
		{[]string{"watch", ""}, ordered, runs},
		{[]string{"logs", ""}, ordered, runs},
		{[]string{"logs", sampleRun, ""}, ":36", []string{"client", "job", "CTX_0", "GEN_0", "frontend"}},
		{[]string{"cancel", "dsv4_1001"}, ordered, runs[1:2]},
		{[]string{"results", ""}, ordered, runs},
		{[]string{"rollup", ""}, ordered, runs},
		{[]string{"parity", "a", ""}, ordered, runs},
		{[]string{"parity", "--ref", ""}, ordered, runs},
		{[]string{"export", "a", "b", ""}, ordered, runs},
		{[]string{"runs", "show", ""}, ordered, runs},
		{[]string{"apply", "--again", ""}, ordered, runs},
		{[]string{"watch", "dsv4_1000", ""}, noFiles, nil},
		{[]string{"check", ""}, byExt, []string{"yaml", "yml", "json"}},
		{[]string{"port", ""}, dirs, nil},
		{[]string{"port", "--dataset-root", ""}, dirs, nil},
		{[]string{"apply", "--launcher", ""}, noFiles, []string{"slurm", "local", "srtctl"}},
		{[]string{"dry-run", "--launcher", "l"}, noFiles, []string{"local"}},
		{[]string{"export", "--format", ""}, noFiles, []string{"csv", "json", "html"}},
		{[]string{"export", "--table", ""}, noFiles, []string{"phases", "series", "tiers", "curve"}},
		{[]string{"parity", "--format", ""}, noFiles, []string{"table", "markdown", "json"}},
		{[]string{"mock-server", "--role", ""}, noFiles, []string{"agg", "prefill", "decode", "frontend"}},
		{[]string{"explain", "benchmark.agentperf_c"}, noFiles, []string{
			"benchmark.agentperf_client_dir", "benchmark.agentperf_config",
		}},
		{[]string{"explain", "run-not"}, noFiles, []string{"run-not-ended", "run-not-found"}},
		{[]string{"check", "--set", "benchmark.agentperf_con"}, noSpace, []string{"benchmark.agentperf_config="}},
		{[]string{"check", "--unset", "user_spawn"}, noFiles, []string{"user_spawn_rate"}},
		{[]string{"replay", "--config", ""}, byExt, []string{"yaml"}},
		{[]string{"export", "-o", ""}, plain, nil},
		{[]string{"version", ""}, noFiles, nil},
	} {
		words, directive := completed(t, state, tt.args...)
		if directive != tt.directive {
			t.Errorf("%v: directive %s, want %s", tt.args, directive, tt.directive)
		}
		for _, want := range tt.want {
			if !slices.Contains(words, want) {
				t.Errorf("%v: no %q in %v", tt.args, want, words)
			}
		}
		if tt.want == nil && len(words) > 0 {
			t.Errorf("%v: completes %v", tt.args, words)
		}
	}
	if words, _ := completed(t, state, "watch", ""); !slices.Equal(words, runs) {
		t.Errorf("runs are not in order: %v", words)
	}
}

// Every argument and every flag that takes a run, step, field, launcher or format has a completion.
func TestEveryNameIsCompleted(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`^(RUN|REF|CAND|STEP|RECIPE|NAME|ROOT|RUN_DIR|A|B)$`)
	oneOf := regexp.MustCompile(`^[a-z]+(, [a-z]+)+( or [a-z]+)?$`)
	a := newApp(io.Discard, io.Discard)
	root := newRoot(a)
	values := a.completions()
	eachCommand(root, func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.HasParent() && cmd.Parent().Name() == "completion" || cmd.Name() == "completion" {
			return
		}
		for _, word := range strings.Fields(cmd.Use)[1:] {
			word = strings.TrimSuffix(strings.Trim(word, "[]"), "...")
			if !named.MatchString(word) || values[word] == nil {
				t.Errorf("%s: no completion for %s", cmd.CommandPath(), word)
			}
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			_, has := cmd.GetFlagCompletionFunc(f.Name)
			if _, fixed := f.Value.(*choice); !fixed && oneOf.MatchString(f.Usage) {
				t.Errorf("%s --%s: lists its values, and is not a choice", cmd.CommandPath(), f.Name)
			}
			for _, what := range []string{"launcher", "format", "set", "unset", "again", "ref", "table", "role"} {
				if f.Name == what && !has {
					t.Errorf("%s --%s: no completion", cmd.CommandPath(), f.Name)
				}
			}
		})
	})
}

func BenchmarkComplete(b *testing.B) {
	state := recordRuns(b, 1000)
	for name, args := range map[string][]string{
		"run of 1000": {"watch", ""}, "step": {"logs", sampleRun, ""},
		"field": {"check", "--set", ""}, "name": {"explain", ""},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				a := newApp(io.Discard, io.Discard)
				a.stateDir = state
				root := newRoot(a)
				root.SetOut(io.Discard)
				root.SetErr(io.Discard)
				root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, args...))
				if err := root.ExecuteContext(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
