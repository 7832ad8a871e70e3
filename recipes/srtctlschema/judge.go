package srtctlschema

import (
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Judge adds the verdict of srtctl to the findings about unknown keys in a file. An error becomes a
// warning if srtctl accepts the key.
func (s *Schema) Judge(file string, found recipes.Diagnostics) {
	for i := range found {
		d := &found[i]
		if d.File != file || !d.UnknownKey() {
			continue
		}
		path, err := recipes.SplitPath(inRecipe(d.Path))
		if err != nil { // a path that a finding has can be split
			continue
		}
		switch accepts, known := s.Accepts(path); {
		case !known:
			d.Message += "; the schema of the installed srtctl has no definition for it"
		case accepts:
			d.Severity, d.Message = recipes.Warning, recipes.Unknown+"; the installed srtctl accepts it"
			d.Fix, d.Edit = "", nil
		default:
			d.Message += "; the installed srtctl refuses it too"
			d.Fix = strings.TrimSuffix(d.Fix, ", or ask an installed srtctl: check --srtctl")
		}
	}
}

// inRecipe returns a path in a recipe for one in a file with several recipes.
func inRecipe(path string) string {
	if first, rest, ok := strings.Cut(path, "."); ok && (first == "base" || recipes.IsOverrideKey(first)) {
		return rest
	}
	return path
}
