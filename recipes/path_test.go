package recipes_test

import (
	"testing"

	"github.com/agentperf/agentperf-tui/recipes"
)

func TestShellVariable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/a/${X:-1}/b": "${X:-1}", "$HOME/x": "$HOME", "a$(id)b": "$(id)", "x$1": "$1", "$@": "$@",
		"/a/`hostname`": "`hostname`",
		"5 $":           "", "a$": "", "`": "", "/a/b": "",
	} {
		if got := recipes.ShellVariable(text); got != want {
			t.Errorf("ShellVariable(%q) = %q, want %q", text, got, want)
		}
	}
}
