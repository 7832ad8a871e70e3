package porter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// lineMaker makes launch lines and records their tokens.
type lineMaker struct {
	*rand.Rand
	tokens int
	names  []string // what must be in exactly one row
	next   int
}

// token counts a token. name is in exactly one row, unless it is empty.
func (m *lineMaker) token(name string) {
	m.tokens++
	if name != "" {
		m.names = append(m.names, name)
	}
}

func (m *lineMaker) pick(from ...string) string { return from[m.IntN(len(from))] }

func (m *lineMaker) name(prefix string) string {
	m.next++
	return fmt.Sprintf("%s%d", prefix, m.next)
}

// value returns a value of a variable.
func (m *lineMaker) value() string {
	return m.pick("1", "/lustre/a", "/opt/b", "a=b", "x y", `{"k": "v w"}`, "", "<n>", "$HOME/x", "it's", "a;b", "*", "ä")
}

// word quotes a word in one of several ways.
func (m *lineMaker) word(s string) string {
	plain := s != "" && !strings.ContainsAny(s, " \t'\"`$&;<>(){}*?[]|\\!#~=%") && s[0] != '-'
	switch q, err := syntax.Quote(s, syntax.LangBash); {
	case err != nil:
		return "''"
	case plain && m.IntN(2) == 0:
		return s
	case m.IntN(3) == 0 && !strings.Contains(s, "'"):
		return "'" + s + "'"
	case m.IntN(2) == 0:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s) + `"`
	default:
		return q
	}
}

// flags returns flags of srun, in several spellings.
func (m *lineMaker) flags(env func() []string) string {
	var out []string
	add := func(name string, spellings ...string) {
		m.token(name)
		out = append(out, m.pick(spellings...))
	}
	add("flag --nodes", "-N1", "-N 1", "--nodes=1", "--nodes 1", `-N "1"`)
	add("flag --ntasks", "-n4", "-n 4", "--ntasks=4", "'-n' 4")
	if m.IntN(2) == 0 {
		add("flag --mpi", "--mpi=pmix", "--mpi pmix", "'--mpi=pmix'")
	}
	for range m.IntN(3) {
		name, value := m.name("--unknown-"), m.word("v"+m.pick("1", " 2", "'"))
		add("flag "+name, name+"="+value, name+" "+value)
	}
	if m.IntN(3) == 0 {
		m.token("flag --label")
		m.token("flag --kill-on-bad-exit")
		out = append(out, m.pick("-lK", "-l -K", "--label -K", "-Kl"))
	}
	if m.IntN(3) == 0 { // the first one is overridden
		m.token("")
		m.token("")
		out = append(out, m.pick("--mem=1 --mem=2", "--mem 1 --mem=1"))
	}
	list := []string{"ALL"}
	m.token("export ALL")
	for range m.IntN(3) {
		name := m.name("BARE_")
		m.token("env " + name)
		list = append(list, name)
	}
	for _, v := range env() {
		if !strings.Contains(v, ",") && !strings.Contains(v, `"`) && !strings.Contains(v, "'") {
			list = append(list, v)
			m.token("env " + v[:strings.IndexByte(v, '=')])
		}
	}
	out = append(out, m.pick("--export="+m.word(strings.Join(list, ",")), "--export "+m.word(strings.Join(list, ","))))
	mounts := []string{"/lustre:/lustre"}
	m.token("")
	for range m.IntN(3) {
		mount := m.name("/mnt") + ":/x"
		m.token("mount " + mount)
		mounts = append(mounts, mount)
	}
	out = append(out, "--container-mounts="+m.word(strings.Join(mounts, ",")))
	m.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return strings.Join(out, " ")
}

// vars returns variables.
func (m *lineMaker) vars() []string {
	var out []string
	for range m.IntN(4) {
		out = append(out, m.name("V")+"="+m.value())
	}
	return out
}

// list returns a worker's list of variables.
func (m *lineMaker) list(role string) string {
	all := []string{"CUDA_VISIBLE_DEVICES=0,1,2,3", "ROLE=" + role}
	m.token("env CUDA_VISIBLE_DEVICES")
	m.token("env ROLE")
	for range m.IntN(4) {
		name := m.name("L")
		m.token("env " + name)
		all = append(all, name+"="+m.pick("1", `"a b"`, "a=b", "/lustre/x", "", "two words"))
	}
	return strings.Join(all, " ")
}

