package harness

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// options reads the srun flags that a port needs, in every spelling.
func (l *Launch) options(words []Word) {
	for i := 0; i < len(words) && !startsCommand(words[i]); i++ {
		o, used := flagValue(words, i)
		i += used
		short := o
		if long, ok := longFlags[o.Name]; ok {
			o.Name = long
		}
		// The last one holds.
		l.Flags = append(slices.DeleteFunc(l.Flags, func(f Option) bool { return f.Name == o.Name }), o)
		switch o.Name {
		case "--nodelist":
			l.Nodelist = short
			hosts, err := expandHosts(o.Value)
			if err != nil {
				l.Problems = append(l.Problems, err.Error())
			}
			l.Hosts = hosts
		case "--nodes":
			l.Nodes = l.count(short)
		case "--ntasks":
			l.Tasks = l.count(short)
		case "--export":
			l.export, l.HasExport = splitExport(o.Value, o.offset), true
		case "--container-image":
			l.Image = short
		case "--container-mounts":
			l.Mounts = short
		}
	}
}

func (l *Launch) count(o Option) int {
	n, err := strconv.Atoi(o.Value)
	if err != nil || n < 1 || n > maxHosts {
		l.problem("%s %q is no count", o.Name, safetext.Clip(o.Value, 20))
		return 0
	}
	return n
}

// longFlags spells srun's short flags out, as far as launch lines use them.
var longFlags = map[string]string{
	"-w": "--nodelist", "-N": "--nodes", "-n": "--ntasks", "-l": "--label", "-K": "--kill-on-bad-exit",
	"-s": "--oversubscribe", "-c": "--cpus-per-task", "-G": "--gpus", "-J": "--job-name", "-o": "--output",
	"-e": "--error", "-t": "--time", "-p": "--partition",
}

// noValue lists the flags that take no value, or only an attached one.
var noValue = map[string]bool{
	"-K": true, "-Q": true, "-l": true, "-s": true, "-u": true, "-v": true, "--exclusive": true, "--label": true,
	"--kill-on-bad-exit": true, "--overlap": true, "--oversubscribe": true, "--quiet": true, "--unbuffered": true,
	"--verbose": true, "--container-mount-home": true, "--container-remap-root": true,
	"--container-writable": true, "--no-container-entrypoint": true, "--no-container-mount-home": true,
}

// startsCommand says where srun's flags end and what it runs begins.
func startsCommand(w Word) bool {
	switch path.Base(w.Text) {
	case "bash", "sh", "env":
		return true
	}
	return false
}

// SrunOptions reads the long options of an srun command, which its words begin with.
func SrunOptions(words []string) []Option {
	var out []Option
	for i := 1; i < len(words) && strings.HasPrefix(words[i], "--"); i++ {
		name, value, attached := strings.Cut(words[i], "=")
		if !attached && !noValue[name] && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			value = words[i]
		}
		out = append(out, Option{Name: name, Value: value})
	}
	return out
}

// flagValue takes the flag at i apart: -N8, -N 8, --nodes=8 or --nodes 8. used
// is how many further words it took.
func flagValue(words []Word, i int) (o Option, used int) {
	text, offset := words[i].Text, words[i].Offset
	if n, v, ok := strings.Cut(text, "="); ok && strings.HasPrefix(n, "--") {
		return Option{n, v, offset + len(n) + 1}, 0
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' && longFlags[text[:2]] != "" && !noValue[text[:2]] {
		return Option{text[:2], text[2:], offset + 2}, 0
	}
	if i+1 < len(words) && !noValue[text] {
		if next := words[i+1]; !strings.HasPrefix(next.Text, "-") && !startsCommand(next) {
			return Option{text, next.Text, next.Offset}, 1
		}
	}
	return Option{text, "", offset}, 0
}
