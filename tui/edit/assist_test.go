package edit

import (
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

func TestCandidates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string // | is the cursor
		all        bool
		want       string // names
	}{
		{"keys at the top", "schema: 2\nfr|\n", false, "frontend"},
		{"not a key that is set above", "frontend: {}\nfr|\n", false, ""},
		{"not a key that is set below", "fr|\nfrontend: {}\n", false, ""},
		{"keys of a mapping", "model:\n  p|\n", false, "path precision"},
		{"all keys of a mapping", "model:\n  path: x\n  |\n", true, "container precision stage_dir"},
		{"keys of a nested mapping", "roles:\n  prefill:\n    # why\n\n    wo|\n", false, "workers"},
		{"all values of an enum", "engine:\n  type: |\n", true, "trtllm sglang vllm mocker atom tilert tokenspeed"},
		{"the beginning of a value", "engine:\n  type: tr|\n", false, "trtllm"},
		{"true or false", "observability:\n  enabled: f|\n", false, "false"},
		{"keys that the table does not describe", "environment:\n  F|\n", true, ""},
		{"in a comment", "# fr|\n", true, ""},
		{"in a list", "extra_mount:\n- a|\n", true, ""},
		{"inside a word", "fr|x\n", true, ""},
		{"keys of an unknown mapping", "nonsense:\n  f|\n", true, ""},
		{"directly after the colon", "name:|\n", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before, after, _ := strings.Cut(c.text, "|")
			at := ui.Pos{Line: strings.Count(before, "\n"), Col: len(before) - strings.LastIndexByte(before, '\n') - 1}
			items, _ := findCandidates(schema.Recipe(2), strings.Split(before+after, "\n"), at, c.all)
			var names []string
			for _, it := range items {
				names = append(names, it.name)
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Tab accepts a completion. Enter breaks the line unless the list was requested.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		want string // end of the recipe
	}{
		"tab":                    {[]string{"t", "e", "tab"}, "telemetry: "},
		"enter is a line break":  {[]string{"t", "e", "enter"}, "te\n"},
		"enter after navigating": {[]string{"t", "e", "down", "enter"}, "telemetry: "},
		"esc closes":             {[]string{"t", "e", "esc", "tab"}, "te  "},
		"requested":              {[]string{"ctrl+space", "i", "enter"}, "identity: "},
		"a mapping's key":        {[]string{"o", "b", "tab"}, "observability:"},
		"a value": {
			[]string{"o", "b", "tab", "enter", "space", "space", "e", "n", "a", "b", "l", "e", "d", "tab", "f", "tab"},
			"observability:\n  enabled: false",
		},
		"backspace updates the list": {[]string{"t", "e", "x", "backspace", "tab"}, "telemetry: "},
		"tab without completions":    {[]string{"q", "q", "tab"}, "qq  "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t, testRecipe, testWorkload)
			press(s, append([]string{"ctrl+t", "ctrl+end"}, c.keys...)...)
			if got := textOf(s, recipe); got != testRecipe+c.want {
				t.Errorf("got %q, want %q", strings.TrimPrefix(got, testRecipe), c.want)
			}
		})
	}
}

