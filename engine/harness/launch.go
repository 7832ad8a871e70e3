package harness

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// rolesByName maps the harness's role names to roles.
var rolesByName = map[string]schema.Role{"CTX": schema.Prefill, "GEN": schema.Decode}

// RoleName is the name that the harness gives to a role: CTX or GEN.
func RoleName(r schema.Role) string {
	if r == schema.Prefill {
		return "CTX"
	}
	return "GEN"
}

// Launch is one srun command of job.log. It starts a worker, which has a role and an index, or a
// service such as the frontend or etcd.
type Launch struct {
	Line    int
	Role    schema.Role
	Index   int
	Service string // empty for a worker

	Hosts    []string
	Nodes    int // -N; 0 if not given
	Tasks    int // -n; 0 if not given
	Nodelist Option
	Image    Option
	Mounts   Option
	Flags    []Option // all flags of srun, by their long names
	Model    string
	Args     []Word // of the start script

	// Env is the environment that the launch sets: the --export list, overridden by the list among a
	// worker's arguments.
	Env       []Var
	BareNames []Value // names without a value in the --export list: values came from the submitting shell
	HasExport bool
	HasEnv    bool // the worker's arguments contain a list of variables

	Problems   []string
	Starts     int   // launches of this worker or service so far, including this one
	StartLines []int // line numbers of the first 8 of them

	artifact, text string // of the line
	export, env    []Var
}

// Option is a flag with its value.
type Option struct {
	Name, Value string
	offset      int
}

// String returns --name=value, or --name if there is no value.
func (o Option) String() string { return strings.TrimSuffix(o.Name+"="+o.Value, "=") }

// Name is the name that the harness gives to the worker or service, such as CTX 0.
func (l *Launch) Name() string {
	if l.Service != "" {
		return l.Service
	}
	return fmt.Sprintf("%s %d", RoleName(l.Role), l.Index)
}

// At returns the evidence of raw. It looks for raw in the launch line, at or after a byte offset.
func (l *Launch) At(key, raw string, offset int) Evidence {
	return newEvidence(l.artifact, l.Line, l.text, key, raw, offset)
}

// OptionAt returns the evidence of an option.
func (l *Launch) OptionAt(o Option) Evidence { return l.At(o.Name, o.Value, o.offset) }

// Lookup returns a variable of the environment. A nil launch has none.
func (l *Launch) Lookup(name string) (Var, bool) {
	if l == nil {
		return Var{}, false
	}
	i := slices.IndexFunc(l.Env, func(v Var) bool { return v.Name == name })
	if i < 0 {
		return Var{}, false
	}
	return l.Env[i], true
}

// Launches are the launches of a job: the last one of each worker and service.
type Launches struct {
	Workers  map[schema.Role][]*Launch // ascending index
	Frontend *Launch                   // nil if it was not launched
	Etcd     *Launch
	Count    int // launch lines parsed

	artifact *Artifact
}

// First returns the first worker of a role, or nil.
func (ls *Launches) First(r schema.Role) *Launch {
	if ws := ls.Workers[r]; len(ws) > 0 {
		return ws[0]
	}
	return nil
}

// FirstOfEach returns the frontend and the first worker of each role, without those that are
// missing.
func (ls *Launches) FirstOfEach() []*Launch {
	all := []*Launch{ls.Frontend, ls.First(schema.Prefill), ls.First(schema.Decode)}
	return slices.DeleteFunc(all, func(l *Launch) bool { return l == nil })
}

// All returns all launches: services, prefill workers, decode workers.
func (ls *Launches) All() []*Launch {
	all := slices.Concat([]*Launch{ls.Etcd, ls.Frontend}, ls.Workers[schema.Prefill], ls.Workers[schema.Decode])
	return slices.DeleteFunc(all, func(l *Launch) bool { return l == nil })
}

const launchMark = "Executing:"

// Bounds of what is recorded of a job.log: workers of a role, and problems.
const (
	maxLaunches = 4096
	maxProblems = 50
)

