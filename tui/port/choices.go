package port

import "strings"

// choice is a row of the list from which a run directory is chosen.
type choice struct {
	kind string // run, recent, folder, this
	path string
}

// choices are what the typed path can become: runs that were found below it, then
// folders, then what was ported before.
func choices(typed string, dirs, runs, recent []string) []choice {
	var out []choice
	seen := map[string]bool{}
	add := func(kind, path string) {
		if !seen[path] {
			seen[path] = true
			out = append(out, choice{kind, path})
		}
	}
	if typed == "" {
		for _, r := range recent {
			add("recent", r)
		}
	}
	for _, r := range runs {
		if strings.HasPrefix(r, strings.TrimPrefix(typed, "./")) || strings.HasPrefix(r, typed) {
			add("run", r)
		}
	}
	base, prefix := split(typed)
	for _, d := range dirs {
		if strings.HasPrefix(d, prefix) && (prefix != "" || !strings.HasPrefix(d, ".")) && !seen[base+d] {
			add("folder", base+d)
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

// split takes a typed path apart: the folder, with its slash, and what is typed of a name in it.
func split(typed string) (base, prefix string) {
	cut := strings.LastIndexByte(typed, '/') + 1
	return typed[:cut], typed[cut:]
}

// completed is the typed path with what all folders that fit have in common.
func completed(typed string, dirs []string) string {
	base, prefix := split(typed)
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
