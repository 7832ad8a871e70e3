package harness

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExpandHosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want, err string }{
		{in: "gb[01-03,07],x9", want: "gb01 gb02 gb03 gb07 x9"},
		{in: "n1,n2,n1", want: "n1 n2"},
		{in: "r[1-2]n[08-10]", want: "r1n08 r1n09 r1n10 r2n08 r2n09 r2n10"},
		{in: "a[9-11]b", want: "a9b a10b a11b"},
		{in: "", want: ""},
		{in: " n1 , n2 ", want: "n1 n2"},
		{in: "n[1-", err: "bracket is not closed"},
		{in: "n[3-1]", err: `range "3-1"`},
		{in: "n[a]", err: `range "a"`},
		{in: "n[1-99999999]", err: "more than 65536"},
		{in: "n[1-60000]x[1-60000]", err: "more than 65536"},
		{in: "<node0_placeholder>", err: `unexpected '<'`},
		{in: "${NODES}", err: `unexpected '$'`},
		{in: "n1]", err: `unexpected ']'`},
	} {
		got, err := expandHosts(c.in)
		if joined := strings.Join(got, " "); joined != c.want {
			t.Errorf("%q = %q, want %q", c.in, joined, c.want)
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: error %v, want %q", c.in, err, c.err)
		}
	}
}

