package harness

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// parseOptions parses the flags of srun, short and long.
func (l *Launch) parseOptions(words []Word) {
	for i := 0; i < len(words) && !isCommandStart(words[i]); i++ {
		o, used := parseFlag(words, i)
		i += used
		asWritten := o
		if long, ok := longFlags[o.Name]; ok {
			o.Name = long
		}
		// The last one counts.
		l.Flags = append(slices.DeleteFunc(l.Flags, func(f Option) bool { return f.Name == o.Name }), o)
		switch o.Name {
		case "--nodelist":
			l.Nodelist = asWritten
			hosts, err := expandHosts(o.Value)
			if err != nil {
				l.Problems = append(l.Problems, err.Error())
			}
			l.Hosts = hosts
		case "--nodes":
			l.Nodes = l.parseCount(asWritten)
		case "--ntasks":
			l.Tasks = l.parseCount(asWritten)
		case "--export":
			l.export, l.HasExport = splitExport(o.Value, o.offset), true
		case "--container-image":
			l.Image = asWritten
		case "--container-mounts":
			l.Mounts = asWritten
		}
	}
}

func (l *Launch) parseCount(o Option) int {
	n, err := strconv.Atoi(o.Value)
	if err != nil || n < 1 || n > maxHosts {
		l.problem("%s %q is not a positive whole number", o.Name, safetext.Clip(o.Value, 20))
		return 0
	}
	return n
}

// longFlags maps short flags of srun to their long names.
var longFlags = map[string]string{
	"-w": "--nodelist", "-N": "--nodes", "-n": "--ntasks", "-l": "--label", "-K": "--kill-on-bad-exit",
	"-s": "--oversubscribe", "-c": "--cpus-per-task", "-G": "--gpus", "-J": "--job-name", "-o": "--output",
	"-e": "--error", "-t": "--time", "-p": "--partition",
}

// flagsWithoutValue are the flags that take no value, or only an attached one.
var flagsWithoutValue = map[string]bool{
	"-K": true, "-Q": true, "-l": true, "-s": true, "-u": true, "-v": true, "--exclusive": true, "--label": true,
	"--kill-on-bad-exit": true, "--overlap": true, "--oversubscribe": true, "--quiet": true, "--unbuffered": true,
	"--verbose": true, "--container-mount-home": true, "--container-remap-root": true,
	"--container-writable": true, "--no-container-entrypoint": true, "--no-container-mount-home": true,
}

// isCommandStart reports whether a word begins the command that srun runs.
func isCommandStart(w Word) bool {
	switch path.Base(w.Text) {
	case "bash", "sh", "env":
		return true
	}
	return false
}

// SrunOptions parses the long options at the beginning of an srun command.
func SrunOptions(words []string) []Option {
	var out []Option
	for i := 1; i < len(words) && strings.HasPrefix(words[i], "--"); i++ {
		name, value, attached := strings.Cut(words[i], "=")
		if !attached && !flagsWithoutValue[name] && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			value = words[i]
		}
		out = append(out, Option{Name: name, Value: value})
	}
	return out
}

// parseFlag parses the flag at words[i]: -N8, -N 8, --nodes=8 or --nodes 8. used is the number of
// further words that belong to it.
func parseFlag(words []Word, i int) (o Option, used int) {
	text, offset := words[i].Text, words[i].Offset
	if n, v, ok := strings.Cut(text, "="); ok && strings.HasPrefix(n, "--") {
		return Option{n, v, offset + len(n) + 1}, 0
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' && longFlags[text[:2]] != "" && !flagsWithoutValue[text[:2]] {
		return Option{text[:2], text[2:], offset + 2}, 0
	}
	if i+1 < len(words) && !flagsWithoutValue[text] {
		if next := words[i+1]; !strings.HasPrefix(next.Text, "-") && !isCommandStart(next) {
			return Option{text, next.Text, next.Offset}, 1
		}
	}
	return Option{text, "", offset}, 0
}
