package porter

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// role of a worker, as the recipe names it.
type role string

const (
	prefill = role(schema.Prefill)
	decode  = role(schema.Decode)
)

var harnessRoles = map[string]role{"CTX": prefill, "GEN": decode}

// harness is the role in the words of the harness.
func (r role) harness() string {
	if r == prefill {
		return "CTX"
	}
	return "GEN"
}

// launch is one srun line of job.log.
type launch struct {
	artifact string
	line     int
	text     string // the line, for columns

	role  role   // of a worker
	index int    // of a worker
	infra string // frontend, etcd …; empty for a worker

	nodelist   option
	hosts      []string
	nodes      int // -N; 0 if not given
	tasks      int // -n; 0 if not given
	export     []exportEntry
	exportAt   int // byte offset of the list in text
	hasExport  bool
	env        []variable
	envAt      int
	hasEnv     bool
	vars       []envVar // see environment
	flags      []option // of srun, all of them, by their long names
	image      option
	mounts     option
	model      string
	args       []word // of the script
	problems   []string
	starts     int   // how often it was launched
	startLines []int // where, at most 8
}

// option is the value of a flag with its place.
type option struct {
	name, value string
	offset      int
}

func (l *launch) who() string {
	if l.infra != "" {
		return l.infra
	}
	return fmt.Sprintf("%s %d", l.role.harness(), l.index)
}

// ev is evidence on the launch line.
func (l *launch) ev(key, raw string, offset int) Evidence {
	return evidence(l.artifact, l.line, l.text, key, raw, offset)
}

func (l *launch) optionEv(o option) Evidence { return l.ev(o.name, o.value, o.offset) }

// launches are the ones of a job that count: the last of each worker and service.
type launches struct {
	workers  map[role][]*launch // ascending index
	frontend *launch
	etcd     *launch
	problems []problem
	count    int // launch lines understood
}

const executing = "Executing:"

// maxLaunches bounds how many different workers one job.log may launch.
const maxLaunches = 4096

