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

// layout maps each package to its row of the table "Package layout" in README.md.
type layout map[string]row

// row holds the import rules of a package.
type row struct {
	allowed    []string
	everything bool // the package may import every package
	forTests   bool // only tests may import the package, and it may import test data
	forAll     bool // every package may import the package
}

// goPackage is a package as printed by go list. Imports are those of its production code.
type goPackage struct {
	ImportPath string
	Imports    []string
}

// uiLibraries lists prefixes of libraries that only tui and the command may import.
var uiLibraries = []string{"charm.land/"}

// forUI lists the packages whose types screens may use, besides those below recipes and tui.
// Screens do everything through the API of engine.
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

// violations describes each difference between the packages and the table.
func (l layout) violations(all []goPackage) []string {
	var out []string
	found := map[string]bool{}
	for _, p := range all {
		name := strings.TrimPrefix(p.ImportPath, module)
		found[name] = true
		if _, ok := l[name]; !ok {
			out = append(out, fmt.Sprintf("%s has no row: add it to the table %q in README.md, "+
				"with its purpose and allowed imports", name, "Package layout"))
			continue
		}
		for _, imp := range p.Imports {
			if reason := l.refusal(name, imp); reason != "" {
				out = append(out, fmt.Sprintf("%s imports %s: %s", name, imp, reason))
			}
		}
	}
	for name, r := range l {
		if !found[name] {
			out = append(out, name+" has a row in the table of README.md but is not a package: remove the row")
		}
		for _, a := range r.allowed {
			if _, ok := l[a]; !ok {
				out = append(out, fmt.Sprintf("the row of %s allows %s, which has no row", name, a))
			}
			if inUI(name) && !inUI(a) && !below(a, "recipes") && !slices.Contains(forUI, a) {
				out = append(out, fmt.Sprintf("the row of %s allows %s: "+
					"screens may only import %s and recipes", name, a, strings.Join(forUI, ", ")))
			}
		}
	}
	slices.Sort(out)
	return out
}

// refusal returns the reason why a package may not import another one, or "" if it may.
func (l layout) refusal(name, imp string) string {
	r := l[name]
	for _, lib := range uiLibraries {
		if strings.HasPrefix(imp, lib) && !inUI(name) && !r.everything {
			return "only tui and the command may import it"
		}
	}
	if inUI(name) && !r.forTests && (imp == "os/exec" || below(imp, "net")) {
		return "screens must not start processes or open connections; the engine does"
	}
	target, inModule := strings.CutPrefix(imp, module)
	switch {
	case !inModule, l[target].forAll:
		return ""
	case l[target].forTests || slices.Contains(strings.Split(target, "/"), "testdata"):
		if r.forTests {
			return ""
		}
		return "only tests may import it"
	case !r.everything && !slices.Contains(r.allowed, target):
		return "it is not among the allowed imports in the table of README.md"
	}
	return ""
}

func below(name, parent string) bool { return name == parent || strings.HasPrefix(name, parent+"/") }

func inUI(name string) bool { return below(name, "tui") }

// packages lists all packages of the module.
func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for dec := json.NewDecoder(out); ; {
		var p goPackage
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
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

func TestImportsMatchReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range readLayout(string(readme)).violations(packages(t)) {
		t.Error(p)
	}
}

// Tests the rules themselves: each must report its violation.
func TestImportRulesReportViolations(t *testing.T) {
	t.Parallel()
	const readme = "# Title\n\n## Package layout\n\n| package | purpose | allowed imports |\n| --- | --- | --- |\n" +
		"| `cmd/x` | the command | everything |\n| `tui` | screens | `engine`, `tui/ui` |\n" +
		"| `tui/ui` | parts | - |\n| `tui/drive` | for tests: keys | - |\n" +
		"| `engine` | the API | `engine/plan` |\n| `engine/plan` | plans | - |\n" +
		"\n## Next\n\n| `other` | another table | - |\n"
	table := readLayout(readme)
	if len(table) != 6 || !table["cmd/x"].everything || len(table["tui"].allowed) != 2 ||
		len(table["tui/ui"].allowed) != 0 || !table["tui/drive"].forTests {
		t.Fatalf("read %v", table)
	}
	pkg := func(name string, imports ...string) goPackage {
		return goPackage{ImportPath: module + name, Imports: imports}
	}
	valid := []goPackage{
		pkg("cmd/x", module+"engine/plan", "charm.land/bubbletea/v2", "net/http"),
		pkg("tui", "charm.land/bubbletea/v2", module+"engine", "strings"), pkg("tui/ui"),
		pkg("tui/drive", "os/exec", module+"testdata/golden"),
		pkg("engine", module+"engine/plan", "os/exec"), pkg("engine/plan"),
	}
	if got := table.violations(valid); len(got) > 0 {
		t.Fatalf("violations of valid packages: %q", got)
	}
	for _, c := range []struct {
		name, want string
		pkg        goPackage // replaces the package of the same name
	}{
		{"not in the row", "allowed imports", pkg("engine", module+"tui")},
		{"below an allowed package", "allowed imports", pkg("engine", module+"engine/plan/deep")},
		{"import cycle", "allowed imports", pkg("engine/plan", module+"engine")},
		{"UI library in the engine", "only tui and the command", pkg("engine", "charm.land/bubbletea/v2")},
		{"os/exec in a screen", "must not start processes", pkg("tui", "os/exec")},
		{"net/http in a screen", "must not start processes", pkg("tui/ui", "net/http")},
		{"test data", "only tests", pkg("cmd/x", module+"testdata")},
		{"below test data", "only tests", pkg("cmd/x", module+"engine/testdata/x")},
		{"package for tests", "only tests", pkg("cmd/x", module+"tui/drive")},
		{"no row", "engine/new has no row: add it", pkg("engine/new")},
	} {
		all := slices.DeleteFunc(slices.Clone(valid), func(p goPackage) bool { return p.ImportPath == c.pkg.ImportPath })
		got := table.violations(append(all, c.pkg))
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: violations %q, want one: %q", c.name, got, c.want)
		}
	}
	if got := table.violations(valid[:len(valid)-1]); len(got) != 1 || !strings.Contains(got[0], "engine/plan has a row") {
		t.Errorf("row without a package: %q", got)
	}
	for line, want := range map[string]string{
		"`engine/slurm`": "engine/slurm, which has no row", "`engine`, `engine/job`": "screens may only import",
	} {
		invalid := readLayout(strings.Replace(readme, "| parts | - |\n",
			"| parts | "+line+" |\n| `engine/job` | runs | - |\n", 1))
		if got := invalid.violations(append(valid, pkg("engine/job"))); !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
