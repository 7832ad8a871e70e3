package rules

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// Fate is what becomes of a token that has no place in a recipe: it is dropped, the new job sets its own
// value, or a person is asked.
type Fate struct {
	Action Action // Drop, Managed or Ask; empty for a token that is compared with the new job
	Why    string // for Drop and Managed
	Topic  string // of the question, for Ask; tokens with the same topic are one decision
	Text   string // of the question
	Urgent bool   // the new job would measure something else
}

func dropped(why string) Fate { return Fate{Action: Drop, Why: why} }

func managed(why string) Fate { return Fate{Action: Managed, Why: why} }

const (
	whyScript = "srt-slurm starts the servers itself"
	whyLog    = "each step has its own log"
	whyShell  = "an option of the old shell"
	whyRunner = "affects only how the old launcher ran srun"
	whyUsual  = "the usual value of the harness; the new job has no such switch"
	noPlace   = ", for which a recipe has no place" + byHand
	byHand    = ": check what it does, and add it by hand if it matters"
)

// startScripts are the scripts of the harness that start dynamo's servers.
var startScripts = []string{"start_worker_dynamo.sh", "start_dynamo_infra.sh"}

// Of returns the fate of a token of a launch.
func Of(l *harness.Launch, t harness.Token) Fate {
	switch t.Part {
	case harness.Program:
		return programFate(t, l.Tokens)
	case harness.StartScript:
		base := path.Base(t.Value)
		if slices.Contains(startScripts, base) {
			return managed(whyScript)
		}
		base = safetext.Clip(base, 60)
		return ask("script "+base, "the start script is "+base+", not that of dynamo: check what it does, and what of it "+
			"the new job needs")
	case harness.ExportWord:
		if t.Value == "ALL" || t.Value == "NONE" || t.Value == "NIL" {
			return Fate{}
		}
		text := safetext.Clip(t.Value, 60)
		return ask("export entry "+text, fmt.Sprintf("the entry %q of --export is no variable", text)+noPlace)
	case harness.Argument:
		return argumentFate(l, t)
	case harness.Redirection:
		return redirectFate(t)
	case harness.ProgramFlag:
		if t.Name == PortFlag {
			return managed(WhyPort)
		}
	}
	return Fate{}
}

// PortFlag is the flag of the frontend that the new job sets itself.
const (
	PortFlag = "--http-port"
	WhyPort  = "srt-slurm sets the ports of its services"
)

// ask returns the fate of a token that a person must decide about. Secrets in its texts are hidden.
func ask(topic, text string) Fate {
	return Fate{Action: Ask, Topic: secret.RedactText(topic), Text: secret.RedactText(text)}
}

// programs are the programs before a start script that have no effect on it, and what is said of them.
var programs = map[string]string{
	"srun": whyScript, "bash": whyScript, "sh": whyScript, "env": whyScript,
	"exec": whyRunner, "nohup": whyRunner, "time": whyRunner,
	"uv": whyBenchStarts, "python": whyBenchStarts, "python3": whyBenchStarts,
}

// programWords are words after such a program that have no effect either.
var programWords = map[string]string{
	"-c": whyScript, "-lc": whyScript, "-x": whyShell, "-e": whyShell, "-u": whyShell, "-l": whyShell, "-ex": whyShell,
	"-eu": whyShell, "-eux": whyShell, "-euo": whyShell, "-o": whyShell, "pipefail": whyShell, "--": whyShell,
	"run": whyBenchStarts, "--no-sync": whyBenchStarts, "--frozen": whyBenchStarts, "--locked": whyBenchStarts,
	"--offline": whyBenchStarts,
}