func TestSplitEnvList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want []string // name|value
	}{
		{"A=1 B=2", []string{"A|1", "B|2"}},
		{"A=1", []string{"A|1"}},
		{"  A=1\tB=\n", []string{"A|1", "B|"}},
		{`A="x B=2" C='y' D=it's`, []string{"A|x B=2", "C|y", "D|it's"}},
		{`A="say \"hi\" \n" B=1`, []string{`A|say "hi" \n`, "B|1"}},
		{"A=b=c D=e f g", []string{"A|b=c", "D|e f g"}},
		{"1010", nil},
		{"0-0", nil},
		{"/path/x=1 A=2", nil},
		{"none", nil},
		{"", nil},
		{"=x", nil},
		{"1A=2", nil},
	} {
		vars := SplitEnvList(c.in)
		var got []string
		for _, v := range vars {
			got = append(got, v.Name+"|"+v.Value)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestSplitExport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want []string // name|value|truncated value, or a name without a value
	}{
		{"ALL", []string{"ALL"}},
		{"ALL,HOME=/h", []string{"ALL", "HOME|/h|"}},
		{"ALL,U=cuda_ipc,sm,tcp,B=1", []string{"ALL", "U|cuda_ipc,sm,tcp|cuda_ipc", "B|1|"}},
		{"EMPTY=,BARE", []string{"EMPTY||", "BARE"}},
		{"EMPTY=,b,C='',d,E=1,f", []string{"EMPTY||", "b", "C||", "d", "E|1,f|1"}},
		{"NONE,A=1", []string{"NONE", "A|1|"}},
		{"ALL,-x,A=1", []string{"ALL", "", "A|1|"}},
		{"S=INIT,NET,PATH,LD_LIBRARY_PATH,Z=", []string{"S|INIT,NET|INIT", "PATH", "LD_LIBRARY_PATH", "Z||"}},
		{"lower,NAMES,A=1", []string{"lower", "NAMES", "A|1|"}},
		{`A="x,B=2",C=3`, []string{"A|x,B=2|", "C|3|"}},
		{"A=0,1,2,3", []string{"A|0,1,2,3|0"}},
		{"A=b=c,,", []string{"A|b=c,,|b=c"}},
		{"", nil},
		{",,", nil},
	} {
		var got []string
		for _, e := range splitExport(c.in, 0) {
			if e.bare {
				got = append(got, e.Name)
			} else {
				got = append(got, e.Name+"|"+e.Value+"|"+e.Truncated)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestParseShell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want []string // words of each command
		out  string
	}{
		{
			`srun -l --x="a b" 'c d' e\ f ${G}h "$(date)" &> /o.log &`,
			[]string{"srun|-l|--x=a b|c d|e f|${G}h|$(date)"},
			"/o.log",
		},
		{"srun --nodelist <node0_placeholder> -N 1", []string{"srun|--nodelist|<node0_placeholder>|-N|1"}, ""},
		{"srun -w <n0>,<n1> <in >out 2>err", []string{"srun|-w|<n0>,<n1>"}, "out"},
		{"a && b; c | d", []string{"a", "b", "c", "d"}, ""},
		{`"a\"b\$c\d"`, []string{`a"b$c\d`}, ""},
		{"if x; then srun y; fi", []string{"(if)", "x", "srun|y"}, ""},
		{"for i in 1 2; do [[ -f $i ]] || export A=1 B; done", []string{"(for i in 1 2)", "([[ -f $i ]])", "A B"}, ""},
		{"f() { x; }; { y; } >o; (( 1 )); time z", []string{"(f())", "x", "", "y", "((( 1 )))", "(time)", "z"}, "o"},
	} {
		cmds, err := parseShell(c.in)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		var got []string
		out := ""
		for _, cmd := range cmds {
			var words []string
			for _, w := range cmd.Words {
				words = append(words, w.Text)
			}
			if cmd.Compound.Text != "" {
				words = append(words, "("+cmd.Compound.Text+")")
			}
			if cmd.Exports {
				words = append(words, cmd.Assigns[0].Name+" "+cmd.Names[0].Text)
			}
			got = append(got, strings.Join(words, "|"))
			out += cmd.Output().Text
		}
		if diff := cmp.Diff(c.want, got); diff != "" || out != c.out {
			t.Errorf("%q: output %q, want %q (-want +got):\n%s", c.in, out, c.out, diff)
		}
	}
	for in, want := range map[string]string{
		"srun 'x": "without closing quote", strings.Repeat("$(", 3000): "too deeply nested",
		strings.Repeat("x", maxLine+1): "longer than",
	} {
		if _, err := parseShell(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", in, err, want)
		}
	}
}

func TestLineReader(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 3*maxLine)
	text := "one\r\n" + strings.Repeat("filler\n", 40_000) + "hit a\n\nhit b\n" + long + " hit\nhit " + long + "\nlast hit"
	var got []string
	err := newLineReader(strings.NewReader(text), "hit").forEach(t.Context(), func(l rawLine) bool {
		got = append(got, fmt.Sprintf("%d %.8s %v", l.number, l.text, l.truncated))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	// Line 40005 contains the needle only after the limit, so it is skipped.
	want := []string{"40002 hit a false", "40004 hit b false", "40006 hit yyyy true", "40007 last hit false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	lines := 0
	if err := newLineReader(strings.NewReader("a\n\nb\r\n"), "").forEach(
		t.Context(), func(rawLine) bool { lines++; return true },
	); err != nil ||
		lines != 3 {
		t.Errorf("%d lines, %v, want 3", lines, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newLineReader(strings.NewReader(text), "hit").forEach(ctx, func(rawLine) bool { return true }); err == nil {
		t.Error("a cancelled read continued")
	}
}

func TestStripANSI(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"\x1b[1;31mred\x1b[0m\r": "red", "a\x1b]0;title\x07b\x1b]8;;u\x1b\\c": "abc", "x\x1b": "x", "x\x1b[31": "x",
		"\x1b(Bz": "Bz", "plain": "plain", "e\x1b]open": "e",
	} {
		if got := string(stripANSI([]byte(in))); got != want {
			t.Errorf("%q = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"0: a": "a", "12:   b": "  b", "  7: c": "c", "a: b": "a: b", "12": "12", ": x": ": x", "": "",
	} {
		if got := string(stripRank([]byte(in))); got != want {
			t.Errorf("rank %q = %q, want %q", in, got, want)
		}
	}
}

func TestFirstWords(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"": "", "taskset  -c 0-3 python": "taskset -c 0-3", strings.Repeat("漢", 300): strings.Repeat("漢", 200),
	} {
		if got := firstWords(s, 3); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
