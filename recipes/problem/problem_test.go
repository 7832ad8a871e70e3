package problem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

func TestCatalogueIsComplete(t *testing.T) {
	t.Parallel()
	isID := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[problem.ID]bool{}
	for _, e := range problem.All() {
		if !isID.MatchString(string(e.ID)) || seen[e.ID] {
			t.Errorf("id %q is a duplicate, or is not lower-case words joined by hyphens", e.ID)
		}
		seen[e.ID] = true
		if e.Title == "" || strings.HasSuffix(e.Title, ".") ||
			!strings.HasSuffix(e.Cause, ".") || !strings.HasSuffix(e.Remedy, ".") {
			t.Errorf("%s: want a title without a full stop, and sentences for cause and remedy", e.ID)
		}
		if got, ok := problem.Find(e.ID); !ok || got != e {
			t.Errorf("%s: not found", e.ID)
		}
	}
	if _, ok := problem.Find("no-such-id"); ok {
		t.Error("Find found an id that is not in the catalogue")
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	_, missing := os.Open(filepath.Join(t.TempDir(), "none"))
	inner := problem.New(problem.RunNotFound, "run not found")
	for _, tt := range []struct {
		name string
		err  error
		want problem.ID
	}{
		{"none", nil, ""},
		{"own", inner, problem.RunNotFound},
		{"wrapped", fmt.Errorf("cancel: %w", inner), problem.RunNotFound},
		{"outermost", problem.Errorf(problem.RunFailed, "watch: %w", inner), problem.RunFailed},
		{"joined", errors.Join(errors.New("plain"), inner), problem.RunNotFound},
		{"marked", problem.Mark(problem.YAMLInvalid, errors.New("yaml: line 3")), problem.YAMLInvalid},
		{"marked again", problem.Mark(problem.YAMLInvalid, inner), problem.RunNotFound},
		{"file", fmt.Errorf("read: %w", missing), problem.FileNotFound},
		{"full disk", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, problem.NoSpace},
		{"other call", &fs.PathError{Op: "write", Path: "x", Err: syscall.EBADF}, problem.SystemError},
		{"invalid JSON", json.Unmarshal([]byte("{]"), &struct{}{}), problem.JSONInvalid},
		{"interrupted", fmt.Errorf("read: %w", context.Canceled), problem.Interrupted},
		{"unknown", errors.New("plain"), problem.Internal},
	} {
		if got := problem.Of(tt.err); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if err := problem.Errorf(problem.RunNotFound, "open: %w", missing); !errors.Is(err, fs.ErrNotExist) {
		t.Error("errors.Is does not find the wrapped error")
	}
	if problem.Mark(problem.YAMLInvalid, nil) != nil {
		t.Error("Mark made an error of nil")
	}
}
