package harness

import (
	"context"
	"io"
	"path"
	"strings"
)

// ClientCommand is the command that started the client.
type ClientCommand struct {
	Checkout Value    // directory that it was started in
	Flags    []string // without those in benchStepFlags
	FlagsAt  Evidence
}

// benchStepFlags are the flags that the bench step, which runs the client in the new job, sets itself.
// Their old values are ignored.
var benchStepFlags = map[string]bool{
	"--config": true, "--base-url": true, "--model": true, "--concurrencies": true,
	"--request-log-path": true, "--results-dir": true,
}

// parseClient finds the command that runs the client, also inside bash -c '…', and the last cd
// before it.
func (r *Run) parseClient(_ context.Context, f io.Reader, a *Artifact) error {
	a.Found = "no run.py command"
	data, err := io.ReadAll(io.LimitReader(f, maxLine))
	if err != nil {
		return err
	}
	text := validUTF8(data)
	a.Lines = strings.Count(text, "\n")
	cmds, err := parseShell(text)
	if err != nil {
		a.problem(0, "not a valid shell script: "+err.Error()+"; the file may be truncated")
		return nil
	}
	var cd string
	for _, c := range expandNested(cmds, 0) {
		if len(c.words) > 1 && c.words[0].Text == "cd" {
			cd = c.words[len(c.words)-1].Text
		}
		for i, w := range c.words {
			if path.Base(w.Text) != "run.py" {
				continue
			}
			a.Found = "client command"
			r.Client.Flags = otherFlags(c.words[i+1:])
			r.Client.FlagsAt = findEvidence(a.Name, text, w.Text, "run.py", strings.Join(r.Client.Flags, " "))
			if cd != "" {
				r.Client.Checkout = Value{cd, findEvidence(a.Name, text, "cd ", "cd", cd)}
			}
			return nil
		}
	}
	return nil
}

// findEvidence returns the evidence of raw, which follows mark in a text of several lines.
func findEvidence(artifact, text, mark, key, raw string) Evidence {
	at := strings.LastIndex(text, mark+raw)
	if at < 0 {
		at = max(strings.LastIndex(text, mark), 0)
	}
	start := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return newEvidence(artifact, strings.Count(text[:at], "\n")+1, line, key, raw, at-start)
}

// expandNested replaces each bash -c '…' by the commands in it.
func expandNested(cmds []command, depth int) []command {
	var out []command
	for _, c := range cmds {
		inner := ""
		for i := 2; i < len(c.words) && depth < 3; i++ {
			shell := path.Base(c.words[i-2].Text)
			if c.words[i-1].Text == "-c" && (shell == "bash" || shell == "sh") || c.words[i-1].Text == "-lc" {
				inner = c.words[i].Text
			}
		}
		if nested, err := parseShell(inner); inner != "" && err == nil {
			out = append(out, expandNested(nested, depth+1)...)
			continue
		}
		out = append(out, c)
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