// The rule follows a value while it is typed in the form, and setting it is one edit.
func TestForm(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, testWorkload)
	at := func(path string) {
		t.Helper()
		for i, e := range s.form.rows {
			if e.path == path {
				s.form.cursor = i
				return
			}
		}
		t.Fatalf("%s is not in the form: %+v", path, s.form.rows)
	}
	press(s, "ctrl+o")
	if e, ok := s.form.current(); !ok || e.path != "phase_timeout_seconds" {
		t.Errorf("the form opens at %v", e)
	}
	press(s, "1", "5", "5", "0")
	if got := s.checks.rule.View(s.th, s.boxes.all.w); !strings.Contains(got, "✓ slack 1 s") || s.Unsaved() {
		t.Errorf("while the value is typed the rule shows %q, unsaved %v", got, s.Unsaved())
	}
	press(s, "esc")
	if got := s.checks.rule.View(s.th, s.boxes.all.w); !strings.Contains(got, "short by 1 s") {
		t.Errorf("after esc the rule shows %q", got)
	}
	press(s, "2", "0", "0", "0", "enter")
	if got := textOf(s, workload); got != strings.Replace(testWorkload, "1548.0", "2000", 1) {
		t.Errorf("set to\n%s", got)
	}
	at("benchmark.concurrency")
	press(s, "enter", "backspace", "1", "enter")
	if got := textOf(s, recipe); got != strings.Replace(testRecipe, "concurrency: 1010", "concurrency: 1011", 1) {
		t.Errorf("set to\n%s", got)
	}
	at("slurm.time_limit") // not set yet
	press(s, "enter", "1", "2", ":", "0", "0", ":", "0", "0", "enter")
	if got := textOf(s, recipe); !strings.Contains(got, "slurm:\n  time_limit: \"12:00:00\"") {
		t.Errorf("added to\n%s", got)
	}
	at("health_check.max_attempts")
	press(s, "enter", "backspace", "backspace", "backspace", "enter")
	if strings.Contains(textOf(s, recipe), "max_attempts") {
		t.Error("an empty value did not remove the field")
	}
	press(s, "esc", "ctrl+z")
	if s.form.active || !strings.Contains(textOf(s, recipe), "max_attempts") {
		t.Error("not back in the text, or not undone")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testRecipe, testWorkload)
	at := func() int { return s.texts.docs[workload].text.Cursor().Line + 1 }
	press(s, "ctrl+w", "S", "e", "T")
	if s.finder.matches != 0 {
		t.Errorf("a query with a capital letter has %d matches", s.finder.matches)
	}
	press(s, "backspace", "backspace", "backspace", "s", "e", "t")
	if s.finder.match != 1 || s.finder.matches != 1 || at() != 8 {
		t.Errorf("%d of %d, line %d", s.finder.match, s.finder.matches, at())
	}
	press(s, "backspace", "backspace", "backspace", "s", "e", "c", "enter")
	if s.finder.matches != 3 || at() != 8 {
		t.Errorf("%d of %d, line %d", s.finder.match, s.finder.matches, at())
	}
	press(s, "up", "up")
	if at() != 9 {
		t.Errorf("previous match, wrapped: line %d", at())
	}
	press(s, "esc", "f3")
	if at() != 7 || s.finder.active {
		t.Errorf("next match: line %d", at())
	}
	press(s, "esc", "n")
	if at() != 8 {
		t.Errorf("n: line %d", at())
	}
	if press(s, "/", "esc"); s.finder.active || s.focus != onText {
		t.Error("esc did not return to the text")
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	s, d := open(t, testRecipe, testWorkload)
	press(s, "x", "ctrl+g")
	if s.diff == nil || s.diff.added != 1 || s.diff.removed != 1 || !strings.Contains(s.View(), "xphase") {
		t.Fatalf("%+v", s.diff)
	}
	press(s, "tab")
	if s.diff.err == nil || !strings.Contains(s.View(), "no port report") {
		t.Errorf("without a port: %+v", s.diff)
	}
	d.ported = [2]string{testRecipe, strings.Replace(testWorkload, "seed", "", 1) + "seed: 1\n"}
	press(s, "tab", "tab")
	if s.diff.err != nil || s.diff.removed != 2 || s.diff.added != 1 {
		t.Errorf("ported: %+v", s.diff)
	}
	press(s, "ctrl+t")
	if s.diff.side != recipe || s.diff.added+s.diff.removed != 0 || !strings.Contains(s.View(), "no differences") {
		t.Errorf("the recipe: %+v", s.diff)
	}
	if press(s, "down", "pgup", "end", "esc"); s.diff != nil {
		t.Error("esc did not close the comparison")
	}
}

// The candidates at any position of any text are valid.
func FuzzCandidates(f *testing.F) {
	f.Add("roles:\n  prefill:\n    wo\n", 2, 6)
	f.Add("engine:\n  type: \r\n- \xff: [\n\t:", 1, 8)
	f.Fuzz(func(t *testing.T, text string, line, col int) {
		lines := strings.Split(text, "\n")
		at := ui.Pos{Line: min(max(line, 0), len(lines)-1)}
		at.Col = min(max(col, 0), len(lines[at.Line]))
		for _, all := range []bool{false, true} {
			items, typed := findCandidates(schema.Recipe(2), lines, at, all)
			if typed > at.Col {
				t.Errorf("%d bytes before column %d", typed, at.Col)
			}
			for _, it := range items {
				if it.text == "" || it.name == "" {
					t.Errorf("an empty candidate: %+v", it)
				}
			}
		}
		pathAt(lines, at.Line)
	})
}
