package recipes

import (
	"slices"
	"strings"
)

// secretWords tell a secret by the name of its variable or key, as whole words
// between underscores. (DYN_TOKENIZER has none.)
var secretWords = []string{"TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS"}

// IsSecret reports whether the value of a variable or a key is not to be shown.
func IsSecret(name string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToUpper(name), "_"), func(word string) bool {
		return slices.Contains(secretWords, word)
	})
}

// Hidden stands for a secret on display.
const Hidden = "‹hidden›"

// Redact is a value for display: [Hidden] where its name says that it is a secret.
func Redact(name, value string) string {
	if IsSecret(name) {
		return Hidden
	}
	return value
}

// RedactYAML is YAML for display: what stands behind the name of a secret on a line is hidden.
func RedactYAML(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		key, _, ok := strings.Cut(line, ":")
		if name := strings.Trim(key, " \t\"'-{"); ok && IsSecret(name) {
			line = key + ": " + Hidden + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}