// readLaunches streams job.log, of any size.
func readLaunches(ctx context.Context, r io.Reader, artifact string, progress func(int64)) (launches, int, error) {
	ls := launches{workers: map[role][]*launch{}}
	lr := newLineReader(r, executing)
	lr.progress = progress
	err := lr.each(ctx, func(l rawLine) bool {
		if l.cut {
			ls.problem(l.number, fmt.Sprintf("launch line is longer than %d KiB", maxLine>>10))
			return ctx.Err() == nil
		}
		ls.add(artifact, l.number, strings.ToValidUTF8(string(stripANSI(l.text)), "\ufffd"))
		return ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return ls, lr.line - 1, err
}

// maxProblems bounds what is remembered about a broken artifact.
const maxProblems = 50

func (ls *launches) problem(line int, text string) {
	if len(ls.problems) < maxProblems {
		ls.problems = append(ls.problems, problem{line, text})
	}
}

func (ls *launches) add(artifact string, number int, text string) {
	at := strings.Index(text, executing) + len(executing)
	cmds, err := parseShell(text[at:])
	if err != nil {
		if strings.Contains(text, "start_worker") || strings.Contains(text, "_infra") {
			ls.problem(number, "launch line can't be read: "+err.Error()+"; is the file cut off?")
		}
		return
	}
	for _, c := range cmds {
		l, ok := newLaunch(c, at)
		if !ok {
			continue
		}
		l.artifact, l.line, l.text = artifact, number, text
		if l.role == "" && l.infra == "" {
			ls.problem(number, fmt.Sprintf("worker of unknown role %q; only CTX and GEN can be ported", clip(l.model, 40)))
			continue
		}
		ls.keep(l)
	}
}

func (ls *launches) keep(l *launch) {
	ls.count++
	again := func(old *launch) {
		l.starts, l.startLines = 1, []int{l.line}
		if old != nil {
			l.starts, l.startLines = old.starts+1, old.startLines
			if len(l.startLines) < 8 {
				l.startLines = append(l.startLines, l.line)
			}
		}
	}
	switch l.infra {
	case "frontend":
		again(ls.frontend)
		ls.frontend = l
		return
	case "etcd":
		again(ls.etcd)
		ls.etcd = l
		return
	case "":
	default:
		ls.problem(l.line, fmt.Sprintf("service %q is not carried over; the new job starts what its own planes need", clip(l.infra, 40)))
		return
	}
	all := ls.workers[l.role]
	i := 0
	for i < len(all) && all[i].index < l.index {
		i++
	}
	switch {
	case i < len(all) && all[i].index == l.index:
		again(all[i])
		all[i] = l
	case len(all) >= maxLaunches:
		ls.problem(l.line, fmt.Sprintf("more than %d %s workers", maxLaunches, l.role))
	default:
		again(nil)
		ls.workers[l.role] = append(all[:i], append([]*launch{l}, all[i:]...)...)
	}
}

// newLaunch understands an srun command that runs one of the harness's start
// scripts; any other command is none of ours.
func newLaunch(c command, shift int) (*launch, bool) {
	script := -1
	for i, w := range c.words {
		base := path.Base(w.text)
		if strings.HasPrefix(base, "start_worker") || strings.HasPrefix(base, "start_") && strings.Contains(base, "infra") {
			script = i
			break
		}
	}
	if script < 1 || script+1 >= len(c.words) || !isSrun(c.words[0].text) {
		return nil, false
	}
	for i := range c.words {
		c.words[i].offset += shift
	}
	l := &launch{args: c.words[script+1:]}
	l.options(c.words[1:script])
	if !strings.HasPrefix(path.Base(c.words[script].text), "start_worker") {
		l.infra = l.args[0].text
		return l, true
	}
	l.worker(c.output)
	return l, true
}

func isSrun(s string) bool { return path.Base(s) == "srun" }

// worker reads ROLE INDEX MODEL … of the worker script.
func (l *launch) worker(output string) {
	r, known := harnessRoles[strings.ToUpper(l.args[0].text)]
	if !known {
		l.model = l.args[0].text // for the message
		return
	}
	l.role = r
	logRole, logIndex := workerLog(output)
	if len(l.args) > 1 {
		if i, err := strconv.Atoi(l.args[1].text); err == nil && i >= 0 {
			l.index = i
			if logRole != "" && (logRole != r || logIndex != i) {
				l.problems = append(l.problems, fmt.Sprintf("its log is named %s", path.Base(output)))
			}
		} else {
			l.index = max(logIndex, 0)
			l.problems = append(l.problems, fmt.Sprintf("index %q is no number; the log's name counts", clip(l.args[1].text, 20)))
		}
	}
	if len(l.args) > 2 {
		l.model = l.args[2].text
	}
	for _, w := range l.args[min(2, len(l.args)):] {
		vars, ok := splitEnvList(w.text)
		if !ok || l.hasEnv && (!w.quoted || len(vars) <= len(l.env)) {
			continue
		}
		if l.hasEnv {
			l.problems = append(l.problems, "two arguments look like a list of variables; the longer one was taken")
		}
		l.env, l.envAt, l.hasEnv = vars, w.offset, true
	}
}

// workerLog reads role and index from a name such as 3_output_CTX_0.log.
func workerLog(name string) (role, int) {
	base := strings.TrimSuffix(path.Base(name), ".log")
	for word, r := range harnessRoles {
		if _, index, ok := strings.Cut(base, "_output_"+word+"_"); ok {
			if i, err := strconv.Atoi(index); err == nil && i >= 0 {
				return r, i
			}
		}
	}
	return "", -1
}

// options reads the srun flags that a port needs, in every spelling.
func (l *launch) options(words []word) {
	for i := 0; i < len(words) && !startsCommand(words[i]); i++ {
		name, value, offset, used := flagValue(words, i)
		i += used
		o := option{name, value, offset}
		if long, ok := longFlags[name]; ok {
			name = long
		}
		l.flags = append(slices.DeleteFunc(l.flags, func(f option) bool { return f.name == name }), option{name, value, offset}) // the last one holds
		switch name {
		case "--nodelist":
			l.nodelist = o
			hosts, err := expandHosts(value)
			if err != nil {
				l.problems = append(l.problems, err.Error())
			}
			l.hosts = hosts
		case "--nodes":
			l.nodes = l.count(o)
		case "--ntasks":
			l.tasks = l.count(o)
		case "--export":
			l.export, l.exportAt, l.hasExport = splitExport(value), offset, true
		case "--container-image":
			l.image = o
		case "--container-mounts":
			l.mounts = o
		}
	}
}

func (l *launch) count(o option) int {
	n, err := strconv.Atoi(o.value)
	if err != nil || n < 1 || n > maxHosts {
		l.problems = append(l.problems, fmt.Sprintf("%s %q is no count", o.name, clip(o.value, 20)))
		return 0
	}
	return n
}

// longFlags spells srun's short flags out, as far as launch lines use them.
var longFlags = map[string]string{
	"-w": "--nodelist", "-N": "--nodes", "-n": "--ntasks", "-l": "--label", "-K": "--kill-on-bad-exit", "-s": "--oversubscribe",
	"-c": "--cpus-per-task", "-G": "--gpus", "-J": "--job-name", "-o": "--output", "-e": "--error", "-t": "--time", "-p": "--partition",
}

// noValue lists the flags that take no value, or only an attached one.
var noValue = map[string]bool{
	"-l": true, "--label": true, "-K": true, "--kill-on-bad-exit": true, "-s": true, "--oversubscribe": true, "--overlap": true,
	"--exclusive": true, "--unbuffered": true, "-u": true, "--no-container-mount-home": true, "--no-container-entrypoint": true,
	"--container-mount-home": true, "--container-remap-root": true, "--container-writable": true, "--verbose": true, "-v": true, "--quiet": true, "-Q": true,
}

// startsCommand says where srun's flags end and what it runs begins.
func startsCommand(w word) bool {
	switch path.Base(w.text) {
	case "bash", "sh", "env":
		return true
	}
	return false
}

// flagValue takes the flag at i apart: -N8, -N 8, --nodes=8 or --nodes 8. used
// is how many further words it took.
func flagValue(words []word, i int) (name, value string, offset, used int) {
	text := words[i].text
	if n, v, ok := strings.Cut(text, "="); ok && strings.HasPrefix(n, "--") {
		return n, v, words[i].offset + len(n) + 1, 0
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' && longFlags[text[:2]] != "" && !noValue[text[:2]] {
		return text[:2], text[2:], words[i].offset + 2, 0
	}
	if !noValue[text] && i+1 < len(words) && !strings.HasPrefix(words[i+1].text, "-") && !startsCommand(words[i+1]) {
		return text, words[i+1].text, words[i+1].offset, 1
	}
	return text, "", words[i].offset, 0
}
