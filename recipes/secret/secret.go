// Package secret decides which values of variables, keys and flags must not be shown. Everything that
// shows or passes on values uses this one list.
package secret

import (
	"regexp"
	"slices"
	"strings"
)

// lastWords are the words that mark a name as that of a secret. Only the last word counts:
// TOKEN_DIR is a directory.
var lastWords = []string{
	"TOKEN", "TOKENS", "KEY", "KEYS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PAT", "CREDENTIAL", "CREDENTIALS",
}

// isSetting reports whether a name is that of a known setting, although its last word marks a secret.
func isSetting(name string) bool {
	return name == "MAX_TOKENS" || strings.HasSuffix(name, "_MAX_TOKENS") || strings.HasSuffix(name, "NUM_TOKENS") ||
		strings.HasSuffix(name, "_FIRST_TOKEN") ||
		strings.HasSuffix(name, "_PER_TOKEN") ||
		strings.HasSuffix(name, "_CACHE_KEY") || strings.HasPrefix(name, "DYN_TOKENIZER")
}

// notSecret matches values that are no secrets whatever their name is: switches, null and numbers.
var notSecret = regexp.MustCompile(
	`^(?i:true|false|yes|no|on|off|null|none|~|[+-]?\d[\d_]*(?:\.\d*)?(?:e[+-]?\d{1,3})?|0[xo][0-9a-f]{1,8})?$`)

// shapes match values that are secrets whatever their name is. The first group, where there is one, is
// the part after a prefix that also begins other words, such as hf_transfer.
var shapes = []*regexp.Regexp{
	regexp.MustCompile(`\b(?:gh[opsur]_[0-9A-Za-z]|github_pat_|glpat-|xox[abeprs]-|nvapi-|(?:AKIA|ASIA)[0-9A-Z]{12})`),
	regexp.MustCompile(`(?:^|[\s"'=:,@])(?:hf_|sk-)([0-9A-Za-z_-]+)`),
}

// carriers match texts that contain a secret, which is a group: the password in a URL, the key in its query,
// and the value in the header of a request.
var carriers = []*regexp.Regexp{
	regexp.MustCompile(`://[^\s/"'@:]*:([^\s/"']+)@`),
	regexp.MustCompile(`(?i)[?&][\w-]*(?:key|token|secret|password|signature)=([^\s&"']+)`),
	regexp.MustCompile(`(?i)\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\\?["']?\s+([^\s"']+)`),
	regexp.MustCompile(`\bBearer\\?["']?\s+([\w.~+/=-]*\d[\w.~+/=-]*|[\w.~+/=-]{20,})`),
	regexp.MustCompile(`(?i)\bx-(?:[a-z]+-)*(?:key|token)\s*:\s*([^\s"']+)`),
}

// mayCarry is a quick test that rules out most texts that no carrier matches.
func mayCarry(s string) bool {
	if i := strings.Index(s, "://"); i >= 0 && strings.ContainsAny(s[i:], "@?") {
		return true
	}
	return strings.Contains(s, "earer") || strings.Contains(s, "uthorization") || strings.Contains(s, "X-") ||
		strings.Contains(s, "x-")
}

// flag matches a flag with its value.
var flag = regexp.MustCompile(`(?:^|[\s"'])--([A-Za-z][\w-]*)(?:=|\s+)(?:"([^"]*)"|'([^']*)'|([^\s"'-][^\s"',;)]*))`)

// mayBeShaped is a quick test that rules out most texts without a value in the shape of a secret: it looks
// for the ends of their prefixes.
func mayBeShaped(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c != '_' && c != '-' && c != 'A' || i < 2:
		case c == '_' && (s[i-2:i] == "hf" || s[i-2:i] == "at" || i > 2 && s[i-3:i-1] == "gh"),
			c == '-' && (s[i-2:i] == "sk" || s[i-2:i] == "at" || s[i-2:i] == "pi" || i > 3 && s[i-4:i-1] == "xox"),
			c == 'A' && i > 2 && s[i-1] == 'I' && (s[i-3:i] == "AKI" || s[i-3:i] == "ASI"):
			return true
		}
	}
	return false
}

// mayBeAssigned is a quick test that rules out most texts without an assignment to a variable in capital
// letters.
func mayBeAssigned(s string) bool {
	for i := 1; i < len(s); i++ {
		if c := s[i-1]; (s[i] == '=' || s[i] == ':') && (c >= 'A' && c <= 'Z' || c == '"' || c == '\'') {
			return true
		}
	}
	return false
}

// Is reports whether a value must not be shown, because of the name of its variable, key or flag, or
// because of its own shape.
func Is(name, value string) bool {
	return named(name) && !notSecret.MatchString(value) || shaped(value)
}

// named reports whether a name is that of a secret.
func named(name string) bool {
	name = strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	return slices.Contains(lastWords, name[strings.LastIndexAny(name, "_ ")+1:]) && !isSetting(name)
}

