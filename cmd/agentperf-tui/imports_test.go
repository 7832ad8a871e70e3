package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/agentperf/agentperf-tui/"

// rooms says which packages of the module each room may import; a room is the
// longest prefix that fits. The face knows the engine, never the other way round.
var rooms = map[string][]string{
	"cmd/agentperf-tui": {"*"},
	"tui":               {"tui", "engine", "porter", "recipes"},
	"tui/frametest":     {"testdata/golden"}, // starts the program in a terminal
	"engine":            {"engine", "recipes"},
	"engine/bench":      {"recipes", "engine/event", "engine/identity"},
	"engine/event":      {},
	"engine/follow":     {},
	"engine/identity":   {},
	"engine/logline":    {},
	"engine/logview":    {"engine/follow", "engine/logline", "engine/safetext"},
	"engine/mockserver": {},
	"engine/outfile":    {},
	"engine/safetext":   {},
	"engine/texttable":  {},
	"engine/rundir":     {},
	"engine/plan":       {"recipes", "engine/texttable"},
	"engine/job":        {"engine/plan", "engine/event", "engine/logline", "engine/results"},
	"engine/local":      {"engine/plan", "engine/event", "engine/job", "engine/rundir"},
	"engine/slurm":      {"engine/plan", "engine/event", "engine/job", "engine/rundir"},
	"engine/replay":     {"recipes"},
	"engine/results":    {"recipes", "engine/results", "engine/texttable"},
	"porter":            {"recipes", "engine/plan", "engine/outfile"},
	"porter/session":    {"porter"},
	"recipes":           {"recipes"},
	"recipes/schema":    {},
	"testdata":          {},
}

// testOnly are packages that tests alone may import, and each other.
var testOnly = []string{"tui/frametest", "testdata/golden"}

// faceOnly are libraries of the face.
var faceOnly = []string{"charm.land/"}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all []listed
	for dec := json.NewDecoder(out); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("go list: %v", err)
	}
	if len(all) < 10 {
		t.Fatalf("go list found %d packages only", len(all))
	}
	return all
}

func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		room := ""
		for r := range rooms {
			if (pkg == r || strings.HasPrefix(pkg, r+"/")) && len(r) > len(room) {
				room = r
			}
		}
		if room == "" {
			t.Errorf("%s belongs to no room: give it one", pkg)
			continue
		}
		for _, imp := range p.Imports {
			if err := allowed(room, imp); err != "" {
				t.Errorf("%s imports %s: %s", pkg, imp, err)
			}
		}
	}
}

func allowed(room, imp string) string {
	face := strings.HasPrefix(room, "tui") || room == "cmd/agentperf-tui"
	for _, lib := range faceOnly {
		if strings.HasPrefix(imp, lib) && !face {
			return "only the face may"
		}
	}
	if room == "tui" && (imp == "os/exec" || imp == "net" || strings.HasPrefix(imp, "net/")) {
		return "the face starts no process and opens no connection: ask the engine"
	}
	target, ours := strings.CutPrefix(imp, module)
	if !ours {
		return ""
	}
	if slices.Contains(testOnly, target) && !slices.Contains(testOnly, room) {
		return "only tests may"
	}
	ok := slices.ContainsFunc(rooms[room], func(a string) bool {
		return a == "*" || target == a || strings.HasPrefix(target, a+"/")
	})
	if !ok {
		return "not a neighbour of " + room
	}
	return ""
}

// The rule itself is tested, so that a broken list can't pass everything.
func TestImportRuleBites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		room, imp string
		ok        bool
	}{
		{"engine", module + "engine/plan", true},
		{"engine", module + "tui", false},
		{"engine", "charm.land/bubbletea/v2", false},
		{"tui", "charm.land/bubbletea/v2", true},
		{"tui", "os/exec", false},
		{"recipes", module + "engine/plan", false},
		{"porter", module + "engine", false},
		{"porter", module + "engine/plan", true},
		{"engine/event", module + "recipes", false},
		{"cmd/agentperf-tui", module + "testdata", true},
		{"cmd/agentperf-tui", module + "testdata/golden", false},
		{"tui", module + "tui/frametest", false},
		{"tui/frametest", module + "testdata/golden", true},
	} {
		if got := allowed(c.room, c.imp); (got == "") != c.ok {
			t.Errorf("%s importing %s: %q, want allowed %v", c.room, c.imp, got, c.ok)
		}
	}
}
