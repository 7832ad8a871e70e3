package harness

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Attempt is one start of the servers: the last launch of each worker and service in it. An attempt
// begins when etcd or the frontend is launched again after workers were launched.
type Attempt struct {
	FirstLine, LastLine int                       // of its launches
	Workers             map[schema.Role][]*Launch // ascending index
	Frontend            *Launch                   // nil if it was not launched
	Etcd                *Launch
	Others              []*Launch // services that the new job starts by itself if it needs them

	Nodes      Value    // the list of the job's nodes; zero if it is not shown
	Waiting    Value    // number of workers that the launcher waited for; zero if it is not shown
	Registered Evidence // line that says that all workers have registered; zero if there is none
}

// Launches are the launches of a job. The embedded attempt is the one that a port uses.
type Launches struct {
	Attempt
	Attempts []Attempt // at least one
	Chosen   int       // index of the embedded attempt
	Skipped  int       // attempts between the first and the second of Attempts that are not recorded
	Count    int       // launches parsed, of all attempts
	Unread   []Unread  // launches that could not be parsed
	UnreadN  int       // how many there are, recorded or not
	Beside   []Beside  // other commands in launch lines
	BesideN  int       // how many there are, recorded or not

	artifact *Artifact
	nodes    Value // of the next attempt
	all      []Replaced
	more     Replaced // sum of the launches that are not in all
}

// Beside is a command in a launch line that is not a launch, such as mkdir.
type Beside struct {
	Command
	Line int
	src  *source
}

// At returns the evidence of a word of the command.
func (b *Beside) At(key string, w Word) Evidence { return b.src.at(key, w.Source, w.Offset) }

// Replaced is a launch that the ported attempt does not contain.
type Replaced struct {
	Name   string
	Line   int
	Count  int // launches
	Tokens int
}

// Replaced returns the launches that the ported attempt does not contain. The last one may stand for more
// than one and then has no line.
func (ls *Launches) Replaced() []Replaced {
	used := map[int]bool{}
	more := ls.more
	for _, l := range slices.Concat(ls.All(), ls.Others) {
		used[l.number] = true
		if l.number >= len(ls.all) {
			more.Count, more.Tokens = more.Count-1, more.Tokens-len(l.Tokens())
		}
	}
	var list []Replaced
	for i, r := range ls.all {
		if !used[i] {
			list = append(list, r)
		}
	}
	if more.Count > 0 {
		list = append(list, more)
	}
	return list
}

// maxReplaced bounds the launches that are recorded by name and line.
const maxReplaced = 4096

func (ls *Launches) addBeside(b Beside) {
	ls.BesideN++
	if len(ls.Beside) < maxOthers {
		ls.Beside = append(ls.Beside, b)
	}
}

// Unread is a launch line that could not be read.
type Unread struct {
	At     Evidence // Raw is its beginning
	Reason string
}

// Seen returns the number of launch lines, read or not.
func (ls *Launches) Seen() int { return ls.Count + ls.UnreadN }

// First returns the first worker of a role, or nil.
func (a *Attempt) First(r schema.Role) *Launch {
	if ws := a.Workers[r]; len(ws) > 0 {
		return ws[0]
	}
	return nil
}

// FirstOfEach returns the frontend and the first worker of each role, without those that are
// missing.
func (a *Attempt) FirstOfEach() []*Launch {
	all := []*Launch{a.Frontend}
	for _, r := range schema.WorkerRoles() {
		all = append(all, a.First(r))
	}
	return slices.DeleteFunc(all, func(l *Launch) bool { return l == nil })
}

// All returns all launches: services, then workers by role.
func (a *Attempt) All() []*Launch {
	all := []*Launch{a.Etcd, a.Frontend}
	for _, r := range schema.WorkerRoles() {
		all = append(all, a.Workers[r]...)
	}
	return slices.DeleteFunc(all, func(l *Launch) bool { return l == nil })
}

// NodeNames returns the names of the job's nodes, or nil if they are not shown.
func (a *Attempt) NodeNames() []string {
	names, err := expandHosts(a.Nodes.Text)
	if err != nil {
		return nil // only a valid list is recorded
	}
	return names
}

// WorkerCount returns the number of workers of all roles.
func (a *Attempt) WorkerCount() int {
	n := 0
	for _, ws := range a.Workers {
		n += len(ws)
	}
	return n
}

// Gaps returns the indices of a role that were not launched although higher ones were, at most 100.
func (a *Attempt) Gaps(r schema.Role) []int {
	var gaps []int
	next := 0
	for _, l := range a.Workers[r] {
		for ; next < l.Index && len(gaps) < 100; next++ {
			gaps = append(gaps, next)
		}
		next = l.Index + 1
	}
	return gaps
}

