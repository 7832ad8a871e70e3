package harness

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// rolesByName maps the harness's role names to roles.
var rolesByName = map[string]schema.Role{"CTX": schema.Prefill, "GEN": schema.Decode}

// RoleName is the name that the harness gives to a role: CTX or GEN. It names aggregated workers GEN.
func RoleName(r schema.Role) string {
	if r == schema.Prefill {
		return "CTX"
	}
	return "GEN"
}

// Launch is one srun command of job.log or of the client script. It starts a worker, which has a role
// and an index, or a service such as the frontend, etcd or the client.
type Launch struct {
	Line    int // of its beginning
	Role    schema.Role
	Index   int
	Service string // empty for a worker

	Command Command // as written
	Srun    int     // index of srun in its words
	Script  int     // index of the start script, or of the shell that the client script starts

	Hosts    []string
	Nodes    int // -N; 0 if not given
	Tasks    int // -n; 0 if not given
	Nodelist Option
	Image    Option
	Mounts   Option
	Flags    []Option // all flags of srun, by their long names
	Model    string
	Args     []Word // of the start script
	EnvArg   int    // index of a worker's list of variables among them; their number if there is none
	Config   Word   // argument that names the engine config; Text is empty if there is none
	LogDir   Word   // argument that names the run directory
	Levels   Word   // argument that names the concurrency levels
	Log      Word   // file that its output goes to

	// Env is the environment that the launch sets: the --export list, overridden by the list among a
	// worker's arguments.
	Env       []Var
	BareNames []Value // names without a value in the --export list: values came from the submitting shell
	HasExport bool
	HasEnv    bool // the worker's arguments contain a list of variables

	Problems   []string
	Starts     int     // launches of this worker or service in its attempt so far, including this one
	StartLines []int   // line numbers of the first 8 of them
	Previous   *Launch // the launch that this one replaced; nil if there was none

	src         *source
	tokens      tokens // nil until they are needed
	export, env []Var
	number      int // of the launch, from 0
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
	return RoleName(l.Role) + " " + strconv.Itoa(l.Index)
}

// At returns the evidence of raw. It looks for raw in the launch, at or after a byte offset.
func (l *Launch) At(key, raw string, offset int) Evidence { return l.src.at(key, raw, offset) }

// WordAt returns the evidence of a word.
func (l *Launch) WordAt(key string, w Word) Evidence { return l.At(key, w.Source, w.Offset) }

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

// countStarts sets Starts, StartLines and Previous. old is the previous launch of the same worker or
// service, or nil.
func (l *Launch) countStarts(old *Launch) {
	if old != nil {
		l.Starts, l.StartLines, l.Previous = old.Starts, old.StartLines, old
		old.Previous, old.tokens = nil, nil // a worker may have been restarted any number of times
	}
	l.Starts++
	if len(l.StartLines) < 8 {
		l.StartLines = append(l.StartLines, l.Line)
	}
}

// isStartScript reports whether a word names a start script of the harness.
func isStartScript(w Word) bool {
	base := path.Base(w.Text)
	return strings.HasPrefix(base, "start_worker") || strings.HasPrefix(base, "start_") && strings.Contains(base, "infra")
}

// parse parses an srun command that runs one of the harness's start scripts. It reports false for
// any other command.
func (l *Launch) parse(c Command) bool {
	script := slices.IndexFunc(c.Words, isStartScript)
	if script < 1 || script+1 >= len(c.Words) || !l.parseSrun(c, script) {
		return false
	}
	l.Args = c.Words[script+1:]
	if strings.HasPrefix(path.Base(c.Words[script].Text), "start_worker") {
		l.parseWorker()
	} else {
		l.Service = l.Args[0].Text
	}
	l.mergeEnvironment()
	return true
}

// parseSrun parses the part of a command before the program at words[program]. It reports false if
// the command is not an srun command.
func (l *Launch) parseSrun(c Command, program int) bool {
	srun := program - 1
	for srun >= 0 && path.Base(c.Words[srun].Text) != "srun" {
		srun--
	}
	if srun < 0 {
		return false
	}
	l.Command, l.Srun, l.Script = c, srun, program
	rest := srun + 1 + l.parseOptions(c.Words[srun+1:program])
	if l.Log = c.Output(); l.Log.Text == "" {
		i := slices.IndexFunc(l.Flags, func(o Option) bool { return o.Name == "--output" })
		if i >= 0 {
			l.Log = Word{Text: l.Flags[i].Value, Source: l.Flags[i].Value, Offset: l.Flags[i].offset}
		}
	}
	if l.ExportsAll() {
		for i, a := range c.Assigns { // --export overrides them
			l.export = slices.Insert(l.export, i, a.variable())
		}
	}
	isVar := setByEnv(c.Words[rest:program])
	for i, w := range c.Words[rest:program] {
		if isVar[i] {
			l.env = append(l.env, newVar(w.Text, w.Offset))
		}
	}
	return true
}