// programFate returns the fate of a word before a start script. all returns the tokens of the command.
func programFate(word harness.Token, all func() []harness.Token) Fate {
	if why := programs[path.Base(word.Value)]; why != "" {
		return managed(why)
	}
	var strange []string
	fate := Fate{}
	other := false // within the words of a program that is not known
	for _, w := range all() {
		if w.Part != harness.Program {
			continue
		}
		why := programs[path.Base(w.Value)]
		if other = other && why == ""; why == "" && !other {
			why = programWords[w.Value]
		}
		switch {
		case why == "":
			strange, other = append(strange, w.Value), other || !strings.HasPrefix(w.Value, "-")
		case w.Offset == word.Offset:
			fate = managed(why)
		}
	}
	if fate.Action != "" {
		return fate
	}
	text := safetext.Clip(strings.Join(strange, " "), 80)
	return ask("program "+text, "was started by "+text+noPlace)
}

// argument is one argument of the start script of a worker.
type argument struct {
	name  string
	usual string // value in a plain run; empty if there is none
	why   string // what becomes of it; empty if it is compared with the new job
}

// workerArguments are the arguments of start_worker_dynamo.sh.
var workerArguments = []argument{
	{name: "role", why: "the roles of a recipe replace it"},
	{name: "index", why: "srt-slurm numbers the workers of a role"},
	{name: "model"},
	{name: "port", why: "srt-slurm sets the ports of the workers"},
	{name: "benchmark mode", usual: "e2e"},
	{name: "concurrency"},
	{usual: "true"},
	{name: "run directory", why: "each run has its own directory"},
	{usual: "false"},
	{usual: "0-0"},
	{name: "engine config"},
	{name: "environment"},
	{usual: "none"},
	{usual: "none"},
}

// Indices of the arguments that are compared with the new job.
const (
	ModelArgument   = 2
	LevelsArgument  = 5
	ConfigArgument  = 10
	envListArgument = 11
)

// ComparedArgument returns the index in the usual order of a worker's argument that is compared with the
// new job, or -1.
func ComparedArgument(l *harness.Launch, t harness.Token) int {
	switch w := l.Args[t.Index]; {
	case l.Role == "":
	case t.Index == ModelArgument:
		return ModelArgument
	case w == l.Config:
		return ConfigArgument
	case t.Index == LevelsArgument && isUsualOrder(l) && len(Levels(t.Value)) > 0:
		return LevelsArgument
	}
	return -1
}