// line returns a launch line of a worker or of the frontend, printed by the shell library if reprint is set.
func (m *lineMaker) line(t *testing.T, role string, index int, reprint bool) string {
	t.Helper()
	before := ""
	for _, v := range m.vars() {
		name, value, _ := strings.Cut(v, "=")
		before += name + "=" + m.word(value) + " "
		m.token("env " + name)
	}
	for range m.IntN(2) {
		m.token("program nohup")
		before += m.pick("nohup ", `"nohup" `)
	}
	m.token("program srun")
	m.token("program bash")
	script := "/h/start_worker_dynamo.sh"
	if role == "frontend" {
		script = "/h/start_dynamo_infra.sh"
	}
	m.token("script " + script)
	line := before + "srun " + m.flags(m.vars) + m.pick(" bash ", " 'bash' ") + script
	var args []string
	if role == "frontend" {
		args = []string{"frontend", "n1", "8333"}
		m.tokens += 3
		for range m.IntN(3) {
			name := m.name("--opt-")
			m.token("flag " + name)
			args = append(args, m.pick(name, name+"=a b", name+"=/lustre/x"))
		}
		if m.IntN(2) == 0 {
			name := m.name("stray")
			m.token("argument " + fmt.Sprint(len(args)+1) + " " + name)
			args = slices.Insert(args, 3, name)
			m.names[len(m.names)-1] = "argument 4 " + name
		}
	} else {
		args = []string{
			role, fmt.Sprint(index), "/lustre/models/m-fp8", "8101", m.pick("e2e", "gen_only"), "64", "true", "/d", "false",
			m.pick("0-0", "1-2"), "/d/" + strings.ToLower(role) + "_config.yaml", "", m.pick("none", "nsys profile"), "none",
		}
		m.tokens += len(args) - 1
		args[11] = m.list(role)
		for range m.IntN(3) {
			m.token("")
			args = append(args, m.name("extra "))
		}
	}
	for _, a := range args {
		if strings.HasPrefix(a, "--opt") && !strings.Contains(a, " ") {
			line += " " + a
		} else {
			line += " " + m.word(a)
		}
	}
	for _, r := range []string{" </dev/null", " 2>&1", " &> /d/x.log", " <in"} {
		if m.IntN(2) == 0 {
			m.token("")
			line += r
		}
	}
	line += m.pick(" &", "", ";")
	if reprint {
		line = m.printed(t, line)
	}
	if m.IntN(4) == 0 {
		m.token("command tool")
		m.token("argument " + "x1")
		line = strings.TrimSuffix(strings.TrimSuffix(line, ";"), "&") + m.pick("; ", " | ", " && ") + "tool x1"
	}
	return "[server] Executing: " + line
}

// printed returns a line as the shell library prints it.
func (m *lineMaker) printed(t *testing.T, line string) string {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	var out strings.Builder
	style := syntax.SingleLine(true)
	if m.IntN(2) == 0 {
		style = syntax.Minify(true)
	}
	p := syntax.NewPrinter(syntax.SpaceRedirects(m.IntN(2) == 0), style)
	if err := p.Print(&out, file); err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(out.String(), "\n")
}

// The rows of the proof partition the tokens of the launch lines, however they are written: the numbers are those
// of the lines, and each named part is in exactly one row of its line.
func TestRowsPartitionTokens(t *testing.T) {
	t.Parallel()
	for seed := range uint64(120) {
		m := &lineMaker{Rand: rand.New(rand.NewPCG(seed, 7))}
		var lines []string
		want := 0
		var parts [][]string
		for i, role := range []string{"frontend", "CTX", "CTX", "GEN"} {
			m.tokens, m.names = 0, nil
			lines = append(lines, m.line(t, role, max(0, i-1)%2, seed%2 == 0))
			want, parts = want+m.tokens, append(parts, m.names)
		}
		files := smallRun()
		delete(files, harness.ClientScript)
		files[harness.JobLog] = jobLog(lines...)
		r := port(t, lay(t, files), Options{})
		p := r.Proof
		text := strings.Join(lines, "\n")
		if p.Seen != 4 || p.Read != 4 || p.Tokens != want || p.Unaccounted != 0 || len(p.Unexplained()) > 0 {
			t.Fatalf("seed %d: want %d tokens: %s\n%q\n%s", seed, want, p.Summary(), p.Unexplained(), text)
		}
		if sum := p.Same + p.ByRule + p.Asked + p.Unaccounted; sum != want {
			t.Errorf("seed %d: %d + %d + %d tokens, want %d", seed, p.Same, p.ByRule, p.Asked, want)
		}
		for i, names := range parts {
			rows := rowNames(p, i+1)
			for _, name := range names {
				if n := rows[name]; n != 1 {
					t.Errorf("seed %d: %s is in %d rows of line %d\n%s\n%v", seed, name, n, i+1, lines[i], rows)
				}
			}
		}
	}
}

// rowNames returns how many rows of a line of job.log name each part, without those that are added.
func rowNames(p Proof, line int) map[string]int {
	out := map[string]int{}
	for _, l := range p.Lines {
		if !slices.Contains(l.Lines, line) {
			continue
		}
		for _, name := range l.Same {
			out[name]++
		}
		for _, d := range l.Differences {
			if d.Kind != "added" && d.What != "config" {
				out[d.What+" "+d.Name]++
			}
		}
	}
	return out
}
