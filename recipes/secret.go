package recipes

import (
	"slices"
	"strings"
)

// secretWords are the words that mark a variable or key as secret. Only whole words between
// underscores count: DYN_TOKENIZER is not a secret.
var secretWords = []string{"TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS"}

// IsSecret reports whether the value of a variable or key must not be shown.
func IsSecret(name string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToUpper(name), "_"), func(word string) bool {
		return slices.Contains(secretWords, word)
	})
}

// Hidden is shown instead of a secret.
const Hidden = "‹hidden›"

// Redact returns the value, or [Hidden] if the name is that of a secret.
func Redact(name, value string) string {
	if IsSecret(name) {
		return Hidden
	}
	return value
}

// RedactYAML replaces the values of secrets in YAML by [Hidden], line by line.
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
