package harness

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// parseOptions parses the flags of srun, short and long. It returns the index of the word after them.
func (l *Launch) parseOptions(words []Word) int {
	uses, rest := parseFlags(words)
	perNode := 0 // tasks
	for _, u := range uses {
		o, asWritten := u.Option, u.asWritten
		// The last one counts.
		l.Flags = append(slices.DeleteFunc(l.Flags, func(f Option) bool { return f.Name == o.Name }), o)
		switch o.Name {
		case "--nodelist":
			l.Nodelist = asWritten
			if nodePlaceholder.MatchString(o.Value) {
				continue
			}
			hosts, err := expandHosts(o.Value)
			if err != nil {
				l.Problems = append(l.Problems, err.Error())
			}
			l.Hosts = hosts
		case "--nodes":
			l.Nodes = l.parseCount(asWritten)
		case "--ntasks":
			l.Tasks = l.parseCount(asWritten)
		case "--ntasks-per-node":
			perNode = l.parseCount(asWritten)
		case "--export":
			l.export, l.HasExport = splitExport(o.Value, o.offset), true
		case "--container-image":
			l.Image = asWritten
		case "--container-mounts":
			l.Mounts = asWritten
		}
	}
	if l.Tasks == 0 {
		l.Tasks = perNode * max(l.Nodes, len(l.Hosts))
	}
	return rest
}

// flagUse is a flag in a command. It has its long name in Option, and that in the command in asWritten.
type flagUse struct {
	Option
	asWritten Option
	source    string
	at        int // offset of source
}

// parseFlags parses the flags at the beginning of the arguments of srun. rest is the index of the program
// that srun runs.
func parseFlags(words []Word) (uses []flagUse, rest int) {
	for rest < len(words) && strings.HasPrefix(words[rest].Text, "-") && !isCommandStart(words[rest]) {
		first := words[rest]
		for _, w := range splitCluster(first) {
			o, used := parseFlag(slices.Concat([]Word{w}, words[rest+1:min(rest+2, len(words))]))
			u := flagUse{Option: o, asWritten: o, source: w.Source, at: w.Offset}
			if long, ok := longFlags[o.Name]; ok {
				u.Name = long
			}
			if used > 0 {
				u.source += " " + words[rest+1].Source
			}
			uses, rest = append(uses, u), rest+used
		}
		rest++
	}
	return uses, rest
}

// splitCluster splits short flags without a value that are written in one word: -lK, or -lN8.
func splitCluster(w Word) []Word {
	var out []Word
	for len(w.Text) > 2 && w.Text[1] != '-' && flagsWithoutValue[w.Text[:2]] && longFlags["-"+w.Text[2:3]] != "" {
		flag := w
		flag.Text, flag.Source = w.Text[:2], strings.TrimSuffix(w.Source, w.Text[2:])
		out = append(out, flag)
		w.Text, w.Source, w.Offset = "-"+w.Text[2:], w.Text[2:], w.Offset+2
	}
	return append(out, w)
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
	"-A": "--account", "-B": "--extra-node-info", "-C": "--constraint", "-D": "--chdir", "-d": "--dependency",
	"-E": "--preserve-env", "-e": "--error", "-G": "--gpus", "-H": "--hold", "-I": "--immediate", "-i": "--input",
	"-J": "--job-name", "-K": "--kill-on-bad-exit", "-k": "--no-kill", "-L": "--licenses", "-l": "--label",
	"-M": "--clusters", "-m": "--distribution", "-N": "--nodes", "-n": "--ntasks", "-O": "--overcommit",
	"-o": "--output", "-p": "--partition", "-Q": "--quiet", "-q": "--qos", "-r": "--relative", "-S": "--core-spec",
	"-s": "--oversubscribe", "-T": "--threads", "-t": "--time", "-u": "--unbuffered", "-v": "--verbose",
	"-W": "--wait", "-w": "--nodelist", "-X": "--disable-status", "-x": "--exclude", "-Z": "--no-allocate",
	"-c": "--cpus-per-task",
}

// flagsWithoutValue are the flags that take no value, or only an attached one.
var flagsWithoutValue = map[string]bool{
	"-E": true, "-H": true, "-I": true, "-K": true, "-k": true, "-l": true, "-O": true, "-Q": true, "-s": true,
	"-u": true, "-v": true, "-X": true, "-Z": true,
	"--contiguous": true, "--disable-status": true, "--exact": true, "--exclusive": true, "--hold": true,
	"--immediate": true, "--interactive": true, "--kill-on-bad-exit": true, "--label": true, "--multi-prog": true,
	"--no-allocate": true, "--no-kill": true, "--overcommit": true, "--overlap": true, "--oversubscribe": true,
	"--preserve-env": true, "--pty": true, "--quiet": true, "--quit-on-interrupt": true, "--spread-job": true,
	"--unbuffered": true, "--use-min-nodes": true, "--verbose": true, "--whole": true,
	"--container-entrypoint": true, "--container-entrypoint-log": true, "--container-mount-home": true,
	"--container-readonly": true, "--container-remap-root": true, "--container-writable": true,
	"--no-container-entrypoint": true, "--no-container-entrypoint-log": true, "--no-container-mount-home": true,
	"--no-container-remap-root": true,
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

// parseFlag parses the flag that words[0] is: -N8, -N 8, --nodes=8 or --nodes 8. used is the number of
// further words that belong to it.
func parseFlag(words []Word) (o Option, used int) {
	text, offset := words[0].Text, words[0].Offset
	if n, v, ok := strings.Cut(text, "="); ok && strings.HasPrefix(n, "--") {
		return Option{n, v, offset + len(n) + 1}, 0
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' && longFlags[text[:2]] != "" {
		return Option{text[:2], text[2:], offset + max(len(words[0].Source)-len(text)+2, 0)}, 0
	}
	if len(words) > 1 && !flagsWithoutValue[text] {
		if next := words[1]; !strings.HasPrefix(next.Text, "-") && !isCommandStart(next) {
			return Option{text, next.Text, next.Offset}, 1
		}
	}
	return Option{text, "", offset}, 0
}
