package harness

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tokenLines returns tokens as "part name=value".
func tokenLines(ts []Token) []string {
	var out []string
	for _, t := range ts {
		line := string(t.Part) + " " + t.Text()
		if t.Part == BareVariable && t.Value == "" {
			line += t.Name
		}
		if t.Overridden != "" {
			line += " (overridden)"
		}
		out = append(out, line)
	}
	return out
}

func TestLaunchTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line string
		want       []string
	}{
		{
			"a worker", `A=1 nohup srun -lK -N8 -n 32 --mem=1 --export="ALL,B=2,C=x,y,PATH" --mem 2 ` +
				`--container-mounts=/a:/a,/b:/b env D='4 5' bash -x /h/start_worker_dynamo.sh CTX 0 /m 'B=3 E=1' more ` +
				`</dev/null 2>&1 &> /o/3_output_CTX_0.log &`,
			[]string{
				"env A=1", "program nohup", "program srun", "flag --label", "flag --kill-on-bad-exit", "flag --nodes=8",
				"flag --ntasks=32", "flag --mem=1 (overridden)", "export ALL", "env B=2 (overridden)", "env C=x,y", "bare PATH",
				"flag --mem=2", "mount /a:/a", "mount /b:/b", "program env", "env D=4 5", "program bash", "program -x",
				"script /h/start_worker_dynamo.sh", "argument CTX", "argument 0", "argument /m", "env B=3", "env E=1",
				"argument more", "redirect < /dev/null", "redirect 2>& 1", "redirect &> /o/3_output_CTX_0.log",
			},
		},
		{
			"values that are appended, and a word like a variable",
			"A=1 A+=2 B+=3 srun nice C=4 start_worker.sh GEN 1",
			[]string{
				"env A=1 (overridden)", "env A=12", "env B=${B}3", "program srun", "program nice", "program C=4",
				"script start_worker.sh", "argument GEN", "argument 1",
			},
		},
		{
			"a list without ALL",
			"A=1 srun --export=NONE,-x,B= bash start_worker.sh GEN 1",
			[]string{
				"env A=1 (overridden)", "program srun", "export NONE", "export -x", "env B=", "program bash",
				"script start_worker.sh", "argument GEN", "argument 1",
			},
		},
		{
			"the frontend", "srun --export= --container-mounts=/x:/x --container-mounts /y:/y,,/z start_dynamo_infra.sh " +
				"frontend h 1 --a --b=1 --c 2 3 -v --",
			[]string{
				"program srun", "flag --export", "mount /x:/x (overridden)", "mount /y:/y", "mount /z",
				"script start_dynamo_infra.sh", "argument frontend", "argument h", "argument 1", "option --a", "option --b=1",
				"option --c=2", "argument 3", "argument -v", "argument --",
			},
		},
	} {
		ls, _ := readJobLog(t, mark+c.line+"\n")
		if len(ls.All()) != 1 {
			t.Fatalf("%s: %d launches", c.name, len(ls.All()))
		}
		if diff := cmp.Diff(c.want, tokenLines(ls.All()[0].Tokens())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestCommandTokens(t *testing.T) {
	t.Parallel()
	cmds, err := parseShell("A=1 export -x B='2 3' C >f; if [[ -f x ]]; then A=1 uv run x; fi")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cmds {
		got = append(got, tokenLines(c.Tokens())...)
	}
	want := []string{
		"env A=1", "command export", "argument -x", "argument B=2 3", "argument C", "redirect > f", "command if",
		"command [[ -f x ]]", "env A=1", "command uv", "argument run", "argument x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	cmds, err = parseShell("export -x B='2 3' C >f")
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"bare -x", "env B=2 3", "bare C", "redirect > f"}
	if diff := cmp.Diff(want, tokenLines(cmds[0].Tokens())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every byte of a launch that is not a separator belongs to exactly one token.
func TestTokensCoverTheLine(t *testing.T) {
	t.Parallel()
	pick := func(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		line := pick(r, "", "A=1 ", "A='x y' B= ") + pick(r, "", "exec ") + "srun"
		for range r.IntN(6) {
			line += " " + pick(r, "-N1", "-n 4", "-lK", "--mem=0", "--gres gpu:4", "--export=ALL,A=1,U=a,b,C=,D,x",
				"--export=NONE", "--container-mounts=/a:/a,/b:/b", "--overlap", "-w n[1-2],n3", "-K1", "--x='a b'")
		}
		line += pick(r, " bash", " bash -x", " env Z=1 bash", " numactl -m 0 bash") + " /h/" +
			pick(r, "start_worker_dynamo.sh CTX 0 /m 1 e2e '1 2' true 'A=1 B=\"x y\"' none",
				"start_worker_dynamo.sh GEN 3", "start_dynamo_infra.sh frontend h 1 --a b --c=d e",
				"start_dynamo_infra.sh etcd h 2")
		line += pick(r, "", " </dev/null", " 2>&1", " &> /x", " > /x 2> /y")
		ls, _ := readJobLog(t, mark+line+"\n")
		if len(ls.All()) != 1 {
			t.Fatalf("%q: %d launches", line, len(ls.All()))
		}
		left := []byte(line)
		for _, tok := range ls.All()[0].Tokens() {
			at := tok.Offset - len(mark)
			if tok.Part == Redirection { // the offset is that of the target
				at += len(tok.Value) - len(strings.ReplaceAll(tok.Source, " ", ""))
				for at > 0 && !strings.HasPrefix(line[at:], tok.Name) {
					at--
				}
				copy(left[at:], strings.Repeat(" ", len(tok.Name)))
				at = tok.Offset - len(mark)
				tok.Source = tok.Value
			}
			for _, c := range []byte(tok.Source) {
				for at < len(left) && left[at] != c {
					at++
				}
				if at == len(left) {
					t.Fatalf("%q: %+v covers what another token covers, or is not there: %q", line, tok, left)
				}
				left[at] = ' '
			}
		}
		rest := strings.NewReplacer("--export=", "", "--container-mounts=", "", "'", "", ",", "").Replace(string(left))
		if rest = strings.TrimSpace(rest); rest != "" {
			t.Errorf("%q: %q belongs to no token; tokens:\n%s", line, rest, fmt.Sprint(tokenLines(ls.All()[0].Tokens())))
		}
	}
}

// separators matches the parts of a script that have no meaning of their own.
var separators = regexp.MustCompile(`--export=|--container-mounts=|\b(?:export|then|fi|do|done)\b|&&|[',;|{}]`)

// Every byte of a client script that is not a separator belongs to exactly one token.
func TestClientTokensCoverTheScript(t *testing.T) {
	t.Parallel()
	pick := func(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		inner := ""
		for range r.IntN(6) {
			inner += pick(r, "set -euo pipefail; ", "export A=1 B=\"x y\" C; ", "D=2; ", "export -x E=; ", "mkdir -p /x "+
				"&& cd /y; ",
				"test -f ${R}/READY || exit 1; ", "source /v/bin/activate; ", "X=1 tool -a --b=c 2>/dev/null; ", "a | b &> /z; ",
				"if [[ -d /x ]]; then q 1; fi; ", "for i in 1 2; do w $i; done; ", "f() { v; }; ", "{ u; } > /o; ")
		}
		run := pick(r, "", "F=3 ", "env G=4 H=5 ", "numactl -m 0 ") + "uv run python agentperf/run.py --config c --seed=3 " +
			pick(r, "", "--concurrencies 1 2 ", "--no-eval ", "extra ")
		shell := pick(r, "", "A=1 ") + "srun -N1 --export=ALL,K=1,L --container-mounts=/a:/a,/b:/b " + pick(r, "", "-lK ") +
			"bash -c '" + inner + "cd /client; " + run + pick(r, "", "; echo done", " | tee /l") + "' &> /log"
		script := pick(r, "", "pwd\n", "srun -n 2 bash -c 'uv sync; nvidia-smi'\n") + pick(r, shell, inner+run) + "\n"
		var run1 Run
		a := &Artifact{Name: ClientScript}
		if err := run1.parseClient(t.Context(), strings.NewReader(script), a); err != nil || len(a.Problems) > 0 {
			t.Fatalf("%q: %v %v", script, err, a.Problems)
		}
		left := []byte(script)
		for _, tok := range run1.Client.Tokens() {
			at := tok.Offset
			source := tok.Source
			if tok.Part == Redirection { // the offset is that of the target
				source = tok.Value
				from := strings.LastIndex(script[:at], tok.Name)
				copy(left[from:], strings.Repeat(" ", len(tok.Name)))
			}
			for _, c := range []byte(source) {
				for at < len(left) && left[at] != c {
					at++
				}
				if at == len(left) {
					t.Fatalf("%q: %+v covers what another token covers, or is not there: %q", script, tok.Token, left)
				}
				left[at] = ' '
			}
		}
		rest := separators.ReplaceAllString(string(left), "")
		if rest = strings.TrimSpace(rest); rest != "" {
			t.Errorf("%q: %q belongs to no token; tokens:", script, rest)
			for _, tok := range run1.Client.Tokens() {
				t.Log(tokenLines([]Token{tok.Token}))
			}
		}
	}
}