// Levels parses concurrency levels, such as "64 1010" or "64,1010". It returns nil for any other text.
func Levels(list string) []int {
	var out []int
	for text := range strings.FieldsFuncSeq(list, func(r rune) bool { return strings.ContainsRune(" ,x[]", r) }) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// isUsualOrder reports whether the arguments of a worker are those of the known version of the script.
func isUsualOrder(l *harness.Launch) bool {
	return l.EnvArg == envListArgument || l.EnvArg == len(l.Args)
}

func argumentFate(l *harness.Launch, t harness.Token) Fate {
	if l.Role == "" {
		return serviceArgumentFate(l, t)
	}
	if ComparedArgument(l, t) >= 0 {
		return Fate{}
	}
	known := argument{}
	if t.Index < len(workerArguments) && (isUsualOrder(l) || t.Index <= 3) {
		known = workerArguments[t.Index]
	}
	if l.Args[t.Index] == l.LogDir {
		known = workerArguments[7]
	}
	value := safetext.Clip(secret.Redact(t.Name, t.Value), 60)
	name := fmt.Sprintf("argument %d of the start script", t.Index+1)
	if known.name != "" {
		name += " (" + known.name + ")"
	}
	topic := fmt.Sprintf("argument %d %s", t.Index+1, value)
	switch {
	case known.why != "":
		return managed(known.why)
	case known.usual == t.Value && known.usual != "":
		return dropped(whyUsual)
	case !isUsualOrder(l):
		return ask("arguments "+unknownArguments(l), "the start script has other arguments than the known version of it: "+
			unknownArguments(l)+noPlace)
	case known.usual != "":
		f := ask(topic, fmt.Sprintf("%s is %q, not the usual %q; a recipe has no place for it%s",
			name, value, known.usual, byHand))
		f.Urgent = known.name != ""
		return f
	}
	return ask(topic, fmt.Sprintf("%s is %q%s", name, value, noPlace))
}

// unknownArguments returns the arguments of another version of the start script whose meaning is not known.
func unknownArguments(l *harness.Launch) string {
	var out []string
	for i, w := range l.Args {
		if i > 3 && i != l.EnvArg && w != l.Config && w != l.LogDir {
			out = append(out, fmt.Sprintf("%d %s", i+1, w.Text))
		}
	}
	return safetext.Clip(strings.Join(out, ", "), 120)
}

func serviceArgumentFate(l *harness.Launch, t harness.Token) Fate {
	switch t.Index {
	case 0:
		return managed("srt-slurm starts the services that the new job needs")
	case 1:
		return managed(flags["--nodelist"].Why)
	case 2:
		return managed(WhyPort)
	}
	value := safetext.Clip(secret.Redact(t.Name, t.Value), 60)
	return ask(l.Service+" argument "+value,
		fmt.Sprintf("%s was started with the argument %q%s", l.Service, value, noPlace))
}

func redirectFate(t harness.Token) Fate {
	switch op := strings.TrimLeft(t.Name, "012"); {
	case strings.HasPrefix(op, ">") || strings.HasPrefix(op, "&>"):
		return managed(whyLog)
	case op == "<" && t.Value == "/dev/null":
		return dropped("steps read no input")
	}
	text := safetext.Clip(t.Text(), 60)
	return ask("redirect "+text, "was launched with "+text+noPlace)
}

const (
	whyPrints = "only prints"
	whyTests  = "only tests a condition"
	whyExit   = "ends the old script on an error"
)

// harmless are the commands of the launcher and of the client script that have no effect on what is
// measured.
var harmless = map[string]string{
	"set": whyShell, "ulimit": "srt-slurm and the bench step raise the limits themselves",
	"mkdir": "the new job makes its own directories", "cd": "the steps of the new job have their own directories",
	"exit": whyExit, "return": whyExit, "tee": whyLog, "wait": "srt-slurm waits for its steps", "time": whyPrints,
	"echo": whyPrints, "printf": whyPrints, "date": whyPrints, "hostname": whyPrints, "pwd": whyPrints,
	"whoami": whyPrints, "ls": whyPrints, "printenv": whyPrints, "true": whyPrints, ":": whyPrints,
	"test": whyTests, "[": whyTests,
}

// OfCommand returns the fate of the tokens of a command that starts no server and no client. where names
// the artifact.
func OfCommand(c harness.Command, where string) Fate {
	text := safetext.Clip(c.Text(), 80)
	switch name := commandName(c); {
	case c.Nested > 0 && isShell(c):
		return managed(whyScript)
	case name == "" && len(c.Assigns)+len(c.Names) == 0: // redirections of a group
		return managed(whyLog)
	case name == "":
		text = safetext.Clip(assignText(c), 80)
	case name == "ulimit" && !strings.Contains(text, "-n"):
	case harmless[name] != "":
		return dropped(harmless[name])
	}
	return ask("command "+text, fmt.Sprintf("%s runs %q%s", where, text, noPlace))
}

// isShell reports whether a command does nothing but start a shell for the commands that follow.
func isShell(c harness.Command) bool {
	return !slices.ContainsFunc(c.Words, func(w harness.Word) bool {
		base := path.Base(w.Text)
		return programs[base]+programWords[w.Text] == "" || base == "srun" || base == "uv"
	})
}

func commandName(c harness.Command) string {
	switch {
	case c.Compound.Text != "":
		return c.Compound.Text
	case len(c.Words) > 0:
		return path.Base(c.Words[0].Text)
	}
	return ""
}

func assignText(c harness.Command) string {
	var parts []string
	for _, a := range c.Assigns {
		parts = append(parts, a.Name+"="+a.Value.Source)
	}
	for _, w := range c.Names {
		parts = append(parts, w.Source)
	}
	if c.Exports {
		return "export " + strings.Join(parts, " ")
	}
	return strings.Join(parts, " ")
}