// shaped reports whether a text contains a value in the shape of a secret.
func shaped(text string) bool {
	carries := func(r *regexp.Regexp) bool { return r.MatchString(text) }
	return mayCarry(text) && slices.ContainsFunc(carriers, carries) || looksIssued(text)
}

// looksIssued reports whether a text contains a key in the shape that its issuer gives to it.
func looksIssued(text string) bool {
	if !mayBeShaped(text) {
		return false
	}
	if shapes[0].MatchString(text) {
		return true
	}
	return slices.ContainsFunc(shapes[1].FindAllStringSubmatch(text, -1), func(m []string) bool {
		return len(m[1]) >= 20 || strings.ContainsAny(m[1], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	})
}

// Hidden is shown instead of a secret.
const Hidden = "‹hidden›"

// Redact returns the value without the secrets in it, or [Hidden] if it is one.
func Redact(name, value string) string {
	if Is(name, value) {
		return Hidden
	}
	return RedactText(value)
}

// RedactYAML replaces secrets in YAML by [Hidden], line by line.
func RedactYAML(text string) string {
	var b strings.Builder
	block := -1 // indentation of the key whose text of several lines is hidden
	for line := range strings.Lines(text) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if block >= 0 && (indent > block || strings.TrimSpace(line) == "") {
			continue
		}
		block = -1
		key, value, ok := strings.Cut(line, ":")
		value = strings.Trim(value, " \t\r\n\"'")
		if name := strings.Trim(key, " \t\"'-{"); ok && Is(name, value) {
			line = key + ": " + Hidden + "\n"
			if strings.HasPrefix(value, "|") || strings.HasPrefix(value, ">") {
				block = indent
			}
		} else {
			line = RedactText(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

// RedactText replaces the secrets in any text, such as a line of a log, by asterisks: the values of
// variables, NAME=value or 'NAME': 'value', those of flags, passwords in URLs, and values in the shape of a
// secret. The length of the text does not change, so that places in it stay valid.
func RedactText(text string) string {
	if mayBeAssigned(text) {
		text = redactAssigned(text)
	}
	if strings.Contains(text, "--") {
		text = maskGroups(text, flag, 2, func(m []string) bool {
			return named(m[1]) && !notSecret.MatchString(m[2]+m[3]+m[4])
		})
	}
	if mayCarry(text) {
		for _, r := range carriers {
			text = maskGroups(text, r, 1, func([]string) bool { return true })
		}
	}
	if !looksIssued(text) {
		return text
	}
	for _, at := range word.FindAllStringIndex(text, -1) {
		if looksIssued(text[at[0]:at[1]]) {
			text = mask(text, at[0], at[1])
		}
	}
	return text
}

// redactAssigned replaces the values of secret variables.
func redactAssigned(text string) string {
	out := text
	for at := 0; at < len(text); at++ {
		if text[at] != '=' && text[at] != ':' || !named(variableBefore(text, at)) {
			continue
		}
		from, to := assigned(text, at)
		if !notSecret.MatchString(text[from:to]) {
			out = mask(out, from, to)
		}
		at = max(to-1, at)
	}
	return out
}

// word matches one value in a text.
var word = regexp.MustCompile(`[^\s\x1b"'=,;()]+`)

// maskGroups masks the groups of the wanted matches, from the first one to mask.
func maskGroups(text string, r *regexp.Regexp, first int, wanted func(groups []string) bool) string {
	for _, at := range r.FindAllStringSubmatchIndex(text, -1) {
		groups := make([]string, len(at)/2)
		for i := range groups {
			if at[2*i] >= 0 {
				groups[i] = text[at[2*i]:at[2*i+1]]
			}
		}
		if !wanted(groups) {
			continue
		}
		for i := first; i < len(groups); i++ {
			text = mask(text, max(at[2*i], 0), max(at[2*i+1], 0))
		}
	}
	return text
}

func mask(s string, from, to int) string { return s[:from] + strings.Repeat("*", to-from) + s[to:] }

// variableBefore returns the name of a variable, in capital letters, that ends before a byte offset.
func variableBefore(s string, end int) string {
	if end > 0 && (s[end-1] == '"' || s[end-1] == '\'') {
		end--
	} else if s[end] == ':' {
		return "" // of prose: "unexpected TOKEN: x"
	}
	from := end
	for from > 0 && (s[from-1] == '_' || s[from-1] >= 'A' && s[from-1] <= 'Z' || s[from-1] >= '0' && s[from-1] <= '9') {
		from--
	}
	return s[from:end]
}

// assigned returns where the value after the separator at a byte offset begins and ends.
func assigned(s string, at int) (from, to int) {
	from = at + 1
	for from < len(s) && s[from] == ' ' && s[at] == ':' {
		from++
	}
	if from < len(s) && (s[from] == '"' || s[from] == '\'') {
		if n := strings.IndexByte(s[from+1:], s[from]); n >= 0 {
			return from + 1, from + 1 + n
		}
		from++
	}
	n := strings.IndexAny(s[from:], " \t\r\n\x1b\"',;)")
	if n < 0 {
		n = len(s) - from
	}
	return from, from + n
}
