package port

import (
	"path/filepath"
	"strings"
)

// choice is a row of the list of directories.
type choice struct {
	kind string // run, recent, directory, as typed
	path string
}

// listChoices returns the choices for a typed path: runs below it, then directories, then earlier
// ports. Before a path is typed, earlier ports are first, but those of other places follow the runs.
func listChoices(typed string, dirs, runs, recent []string) []choice {
	var out []choice
	seen := map[string]bool{}
	add := func(kind, path string) {
		if !seen[path] {
			seen[path] = true
			out = append(out, choice{kind, path})
		}
	}
	addRecent := func(elsewhere bool) {
		for _, r := range recent {
			if typed == "" && filepath.IsAbs(r) == elsewhere {
				add("recent", r)
			}
		}
	}
	addRecent(false)
	for _, r := range runs {
		if strings.HasPrefix(r, strings.TrimPrefix(typed, "./")) || strings.HasPrefix(r, typed) {
			add("run", r)
		}
	}
	addRecent(true)
	base, prefix := splitPath(typed)
	for _, d := range dirs {
		if strings.HasPrefix(d, prefix) && (prefix != "" || !strings.HasPrefix(d, ".")) && !seen[base+d] {
			add("directory", base+d)
		}
	}
	if typed != "" {
		for _, r := range recent {
			if strings.Contains(r, typed) {
				add("recent", r)
			}
		}
		add("as typed", typed)
	}
	return out
}

// splitPath splits a typed path into the directory, with its slash, and the start of a name.
func splitPath(typed string) (base, prefix string) {
	cut := strings.LastIndexByte(typed, '/') + 1
	return typed[:cut], typed[cut:]
}

// completePath extends a typed path to the common prefix of all matching directories.
func completePath(typed string, dirs []string) string {
	base, prefix := splitPath(typed)
	common, n := "", 0
	for _, d := range dirs {
		if !strings.HasPrefix(d, prefix) || prefix == "" && strings.HasPrefix(d, ".") {
			continue
		}
		if n++; n == 1 {
			common = d
		}
		for !strings.HasPrefix(d, common) {
			common = common[:len(common)-1]
		}
	}
	switch n {
	case 0:
		return typed
	case 1:
		return base + common + "/"
	}
	return base + strings.ToValidUTF8(common, "")
}
