package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// Texts in lines of job.log. Other lines are skipped. The texts begin with characters that are rare in logs, since a
// log may have gigabytes.
const (
	launchMark     = "Executing:"
	nodesMark      = "Nodes:"
	workersMark    = "workers"
	maxContinued   = 512 // lines of one launch
	tooLongMessage = "launch line is longer than %d KiB"
)

var (
	nodesLine      = regexp.MustCompile(`\] Nodes: *(\S+)\s*$`)
	waitingLine    = regexp.MustCompile(`Waiting for (\d{1,6}) workers\b`)
	registeredLine = regexp.MustCompile(`\b[Aa]ll (?:\d+ )?workers (?:have |are )?registered\b`)
	logTag         = regexp.MustCompile(`^\[[A-Za-z][\w.-]*\] `)
	trailingTag    = regexp.MustCompile(`\[[A-Za-z][\w.-]*\]$`)
)

// jobLog reads a job.log of any size.
type jobLog struct {
	*Launches
	lines *lineReader
}

// parseLaunches reads the launches of a job.log.
func (r *Run) parseLaunches(ctx context.Context, f io.Reader, a *Artifact) error {
	r.Launches = Launches{artifact: a}
	log := jobLog{&r.Launches, newLineReader(f, launchMark, nodesMark, workersMark)}
	log.begin()
	var last int64
	log.lines.progress = func(n int64) {
		if n-last >= 64<<20 {
			last = n
			r.progress(a.Name, n, 0)
		}
	}
	err := log.lines.forEach(ctx, func(l rawLine) bool {
		log.addLine(l)
		return ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	log.finish()
	a.Lines, a.Found = log.lines.lines, countText(log.Count, "launch line")
	if n := log.Seen(); n > log.Count {
		a.Found = fmt.Sprintf("%d of %s", log.Count, countText(n, "launch line"))
	}
	return err
}

// addLine adds what one line shows.
func (log *jobLog) addLine(l rawLine) {
	src := &source{artifact: log.artifact.Name}
	src.addLine(l.number, l.text, 0)
	mark := strings.Index(src.text, launchMark)
	switch {
	case mark >= 0 && l.truncated:
		log.unread(src, mark, fmt.Sprintf(tooLongMessage, maxLine>>10))
	case mark >= 0:
		log.addLaunches(l, src, mark)
	case !l.open && !l.truncated:
		log.addState(src)
	}
}

// addState adds what the launcher tells about the servers.
func (log *jobLog) addState(src *source) {
	value := func(m []int, key string) Value {
		text := src.text[m[2]:m[3]]
		return Value{text, src.at(key, text, m[2])}
	}
	a := log.current()
	if m := nodesLine.FindStringSubmatchIndex(src.text); m != nil {
		v := value(m, "Nodes")
		if hosts, err := expandHosts(v.Text); err != nil || len(hosts) == 0 {
			return
		}
		if len(a.Workers) > 0 {
			log.nodes = v
		} else {
			a.Nodes = v
		}
	}
	if m := waitingLine.FindStringSubmatchIndex(src.text); m != nil {
		a.Waiting = value(m, "Waiting for")
	}
	if m := registeredLine.FindStringIndex(src.text); m != nil {
		a.Registered = src.at("registered", src.text[m[0]:m[1]], m[0])
	}
}

// addLaunches adds the launches of a line. It continues on the next one if the line ends with a backslash or
// within quotes.
func (log *jobLog) addLaunches(l rawLine, src *source, mark int) {
	open := l.open
	for n := 1; !open && strings.HasSuffix(src.text, `\`) && n < maxContinued; n++ {
		next, err := log.lines.next()
		if err != nil {
			open = errors.Is(err, io.EOF)
			break
		}
		open = next.open
		log.append(src, next, mark)
	}
	if len(src.text) > maxLine {
		log.unread(src, mark, fmt.Sprintf(tooLongMessage, maxLine>>10))
		return
	}
	if open {
		log.unread(src, mark, "the file ends within the line, so it may have been cut")
		return
	}
	at := mark + len(launchMark)
	cmds, err := parseShell(src.text[at:])
	if err != nil {
		if longer, more := log.untilQuotesClose(src, mark); longer != nil {
			src, cmds, err = longer, more, nil
		}
	}
	if err != nil {
		log.addParts(src, mark, err)
		return
	}
	log.addCommands(src, mark, at, cmds)
}

// append appends a further line of a launch. A tag like that of the first line is left out.
func (log *jobLog) append(src *source, l rawLine, mark int) {
	skip := 0
	if tag := src.text[:mark]; tag != "" && strings.HasPrefix(string(l.text), tag) {
		skip = len(tag)
	}
	src.addLine(l.number, l.text, skip)
}

// untilQuotesClose reads further lines until the text is complete, if it ends within quotes. It returns nil if
// they do not close before the next line of the launcher.
func (log *jobLog) untilQuotesClose(src *source, mark int) (*source, []Command) {
	longer := &source{artifact: src.artifact, pieces: slices.Clone(src.pieces)}
	longer.build.WriteString(src.text)
	longer.text = src.text
	for n := 1; n < maxContinued && len(longer.text) < maxLine; n++ {
		next := log.lines.peek()
		if logTag.Match(next) || strings.Contains(string(next), launchMark) {
			return nil, nil
		}
		l, err := log.lines.next()
		if err != nil || l.open || l.truncated {
			return nil, nil
		}
		log.append(longer, l, mark)
		if !strings.ContainsAny(string(l.text), `'"`) {
			continue
		}
		if cmds, err := parseShell(longer.text[mark+len(launchMark):]); err == nil {
			return longer, cmds
		}
	}
	return nil, nil
}

// addParts adds the launches of a line that can't be parsed as a whole, because one of several commands in it is
// not complete.
func (log *jobLog) addParts(src *source, mark int, err error) {
	rest := src.text[mark+len(launchMark):]
	if !strings.Contains(rest, launchMark) {
		if strings.Contains(rest, "srun") || strings.Contains(rest, "start_") {
			log.unread(src, mark, "launch line can't be parsed: "+err.Error()+"; the file may be truncated")
		}
		return
	}
	for at := mark; at >= 0; {
		begin := at + len(launchMark)
		end := strings.Index(src.text[begin:], launchMark)
		text := src.text[begin:]
		if end >= 0 {
			end += begin
			text = trailingTag.ReplaceAllString(strings.TrimRight(src.text[begin:end], " "), "")
		}
		if cmds, err := parseShell(text); err == nil {
			log.addCommands(src, at, begin, cmds)
		} else {
			log.unread(src, at, "launch line can't be parsed: "+err.Error()+"; the file may be truncated")
		}
		at = end
	}
}

// addCommands adds the launches among the commands of a line. begin is the offset of their text.
func (log *jobLog) addCommands(src *source, mark, begin int, cmds []Command) {
	for _, c := range expandNested(cmds, 0) {
		c.shift(begin)
		for _, c := range splitAtMarks(c) {
			l := &Launch{src: src, Line: src.lineAt(c.offset(mark))}
			switch {
			case l.parse(c) && (l.Role != "" || l.Service != ""):
				log.add(l)
			case l.Command.Words != nil:
				log.unread(src, c.offset(mark), fmt.Sprintf("unknown worker role %q; only CTX and GEN can be ported",
					safetext.Clip(l.Model, 40)))
			case c.Nested == 0 && slices.ContainsFunc(c.Words, isLaunchWord):
				log.unread(src, c.offset(mark), "runs no start script of the harness")
			default:
				log.addBeside(Beside{Command: c, Line: src.lineAt(c.offset(mark)), src: src})
			}
		}
	}
}

// isLaunchWord reports whether a word occurs only in launches.
func isLaunchWord(w Word) bool { return path.Base(w.Text) == "srun" || isStartScript(w) }

// unread records a launch that could not be read.
func (log *jobLog) unread(src *source, offset int, reason string) {
	log.UnreadN++
	at := src.at("", strings.TrimSpace(src.text[offset:]), offset)
	if len(log.Unread) < maxOthers {
		log.Launches.Unread = append(log.Launches.Unread, Unread{at, reason})
	}
	log.problem(at.Line, reason)
}

// splitAtMarks splits a command that contains the mark of another launch, because two lines were written without
// a line break between them.
func splitAtMarks(c Command) []Command {
	isMark := func(w Word) bool { return !w.Quoted && w.Text == launchMark }
	i := slices.IndexFunc(c.Words, isMark)
	if i < 0 {
		return []Command{c}
	}
	at := c.Words[i].Offset
	first, rest := Command{Assigns: c.Assigns, Exports: c.Exports, Words: c.Words[:i]}, Command{Words: c.Words[i+1:]}
	if n := len(first.Words); n > 0 && trailingTag.MatchString(first.Words[n-1].Text) {
		first.Words = first.Words[:n-1]
	}
	for _, r := range c.Redirects {
		if r.Target.Offset < at {
			r.Target.Text = trailingTag.ReplaceAllString(r.Target.Text, "")
			first.Redirects = append(first.Redirects, r)
		} else {
			rest.Redirects = append(rest.Redirects, r)
		}
	}
	out := splitAtMarks(rest)
	if len(first.Words) > 0 {
		out = slices.Insert(out, 0, first)
	}
	return out
}