// Bounds of what is recorded of a job.log.
const (
	maxWorkers  = 4096 // of a role in an attempt
	maxAttempts = 16
	maxOthers   = 64 // services that are not carried over, and lines that could not be read
	maxProblems = 50
)

func (ls *Launches) problem(line int, text string) {
	if len(ls.artifact.Problems) < maxProblems {
		ls.artifact.problem(line, text)
	}
}

// current returns the attempt to which the next launch belongs.
func (ls *Launches) current() *Attempt { return &ls.Attempts[len(ls.Attempts)-1] }

// begin begins another attempt.
func (ls *Launches) begin() {
	if len(ls.Attempts) >= maxAttempts { // keep the first and the latest ones
		ls.Attempts = slices.Delete(ls.Attempts, 1, 2)
		ls.Skipped++
	}
	nodes := ls.nodes
	if nodes.Text == "" && len(ls.Attempts) > 0 {
		nodes = ls.current().Nodes // the same job
	}
	ls.nodes = Value{}
	ls.Attempts = append(ls.Attempts, Attempt{Workers: map[schema.Role][]*Launch{}, Nodes: nodes})
}

// add adds a launch.
func (ls *Launches) add(l *Launch) {
	l.number = ls.Count
	ls.Count++
	if r := (Replaced{l.Name(), l.Line, 1, len(l.Tokens())}); len(ls.all) < maxReplaced {
		ls.all = append(ls.all, r)
	} else {
		ls.more = Replaced{Name: "other launches", Count: ls.more.Count + 1, Tokens: ls.more.Tokens + r.Tokens}
	}
	a := ls.current()
	again := l.Service == "etcd" && a.Etcd != nil || l.Service == "frontend" && a.Frontend != nil
	if again && len(a.Workers) > 0 {
		ls.begin()
		a = ls.current()
	}
	a.FirstLine, a.LastLine = cmp.Or(a.FirstLine, l.Line), l.Line
	switch l.Service {
	case "frontend":
		l.countStarts(a.Frontend)
		a.Frontend = l
	case "etcd":
		l.countStarts(a.Etcd)
		a.Etcd = l
	case "":
		ls.addWorker(a, l)
	default:
		if len(a.Others) < maxOthers {
			a.Others = append(a.Others, l)
		}
		ls.problem(l.Line, fmt.Sprintf("service %q is not carried over; the new job starts the services that it needs",
			safetext.Clip(l.Service, 40)))
	}
}

func (ls *Launches) addWorker(a *Attempt, l *Launch) {
	all := a.Workers[l.Role]
	i, again := slices.BinarySearchFunc(all, l.Index, func(o *Launch, index int) int { return o.Index - index })
	switch {
	case again:
		l.countStarts(all[i])
		all[i] = l
	case len(all) >= maxWorkers:
		ls.problem(l.Line, fmt.Sprintf("more than %d %s workers", maxWorkers, l.Role))
	default:
		l.countStarts(nil)
		a.Workers[l.Role] = slices.Insert(all, i, l)
	}
}

// finish chooses an attempt when all lines are read.
func (ls *Launches) finish() {
	if n := len(ls.Attempts); n > 1 && len(ls.current().Workers) == 0 {
		last := ls.Attempts[n-1]
		ls.Attempts = ls.Attempts[:n-1]
		ls.current().restart(last)
	}
	ls.Chosen = len(ls.Attempts) - 1
	for i, a := range slices.Backward(ls.Attempts) {
		if ls.isComplete(&a) {
			ls.Chosen = i
			break
		}
	}
	ls.Attempt = ls.Attempts[ls.Chosen]
}

// restart adds the services of an attempt without workers: they were restarted while the workers
// continued to run.
func (a *Attempt) restart(services Attempt) {
	for _, s := range []struct{ old, again **Launch }{{&a.Etcd, &services.Etcd}, {&a.Frontend, &services.Frontend}} {
		if *s.again == nil {
			continue
		}
		l := *s.again
		starts, lines := l.Starts, l.StartLines
		l.countStarts(*s.old)
		l.Starts += starts - 1
		l.StartLines = append(l.StartLines, lines[1:]...)
		*s.old = l
	}
	a.Others = append(a.Others, services.Others...)
	a.LastLine = max(a.LastLine, services.LastLine)
}

// isComplete reports whether an attempt started all servers, as far as the lines show.
func (ls *Launches) isComplete(a *Attempt) bool {
	if a.Registered.Line > 0 {
		return true
	}
	for _, other := range ls.Attempts {
		for r := range other.Workers {
			if len(a.Workers[r]) == 0 || len(a.Gaps(r)) > 0 {
				return false
			}
		}
		if a.Frontend == nil && other.Frontend != nil {
			return false
		}
	}
	return a.Waiting.Text == "" || a.Waiting.Text == fmt.Sprint(a.WorkerCount())
}
