package porter

import (
	"strings"

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
	out := make([]Evidence, len(evs))
	for i, e := range evs {
		out[i] = redactEvidence(e)
	}
	return out
}

func redactField(f Field) Field {
	isFixed := f.Class == Default && f.Rule == "fixed" // such as api_key: dummy
	if !isFixed && secret.Is(lastKey(f.Path), strings.Trim(f.Value, `"'`)) {
		f.Value = secret.Hidden
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
	return t
}

func redactAnswer(a Answer) Answer {
	_, path := questionField(a.ID)
	a.Value = secret.Redact(lastKey(path), a.Value)
	return a
}
