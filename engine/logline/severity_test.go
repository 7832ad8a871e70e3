package logline

import (
	"slices"
	"strings"
	"testing"
)

func TestSeverityOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Severity{
		"plain": Plain, "2026-11-30 14:41:12 WARN a": Warning, "x ERROR y": Error,
		"Traceback (most recent call last):": Error,
		"2026-11-30 INFO 0 ERROR lines":      Plain, "DEBUG: Error: none": Debug, "ValueError: no": Error,
		"[TRT-LLM] [E] Exception: x": Error,
		"WARNING: ERROR":             Warning, "": Plain, "INFORM": Plain, "✗ failed": Error, "panic: runtime error": Error,
		"srun: error: n1: task 0: Exited with exit code 2":      Error,
		"listen tcp 0.0.0.0:2379: bind: address already in use": Error, "fatal: no such repository": Error,
		"fatal error: x.h: no such file": Error, "error rate: 0": Plain,
	} {
		if got := SeverityOf(text); got != want {
			t.Errorf("%q: severity %d, want %d", text, got, want)
		}
	}
}

// A search for errors first searches for ErrorWords, so every error line must contain one.
func TestErrorLinesContainErrorWords(t *testing.T) {
	t.Parallel()
	words := ErrorWords()
	for _, level := range []string{"ERROR", "CRITICAL", "FATAL"} {
		text := "2026-11-30 14:41:12 " + level + " x"
		has := slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
		if SeverityOf(text) != Error || !has {
			t.Errorf("%q: severity %d, has a word: %v", text, SeverityOf(text), has)
		}
	}
	words[0] = "" // must not change the package's list
	if SeverityOf("plain") != Plain {
		t.Error("a caller can change the words")
	}
}
