package porter

import (
	"io"
	"path"
	"strings"
)

// clientCommand is what client_cmds_base.sh tells.
type clientCommand struct {
	checkout located
	flags    []word // beyond those that the bench step passes itself
	found    bool
	at       Evidence // of the flags
	problems []problem
	lines    int
}

// ownFlags are passed by the bench step; their old values are of no use.
var ownFlags = map[string]bool{
	"--config": true, "--base-url": true, "--model": true, "--concurrencies": true,
	"--request-log-path": true, "--results-dir": true,
}

// readClientCommand finds the client's call, directly or inside bash -c '…', and
// the last cd before it.
func readClientCommand(r io.Reader, artifact string) (clientCommand, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxLine))
	if err != nil {
		return clientCommand{}, err
	}
	text := clean(data)
	cc := clientCommand{lines: strings.Count(text, "\n")}
	cmds, err := parseShell(text)
	if err != nil {
		cc.problems = append(cc.problems, problem{0, "can't be read as a shell script: " + err.Error() + "; is the file cut off?"})
		return cc, nil
	}
	var cd string
	for _, c := range withNested(cmds, 0) {
		if len(c.words) > 1 && c.words[0].text == "cd" {
			cd = c.words[len(c.words)-1].text
		}
		for i, w := range c.words {
			if path.Base(w.text) != "run.py" {
				continue
			}
			cc.found = true
			cc.flags = extraFlags(c.words[i+1:])
			cc.at = findEvidence(artifact, text, w.text, "run.py", joinWords(cc.flags))
			if cd != "" {
				cc.checkout = located{cd, findEvidence(artifact, text, "cd ", "cd", cd)}
			}
			return cc, nil
		}
	}
	return cc, nil
}

// findEvidence makes an Evidence of raw, which stands after a mark somewhere in
// a text of several lines.
func findEvidence(artifact, text, mark, key, raw string) Evidence {
	at := strings.LastIndex(text, mark+raw)
	if at < 0 {
		at = max(strings.LastIndex(text, mark), 0)
	}
	start := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return evidence(artifact, strings.Count(text[:at], "\n")+1, line, key, raw, at-start)
}

// withNested puts the commands of bash -c '…' in the place of the outer command.
func withNested(cmds []command, depth int) []command {
	var out []command
	for _, c := range cmds {
		inner := ""
		for i := 2; i < len(c.words) && depth < 3; i++ {
			shell := path.Base(c.words[i-2].text)
			if c.words[i-1].text == "-c" && (shell == "bash" || shell == "sh") || c.words[i-1].text == "-lc" {
				inner = c.words[i].text
			}
		}
		if nested, err := parseShell(inner); inner != "" && err == nil {
			out = append(out, withNested(nested, depth+1)...)
			continue
		}
		out = append(out, c)
	}
	return out
}

func extraFlags(words []word) []word {
	var out []word
	for i := 0; i < len(words); i++ {
		name, _, attached := strings.Cut(words[i].text, "=")
		if !ownFlags[name] {
			out = append(out, words[i])
			continue
		}
		for !attached && i+1 < len(words) && !strings.HasPrefix(words[i+1].text, "--") {
			i++
			if name != "--concurrencies" {
				break
			}
		}
	}
	return out
}

func joinWords(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}
