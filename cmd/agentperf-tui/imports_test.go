package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/agentperf/agentperf-tui/"

// layout is the table of the README, by package.
type layout map[string]row

type row struct {
	allowed    []string
	everything bool // is allowed
	forTests   bool // by its purpose: tests alone import it, and it may import test data
	forAll     bool // by its purpose: every package may import it
}

// listed is a package as go list has it. Imports are those of its production code.
type listed struct {
	ImportPath string
	Imports    []string
}

// uiLibraries draw on terminals: for tui and the command.
var uiLibraries = []string{"charm.land/"}

// forUI are the packages of which tui may import values, beside recipes, its own and those
// below them: what a screen does goes through the facade.
var forUI = []string{
	"engine", "engine/event", "engine/plan", "engine/results", "engine/chart", "porter",
	"porter/session",
}

var quoted = regexp.MustCompile("`([^`]+)`")

// readLayout reads the table below the heading "Package layout".
func readLayout(readme string) layout {
	_, section, _ := strings.Cut(readme, "\n## Package layout\n")
	section, _, _ = strings.Cut(section, "\n## ")
	l := layout{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(line, "| `") {
			continue
		}
		r := row{
			everything: strings.TrimSpace(cells[3]) == "everything",
			forTests:   strings.HasPrefix(strings.TrimSpace(cells[2]), "for tests"),
			forAll:     strings.HasPrefix(strings.TrimSpace(cells[2]), "for all packages"),
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[3], -1) {
			r.allowed = append(r.allowed, m[1])
		}
		l[quoted.FindStringSubmatch(cells[1])[1]] = r
	}
	return l
}

// problems says where packages and the table differ, a line each.
func (l layout) problems(all []listed) []string {
	var out []string
	found := map[string]bool{}
	for _, p := range all {
		name := strings.TrimPrefix(p.ImportPath, module)
		found[name] = true
		if _, ok := l[name]; !ok {
			out = append(out, fmt.Sprintf("%s has no row: add a row for it to the table %q in README.md, "+
				"with its purpose and the packages that it may import", name, "Package layout"))
			continue
		}
		for _, imp := range p.Imports {
			if why := l.refused(name, imp); why != "" {
				out = append(out, fmt.Sprintf("%s imports %s: %s", name, imp, why))
			}
		}
	}
	for name, r := range l {
		if !found[name] {
			out = append(out, name+" has a row in the table of README.md and is no package: remove the row")
		}
		for _, a := range r.allowed {
			if _, ok := l[a]; !ok {
				out = append(out, fmt.Sprintf("the row of %s allows %s, which has no row", name, a))
			}
			if inUI(name) && !inUI(a) && !below(a, "recipes") && !slices.Contains(forUI, a) {
				out = append(out, fmt.Sprintf("the row of %s allows %s: "+
					"a screen calls the facade, and knows the values of %s and recipes only", name, a, strings.Join(forUI, ", ")))
			}
		}
	}
	slices.Sort(out)
	return out
}

// refused says why a package may not import another one; empty: it may.
func (l layout) refused(name, imp string) string {
	r := l[name]
	for _, lib := range uiLibraries {
		if strings.HasPrefix(imp, lib) && !inUI(name) && !r.everything {
			return "only tui and the command draw"
		}
	}
	if inUI(name) && !r.forTests && (imp == "os/exec" || below(imp, "net")) {
		return "a screen starts no process and opens no connection: the engine does"
	}
	target, ours := strings.CutPrefix(imp, module)
	switch {
	case !ours, l[target].forAll:
		return ""
	case l[target].forTests || slices.Contains(strings.Split(target, "/"), "testdata"):
		if r.forTests {
			return ""
		}
		return "it is for tests"
	case !r.everything && !slices.Contains(r.allowed, target):
		return "not among the allowed imports of its row in the table of README.md"
	}
	return ""
}

func below(name, parent string) bool { return name == parent || strings.HasPrefix(name, parent+"/") }

func inUI(name string) bool { return below(name, "tui") }

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

func TestImportsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range readLayout(string(readme)).problems(packages(t)) {
		t.Error(p)
	}
}

// The rule itself is tested, so that a broken table can't pass everything.
func TestImportRuleFails(t *testing.T) {
	t.Parallel()
	const readme = "# Title\n\n## Package layout\n\n| package | purpose | allowed imports |\n| --- | --- | --- |\n" +
		"| `cmd/x` | the command | everything |\n| `tui` | screens | `engine`, `tui/ui` |\n" +
		"| `tui/ui` | parts | - |\n| `tui/drive` | for tests: keys | - |\n" +
		"| `engine` | the facade | `engine/plan` |\n| `engine/plan` | plans | - |\n" +
		"\n## Next\n\n| `late` | not of the table | - |\n"
	table := readLayout(readme)
	if len(table) != 6 || !table["cmd/x"].everything || len(table["tui"].allowed) != 2 ||
		len(table["tui/ui"].allowed) != 0 || !table["tui/drive"].forTests {
		t.Fatalf("read %v", table)
	}
	pkg := func(name string, imports ...string) listed {
		return listed{ImportPath: module + name, Imports: imports}
	}
	right := []listed{
		pkg("cmd/x", module+"engine/plan", "charm.land/bubbletea/v2", "net/http"),
		pkg("tui", "charm.land/bubbletea/v2", module+"engine", "strings"), pkg("tui/ui"),
		pkg("tui/drive", "os/exec", module+"testdata/golden"),
		pkg("engine", module+"engine/plan", "os/exec"), pkg("engine/plan"),
	}
	if got := table.problems(right); len(got) > 0 {
		t.Fatalf("nothing is wrong, and it says %q", got)
	}
	for _, c := range []struct {
		name, want string
		pkg        listed // takes the place of the one with its name
	}{
		{"not of the row", "allowed imports", pkg("engine", module+"tui")},
		{"below an allowed one", "allowed imports", pkg("engine", module+"engine/plan/deep")},
		{"back", "allowed imports", pkg("engine/plan", module+"engine")},
		{"draws", "only tui and the command", pkg("engine", "charm.land/bubbletea/v2")},
		{"starts a process", "starts no process", pkg("tui", "os/exec")},
		{"opens a connection", "starts no process", pkg("tui/ui", "net/http")},
		{"test data", "for tests", pkg("cmd/x", module+"testdata")},
		{"below test data", "for tests", pkg("cmd/x", module+"engine/testdata/x")},
		{"a package for tests", "for tests", pkg("cmd/x", module+"tui/drive")},
		{"no row", "engine/new has no row: add a row", pkg("engine/new")},
	} {
		all := slices.DeleteFunc(slices.Clone(right), func(p listed) bool { return p.ImportPath == c.pkg.ImportPath })
		got := table.problems(append(all, c.pkg))
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q, want one problem: %q", c.name, got, c.want)
		}
	}
	if got := table.problems(right[:len(right)-1]); len(got) != 1 || !strings.Contains(got[0], "engine/plan has a row") {
		t.Errorf("a row without a package: %q", got)
	}
	for line, want := range map[string]string{
		"`engine/slurm`": "engine/slurm, which has no row", "`engine`, `engine/job`": "knows the values of",
	} {
		wrong := readLayout(strings.Replace(readme, "| parts | - |\n",
			"| parts | "+line+" |\n| `engine/job` | runs | - |\n", 1))
		if got := wrong.problems(append(right, pkg("engine/job"))); !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
