package porter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// askStarts asks about the starts of the client, and shows what differs between them.
func (p *porting) askStarts() {
	used, all := p.run.Banner, p.run.Banners
	for _, v := range used.Again {
		key := trajectoriesKey
		if v.At.Key == harness.LabelAssignments {
			key = assignmentsKey
		}
		p.ask(Confirm, Workload, key, "again", evidence(used.Values[v.At.Key].At, v.At),
			"the client also read %s: a workload has one file; confirm the one that is written", safetext.Clip(v.Text, 200))
	}
	if len(all) < 2 {
		return
	}
	log := p.artifact(harness.ClientLog).Name
	t := Todo{Kind: Note}
	var lines []string
	for _, b := range all {
		t.Evidence = append(t.Evidence, Evidence{Artifact: log, Line: b.First})
		lines = append(lines, strconv.Itoa(b.First))
	}
	t.Message = fmt.Sprintf("%s shows %d starts of the client (lines %s)", log, len(all), shortList(lines))
	if last := all[len(all)-1]; last.First == used.First {
		t.Message += "; the values are those of the last one"
	} else {
		t.Message += fmt.Sprintf("; the values are those of the last one that ran, on line %d", used.First)
	}
	t.Evidence = t.Evidence[:min(len(t.Evidence), maxEvidence)]
	if t.Details = startDifferences(all, used); len(t.Details) > 0 {
		t.Kind = Confirm
		t.Message += ": confirm them"
	}
	p.addTodo("starts", t)
}

// startDifferences returns the settings in which the starts of the client differ, one per line, each value
// with its place.
func startDifferences(all []harness.Banner, used harness.Banner) []string {
	var labels []string
	first := map[string]int{}
	for _, b := range all {
		for label, v := range b.Values {
			if _, seen := first[label]; !seen {
				labels, first[label] = append(labels, label), v.At.Line
			}
		}
	}
	slices.SortFunc(labels, func(a, b string) int { return first[a] - first[b] })
	var out []string
	for _, label := range labels {
		var values []string
		differ := false
		want, shown := used.Values[label]
		for _, b := range all {
			v, ok := b.Values[label]
			switch {
			case !ok:
				values = append(values, fmt.Sprintf("not shown by the start on line %d", b.First))
			default:
				values = append(values, safetext.Clip(v.Text, 60)+" "+where(v.At))
			}
			differ = differ || ok != shown || v.Text != want.Text
		}
		if differ {
			out = append(out, label+": "+shortList(values))
		}
	}
	return clipDetails(out)
}

// where formats the place of evidence.
func where(ev Evidence) string {
	if ev.Line == 0 {
		return "(" + ev.Artifact + ")"
	}
	return fmt.Sprintf("(%s:%d)", ev.Artifact, ev.Line)
}

// shortList joins at most eight texts.
func shortList(list []string) string {
	const most = 8
	if n := len(list); n > most {
		list = append(list[:most-1:most-1], fmt.Sprintf("… %d more …", n-most), list[n-1])
	}
	return strings.Join(list, ", ")
}

// askAttempts asks about the attempts to start the servers, and shows what differs between them.
func (t *topology) askAttempts() {
	ls := &t.run.Launches
	if len(ls.Attempts) < 2 {
		return
	}
	used := &ls.Attempts[ls.Chosen]
	todo := Todo{Kind: Note}
	path := ""
	for i := range ls.Attempts {
		a := &ls.Attempts[i]
		if first := a.All(); len(first) > 0 {
			todo.Evidence = append(todo.Evidence, first[0].At("", first[0].Name(), 0))
		}
		if i == ls.Chosen {
			continue
		}
		if p := t.differentRole(a, used); p != "" && path == "" {
			path = p
		}
		lines := t.attemptDifferences(a, used)
		if len(lines) > 0 && todo.Details == nil {
			todo.Details = append([]string{attemptTitle(ls, ls.Chosen)}, indent(nodeMap(attemptNodes(used)))...)
		}
		if len(lines) > 0 {
			todo.Details = append(todo.Details, attemptTitle(ls, i))
			todo.Details = append(todo.Details, indent(lines)...)
		}
	}
	todo.Details = clipDetails(todo.Details)
	todo.Message = fmt.Sprintf("job.log shows %d attempts to start the servers; the workers are those of attempt %d",
		len(ls.Attempts)+ls.Skipped, attemptNumber(ls, ls.Chosen))
	switch {
	case path != "" && used.Registered.Line == 0:
		todo.Kind, todo.File, todo.Path = MustFix, Recipe, path
		todo.Message += ", but nothing shows that they registered: choose the attempt that was measured, and give its " +
			"numbers " +
			"of workers and nodes"
	case len(todo.Details) > 0:
		todo.Kind = Confirm
		todo.Message += ": confirm that it was measured"
	}
	t.addTodo("attempts", todo)
}

