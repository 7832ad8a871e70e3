package recipes

import "strings"

// Secret says whether a variable's value is not to be shown: its name has TOKEN,
// KEY, SECRET or PASSWORD as a whole word between underscores. (DYN_TOKENIZER
// has none.)
func Secret(name string) bool {
	for word := range strings.SplitSeq(strings.ToUpper(name), "_") {
		switch word {
		case "TOKEN", "KEY", "SECRET", "PASSWORD":
			return true
		}
	}
	return false
}

// Hidden stands for a secret on display.
const Hidden = "‹hidden›"
