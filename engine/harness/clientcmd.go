package harness

import (
	"context"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// ClientCommand is the command that started the client.
type ClientCommand struct {
	Launch   *Launch   // the srun command that starts its shell; nil if it is started otherwise
	Commands []Command // of the client script; those in bash -c '…' follow it
	Outer    int       // index in Commands of that of Launch
	Runs     []int     // indices in Commands of those that run the client; the last one counts
	Checkout Value     // directory that it was started in
	Flags    []string  // without those in benchStepFlags
	FlagsAt  Evidence
	Config   Value // file given with --config
	Results  Value // directory given with --results-dir
	Levels   Value // concurrency levels given with --concurrencies
	Log      Value // file that its output goes to

	src    *source
	tokens []ClientToken // nil until they are needed
}

// At returns the evidence of a word of the client script.
func (c *ClientCommand) At(key string, w Word) Evidence { return c.src.at(key, w.Source, w.Offset) }

// benchStepFlags are the flags that the bench step, which runs the client in the new job, sets itself.
// Their old values are ignored.
var benchStepFlags = map[string]bool{
	"--config": true, "--base-url": true, "--model": true, "--concurrencies": true,
	"--request-log-path": true, "--results-dir": true,
}

// clientService is the name of the launch of the client.
const clientService = "client"

// parseClient finds the command that runs the client, also inside bash -c '…', and the last cd
// before it.
func (r *Run) parseClient(_ context.Context, f io.Reader, a *Artifact) error {
	a.Found = "no run.py command"
	data, err := io.ReadAll(io.LimitReader(f, maxLine+1))
	if err != nil {
		return err
	}
	src := newSource(a.Name, string(data))
	a.Lines = strings.Count(src.text, "\n")
	cmds, err := parseShell(src.text)
	if err != nil {
		a.problem(0, "not a valid shell script: "+err.Error()+"; the file may be truncated")
		return nil
	}
	if src.text != "" && !strings.HasSuffix(src.text, "\n") {
		dropCutWord(cmds, src.text, a)
	}
	r.Client.src = src
	for _, c := range cmds {
		nested := expandNested([]Command{c}, 0)
		first, runs := len(r.Client.Commands), len(r.Client.Runs)
		r.Client.Commands = append(r.Client.Commands, nested...)
		for i, n := range nested {
			if runScript(n) >= 0 {
				r.Client.Runs = append(r.Client.Runs, first+i)
			}
		}
		if len(r.Client.Runs) > runs {
			r.Client.setShell(c, first)
		}
	}
	if len(r.Client.Runs) > 0 {
		a.Found = "client command"
		r.Client.setCommand()
	}
	return nil
}

var nodePlaceholder = regexp.MustCompile(`^<node(\d{1,5})_placeholder>$`)

// ClientNode returns the node on which the client ran. If only its place among the nodes of the job is known, the name
// is empty and the evidence is that of the place. Without any evidence it is not known at all.
func (r *Run) ClientNode() (name string, at []Evidence) {
	l := r.Client.Launch
	if l == nil || l.Nodelist.Value == "" {
		return "", nil
	}
	at = append(at, l.OptionAt(l.Nodelist))
	m := nodePlaceholder.FindStringSubmatch(l.Nodelist.Value)
	if m == nil {
		if len(l.Hosts) > 0 {
			name = l.Hosts[0]
		}
		return name, at
	}
	hosts := r.Launches.NodeNames()
	if n, err := strconv.Atoi(m[1]); err == nil && n < len(hosts) {
		return hosts[n], append(at, r.Launches.Nodes.At)
	}
	return "", at
}

// runScript returns the index of the client's script among the words of a command, or -1.
func runScript(c Command) int {
	return slices.IndexFunc(c.Words, func(w Word) bool { return path.Base(w.Text) == "run.py" })
}

// setShell sets what the command shows that starts the client or the shell in which it runs. index is that
// in Commands.
func (c *ClientCommand) setShell(outer Command, index int) {
	c.Launch, c.Outer, c.Log = nil, index, Value{}
	if log := outer.Output(); log.Text != "" {
		c.Log = Value{log.Text, c.At("&>", log)}
	}
	program := slices.IndexFunc(outer.Words, isCommandStart)
	if program < 0 {
		program = len(outer.Words)
	}
	l := &Launch{src: c.src, Service: clientService, Line: c.src.lineAt(outer.offset(0))}
	if l.parseSrun(outer, program) {
		l.mergeEnvironment()
		c.Launch = l
	}
}

// Run returns the command that runs the client, which is the last one of them.
func (c *ClientCommand) Run() Command { return c.Commands[c.Runs[len(c.Runs)-1]] }

// setCommand sets what the command shows that runs the client.
func (c *ClientCommand) setCommand() {
	run := c.Run()
	script := runScript(run)
	words := run.Words[script+1:]
	c.Flags = otherFlags(words)
	c.FlagsAt = c.src.at("run.py", strings.Join(c.Flags, " "), run.Words[script].Offset)
	for _, f := range []struct {
		flag string
		to   *Value
	}{{"--config", &c.Config}, {"--results-dir", &c.Results}, {"--concurrencies", &c.Levels}} {
		for i, w := range words {
			name, value, attached := strings.Cut(w.Text, "=")
			switch {
			case name != f.flag:
			case attached:
				*f.to = Value{value, c.src.at(name, value, w.Offset)}
			case i+1 < len(words):
				*f.to = Value{words[i+1].Text, c.At(name, words[i+1])}
				for _, more := range words[i+2:] { // --concurrencies 64 1010
					if f.to != &c.Levels || strings.HasPrefix(more.Text, "-") {
						break
					}
					f.to.Text += " " + more.Text
				}
			}
		}
	}
	for i, before := range c.Commands[:c.Runs[len(c.Runs)-1]] {
		if n := len(before.Words); n > 1 && before.Words[0].Text == "cd" && c.inScope(i) {
			dir := before.Words[n-1]
			c.Checkout = Value{dir.Text, c.At("cd", dir)}
		}
	}
}

// dropCutWord removes the word that a text ends with: without a line ending, the file may have been
// cut within it. A quoted word is complete.
func dropCutWord(cmds []Command, text string, a *Artifact) {
	if len(cmds) == 0 {
		return
	}
	isCut := func(w Word) bool {
		return w.Offset+len(w.Source) == len(text) && !strings.HasSuffix(w.Source, "'") && !strings.HasSuffix(w.Source, `"`)
	}
	c := &cmds[len(cmds)-1]
	cut := Word{}
	if n := len(c.Redirects); n > 0 && isCut(c.Redirects[n-1].Target) {
		cut = c.Redirects[n-1].Target
		c.Redirects = c.Redirects[:n-1]
	} else if n := len(c.Words); n > 0 && isCut(c.Words[n-1]) {
		cut = c.Words[n-1]
		c.Words = c.Words[:n-1]
		if n := len(c.Words); n > 0 && strings.HasPrefix(c.Words[n-1].Text, "--") { // the flag whose value it is
			c.Words = c.Words[:n-1]
		}
	}
	if cut.Source != "" {
		a.problem(strings.Count(text, "\n")+1, cutText+safetext.Clip(cut.Text, 80))
	}
}

// expandNested adds the commands in each bash -c '…' after it.
func expandNested(cmds []Command, depth int) []Command {
	var out []Command
	for _, c := range cmds {
		inner, at := Word{}, 0
		for i := 2; i < len(c.Words) && depth < 3; i++ {
			shell := path.Base(c.Words[i-2].Text)
			if c.Words[i-1].Text == "-c" && (shell == "bash" || shell == "sh") || c.Words[i-1].Text == "-lc" {
				inner, at = c.Words[i], i
			}
		}
		nested, err := parseShell(inner.Text)
		if inner.Text == "" || err != nil {
			out = append(out, c)
			continue
		}
		for i := range nested {
			nested[i].shift(inner.Offset)
			if inner.Quoted {
				nested[i].shift(1) // the quote
			}
			if nested[i].scope == 0 {
				nested[i].scope = inner.Offset + len(inner.Source)
			}
		}
		all := expandNested(nested, depth+1)
		c.Words, c.Nested = slices.Delete(slices.Clone(c.Words), at, at+1), len(all)
		out = append(append(out, c), all...)
	}
	return out
}

func otherFlags(words []Word) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		name, _, attached := strings.Cut(words[i].Text, "=")
		if !benchStepFlags[name] {
			out = append(out, words[i].Text)
			continue
		}
		for !attached && i+1 < len(words) && !strings.HasPrefix(words[i+1].Text, "--") {
			i++
			if name != "--concurrencies" {
				break
			}
		}
	}
	return out
}