// attemptNumber returns the number of an attempt, from 1.
func attemptNumber(ls *harness.Launches, i int) int {
	if i > 0 {
		i += ls.Skipped
	}
	return i + 1
}

func attemptTitle(ls *harness.Launches, i int) string {
	a := &ls.Attempts[i]
	title := fmt.Sprintf("attempt %d "+
		"(%s:%d-%d)", attemptNumber(ls, i), a.All()[0].At("", "", 0).Artifact, a.FirstLine, a.LastLine)
	if a.Registered.Line > 0 {
		title += ", all workers registered " + where(a.Registered)
	}
	if i == ls.Chosen {
		title += ", used"
	}
	return title + ":"
}

// differentRole returns the path of the number of workers of a role whose layout differs between two attempts; empty if
// none does.
func (t *topology) differentRole(a, used *harness.Attempt) string {
	for _, r := range t.run.Roles() {
		if len(a.Workers[r]) != len(used.Workers[r]) {
			return r.WorkersPath()
		}
	}
	if layoutKey(attemptNodes(a)) != layoutKey(attemptNodes(used)) {
		return t.run.Roles()[0].WorkersPath()
	}
	return ""
}

// attemptNodes returns the services and workers of an attempt with their nodes.
func attemptNodes(a *harness.Attempt) []placed {
	var out []placed
	for _, l := range a.All() {
		w, _ := placeOf(l)
		if l.Service != "" {
			w = placed{name: l.Name(), nodes: l.Hosts}
		}
		out = append(out, w)
	}
	return out
}

// attemptDifferences returns what differs in another attempt: its nodes if they do, and the launches of the
// frontend and of the first worker of each role.
func (t *topology) attemptDifferences(a, used *harness.Attempt) []string {
	var out []string
	if old, new := nodeMap(attemptNodes(a)), nodeMap(attemptNodes(used)); !slices.Equal(old, new) {
		out = old
	}
	for _, l := range a.FirstOfEach() {
		for _, other := range used.FirstOfEach() {
			if l.Role == other.Role && l.Service == other.Service {
				out = append(out, launchDifferences(l, other)...)
			}
		}
	}
	return out
}

// launchDifferences returns what differs between two launches of a worker or service, one per line, each value with its
// place: flags of srun, variables and arguments. Their nodes and logs are left out.
func launchDifferences(a, b *harness.Launch) []string {
	var out []string
	add := func(name, x, y string, xAt, yAt Evidence) {
		if x != y {
			out = append(out, fmt.Sprintf("%s: %s: %s %s, %s %s", a.Name(), safetext.Clip(name, 60), safetext.Clip(x, 80),
				where(xAt), safetext.Clip(y, 80), where(yAt)))
		}
	}
	const unset = "not set"
	none := func(l *harness.Launch) Evidence { return l.At("", "", 0) }
	for _, f := range mergeNames(a.Flags, b.Flags, func(o harness.Option) string { return o.Name }) {
		x, y, xAt, yAt := unset, unset, none(a), none(b)
		if o, ok := optionOf(a, f); ok {
			x, xAt = o.Value, a.OptionAt(o)
		}
		if o, ok := optionOf(b, f); ok {
			y, yAt = o.Value, b.OptionAt(o)
		}
		if f != "--nodelist" && f != "--export" && f != "--output" {
			add(f, x, y, xAt, yAt)
		}
	}
	for _, name := range mergeNames(a.Env, b.Env, func(v harness.Var) string { return v.Name }) {
		x, y, xAt, yAt := unset, unset, none(a), none(b)
		if v, ok := a.Lookup(name); ok {
			x, xAt = v.Value, v.At
		}
		if v, ok := b.Lookup(name); ok {
			y, yAt = v.Value, v.At
		}
		add(name, x, y, xAt, yAt)
	}
	for i := range max(len(a.Args), len(b.Args)) {
		x, y, xAt, yAt := unset, unset, none(a), none(b)
		if i < len(a.Args) {
			x, xAt = a.Args[i].Text, a.WordAt("", a.Args[i])
		}
		if i < len(b.Args) {
			y, yAt = b.Args[i].Text, b.WordAt("", b.Args[i])
		}
		if len(harness.SplitEnvList(x)) == 0 && len(harness.SplitEnvList(y)) == 0 {
			add(fmt.Sprintf("argument %d", i+1), x, y, xAt, yAt)
		}
	}
	return out
}

func optionOf(l *harness.Launch, name string) (harness.Option, bool) {
	i := slices.IndexFunc(l.Flags, func(o harness.Option) bool { return o.Name == name })
	if i < 0 {
		return harness.Option{}, false
	}
	return l.Flags[i], true
}

// mergeNames returns the names of two lists, in their order, each once.
func mergeNames[T any](a, b []T, name func(T) string) []string {
	var out []string
	seen := map[string]bool{}
	for _, x := range slices.Concat(a, b) {
		if n := name(x); !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