// parseWorker parses the arguments ROLE INDEX MODEL … of the worker script.
func (l *Launch) parseWorker() {
	r, known := rolesByName[strings.ToUpper(l.Args[0].Text)]
	if !known {
		l.Model = l.Args[0].Text // for the message
		return
	}
	l.Role = r
	logRole, logIndex := workerLog(l.Log.Text)
	if len(l.Args) > 1 {
		if i, err := strconv.Atoi(l.Args[1].Text); err == nil && i >= 0 {
			l.Index = i
			if logRole != "" && (logRole != r || logIndex != i) {
				l.problem("the name of its log does not match: %s", path.Base(l.Log.Text))
			}
		} else {
			l.Index = max(logIndex, 0)
			l.problem("index %q is not a number; the index in the log's name was used", safetext.Clip(l.Args[1].Text, 20))
		}
	}
	if len(l.Args) > 2 {
		l.Model = l.Args[2].Text
	}
	l.EnvArg = l.parseEnvList()
	l.findFiles(l.EnvArg)
}

// ExportsAll reports whether the environment of the submitting shell is passed on.
func (l *Launch) ExportsAll() bool {
	i := slices.IndexFunc(l.Flags, func(f Option) bool { return f.Name == "--export" })
	return i < 0 || slices.Contains(strings.Split(l.Flags[i].Value, ","), "ALL")
}

// parseEnvList finds the list of variables among a worker's arguments. It returns its index, or the
// number of arguments if there is none.
func (l *Launch) parseEnvList() int {
	list := len(l.Args)
	var found []Var
	for i, w := range l.Args[min(2, len(l.Args)):] {
		vars := splitEnvList(w.Text, w.Offset)
		if len(vars) == 0 || l.HasEnv && (!w.Quoted || len(vars) <= len(found)) {
			continue
		}
		if l.HasEnv {
			l.problem("two arguments look like a list of variables; the longer one was used")
		}
		found, list, l.HasEnv = vars, i+2, true
	}
	l.env = append(l.env, found...)
	return list
}

// Positions of arguments of the worker script.
const (
	levelsArgument = 5
	logDirArgument = 7
	configArgument = 10
)

// findFiles finds the arguments that name the run directory and the engine config. list is the index
// of the list of variables, which follows them.
func (l *Launch) findFiles(list int) {
	l.Levels = l.argument(levelsArgument, list)
	if dir := l.argument(logDirArgument, list); strings.HasPrefix(dir.Text, "/") {
		l.LogDir = dir
	}
	isYAML := func(w Word) bool {
		ext := path.Ext(w.Text)
		return ext == ".yaml" || ext == ".yml" || ext == ".json"
	}
	const first = 3 // after ROLE INDEX MODEL
	switch usual := l.argument(configArgument, list); {
	case isYAML(usual):
		l.Config = usual
		return
	case list < configArgument: // another version of the script
		list = len(l.Args)
	case strings.Contains(usual.Text, "/"):
		l.Config = usual
	}
	for _, w := range l.Args[min(first, list):list] {
		if isYAML(w) {
			l.Config = w
		}
	}
}

// argument returns an argument of the start script. Text is empty if its index is not below limit.
func (l *Launch) argument(index, limit int) Word {
	if index < limit && index < len(l.Args) {
		return l.Args[index]
	}
	return Word{}
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
		case v.bare && (exportWords[v.Name] || v.Name == ""):
		case v.bare:
			l.BareNames = append(l.BareNames, Value{v.Name, v.At})
		case again:
			l.Env[i] = v.after(&l.Env[i])
		default:
			at[v.Name] = len(l.Env)
			l.Env = append(l.Env, v.after(nil))
		}
	}
	l.export, l.env = nil, nil
}

// workerLog parses role and index from a file name such as 3_output_CTX_0.log. The index is -1 for
// any other name.
func workerLog(file string) (schema.Role, int) {
	base := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".gz"), ".log")
	for name, r := range rolesByName {
		if _, index, ok := strings.Cut(base, "_output_"+name+"_"); ok {
			if i, err := strconv.Atoi(index); err == nil && i >= 0 {
				return r, i
			}
		}
	}
	return "", -1
}
