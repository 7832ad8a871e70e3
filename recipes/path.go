package recipes

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// PathElement is one element of a path: a key of a mapping or an index of a list.
type PathElement struct {
	Key   string
	Index int // of a list entry; -1 for a key
}

// Join appends a key to a dotted path. It quotes keys that contain characters with a
// meaning in paths.
func Join(path, key string) string {
	if strings.ContainsAny(key, `. []"`) || key == "" {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// ShellVariable returns the shell variable or command substitution that a text contains; empty if it
// contains none. Nothing expands them in a recipe.
func ShellVariable(text string) string { return shellVariable.FindString(text) }

var shellVariable = regexp.MustCompile("\\$(?:\\{[^}]*\\}?|\\([^)]*\\)?|[A-Za-z_]\\w*|[0-9@*])|`[^`]*`")

// ContainerPathProblem tells why a text can't be a path in a container; it returns an empty text for a path.
func ContainerPathProblem(path string) string {
	switch v := ShellVariable(path); {
	case path == "":
		return "no path is given"
	case v != "":
		return strconv.Quote(path) + " contains " + v + ", which nothing expands"
	case !strings.HasPrefix(path, "/"):
		return strconv.Quote(path) + " is not an absolute container path"
	}
	return ""
}

// SplitPath parses a path as [Join] writes it: keys separated by dots, list indices in brackets,
// keys with dots or spaces in double quotes. Examples: roles.prefill.env."a.b", extra_mount[0].
func SplitPath(path string) ([]PathElement, error) {
	var elements []PathElement
	bad := func(what string) ([]PathElement, error) {
		return nil, problem.Errorf(problem.FieldPathInvalid, "parse field path %q: %s; separate keys by dots, "+
			"write [i] for a list entry, put keys with dots or spaces in double quotes", path, what)
	}
	for rest := path; ; {
		var key string
		if quoted, err := strconv.QuotedPrefix(rest); err == nil && rest[0] == '"' {
			if key, err = strconv.Unquote(quoted); err != nil {
				return bad(err.Error())
			}
			rest = rest[len(quoted):]
		} else {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if key, rest = rest[:end], rest[end:]; key == "" {
				return bad("a key is missing")
			}
		}
		elements = append(elements, PathElement{Key: key, Index: -1})
		for strings.HasPrefix(rest, "[") {
			digits, after, ok := strings.Cut(rest[1:], "]")
			i, err := strconv.Atoi(digits)
			if !ok || err != nil || i < 0 {
				return bad("a list index is not a whole number in brackets")
			}
			elements = append(elements, PathElement{Index: i})
			rest = after
		}
		if rest == "" {
			return elements, nil
		}
		if rest[0] != '.' {
			return bad("a dot is missing")
		}
		rest = rest[1:]
	}
}
