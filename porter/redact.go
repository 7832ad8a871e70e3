package porter

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// The following functions return copies for display, in which secrets are hidden. The stored report keeps
// them, since the recipe has them as well.

func lastKey(path string) string {
	return strings.Trim(path[strings.LastIndexByte(path, '.')+1:], `"`)
}

func redactEvidence(e Evidence) Evidence {
	value, assigned := strings.CutPrefix(e.Raw, e.Key+"=")
	switch hidden := secret.Is(lastKey(e.Key), strings.Trim(value, `"'`)); {
	case hidden && assigned:
		e.Raw = e.Key + "=" + secret.Hidden
	case hidden:
		e.Raw = secret.Hidden
	default:
		e.Raw = secret.RedactText(e.Raw)
	}
	return e
}

func redactAll(evs []Evidence) []Evidence {
	return mapped(evs, redactEvidence)
}

// redacted returns a copy for display.
func (p *Provenance) redacted() *Provenance {
	out := *p
	out.Fields, out.Dropped = mapped(p.Fields, redactField), mapped(p.Dropped, redactDropped)
	out.Todos, out.Answers = mapped(p.Todos, redactTodo), mapped(p.Answers, redactAnswer)
	out.Texts = map[File]string{}
	for file, text := range p.Texts {
		out.Texts[file] = secret.RedactYAML(text)
	}
	return &out
}

// hasSecrets reports whether a file, or the report if it is empty, contains secrets.
func (r *Result) hasSecrets(file File) bool {
	isSecret := func(f Field) bool { return f.File == file && redactField(f).Value != f.Value }
	if file != "" {
		return slices.ContainsFunc(r.Fields, isSecret)
	}
	p := r.provenance()
	shown := p.redacted()
	return !reflect.DeepEqual(
		[]any{p.Fields, p.Dropped, p.Todos, p.Answers}, []any{shown.Fields, shown.Dropped, shown.Todos, shown.Answers})
}

func mapped[T any](list []T, f func(T) T) []T {
	out := slices.Clone(list)
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// isConstant reports whether the port itself chose a value, such as api_key: dummy.
func isConstant(f Field) bool { return f.Class == Default && f.Rule == "fixed" }

func unquoted(s string) string { return strings.Trim(s, `"'`) }

func redactField(f Field) Field {
	if !isConstant(f) && secret.Is(lastKey(f.Path), unquoted(f.Value)) {
		f.Value = secret.Hidden
	} else {
		f.Value = secret.RedactText(f.Value)
	}
	f.Evidence = redactAll(f.Evidence)
	return f
}

func redactDropped(d Dropped) Dropped {
	d.Evidence = redactEvidence(d.Evidence)
	return d
}

func redactTodo(t Todo) Todo {
	t.Evidence = redactAll(t.Evidence)
	_, path := questionField(t.ID)
	t.Candidates = slices.Clone(t.Candidates)
	for i, c := range t.Candidates {
		t.Candidates[i].Value = secret.Redact(lastKey(path), c.Value)
	}
	return t
}

func redactAnswer(a Answer) Answer {
	_, path := questionField(a.ID)
	a.Value = secret.Redact(lastKey(path), a.Value)
	return a
}

// askSecret asks about a secret that is written. Fields with the same key and value share a question.
func (d *draft) askSecret(f Field) {
	f.Value = yamldoc.Text(f.node)
	if isConstant(f) || redactField(f).Value == f.Value {
		return
	}
	what := "looks like a secret"
	if !secret.Is(lastKey(f.Path), unquoted(f.Value)) {
		what = "contains what looks like a secret"
	}
	d.askOnce("secret "+lastKey(f.Path)+"="+f.Value, "secret", Todo{
		Kind: Confirm, File: f.File, Path: f.Path, Evidence: f.Evidence,
		Message: fmt.Sprintf("%s and is now in the %s and the report: remove it before you share them", what, f.File),
	})
}
