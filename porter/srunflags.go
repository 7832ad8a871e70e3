package porter

import (
	"fmt"
	"slices"
	"strings"
)

// flagRule is one row of the table of srun flags: what becomes of a flag of the
// old launch line in the new job.
type flagRule struct {
	name string
	verb string // same, move, drop or apart
	why  string
	want string // value that the new job gives, where it is always the same
}

// The verbs. What is the same must have the same value in the new job; what
// moves has one that the new job's own rules give; what is compared apart is a
// matter of its own.
const (
	flagSame = "same"
	flagMove = "move"
	flagDrop = "drop"

	flagApart = "apart"
)

var flagRules = []flagRule{
	{name: "--nodes", verb: flagSame, want: "1"}, // of a service
	{name: "--ntasks", verb: flagSame, want: "1"},
	{name: "--overlap", verb: flagSame},
	{name: "--no-container-mount-home", verb: flagSame},
	{name: "--mpi", verb: flagSame, want: "pmix"},
	{name: "--container-image", verb: flagApart},
	{name: "--nodelist", verb: flagMove, why: "the nodes are those of the new allocation"},
	{name: "--cpu-bind", verb: flagMove, why: "srt-slurm binds workers by its own means"},
	{name: "--oversubscribe", verb: flagMove, why: "srt-slurm sets it for workers"},
	{name: "--kill-on-bad-exit", verb: flagMove, why: "srt-slurm sets it for workers"},
	{name: "--export", verb: flagApart},
	{name: "--container-mounts", verb: flagApart},
	{name: "--job-name", verb: flagMove, why: "each step has its own name"},
	{name: "--output", verb: flagMove, why: "each step has its own log"},
	{name: "--error", verb: flagMove, why: "each step has its own log"},
	{name: "--label", verb: flagDrop, why: "each step has its own log"},
	{name: "--container-name", verb: flagDrop, why: "each step has a container of its own"},
	{name: "--unbuffered", verb: flagDrop, why: "a matter of display"},
}

func flagRuleFor(name string) (flagRule, bool) {
	i := slices.IndexFunc(flagRules, func(r flagRule) bool { return r.name == name })
	if i < 0 {
		return flagRule{}, false
	}
	return flagRules[i], true
}

const srunOptions = "srun_options"

// askFlags asks about srun flags that no rule knows, or with a value that the new
// job does not give: they are not carried over, since the recipe sets such flags
// for all steps alike.
func (b *builder) askFlags(l *launch) {
	for _, f := range l.flags {
		rule, known := flagRuleFor(f.name)
		sized := l.role != "" && (f.name == "--nodes" || f.name == "--ntasks") // see topology
		switch {
		case !known:
			b.ask(Confirm, Recipe, srunOptions, f.name, fmt.Sprintf("%s was launched with %s, which is not carried over: add it to srun_options if all steps need it", l.who(), clip(f.text(), 80)), l.optionEv(f))
		case rule.verb == flagSame && f.value != rule.want && !sized:
			b.ask(Confirm, Recipe, srunOptions, f.name, fmt.Sprintf("%s was launched with %s, and the new job starts it with %s: confirm that this is right", l.who(), clip(f.text(), 80), option{name: f.name, value: rule.want}.text()), l.optionEv(f))
		}
	}
}

func (o option) text() string { return strings.TrimSuffix(o.name+"="+o.value, "=") }

// askEtcd asks about variables that etcd itself would read; a recipe has no
// place for them.
func (b *builder) askEtcd() {
	l := b.launches.etcd
	if l == nil {
		return
	}
	b.askFlags(l)
	for _, v := range l.environment() {
		if strings.HasPrefix(v.name, "ETCD_") && !dropped(v.name) {
			b.ask(Confirm, "", "", "etcd "+v.name, fmt.Sprintf("etcd was started with %s, and a recipe has no place for it: check that the default does", clip(v.at.Raw, 80)), v.at)
		}
	}
}

// askMounts reports launch lines whose mounts are not those of job_params.env.
func (b *builder) askMounts(given string) {
	for _, l := range b.launches.all() {
		if l.mounts.value != "" && l.mounts.value != given {
			b.ask(Confirm, Recipe, "extra_mount", l.who(), fmt.Sprintf("%s was launched with the mounts %s, not with CONTAINER_MOUNTS: confirm which ones", l.who(), clip(l.mounts.value, 120)), l.optionEv(l.mounts))
		}
	}
}

// all lists the launch lines that count: services, decode, prefill.
func (ls *launches) all() []*launch {
	var out []*launch
	for _, l := range []*launch{ls.etcd, ls.frontend} {
		if l != nil {
			out = append(out, l)
		}
	}
	return append(append(out, ls.workers[prefill]...), ls.workers[decode]...)
}