// parseLaunches reads a job.log of any size.
func (r *Run) parseLaunches(ctx context.Context, f io.Reader, a *Artifact) error {
	ls := &r.Launches
	*ls = Launches{Workers: map[schema.Role][]*Launch{}, artifact: a}
	lr := newLineReader(f, launchMark)
	var last int64
	lr.progress = func(n int64) {
		if n-last >= 64<<20 {
			last = n
			r.progress(a.Name, n, 0)
		}
	}
	err := lr.forEach(ctx, func(l rawLine) bool {
		if l.truncated {
			ls.problem(l.number, fmt.Sprintf("launch line is longer than %d KiB", maxLine>>10))
		} else {
			ls.addLine(l.number, validUTF8(stripANSI(l.text)))
		}
		return ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	a.Lines, a.Found = lr.lines, countText(ls.Count, "launch line")
	return err
}

func (ls *Launches) problem(line int, text string) {
	if len(ls.artifact.Problems) < maxProblems {
		ls.artifact.problem(line, text)
	}
}

func (ls *Launches) addLine(number int, text string) {
	at := strings.Index(text, launchMark) + len(launchMark)
	cmds, err := parseShell(text[at:])
	if err != nil {
		if strings.Contains(text, "start_worker") || strings.Contains(text, "_infra") {
			ls.problem(number, "launch line can't be parsed: "+err.Error()+"; the file may be truncated")
		}
		return
	}
	for _, c := range cmds {
		l := &Launch{artifact: ls.artifact.Name, Line: number, text: text}
		switch {
		case !l.parse(c, at):
		case l.Role == "" && l.Service == "":
			ls.problem(number, fmt.Sprintf("unknown worker role %q; only CTX and GEN can be ported",
				safetext.Clip(l.Model, 40)))
		default:
			ls.addLaunch(l)
		}
	}
}

func (ls *Launches) addLaunch(l *Launch) {
	ls.Count++
	switch l.Service {
	case "frontend":
		l.countStarts(ls.Frontend)
		ls.Frontend = l
		return
	case "etcd":
		l.countStarts(ls.Etcd)
		ls.Etcd = l
		return
	case "":
	default:
		ls.problem(l.Line, fmt.Sprintf("service %q is not carried over; the new job starts the services that it needs",
			safetext.Clip(l.Service, 40)))
		return
	}
	all := ls.Workers[l.Role]
	i, again := slices.BinarySearchFunc(all, l.Index, func(o *Launch, index int) int { return o.Index - index })
	switch {
	case again:
		l.countStarts(all[i])
		all[i] = l
	case len(all) >= maxLaunches:
		ls.problem(l.Line, fmt.Sprintf("more than %d %s workers", maxLaunches, l.Role))
	default:
		l.countStarts(nil)
		ls.Workers[l.Role] = slices.Insert(all, i, l)
	}
}

// countStarts sets Starts and StartLines. old is the previous launch of the same worker or service, or
// nil.
func (l *Launch) countStarts(old *Launch) {
	if old != nil {
		l.Starts, l.StartLines = old.Starts, old.StartLines
	}
	l.Starts++
	if len(l.StartLines) < 8 {
		l.StartLines = append(l.StartLines, l.Line)
	}
}

// parse parses an srun command that runs one of the harness's start scripts. It reports false for
// any other command. offset is where the command text begins in the line.
func (l *Launch) parse(c command, offset int) bool {
	script := slices.IndexFunc(c.words, func(w Word) bool {
		base := path.Base(w.Text)
		return strings.HasPrefix(base, "start_worker") || strings.HasPrefix(base, "start_") && strings.Contains(base, "infra")
	})
	if script < 1 || script+1 >= len(c.words) || path.Base(c.words[0].Text) != "srun" {
		return false
	}
	for i := range c.words {
		c.words[i].Offset += offset
	}
	l.Args = c.words[script+1:]
	l.parseOptions(c.words[1:script])
	if strings.HasPrefix(path.Base(c.words[script].Text), "start_worker") {
		l.parseWorker(c.output)
	} else {
		l.Service = l.Args[0].Text
	}
	l.mergeEnvironment()
	return true
}

// parseWorker parses the arguments ROLE INDEX MODEL … of the worker script.
func (l *Launch) parseWorker(output string) {
	r, known := rolesByName[strings.ToUpper(l.Args[0].Text)]
	if !known {
		l.Model = l.Args[0].Text // for the message
		return
	}
	l.Role = r
	logRole, logIndex := workerLog(output)
	if len(l.Args) > 1 {
		if i, err := strconv.Atoi(l.Args[1].Text); err == nil && i >= 0 {
			l.Index = i
			if logRole != "" && (logRole != r || logIndex != i) {
				l.problem("the name of its log does not match: %s", path.Base(output))
			}
		} else {
			l.Index = max(logIndex, 0)
			l.problem("index %q is not a number; the index in the log's name was used", safetext.Clip(l.Args[1].Text, 20))
		}
	}
	if len(l.Args) > 2 {
		l.Model = l.Args[2].Text
	}
	for _, w := range l.Args[min(2, len(l.Args)):] {
		vars := splitEnvList(w.Text, w.Offset)
		if len(vars) == 0 || l.HasEnv && (!w.quoted || len(vars) <= len(l.env)) {
			continue
		}
		if l.HasEnv {
			l.problem("two arguments look like a list of variables; the longer one was used")
		}
		l.env, l.HasEnv = vars, true
	}
}

func (l *Launch) problem(format string, args ...any) {
	l.Problems = append(l.Problems, fmt.Sprintf(format, args...))
}

// mergeEnvironment merges the --export list and the list among the arguments.
func (l *Launch) mergeEnvironment() {
	l.Env = make([]Var, 0, len(l.export)+len(l.env))
	at := make(map[string]int, cap(l.Env))
	for _, v := range slices.Concat(l.export, l.env) {
		v.At = l.At(v.Name, v.Raw, v.offset)
		i, again := at[v.Name]
		switch {
		case v.bare && exportWords[v.Name]:
		case v.bare:
			l.BareNames = append(l.BareNames, Value{v.Name, v.At})
		case again:
			l.Env[i] = v
		default:
			at[v.Name] = len(l.Env)
			l.Env = append(l.Env, v)
		}
	}
	l.export, l.env = nil, nil
}

// workerLog parses role and index from a file name such as 3_output_CTX_0.log. The index is -1 for
// any other name.
func workerLog(file string) (schema.Role, int) {
	base := strings.TrimSuffix(path.Base(file), ".log")
	for name, r := range rolesByName {
		if _, index, ok := strings.Cut(base, "_output_"+name+"_"); ok {
			if i, err := strconv.Atoi(index); err == nil && i >= 0 {
				return r, i
			}
		}
	}
	return "", -1
}
