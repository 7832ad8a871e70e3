package parity

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// Limits for the differences of engine configs in a note.
const (
	maxEngineNotes = 12
	maxEngineText  = 60 // characters of a name or value
)

// engineNotes returns how the engine configs of the two sides differ. A key that srtctl and plans add is
// told apart. Roles that are unknown for a side are not compared.
func engineNotes(ref, cand *identity.EngineConfigs) []string {
	values, known := commonValues(ref, cand)
	var differ []string
	var defaults [2][]string // roles with the default on one side only
	for _, v := range values {
		a, inRef := ref.Values[v]
		b, inCand := cand.Values[v]
		switch {
		case inRef && inCand && a == b:
		case v.Path == schema.IterStats && !inRef && b == "false":
			defaults[1] = append(defaults[1], string(v.Role))
		case v.Path == schema.IterStats && !inCand && a == "false":
			defaults[0] = append(defaults[0], string(v.Role))
		default:
			differ = append(differ, fmt.Sprintf("%s %s vs. %s", safetext.Clip(v.String(), maxEngineText),
				engineText(v.Path, a, inRef), engineText(v.Path, b, inCand)))
		}
	}
	var notes []string
	if len(ref.Roles)+len(cand.Roles) > 0 && !known {
		notes = append(notes, "engine configs not compared because unknown for at least one side")
	}
	if n := len(differ); n > 0 {
		text := "engine configs differ: " + strings.Join(differ[:min(n, maxEngineNotes)], ", ")
		if n > maxEngineNotes {
			text += fmt.Sprintf(", and %d more", n-maxEngineNotes)
		}
		notes = append(notes, text)
	}
	for i, roles := range defaults {
		if len(roles) > 0 {
			notes = append(notes, fmt.Sprintf("engine configs: only those of the %s have %s: false (%s), a default that srtctl "+
				"and this program add", sideNames[i], schema.IterStats, strings.Join(roles, ", ")))
		}
	}
	return notes
}

// commonValues returns the values of the roles that are known for both sides, in order. known is false if
// there is no such role.
func commonValues(ref, cand *identity.EngineConfigs) (values []identity.EngineValue, known bool) {
	set := map[identity.EngineValue]bool{}
	for _, side := range []*identity.EngineConfigs{ref, cand} {
		for v := range side.Values {
			set[v] = slices.Contains(ref.Roles, v.Role) && slices.Contains(cand.Roles, v.Role)
		}
	}
	maps.DeleteFunc(set, func(_ identity.EngineValue, common bool) bool { return !common })
	values = slices.SortedFunc(maps.Keys(set), func(a, b identity.EngineValue) int {
		return strings.Compare(a.String(), b.String())
	})
	return values, slices.ContainsFunc(ref.Roles, func(r schema.Role) bool { return slices.Contains(cand.Roles, r) })
}

// engineText returns a value for display.
func engineText(path, value string, set bool) string {
	if !set {
		return "not set"
	}
	return safetext.Clip(secret.Redact(path, value), maxEngineText)
}
