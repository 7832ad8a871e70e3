package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// words are expressions that the project once used, and the terms that readers know. JSON
// keys and values that other programs read may keep an old word.
var words = []struct{ old, term string }{
	{`(the|our|a) house`, "package layout"},
	{`(the|a|its|each|every) room|rooms`, "package"},
	{`faceOnly|faces?`, "UI"},
	{`diar(y|ies)`, "event log"},
	{`knobs?`, "setting, suggested change"},
	{`rungs?|ladders?`, "tier result, concurrency level"},
	{`reels?`, "playback"},
	{`desks?`, "port session"},
	{`[bB]ites`, "pitfall"},
	{`[sS]waps`, "substitutions"},
	{`[lL]ocated`, "run reference"},
	{`ofJob|ofEnd|ofPast|judges?|judged`, "resolve, status from job"},
	{`held and let go|let go`, "submitted on hold, then released"},
	{`orderly`, "stop gracefully"},
	{`nobody`, "stdin is not a terminal; no process"},
	{`an error of the porter`, "a bug in the porter"},
	{`sign of life`, "last activity, progress"},
	{`made by another tool`, "external run"},
	{`nowhere`, "no match"},
	{`the (hit|error|log) before`, "previous match, error, log"},
	{`read it whole`, "expand"},
	{`TTFT drawn`, "TTFT distribution"},
	{`wait at most so long`, "TTFT CDF"},
	{`further reference`, "another reference"},
	{`in their tolerance`, "within tolerance"},
	{`enter makes it|takes it back`, "apply, undo"},
	{`throw it away|throws? away`, "discard"},
	{`esc gives up`, "esc cancels"},
	{`tokens by arithmetic`, "simulated"},
	{`nothing is lost`, "0 lost"},
	{`the cluster refuses`, "Slurm not found, cluster unreachable"},
	{`(?<!there )is no (folder|file|directory|number|whole|recipe|run|step)`, "is not a …"},
	{`that there is not`, "does not exist"},
	{`folders?`, "directory"},
	{`a (request|user|bucket|step|worker|node), (s|tok|tok/s)`, "per request"},
}

// mayKeep are lines that may have an old word: names in files of other programs and on disk.
var mayKeep = regexp.MustCompile("json:\"|`Bites`")

func TestWordsAreTermsOfTheField(t *testing.T) {
	t.Parallel()
	for _, w := range words {
		cmd := exec.Command("git", "grep", "-nwP", "-e", w.old, "--", "*.go", "*.yaml", "*.md", "Makefile", ".ci",
			":!*_test.go", ":!*testdata*", ":!CHANGELOG.md", ":!porter/sample")
		cmd.Dir = "../.."
		out, err := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); err != nil && code != 1 { // 1: no match
			t.Fatalf("%v: %v", cmd, err)
		}
		for line := range strings.Lines(string(out)) {
			if !mayKeep.MatchString(line) {
				t.Errorf("%s\tsay: %s", line, w.term)
			}
		}
	}
}
